package claudetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
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
	write, hour     int // tokens written to it, and those of them kept for an hour
}

func newMessage(r Request, step Step) message {
	m := message{id: newID("msg_"), model: r.Model, content: step.content(), read: step.CacheRead}
	m.stop = stop(m.content)
	m.in, m.out = step.In, step.Out
	if m.in == 0 {
		m.in = len(r.Raw) / 4
	}
	if c := step.Cached; c != nil {
		m.in, m.read, m.write, m.hour = c.Input, c.Read, c.Write, c.Hour
	}
	if m.out == 0 {
		m.out = 1
		for _, b := range m.content {
			m.out += len(b.body()) / 4
		}
	}
	return m
}

// usage returns the usage after this many output tokens.
func (m message) usage(out int) object {
	return object{
		"input_tokens": m.in, "output_tokens": out,
		"cache_read_input_tokens": m.read, "cache_creation_input_tokens": m.write,
		"cache_creation": object{"ephemeral_5m_input_tokens": m.write - m.hour, "ephemeral_1h_input_tokens": m.hour},
		"service_tier":   "standard",
	}
}

// object returns the complete message.
func (m message) object() object {
	content := make([]object, len(m.content))
	for i, b := range m.content {
		content[i] = b.object()
	}
	o := m.head()
	o["content"], o["stop_reason"], o["usage"] = content, m.stop, m.usage(m.out)
	return o
}

// head returns the message before any output.
func (m message) head() object {
	return object{
		"id": m.id, "type": "message", "role": "assistant", "model": m.model,
		"content": []object{}, "stop_reason": nil, "stop_sequence": nil, "usage": m.usage(1),
	}
}

// signature replaces the real API's signature of thinking.
const signature = "c2lnbmF0dXJl"

func (b Block) seal() string { return cmp.Or(b.Signature, signature) }

// body returns the part of a block that is streamed in deltas.
func (b Block) body() string {
	switch b.Type {
	case "thinking":
		return b.Thinking
	case "tool_use":
		return b.inputJSON()
	}
	return b.Text
}

// object returns a complete block.
func (b Block) object() object { return b.holding(b.body(), b.seal()) }

// empty returns a block as in content_block_start.
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

// delta returns a delta with a piece of a block's body.
func (b Block) delta(piece string) object {
	switch b.Type {
	case "thinking":
		return object{"type": "thinking_delta", "thinking": piece}
	case "tool_use":
		return object{"type": "input_json_delta", "partial_json": piece}
	}
	return object{"type": "text_delta", "text": piece}
}

// event is one server-sent event. piece means that it is a delta of a block's content.
type event struct {
	name  string
	data  object
	piece bool
}

// events returns the events of the streamed message.
func (m message) events(chunk int) []event {
	list := []event{{name: "message_start", data: object{"message": m.head()}}, {name: "ping", data: object{}}}
	for i, b := range m.content {
		add := func(name string, data object, piece bool) {
			data["index"] = i
			list = append(list, event{name, data, piece})
		}
		add("content_block_start", object{"content_block": b.empty()}, false)
		for _, piece := range pieces(b.body(), chunk) {
			add("content_block_delta", object{"delta": b.delta(piece)}, true)
		}
		if b.Type == "thinking" {
			add("content_block_delta", object{"delta": object{"type": "signature_delta", "signature": b.seal()}}, false)
		}
		add("content_block_stop", object{}, false)
	}
	end := object{"delta": object{"stop_reason": m.stop, "stop_sequence": nil}, "usage": m.usage(m.out)}
	return append(list, event{name: "message_delta", data: end}, event{name: "message_stop", data: object{}})
}

// stream answers with server-sent events.
func (x *exchange) stream(ctx context.Context, step Step) error {
	x.w.Header().Set("content-type", "text/event-stream; charset=utf-8")
	x.w.Header().Set("cache-control", "no-cache")
	x.begin(http.StatusOK)
	sent, held := 0, false
	for _, e := range newMessage(x.req, step).events(step.Chunk) {
		last := e.name == "message_delta" // no more pieces follow
		if last {
			if err := x.between(ctx, step, math.MaxInt, &held); err != nil {
				return err
			}
		}
		if err := x.event(e); err != nil {
			return err
		}
		if e.piece {
			sent++
			if err := x.between(ctx, step, sent, &held); err != nil {
				return err
			}
		}
	}
	return nil
}

// between plays the step's effects after this many pieces.
func (x *exchange) between(ctx context.Context, s Step, sent int, held *bool) error {
	if s.Hold != "" && s.HoldAfter > 0 && !*held && sent >= s.HoldAfter {
		*held = true
		if err := x.s.wait(ctx, s.Hold); err != nil {
			return err
		}
	}
	if s.DropAfter > 0 && sent >= s.DropAfter {
		return x.cut()
	}
	if s.SSEError != "" && sent >= max(1, s.SSEAfter) {
		text := cmp.Or(s.ErrMsg, refusalFor(statusOf(s.SSEError)).text)
		if err := x.event(event{name: "error", data: object{"error": object{"type": s.SSEError, "message": text}}}); err != nil {
			return err
		}
		return errCut
	}
	return ctx.Err()
}

// event sends one event immediately.
func (x *exchange) event(e event) error {
	if err := e.write(x.w); err != nil {
		return err
	}
	return http.NewResponseController(x.w).Flush()
}

func (e event) write(w io.Writer) error {
	e.data["type"] = e.name
	b, err := json.Marshal(e.data)
	if err == nil {
		_, err = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.name, b)
	}
	return err
}

// Stream returns a step's answer to a request as server-sent events.
func Stream(r Request, step Step) []byte {
	var out bytes.Buffer
	for _, e := range newMessage(r, step).events(step.Chunk) {
		_ = e.write(&out) // a buffer accepts everything, and a step was JSON
	}
	return out.Bytes()
}

// pieces splits a text into deltas of at least size bytes, between runes. Without a size they have
// 24 bytes, or more so that there are at most 200.
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
