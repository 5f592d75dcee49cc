package history

import (
	"encoding/json"
	"strings"
	"time"

	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/base/clean"
	"ollimbot/core/brief/toolset"
)

// kind classifies a line of a session file.
type kind int

// Most lines are other: listings of tools, notes of the CLI to itself.
const (
	other  kind = iota
	prompt      // a message to the model
	result      // of tools
	answer      // a message or a tool call of the model
)

// line is one line of a session file, with undecoded content. It refers to the bytes it
// was read from.
type line struct {
	kind    kind
	at      time.Time // zero if the line has none
	uuid    string
	content []byte // raw: a string or blocks
	spoken  bool   // it has text, not only tool calls
	// note is set if the CLI wrote the prompt itself: feedback of a hook, the summary of
	// a compaction.
	note bool
	ours bool // it belongs to a session of the Messages API
}

// readLine skims a line; false if it is not a complete object.
func readLine(data []byte) (line, bool) {
	var l line
	var kindWord string
	var side bool // a subagent's
	var message, attachment, content []byte
	whole := members(data, func(key, value []byte) {
		switch string(key) {
		case "type":
			kindWord = plainString(value)
		case "timestamp":
			l.at, _ = time.Parse(time.RFC3339Nano, plainString(value))
		case "uuid":
			l.uuid = plainString(value)
		case "isSidechain":
			side = side || string(value) == "true"
		case "isMeta", "isCompactSummary":
			l.note = l.note || string(value) == "true"
		case "role": // a line of ours is the message itself
			kindWord, l.ours = plainString(value), true
		case "content":
			content = value
		case "at":
			l.at, _ = time.Parse(time.RFC3339Nano, plainString(value))
			l.ours = true
		case "message":
			message = value
		case "attachment":
			attachment = value
		}
	})
	if !whole || side {
		return line{at: l.at}, whole
	}
	if !l.ours {
		content = member(message, "content")
	}
	switch kindWord {
	case "user":
		l.content = content
		if l.kind = prompt; holds(l.content, "tool_result") {
			l.kind = result
		}
	case "assistant":
		l.kind, l.content = answer, content
		l.spoken = holds(l.content, "text")
	case "attachment":
		// A message that arrived during a turn is recorded as an attachment.
		if plainString(member(attachment, "type")) == "queued_command" {
			l.kind, l.content = prompt, member(attachment, "prompt")
		}
	}
	if l.content == nil {
		l.kind = other
	}
	l.spoken = l.spoken || l.kind == prompt
	if l.ours && l.kind == prompt { // the engine's own prompts have no header
		texts := sessionfile.Texts(l.content)
		l.note = len(texts) > 0 && !header().MatchString(texts[0])
	}
	return l, true
}

// counts reports whether the line is a message, to the model or from it.
func (l line) counts() bool { return l.kind != other && l.spoken && !l.note }

// holds reports whether content has a block of that type.
func holds(content []byte, kind string) bool {
	found := false
	elements(content, func(block []byte) {
		found = found || plainString(member(block, "type")) == kind
	})
	return found
}

// member returns the raw value of a key; nil if missing.
func member(object []byte, name string) (found []byte) {
	members(object, func(key, value []byte) {
		if string(key) == name {
			found = value
		}
	})
	return found
}

// Entry is part of a session: a message, a tool call or its result.
type Entry struct {
	At   time.Time `json:"at"` // zero if unknown
	Role Role      `json:"role"`
	Tag  string    `json:"tag"`  // of a message by the program: "routine-bg:9a8b7c6d", "button"
	Text string    `json:"text"` // cleaned, may hold line breaks; of one line for calls
	// Failed is true for the result of a tool that failed.
	Failed bool `json:"failed"`
	// Copied is true for entries that a fork copied from its parent.
	Copied bool `json:"copied"`

	user   bool // the user acted, by a message or a button
	counts bool // counts as a message: the first entry of its line
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

// entries decodes a line; none if that fails.
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

// saying are the arguments of our own tools that contain a message: a ping is a message
// to the user, although the file has it as a tool call.
var saying = []string{"title", "message", "text", "description", "question", "prompt", "content"}

// callText formats a tool call on one line: its label, and its message if the label has
// none.
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

// resultText returns the text of a tool's result, a string or blocks.
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

// Role is the source of an entry.
type Role string

// The roles of an entry.
const (
	User    Role = "user"
	Bot     Role = "bot"
	Program Role = "program" // ollim-bot or the CLI to the model: a task, a note
	Call    Role = "call"    // of a tool
	Result  Role = "result"  // of a tool
)
