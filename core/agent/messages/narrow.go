package messages

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/agent/messages/tools"
	"ollimbot/core/base/lazyregexp"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/toolset"
)

// A model with a narrow window begins with short instructions and the few tools that it needs most. The others are found
// by a search, and called through one tool, so that they cost nothing until then.

const (
	// narrowWindow is the window in tokens below which that is so.
	narrowWindow = 24_576
	// toolPart is the part of a narrow window for the definitions of tools.
	toolPart = 8
	// findTool and callTool are the tools of the search.
	findTool = "find_tool"
	callTool = "call_tool"
	// mostFound is how many tools a search returns.
	mostFound = 4
)

func narrow(m provider.Model) bool { return m.Window > 0 && m.Window < narrowWindow }

// prompt returns the bot's own part of the system prompt.
func (s *session) prompt(m provider.Model) string {
	if narrow(m) && s.o.BriefPrompt != "" {
		return s.o.BriefPrompt
	}
	return s.o.SystemPrompt
}

// needed are the tools that a narrow window lists as far as there is room, most important first. Any others are searched
// for.
var needed = []string{
	"mcp__discord__add_reminder", "mcp__discord__ping_user", "mcp__discord__report_updates", "Read", "Write", "Edit",
	"mcp__discord__list_reminders", "mcp__discord__cancel_reminder", "Bash", "Glob", "Grep", "mcp__servers__find", "mcp__servers__call", "WebFetch",
}

// listed returns the tools in the prompt.
func (s *session) listed(m provider.Model) []tool {
	switch {
	case m.NoTools:
		return nil
	case !narrow(m) || s.o.Bare:
		return s.tools
	}
	room := m.Window / toolPart * bytesPerToken
	var list []tool
	left := 0
	for _, x := range s.tools {
		left += x.size()
	}
	if left <= room {
		return s.tools
	}
	list = append(list, tool{name: findTool, description: aboutFind, schema: json.RawMessage(schemaFind)},
		tool{name: callTool, description: aboutCall, schema: json.RawMessage(schemaCall)})
	for _, x := range list {
		room -= x.size()
	}
	for _, name := range needed {
		i := slices.IndexFunc(s.tools, func(x tool) bool { return x.name == name })
		if i < 0 {
			continue
		}
		x := s.tools[i]
		x.description = sentence(x.description)
		if m.Window < leastForSaving {
			x.schema = undescribed(x.schema)
		}
		if x.size() <= room {
			room -= x.size()
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(a, b tool) int { return cmp.Compare(a.name, b.name) })
	return list
}

// undescribed returns a schema without the descriptions in it, which the search still gives.
func undescribed(schema json.RawMessage) json.RawMessage {
	var v any
	if json.Unmarshal(schema, &v) != nil {
		return schema
	}
	var strip func(any)
	strip = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			if _, text := v["description"].(string); text {
				delete(v, "description")
			}
			for _, one := range v {
				strip(one)
			}
		case []any:
			for _, one := range v {
				strip(one)
			}
		}
	}
	strip(v)
	return raw(v)
}

// size is about how many bytes a definition takes in a prompt.
func (x tool) size() int {
	const overhead = 60
	return len(x.name) + len(x.description) + len(x.schema) + overhead
}

// sentence returns the first sentence of a text.
func sentence(text string) string {
	first, _, more := strings.Cut(text, ". ")
	if more {
		first += "."
	}
	return first
}

// findTool answers a search for tools with their definitions, best first.
func (s *session) findTool(input json.RawMessage) outcome {
	var a struct {
		Words string `json:"words"`
	}
	_ = json.Unmarshal(input, &a) // what is missing is asked for below
	if strings.TrimSpace(a.Words) == "" {
		return said(answerFindWhat)
	}
	list := toolset.Search(new(toolset.Splits), s.tools, func(x tool) (name, about string) { return x.name, x.description }, a.Words)
	var b strings.Builder
	for _, x := range list[:min(len(list), mostFound)] {
		fmt.Fprintf(&b, answerFound, x.name, x.description, x.schema)
	}
	if len(list) == 0 {
		var names []string
		for _, x := range s.tools {
			names = append(names, x.name)
		}
		fmt.Fprintf(&b, answerFoundAll, strings.Join(names, ", "))
	}
	return outcome{Result: tools.Result{Text: b.String()}}
}

