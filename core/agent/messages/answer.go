package messages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/history"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/storage/store"
)

// Kinds of blocks and stop reasons.
const (
	kindText     = "text"
	kindThinking = "thinking"
	kindToolUse  = "tool_use"

	stopMaxTokens  = "max_tokens"
	stopPause      = "pause_turn"
	stopRefusal    = "refusal"
	stopWindow     = "model_context_window_exceeded"
	stopCompaction = "compaction"
)

// maxAnswer is the largest answer in bytes.
const maxAnswer = 64 << 20

// errGarbled means that an answer does not follow the protocol.
var errGarbled = errors.New(textGarbled)

// answer is a message of the model as it arrives.
type answer struct {
	stop   string
	blocks []*block
	used   provider.Count
	size   int
	over   bool // the server has ended the message
}

// block is one block of an answer. Its initial fields are kept unchanged, including unknown
// ones; deltas extend its texts.
type block struct {
	kind   string
	index  int
	fields map[string]json.RawMessage
	grown  map[string]*strings.Builder
	input  bytes.Buffer // of a tool call, as it arrives
	lists  map[string][]json.RawMessage
	whole  bool
}

// apiError is the server's description of an error.
type apiError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

// streamed is one event of a stream.
type streamed struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message json.RawMessage `json:"message"`
	Block   json.RawMessage `json:"content_block"`
	Delta   json.RawMessage `json:"delta"`
	Usage   json.RawMessage `json:"usage"`
	Error   *apiError       `json:"error"`
}

// message is the whole message of a server that does not stream, or the start of a streamed
// one.
type message struct {
	Type    string            `json:"type"`
	Content []json.RawMessage `json:"content"`
	Stop    string            `json:"stop_reason"`
	Usage   json.RawMessage   `json:"usage"`
	Error   *apiError         `json:"error"`
}

// piece receives each text and thought as it arrives; first means that it starts a block.
type piece func(kind, text string, first bool)

// take handles an event's data. named is the event's name, for servers whose data has no
// type.
func (a *answer) take(named string, data []byte, put piece) error {
	if a.size += len(data); a.size > maxAnswer {
		return &failure{text: fmt.Sprintf(textEndless, maxAnswer>>20)} // once more, it would not end either
	}
	var e streamed
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("%w: %w", errGarbled, err)
	}
	if e.Type == "" {
		e.Type = named
	}
	switch e.Type {
	case "message_start":
		var m message
		if json.Unmarshal(e.Message, &m) != nil {
			return errGarbled
		}
		a.count(m.Usage)
	case "content_block_start":
		return a.begin(e.Index, e.Block)
	case "content_block_delta":
		return a.grow(e.Index, e.Delta, put)
	case "content_block_stop":
		if b := a.at(e.Index); b != nil {
			b.whole = true
		}
	case "message_delta":
		var d struct {
			Stop string `json:"stop_reason"`
		}
		if json.Unmarshal(e.Delta, &d) != nil {
			return errGarbled
		}
		if d.Stop != "" {
			a.stop = d.Stop
		}
		a.count(e.Usage)
	case "message_stop":
		a.over = true
	case "error":
		return inStream(e.Error)
	}
	return nil // pings and unknown events are ignored
}

// count reads the usage so far.
func (a *answer) count(raw json.RawMessage) {
	_ = json.Unmarshal(raw, &a.used) // usage that is missing or unreadable is not counted
}

// at returns the newest block with an index.
func (a *answer) at(index int) *block {
	for _, b := range slices.Backward(a.blocks) {
		if b.index == index {
			return b
		}
	}
	return nil
}

func (a *answer) begin(index int, raw json.RawMessage) error {
	b := &block{index: index, grown: map[string]*strings.Builder{}, lists: map[string][]json.RawMessage{}}
	if json.Unmarshal(raw, &b.fields) != nil || json.Unmarshal(b.fields["type"], &b.kind) != nil {
		return errGarbled
	}
	a.blocks = append(a.blocks, b)
	return nil
}

// grow applies a delta: each of its texts extends the field of the same name.
func (a *answer) grow(index int, raw json.RawMessage, put piece) error {
	b := a.at(index)
	var d map[string]json.RawMessage
	if b == nil || b.whole || json.Unmarshal(raw, &d) != nil {
		return errGarbled
	}
	for name, value := range d {
		var text string
		switch {
		case name == "type" || string(value) == "null":
		case name == "citation":
			b.lists["citations"] = append(b.lists["citations"], value)
		case json.Unmarshal(value, &text) != nil: // not a text
		case name == "partial_json":
			b.input.WriteString(text)
		default:
			b.add(name, text, put)
		}
	}
	return nil
}

func (b *block) add(name, text string, put piece) {
	first := b.grown[name] == nil
	if first {
		b.grown[name] = &strings.Builder{}
		b.grown[name].WriteString(b.string(name))
	}
	b.grown[name].WriteString(text)
	if name == b.kind { // "text" of a text, "thinking" of a thought
		put(b.kind, text, first)
	}
}

