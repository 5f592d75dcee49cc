package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ollimbot/core/clean"
)

// maxReason bounds what the CLI's words take in an error, in characters.
const maxReason = 500

var errNoSubtype = errors.New("it has no subtype")

// RequestError is a control request that the CLI has refused.
type RequestError struct {
	Subtype string // of the request
	Message string // the CLI's reason: cleaned, one line
}

func (e *RequestError) Error() string {
	return fmt.Sprintf(textRefused, e.Subtype, e.Message)
}

// reply is the answer of the CLI to a request of ours.
type reply struct {
	response json.RawMessage
	refused  bool
	reason   string
}

// requestLine is the line of a control request.
type requestLine struct {
	Type      string          `json:"type"`
	RequestID string          `json:"request_id"`
	Request   json.RawMessage `json:"request"`
}

// Request sends a control request, an object with a "subtype" or a struct that
// marshals to one, and waits for its response; where the answer has none, it
// is the empty object. It gives a *RequestError when the CLI refuses, ErrClosed
// when the connection ends first, and ctx's error when ctx does; an answer
// that comes after that is dropped.
func (c *Conn) Request(ctx context.Context, request any) (json.RawMessage, error) {
	body, err := encode(request)
	if err != nil {
		return nil, fmt.Errorf("send a control request: %w", err)
	}
	h, _ := peek(body)
	subtype := h.text("subtype")
	if subtype == "" {
		return nil, fmt.Errorf("send a control request: %w", errNoSubtype)
	}
	id, replies := c.await()
	defer c.forget(id)
	if err := c.Send(requestLine{Type: kindControlRequest, RequestID: id, Request: body}); err != nil {
		return nil, err
	}
	r, err := c.reply(ctx, replies)
	if err != nil {
		return nil, err
	}
	return r.result(subtype)
}

// reply waits for an answer, for the end of ctx or that of the connection.
func (c *Conn) reply(ctx context.Context, replies <-chan reply) (reply, error) {
	select {
	case r := <-replies:
		return r, nil
	case <-ctx.Done():
		return reply{}, ctx.Err()
	case <-c.ended:
	}
	select { // the answer may have been the last line
	case r := <-replies:
		return r, nil
	default:
		return reply{}, ErrClosed
	}
}

func (r reply) result(subtype string) (json.RawMessage, error) {
	if r.refused {
		return nil, &RequestError{Subtype: subtype, Message: r.reason}
	}
	return r.response, nil
}

// await makes an id and the place where its answer will be.
func (c *Conn) await() (string, <-chan reply) {
	replies := make(chan reply, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	id := fmt.Sprintf("host_%d", c.asked)
	c.waiting[id] = replies
	return id, replies
}

func (c *Conn) forget(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

// settle hands a control_response to the request that waits for it. It reports
// whether the line was one; an answer that nobody waits for any more is.
func (c *Conn) settle(h head) bool {
	inner, ok := peek(h["response"])
	if !ok {
		return false
	}
	r := reply{response: inner["response"]}
	if r.response == nil {
		r.response = json.RawMessage("{}")
	}
	if inner.text("subtype") != subtypeSuccess {
		r.refused = true
		r.reason = clean.Cut(clean.Line(inner.text("error")), maxReason)
		if r.reason == "" {
			r.reason = textNoReason
		}
	}
	id := inner.text("request_id")
	c.mu.Lock()
	replies := c.waiting[id]
	delete(c.waiting, id)
	c.mu.Unlock()
	if replies != nil {
		replies <- r // one place, one answer: it never waits
	}
	return true
}