// unwrapped turns calls through callTool into the calls that they mean, which then pass hooks and permissions like any.
func unwrapped(calls []call) []call {
	for i, c := range calls {
		if c.Name != callTool || c.bad != "" {
			continue
		}
		tool, args, ok := toolset.Named(c.Input)
		if !ok || tool == callTool {
			calls[i].bad = answerNoTool2
			continue
		}
		calls[i].ToolUse = agent.ToolUse{ID: c.ID, Name: tool, Input: args}
	}
	return calls
}

const (
	schemaFind = `{"type":"object","required":["words"],"properties":{"words":{"type":"string"}}}`
	schemaCall = `{"type":"object","required":["tool"],"properties":{"tool":{"type":"string"},"arguments":{"type":"object"}}}`
	aboutFind  = "Finds more tools by words, such as \"send file\". Search before you say that you cannot do something."
	aboutCall  = "Calls a tool that find_tool has found."
)

const (
	// leastPrompt is the smallest prompt in bytes that is judged.
	leastPrompt = 6_000
	// mostBytesPerToken is more than the bytes of a token of any text: about 4 for English, 3 for JSON.
	mostBytesPerToken = 6
)

// whole checks that the server has read the whole prompt: some leave out what does not fit, and say nothing. The first
// time, the request counts as too long, and is made again with the smaller window in mind.
func (t *talk) whole(q asked, a *answer) error {
	read := a.used.Usage().Prompt()
	if q.model.Cache || read == 0 { // a server with cache marks reports its errors, and some report no usage
		return nil
	}
	least := t.sent
	if q.model.Images { // pictures have many bytes and few tokens
		list, system, err := q.history.Frozen()
		if err != nil {
			return err
		}
		least = len(list) + len(system)
	}
	if least < leastPrompt || least/mostBytesPerToken <= read {
		return nil
	}
	text := fmt.Sprintf(textCutPrompt, words.Thousands(uint64(read)), words.Thousands(uint64(least/bytesPerToken)))
	t.s.log.Warn("the prompt was cut", "model", q.model.FullName(), "read", read, "bytes", least)
	if t.shortened || t.quiet || t.about != "" {
		t.emit(agent.Notice{Text: text})
		return nil
	}
	t.narrow(read)
	return &failure{text: text, said: text, long: true}
}

// narrow records that the window is smaller than it was taken for.
func (t *talk) narrow(window int) {
	if window = max(window, leastWindow); window < t.model.Window {
		t.model.Window, t.narrowed = window, true
		t.s.e.learn(t.model)
	}
}

// leastWindow is the smallest window in tokens that is believed.
const leastWindow = 1_024

// contextSize matches what vLLM, llama.cpp and LM Studio say about a prompt that is too long for their context.
var contextSize = lazyregexp.New(`(?i)(?:maximum context length is|context size \(|n_ctx"?[:=]?) ?([0-9]{4,9})`)

// windowIn returns the size of the context that a server's message names, or 0.
func windowIn(said string) int {
	found := contextSize().FindStringSubmatch(said)
	if found == nil {
		return 0
	}
	n, err := strconv.Atoi(found[1])
	if err != nil {
		return 0
	}
	return n
}

// written is how models begin that write a call of a tool into their text.
var written = lazyregexp.New(`^\s*(<tool_call>|<function=|\[TOOL_CALLS\]|<\|python_tag\|>|(?:` + "```" + `(?:json)?\s*)?\{\s*"(?:name|tool|function)"\s*:\s*")`)

// wroteCall reports whether an answer without calls contains one as text.
func (t *talk) wroteCall(a *answer) bool {
	for _, b := range a.blocks {
		if text := b.text(kindText); b.kind == kindText && written().MatchString(text) {
			return slices.ContainsFunc(append(t.names(), findTool, callTool), func(name string) bool { return strings.Contains(text, name) })
		}
	}
	return false
}
