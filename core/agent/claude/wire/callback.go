package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"ollimbot/core/clean"
)

// maxWord bounds what a word of the CLI takes in the log, in characters.
const maxWord = 60

// responseLine is the line of a control response.
type responseLine struct {
	Type     string   `json:"type"`
	Response response `json:"response"`
}

type response struct {
	Subtype   string `json:"subtype"`
	RequestID string `json:"request_id"`
	Response  any    `json:"response,omitempty"`
	Error     string `json:"error,omitempty"`
}

// callback is a request of the CLI that is being answered.
type callback struct{ cancel context.CancelFunc }

// accept starts the answer to a control_request. It reports whether the line
// was one: without an id there is nobody to answer.
func (c *Conn) accept(ctx context.Context, h head, g *sync.WaitGroup) bool {
	id := h.text("request_id")
	if id == "" {
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	one := &callback{cancel: cancel}
	c.mu.Lock()
	again := c.pending[id] != nil || c.recent.has(id)
	if !again {
		c.pending[id] = one
	}
	c.mu.Unlock()
	if again { // the first has been or will be answered
		cancel()
		return true
	}
	g.Go(func() {
		defer cancel()
		line := c.answer(ctx, id, h["request"])
		if c.finish(id, one) {
			c.out.push(line)
		}
	})
	return true
}

// cancel ends the context of a callback, whose answer is then dropped.
func (c *Conn) cancel(id string) {
	c.mu.Lock()
	one := c.pending[id]
	c.mu.Unlock()
	if one != nil && c.finish(id, one) {
		one.cancel()
	}
}

// finish takes a callback out of those that wait. Only the first to do so, the
// answer or the cancellation, is told true.
func (c *Conn) finish(id string, one *callback) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[id] != one {
		return false
	}
	delete(c.pending, id)
	c.recent.add(id)
	return true
}

// answer asks the handler and makes the line of its answer, whatever happens.
func (c *Conn) answer(ctx context.Context, id string, request json.RawMessage) []byte {
	body := response{Subtype: subtypeSuccess, RequestID: id}
	line, err := c.ask(ctx, body, request)
	if err == nil {
		return line
	}
	reason := err.Error()
	if reason == "" {
		reason = textNoReason
	}
	line, err = encode(responseLine{Type: kindControlResponse, Response: response{
		Subtype: subtypeError, RequestID: id, Error: reason,
	}})
	if err != nil {
		panic(err) // strings always marshal
	}
	return line
}

// ask runs the handler and encodes what it says, its panics included: a value
// may also panic while it is marshalled.
func (c *Conn) ask(ctx context.Context, body response, request json.RawMessage) (line []byte, err error) {
	inner, ok := peek(request)
	if !ok {
		return nil, errors.New(textNoRequest)
	}
	subtype := inner.text("subtype")
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("answering a control request panicked", "subtype", clean.Cut(clean.Line(subtype), maxWord),
				"fault", faultName(p), "stack", string(debug.Stack()))
			line, err = nil, errors.New(textFault)
		}
	}()
	if c.handler == nil {
		return nil, errors.New(textNoHandler)
	}
	body.Response, err = c.handler(ctx, subtype, request)
	if err != nil {
		return nil, err
	}
	if body.Response == nil {
		body.Response = struct{}{}
	}
	return encode(responseLine{Type: kindControlResponse, Response: body})
}

// faultName says what a panic was without the contents of a message, which may
// be in its value.
func faultName(p any) string {
	if err, ok := p.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", p)
}

// rememberedIDs is how many finished requests are known by their ids, so that
// one that is sent again is not answered twice.
const rememberedIDs = 256

// memory holds the newest ids. Its zero value is empty.
type memory struct {
	ids  [rememberedIDs]string
	next int
	set  map[string]bool
}

func (m *memory) has(id string) bool { return m.set[id] }

func (m *memory) add(id string) {
	if m.set == nil {
		m.set = make(map[string]bool, rememberedIDs)
	}
	delete(m.set, m.ids[m.next])
	m.ids[m.next] = id
	m.set[id] = true
	m.next = (m.next + 1) % rememberedIDs
}
