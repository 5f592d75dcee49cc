package docs

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/schema"
)

// Server is the name under which the tools are served.
const Server = "docs"

// The tools' names, without "mcp__docs__".
const (
	ToolList   = "list"
	ToolSearch = "search"
	ToolRead   = "read"
)

const (
	// maxAnswer is the maximum size of a tool result in bytes, including notes.
	maxAnswer = 20 << 10
	// maxArguments is the maximum size of the arguments in bytes.
	maxArguments = 8 << 10
	defaultHits  = 6
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

// Tools returns list, search and read, which an engine serves as Server. They are
// read-only and safe for concurrent use. Results have at most 20 KB.
func (l *Library) Tools() []agent.Tool {
	return []agent.Tool{
		l.tool(ToolList, aboutList, schemaList, l.callList),
		l.tool(ToolSearch, aboutSearch, schemaSearch, l.callSearch),
		l.tool(ToolRead, aboutRead, schemaRead, l.callRead),
	}
}

// tool returns a tool that calls answer with valid arguments, unless the pages cannot be
// read.
func (l *Library) tool(name, about, text string, answer func(schema.Arguments) agent.ToolResult) agent.Tool {
	return agent.Tool{Name: name, Description: about, Schema: json.RawMessage(text), Call: func(_ context.Context, approved agent.Approved) agent.ToolResult {
		_, err := l.load()
		if err != nil {
			return refused(fmt.Sprintf(textNoLibrary, clean.Line(err.Error())))
		}
		s, err := schema.Read([]byte(text))
		if err != nil {
			return refused(err.Error())
		}
		a, problem := s.Arguments(name, approved.Input(), maxArguments)
		if problem != "" {
			return refused(problem)
		}
		return answer(a)
	}}
}

func (l *Library) callList(schema.Arguments) agent.ToolResult {
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

func (l *Library) callSearch(a schema.Arguments) agent.ToolResult {
	query := a.Text("query")
	hits := l.Search(query, cmp.Or(a.Number("limit"), defaultHits))
	if len(hits) == 0 {
		return bounded(fmt.Sprintf(textNoHits, show(query)))
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

func (l *Library) callRead(a schema.Arguments) agent.ToolResult {
	text, ok := l.Read(a.Text("page"))
	if !ok {
		return refused(fmt.Sprintf(textNoPage, show(a.Text("page")), l.names()))
	}
	offset := a.Number("offset")
	if offset < 0 || offset >= max(1, len(text)) { // it may be larger than an int
		return refused(fmt.Sprintf(textBadOffset, len(text)))
	}
	return bounded(window(text, offset))
}

// window returns as many lines of a text, from a byte offset, as fit into a result, with
// a note where to continue.
func window(text string, from int) string {
	from = len(clean.Head(text, from))
	rest := text[from:]
	room := maxAnswer - len(textGoesOn) - 20 // digits of the note's number
	if len(rest) <= room {
		return rest
	}
	end := strings.LastIndexByte(rest[:room], '\n') + 1
	if end == 0 {
		end = len(clean.Head(rest, room))
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

func show(s string) string { return `"` + clean.Cut(clean.Line(s), 80) + `"` }

// bounded limits the length of a result.
func bounded(text string) agent.ToolResult {
	if len(text) > maxAnswer {
		text = clean.Head(text, maxAnswer-len(textCut)) + textCut
	}
	return agent.ToolResult{Text: text}
}

func refused(text string) agent.ToolResult { return agent.ToolResult{Text: text, IsError: true} }

// Tool descriptions for the agent.
const (
	aboutList   = "List the pages of ollim-bot's own documentation, each with what it is about."
	aboutSearch = "Find the sections of ollim-bot's own documentation that fit some words, the best first."
	aboutRead   = "Read one page of ollim-bot's own documentation."
)

// Tool results.
const (
	textNoLibrary = "Error: %s. The documentation cannot be used; say so."
	textNoHits    = "Nothing in the documentation fits %s. Try other words, or list the pages."
	textNoPage    = "Error: there is no page %s. The pages are: %s."
	textBadOffset = "Error: offset lies outside of the page, which has %d bytes."
	textGoesOn    = "\n[The page is longer: read it again with offset %d.]"
	textCut       = "\n[The rest is left out.]"
)
