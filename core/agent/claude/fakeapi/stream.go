package fakeapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"unicode/utf8"
)

// object is a JSON object.
type object = map[string]any

// message is an answer of the model.
type message struct {
	id, model, stop string
	content         []Block
	in, out         int // tokens
	read            int // tokens of the prompt cache
}

func newMessage(r Request, step Step) message {
	m := message{id: newID("msg_"), model: r.Model, content: step.content(), read: step.CacheRead}
	m.stop = stop(m.content)
	m.in, m.out = step.In, step.Out
	if m.in == 0 {
		m.in = len(r.Raw) / 4
	}
	if m.out == 0 {
		m.out = 1
		for _, b := range m.content {
			m.out += len(b.body()) / 4
		}
	}
	return m
}

// usage tells the tokens when so many have been put out.
func (m message) usage(out int) object {
	return object{
		"input_tokens": m.in, "output_tokens": out,
		"cache_read_input_tokens": m.read, "cache_creation_input_tokens": 0,
		"service_tier": "standard",
	}
}

// object is the message as a whole.
func (m message) object() object {
	content := make([]object, len(m.content))
	for i, b := range m.content {
		content[i] = b.object()
	}
	o := m.head()
	o["content"], o["stop_reason"], o["usage"] = content, m.stop, m.usage(m.out)
	return o
}

// head is the message before anything of it was put out.
func (m message) head() object {
	return object{
		"id": m.id, "type": "message", "role": "assistant", "model": m.model,
		"content": []object{}, "stop_reason": nil, "stop_sequence": nil, "usage": m.usage(1),
	}
}

// signature stands for the seal that the real API puts on thinking.
const signature = "c2lnbmF0dXJl"

// body is what of a block is streamed in deltas.
func (b Block) body() string {
	switch b.Type {
	case "thinking":
		return b.Thinking
	case "tool_use":
		return b.inputJSON()
	}
	return b.Text
}

// object is a block as a whole; with an empty body it is as content_block_start
// has it.
func (b Block) object() object { return b.holding(b.body(), signature) }

func (b Block) empty() object {
	if b.Type == "tool_use" {
		return b.holding("{}", "")
	}
	return b.holding("", "")
}

func (b Block) holding(body, seal string) object {
	switch b.Type {
	case "thinking":
		return object{"type": "thinking", "thinking": body, "signature": seal}
	case "tool_use":
		return object{"type": "tool_use", "id": b.ID, "name": b.Name, "input": json.RawMessage(body)}
	}
	return object{"type": "text", "text": body}
}

// delta is a piece of a block's body.
func (b Block) delta(piece string) object {
	switch b.Type {
	case "thinking":
		return object{"type": "thinking_delta", "thinking": piece}
	case "tool_use":
		return object{"type": "input_json_delta", "partial_json": piece}
	}
	return object{"type": "text_delta", "text": piece}
}

// streaming is an answer on its way, event by event.
type streaming struct {
	x    *exchange
	step Step
	out  *http.ResponseController
	sent int // deltas so far
	held bool
}

// stream answers with server-sent events.
func (x *exchange) stream(ctx context.Context, step Step) error {
	st := &streaming{x: x, step: step, out: http.NewResponseController(x.w)}
	x.w.Header().Set("content-type", "text/event-stream; charset=utf-8")
	x.w.Header().Set("cache-control", "no-cache")
	x.begin(http.StatusOK)
	m := newMessage(x.req, step)
	if err := st.event("message_start", object{"message": m.head()}); err != nil {
		return err
	}
	if err := st.event("ping", nil); err != nil {
		return err
	}
	for i, b := range m.content {
		if err := st.block(ctx, i, b); err != nil {
			return err
		}
	}
	if err := st.between(ctx, true); err != nil {
		return err
	}
	end := object{"delta": object{"stop_reason": m.stop, "stop_sequence": nil}, "usage": m.usage(m.out)}
	if err := st.event("message_delta", end); err != nil {
		return err
	}
	return st.event("message_stop", nil)
}

// block sends one content block.
func (st *streaming) block(ctx context.Context, index int, b Block) error {
	if err := st.event("content_block_start", object{"index": index, "content_block": b.empty()}); err != nil {
		return err
	}
	for _, piece := range pieces(b.body(), st.step.Chunk) {
		if err := st.event("content_block_delta", object{"index": index, "delta": b.delta(piece)}); err != nil {
			return err
		}
		st.sent++
		if err := st.between(ctx, false); err != nil {
			return err
		}
	}
	if b.Type == "thinking" {
		sealed := object{"index": index, "delta": object{"type": "signature_delta", "signature": signature}}
		if err := st.event("content_block_delta", sealed); err != nil {
			return err
		}
	}
	return st.event("content_block_stop", object{"index": index})
}

// between plays what the step wants after the deltas sent so far. last says
// that no further delta comes.
func (st *streaming) between(ctx context.Context, last bool) error {
	s := st.step
	if s.Hold != "" && s.HoldAfter > 0 && !st.held && (last || st.sent >= s.HoldAfter) {
		st.held = true
		if err := st.x.s.wait(ctx, s.Hold); err != nil {
			return err
		}
	}
	if s.DropAfter > 0 && (last || st.sent >= s.DropAfter) {
		return st.x.cut()
	}
	if s.SSEError != "" && (last || st.sent >= max(1, s.SSEAfter)) {
		text := cmp.Or(s.ErrMsg, refusalFor(statusOf(s.SSEError)).text)
		if err := st.event("error", object{"error": object{"type": s.SSEError, "message": text}}); err != nil {
			return err
		}
		return errCut
	}
	return ctx.Err()
}

// event sends one event at once.
func (st *streaming) event(name string, data object) error {
	o := object{"type": name}
	maps.Copy(o, data)
	b, err := json.Marshal(o)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(st.x.w, "event: %s\ndata: %s\n\n", name, b); err != nil {
		return err
	}
	return st.out.Flush()
}

// pieces cuts a text into deltas of at least size bytes, between runes. Without
// a size they are 24 bytes, or as long as makes 200 of them.
func pieces(text string, size int) []string {
	if size <= 0 {
		size = max(24, len(text)/200)
	}
	var out []string
	for len(text) > size {
		end := size
		for end < len(text) && !utf8.RuneStart(text[end]) {
			end++
		}
		out = append(out, text[:end])
		text = text[end:]
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}
