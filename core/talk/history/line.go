package history

import (
	"encoding/json"
	"strings"
	"time"

	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/lazyregexp"
	promptwords "ollimbot/core/brief/prompt"
	"ollimbot/core/brief/toolset"
)

// kind is what a line of a session file is to a reader.
type kind int

// Most lines are of no interest: listings of tools, notes of the CLI to itself.
const (
	other  kind = iota
	prompt      // somebody spoke to the model
	result      // tools have answered
	answer      // the model spoke or called a tool
)

// line is one line of a session file, its content not decoded yet. It holds
// parts of the bytes that it was read of.
type line struct {
	kind    kind
	at      time.Time // zero where the line has no time
	uuid    string
	content []byte // raw: a string or blocks
	spoken  bool   // it holds text, not only tool calls
	// note says that the CLI wrote a prompt itself: feedback of a hook, the
	// summary of a compaction.
	note bool
	ours bool // it is of a session of the Messages API, or a note in one
}

// readLine skims a line; false for what is no object, torn ones among them.
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
		// What was said while a turn ran is noted as an attachment.
		if plainString(member(attachment, "type")) == "queued_command" {
			l.kind, l.content = prompt, member(attachment, "prompt")
		}
	}
	if l.content == nil {
		l.kind = other
	}
	l.spoken = l.spoken || l.kind == prompt
	if l.ours && l.kind == prompt { // the engine's own words have no header
		texts := sessionfile.Texts(l.content)
		l.note = len(texts) > 0 && !header().MatchString(texts[0])
	}
	return l, true
}

// counts reports whether the line is a message, to the model or of it.
func (l line) counts() bool { return l.kind != other && l.spoken && !l.note }

// holds reports whether content has a block of that type.
func holds(content []byte, kind string) bool {
	found := false
	elements(content, func(block []byte) {
		found = found || plainString(member(block, "type")) == kind
	})
	return found
}

// member is the raw value of one key; nil where there is none.
func member(object []byte, name string) (found []byte) {
	members(object, func(key, value []byte) {
		if string(key) == name {
			found = value
		}
	})
	return found
}

// Entry is one thing of a session: a message, a tool call, what a tool gave.
type Entry struct {
	At   time.Time `json:"at"` // zero where the file does not tell
	Role Role      `json:"role"`
	Tag  string    `json:"tag"`  // of a message of the program's: "routine-bg:9a8b7c6d", "button"
	Text string    `json:"text"` // cleaned, may hold line breaks; of one line for calls
	// Failed is true for the result of a tool that could not do its work.
	Failed bool `json:"failed"`
	// Copied is true for what a fork has from the session that it came from.
	Copied bool `json:"copied"`

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

// Role says whose an entry is.
type Role string

// The roles of an entry.
const (
	User    Role = "user"
	Bot     Role = "bot"
	Program Role = "program" // ollim-bot or the CLI spoke to the model: a task, a note
	Call    Role = "call"    // the model called a tool
	Result  Role = "result"  // and that is what the tool gave
)

var (
	// header begins every message of ours.
	header = lazyregexp.Lazily(`^\[\d{4}-\d\d-\d\d [A-Z][a-z]{2} \d\d:\d\d [AP]M [^\]\s]{1,20}(?: [+-]\d\d:\d\d)?\] ?`)
	// updatesHeading begins the updates that may stand behind it. They end with the
	// first blank line, since no update holds one.
	updatesHeading = lazyregexp.Lazily(`^RECENT BACKGROUND UPDATES[^\n]*:\n- `)
	// tagged is a message of the program's.
	tagged = lazyregexp.Lazily(`^\[((?:routine|routine-bg|reminder|reminder-bg|webhook):[^\]\n]{1,300}|` +
		`fork-started|fork-timeout|stale-fork|button|system)\] ?`)
	// noted is what the CLI says in the user's place.
	noted = lazyregexp.Lazily(`^(?:<(?:command-(?:name|message|args)|local-command-[a-z]+|task-notification|system-reminder)>|\[Request interrupted)`)
)

// said is one message to the model, taken apart.
type said struct {
	role Role
	tag  string // "routine-bg:9a8b7c6d", "button"; empty for plain words
	text string // cleaned, without header, updates and tag
	// user is true where it was the user who moved: by words, or by a button.
	user bool
}

// takeApart finds out who speaks in a message.
func takeApart(message string) said {
	rest := clean.Text(message)
	if m := header().FindString(rest); m != "" {
		rest = rest[len(m):]
		if updatesHeading().MatchString(rest) {
			_, words, found := strings.Cut(rest, "\n\n")
			if !found { // updates alone: nobody has said a word
				return said{role: Program, tag: "updates", text: rest}
			}
			rest = words
		}
	}
	rest = strings.TrimSpace(rest)
	m := tagged().FindStringSubmatch(rest)
	switch {
	case noted().MatchString(rest):
		return said{role: Program, text: rest}
	case m == nil:
		return said{role: User, text: rest, user: true}
	case m[1] != "fork-started":
		return said{role: Program, tag: m[1], text: rest[len(m[0]):], user: m[1] == "button"}
	}
	return forkStarted(rest, m)
}

// forkStarted tells how a fork began: with a reply of the user's, whose words
// stand behind the first paragraph, with a click, or with a topic, which the
// agent may have chosen.
func forkStarted(rest string, tag []string) said {
	if words, ok := strings.CutPrefix(rest, promptwords.ForkReply("")); ok {
		return said{role: User, tag: tag[1], text: strings.TrimSpace(words), user: true}
	}
	first, _, _ := strings.Cut(promptwords.ForkButton("", ""), "\n\n")
	clicked := strings.HasPrefix(rest, first)
	return said{role: Program, tag: tag[1], text: rest[len(tag[0]):], user: clicked}
}

// task is the id behind a task's tag, and whether it ran in the foreground.
func (s said) task() (kind, id string, foreground bool) {
	kind, id, ok := strings.Cut(s.tag, ":")
	if !ok {
		return "", "", false
	}
	kind, background := strings.CutSuffix(kind, "-bg")
	return kind, clean.Line(id), !background && kind != "webhook"
}
