package history

import (
	"encoding/json"
	"strings"
	"time"

	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/clean"
	"ollimbot/core/toolset"
)

// Entry is one thing of a session: a message, a tool call, what a tool gave.
type Entry struct {
	At   time.Time // zero where the file does not tell
	Role Role
	Tag  string // of a message of the program's: "routine-bg:9a8b7c6d", "button"
	Text string // cleaned, may hold line breaks; of one line for calls
	// Failed is true for the result of a tool that could not do its work.
	Failed bool
	// Copied is true for what a fork has from the session that it came from.
	Copied bool

	user   bool // the user moved: by words, or by a button
	counts bool // it stands for its line where messages are counted
}

// block is one part of a message's content.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

// entries decodes a line. What cannot be decoded gives none.
func (l line) entries() []Entry {
	switch l.kind {
	case prompt:
		return l.prompts()
	case answer, result:
		return l.blocks()
	}
	return nil
}

func (l line) prompts() []Entry {
	var list []Entry
	for _, message := range sessionfile.Texts(l.content) {
		s := takeApart(message)
		if l.note {
			s = said{role: Program, text: strings.TrimSpace(clean.Text(message))}
		}
		if s.text != "" || s.tag != "" {
			list = append(list, Entry{At: l.at, Role: s.role, Tag: clean.Line(s.tag), Text: s.text, user: s.user})
		}
	}
	return list
}

func (l line) blocks() []Entry {
	var blocks []block
	if json.Unmarshal(l.content, &blocks) != nil {
		if whole := text(l.content); whole != "" {
			blocks = []block{{Type: "text", Text: whole}}
		}
	}
	var list []Entry
	for _, b := range blocks {
		e := Entry{At: l.at}
		switch {
		case b.Type == "text" && l.kind == answer:
			e.Role, e.Text = Bot, strings.TrimSpace(clean.Text(b.Text))
		case b.Type == "tool_use":
			e.Role, e.Text = Call, callText(b.Name, b.Input)
		case b.Type == "tool_result":
			e.Role, e.Text, e.Failed = Result, resultText(b.Content), b.IsError
		}
		if e.Role != "" && (e.Text != "" || e.Role == Result) {
			list = append(list, e)
		}
	}
	return list
}

// saying are the arguments of our own tools that hold words for somebody; a
// ping is said to the user, though it is a tool call in the file.
var saying = []string{"title", "message", "text", "description", "question", "prompt", "content"}

// callText is a tool call as one line: its label, and the words that it carries
// where the label shows none.
func callText(name string, input json.RawMessage) string {
	label := toolset.Label(name, input)
	var fields map[string]any
	if strings.HasSuffix(label, ")") || json.Unmarshal(input, &fields) != nil {
		return label
	}
	var words []string
	for _, key := range saying {
		if s, ok := fields[key].(string); ok && strings.TrimSpace(s) != "" {
			words = append(words, clean.Line(s))
		}
	}
	if len(words) == 0 {
		return label
	}
	return label + ": " + strings.Join(words, " · ")
}

// resultText is the text of a tool's result, a string or blocks.
func resultText(content json.RawMessage) string {
	if whole := text(content); whole != "" {
		return strings.TrimSpace(clean.Text(whole))
	}
	var blocks []block
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	var parts []string
	for _, b := range blocks {
		switch b.Type {
		case "text":
			parts = append(parts, b.Text)
		default:
			parts = append(parts, "("+clean.Line(b.Type)+")")
		}
	}
	return strings.TrimSpace(clean.Text(strings.Join(parts, "\n")))
}
