package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
)

// Server is the name under which the tools are served.
const Server = "docs"

// The tools' bare names; on the wire "mcp__docs__" stands before them.
const (
	ToolList   = "list"
	ToolSearch = "search"
	ToolRead   = "read"
)

const (
	// maxAnswer is the largest answer of a tool in bytes, notes included.
	maxAnswer = 20 << 10
	// maxArguments is the largest arguments object in bytes.
	maxArguments = 8 << 10
	defaultHits  = 6
	maxHits      = 20
)

const (
	schemaList   = `{"type":"object","properties":{}}`
	schemaSearch = `{"type":"object","required":["query"],"properties":{` +
		`"query":{"type":"string","description":"A few words, such as: routine missed while off"},` +
		`"limit":{"type":"integer","minimum":1,"maximum":20,"description":"How many sections to find; 6 without it"}}}`
	schemaRead = `{"type":"object","required":["page"],"properties":{` +
		`"page":{"type":"string","description":"The name of a page, as list and search give it"},` +
		`"offset":{"type":"integer","minimum":0,"description":"Where to go on in a long page, as the last answer said"}}}`
)

// Tools are list, search and read, for an engine to serve as Server. They only
// read, know no run, and may be called concurrently. Answers have at most 20 KB.
func (l *Library) Tools() []agent.Tool {
	return []agent.Tool{
		{Name: ToolList, Description: aboutList, Schema: json.RawMessage(schemaList), Call: l.withPages(l.callList)},
		{Name: ToolSearch, Description: aboutSearch, Schema: json.RawMessage(schemaSearch), Call: l.withPages(l.callSearch)},
		{Name: ToolRead, Description: aboutRead, Schema: json.RawMessage(schemaRead), Call: l.withPages(l.callRead)},
	}
}

// withPages answers for a tool where the pages could not be read.
func (l *Library) withPages(answer func(json.RawMessage) agent.ToolResult) func(context.Context, json.RawMessage) agent.ToolResult {
	return func(_ context.Context, args json.RawMessage) agent.ToolResult {
		if _, err := l.load(); err != nil {
			return refused(fmt.Sprintf(textNoLibrary, clean.Line(err.Error())))
		}
		return answer(args)
	}
}

func (l *Library) callList(json.RawMessage) agent.ToolResult {
	var b strings.Builder
	for _, p := range l.List() {
		fmt.Fprintf(&b, "- %s: %s", p.Name, p.Title)
		if p.About != "" {
			b.WriteString(" — " + p.About)
		}
		b.WriteByte('\n')
	}
	return bounded(strings.TrimSuffix(b.String(), "\n"))
}

func (l *Library) callSearch(args json.RawMessage) agent.ToolResult {
	var a struct {
		Query *string `json:"query"`
		Limit *int    `json:"limit"`
	}
	if problem := decode(args, &a); problem != "" {
		return refused(problem)
	}
	if a.Query == nil || strings.TrimSpace(*a.Query) == "" {
		return refused(textNoQuery)
	}
	limit := defaultHits
	if a.Limit != nil {
		if limit = *a.Limit; limit < 1 || limit > maxHits {
			return refused(fmt.Sprintf(textBadLimit, maxHits))
		}
	}
	hits := l.Search(*a.Query, limit)
	if len(hits) == 0 {
		return bounded(fmt.Sprintf(textNoHits, show(*a.Query)))
	}
	var b strings.Builder
	for _, h := range hits {
		b.WriteString(h.Page)
		if h.Heading != "" {
			b.WriteString(" › " + h.Heading)
		}
		b.WriteString("\n  " + h.Excerpt + "\n")
	}
	return bounded(strings.TrimSuffix(b.String(), "\n"))
}

func (l *Library) callRead(args json.RawMessage) agent.ToolResult {
	var a struct {
		Page   *string `json:"page"`
		Offset int     `json:"offset"`
	}
	if problem := decode(args, &a); problem != "" {
		return refused(problem)
	}
	if a.Page == nil || strings.TrimSpace(*a.Page) == "" {
		return refused(fmt.Sprintf(textNoPageGiven, l.names()))
	}
	text, ok := l.Read(*a.Page)
	if !ok {
		return refused(fmt.Sprintf(textNoPage, show(*a.Page), l.names()))
	}
	if a.Offset < 0 || a.Offset >= max(1, len(text)) {
		return refused(fmt.Sprintf(textBadOffset, len(text)))
	}
	return bounded(window(text, a.Offset))
}

// window is the part of a text from an offset in bytes that fits into an
// answer: whole lines where there are any, with a note where it goes on.
func window(text string, from int) string {
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	rest := text[from:]
	room := maxAnswer - len(textGoesOn) - 20 // the note's number
	if len(rest) <= room {
		return rest
	}
	end := strings.LastIndexByte(rest[:room], '\n') + 1
	if end == 0 {
		for end = room; !utf8.RuneStart(rest[end]); {
			end--
		}
	}
	return rest[:end] + fmt.Sprintf(textGoesOn, from+end)
}

func (l *Library) names() string {
	var names []string
	for _, p := range l.List() {
		names = append(names, p.Name)
	}
	return clean.Cut(strings.Join(names, ", "), 1000)
}

// decode reads an arguments object and says what is wrong with it, or "".
func decode(args json.RawMessage, v any) string {
	if len(args) > maxArguments {
		return fmt.Sprintf(textLarge, maxArguments>>10)
	}
	if len(bytes.TrimSpace(args)) == 0 {
		args = json.RawMessage("{}")
	}
	if err := json.Unmarshal(args, v); err != nil {
		return fmt.Sprintf(textUnreadable, clean.Line(err.Error()))
	}
	return ""
}

func show(s string) string { return `"` + clean.Cut(clean.Line(s), 80) + `"` }

// bounded bounds an answer, whatever it is made of.
func bounded(text string) agent.ToolResult {
	if len(text) > maxAnswer {
		end := maxAnswer - len(textCut)
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + textCut
	}
	return agent.ToolResult{Text: text}
}

func refused(text string) agent.ToolResult { return agent.ToolResult{Text: text, IsError: true} }

// What the agent reads about the tools.
const (
	aboutList   = "List the pages of ollim-bot's own documentation, each with what it is about."
	aboutSearch = "Find the sections of ollim-bot's own documentation that fit some words, the best first."
	aboutRead   = "Read one page of ollim-bot's own documentation."
)

// Answers of the tools.
const (
	textNoLibrary   = "Error: %s. The documentation cannot be used; say so."
	textNoQuery     = "Error: query is empty. Give a few words to look for."
	textBadLimit    = "Error: limit must be a whole number from 1 to %d."
	textNoHits      = "Nothing in the documentation fits %s. Try other words, or list the pages."
	textNoPageGiven = "Error: page is empty. The pages are: %s."
	textNoPage      = "Error: there is no page %s. The pages are: %s."
	textBadOffset   = "Error: offset lies outside of the page, which has %d bytes."
	textGoesOn      = "\n[The page goes on: read it again with offset %d.]"
	textCut         = "\n[The rest is left out.]"
	textLarge       = "Error: the arguments are larger than %d KiB. Shorten them."
	textUnreadable  = "Error: the arguments cannot be read (%s). Send one JSON object."
)