// string returns a text field from the block's start.
func (b *block) string(name string) string {
	var s string
	_ = json.Unmarshal(b.fields[name], &s) // a missing field stays empty
	return s
}

// text returns the current value of a text field.
func (b *block) text(name string) string {
	if g := b.grown[name]; g != nil {
		return g.String()
	}
	return b.string(name)
}

// set changes the value of a field.
func (b *block) set(name string, v any) {
	if raw, err := encode(v); err == nil {
		b.fields[name] = raw
	}
}

// json returns the block in the history's form.
func (b *block) json() (json.RawMessage, error) {
	for name, g := range b.grown {
		b.set(name, g.String())
	}
	for name, list := range b.lists {
		b.set(name, list)
	}
	if b.input.Len() > 0 {
		b.set("input", json.RawMessage(b.input.Bytes()))
	}
	return encode(b.fields)
}

// length returns how many bytes of the answer have arrived.
func (a *answer) length() (n int) {
	for _, b := range a.blocks {
		n += b.input.Len()
		for _, g := range b.grown {
			n += g.Len()
		}
	}
	return n
}

// ofKind returns the blocks of some kinds.
func ofKind(blocks []*block, kinds ...string) []*block {
	return slices.DeleteFunc(slices.Clone(blocks), func(b *block) bool { return !slices.Contains(kinds, b.kind) })
}

// cut reports whether the answer stopped because it was too long.
func (a *answer) cut() bool { return a.stop == stopMaxTokens || a.stop == stopWindow }

// call is a tool call in an answer. bad explains why it cannot run: its arguments are not a JSON
// object, or the answer was cut off before their end.
type call struct {
	agent.ToolUse
	bad string
}

// calls returns the answer's tool calls, each with a unique ID and with arguments that the server
// accepts in a later request.
func (a *answer) calls() []call {
	var list []call
	seen := map[string]bool{}
	for i, b := range a.blocks {
		if b.kind != kindToolUse || !b.whole {
			continue
		}
		id := b.string("id")
		if id == "" || seen[id] {
			id = "toolu_" + strings.ReplaceAll(store.NewUUID(), "-", "")
			b.set("id", id)
		}
		seen[id] = true
		c := call{ToolUse: agent.ToolUse{ID: id, Name: b.string("name")}}
		c.Input, c.bad = b.arguments()
		if a.cut() && i == len(a.blocks)-1 { // even arguments that parse may be incomplete
			c.bad = fmt.Sprintf(answerCut, a.used.Output)
		}
		list = append(list, c)
	}
	return list
}

// arguments returns a call's arguments. Anything but an object becomes an empty one, because the
// server accepts nothing else in a later request.
func (b *block) arguments() (object json.RawMessage, bad string) {
	raw := b.fields["input"]
	if b.input.Len() > 0 {
		raw = b.input.Bytes()
	}
	var fields map[string]json.RawMessage
	said := ""
	switch err := json.Unmarshal(raw, &fields); {
	case len(bytes.TrimSpace(raw)) == 0:
		fields = map[string]json.RawMessage{}
	case err != nil || fields == nil:
		said = fmt.Sprintf(answerNoJSON, short(string(raw)))
	}
	object = json.RawMessage("{}")
	if said == "" && len(fields) > 0 {
		var one bytes.Buffer
		if json.Compact(&one, raw) == nil {
			object = one.Bytes()
		}
	}
	b.input.Reset()
	b.fields["input"] = object
	return object, said
}

// message returns the answer as a line of the history, or nil if none of it can be sent back. If
// the answer was cut off, only complete blocks and the text so far are kept.
func (a *answer) message() ([]byte, error) {
	var list []json.RawMessage
	says := false
	for _, b := range a.blocks {
		if !b.whole && b.kind != kindText || b.kind == kindText && b.text(kindText) == "" {
			continue
		}
		raw, err := b.json()
		if err != nil {
			return nil, fmt.Errorf("encode the answer: %w", err)
		}
		list = append(list, raw)
		says = says || b.kind != kindThinking && b.kind != "redacted_thinking"
	}
	if !says { // only thoughts
		return nil, nil
	}
	return line("assistant", list), nil
}

// line returns a message as a line of the history.
func line(role string, blocks []json.RawMessage) []byte {
	text := fmt.Appendf(nil, `{"role":%q,"content":[`, role)
	for i, b := range blocks {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, b...)
	}
	return append(text, "]}"...)
}

// raw encodes values that cannot fail: strings, numbers and JSON.
func raw(v any) json.RawMessage {
	data, err := encode(v)
	if err != nil {
		return nil
	}
	return data
}

// encode encodes a value as one line of JSON, without escaping "<".
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

func textBlock(text string) json.RawMessage {
	return raw(struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}{kindText, text})
}

// userLine returns a message of the user with one text.
func userLine(text string) []byte { return line("user", []json.RawMessage{textBlock(text)}) }

// danglingCalls returns the IDs of a message's tool calls.
func danglingCalls(message []byte) []string {
	var ids []string
	for _, b := range history.Blocks(message) {
		if b.Type == kindToolUse {
			ids = append(ids, b.ID)
		}
	}
	return ids
}
