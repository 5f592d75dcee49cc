package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
)

// The types of control traffic, and the subtypes of responses.
const (
	kindControlRequest  = "control_request"
	kindControlResponse = "control_response"
	kindControlCancel   = "control_cancel_request"
	kindKeepAlive       = "keep_alive" // unrelated to turns

	subtypeSuccess = "success"
	subtypeError   = "error"
)

const (
	// maxReason and maxWord limit the CLI's texts in errors and in the log, in characters.
	maxReason = 500
	maxWord   = 60
)

// Texts of errors for control requests, and of answers to the CLI, which the model may read.
const (
	textRefused   = "claude refused %s: %s"
	textNoReason  = "no reason was given"
	textNoHandler = "this program answers no control requests"
	textNoRequest = "the control request has no request object"
	textFault     = "the program had an internal fault while it answered"
)

var errNoSubtype = errors.New("it has no subtype")

// RequestError means that the CLI refused a control request.
type RequestError struct {
	Subtype string // of the request
	Message string // the CLI's reason, cleaned, one line
}

func (e *RequestError) Error() string {
	return fmt.Sprintf(textRefused, e.Subtype, e.Message)
}

// reply is the CLI's answer to one of our requests.
type reply struct {
	response json.RawMessage
	refused  bool
	reason   string
}

// Request sends a control request, an object with a "subtype" or a struct that marshals to one, and
// returns the response, by default the empty object. The error is a *RequestError if the CLI
// refuses, ErrClosed if the connection ends first, or ctx's. A response that arrives later is
// dropped.
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
	replies := make(chan reply, 1)
	c.mu.Lock()
	c.asked++
	id := fmt.Sprintf("host_%d", c.asked)
	c.waiting[id] = replies
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.waiting, id)
		c.mu.Unlock()
	}()
	if err := c.Send(struct {
		Type      string          `json:"type"`
		RequestID string          `json:"request_id"`
		Request   json.RawMessage `json:"request"`
	}{kindControlRequest, id, body}); err != nil {
		return nil, err
	}
	var r reply
	select {
	case r = <-replies:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.ended:
		select { // the answer may have been the last line
		case r = <-replies:
		default:
			return nil, ErrClosed
		}
	}
	if r.refused {
		return nil, &RequestError{Subtype: subtype, Message: r.reason}
	}
	return r.response, nil
}

// resolve passes a control_response to its request. It reports whether the line was valid, even if
// no request is waiting for it.
func (c *Conn) resolve(h head) bool {
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
		replies <- r // never blocks: capacity one, one answer
	}
	return true
}

// callback is a request of the CLI that is being answered.
type callback struct{ cancel context.CancelFunc }

// accept starts answering a control_request. It reports whether the line was valid: it needs an ID.
func (c *Conn) accept(ctx context.Context, h head, g *sync.WaitGroup) bool {
	id := h.text("request_id")
	if id == "" {
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	one := &callback{cancel: cancel}
	c.mu.Lock()
	again := c.pending[id] != nil
	if !again {
		c.pending[id] = one
	}
	c.mu.Unlock()
	if again { // the first will be answered
		cancel()
		return true
	}
	g.Go(func() {
		defer cancel()
		line := c.answer(ctx, id, h["request"])
		if c.finish(id, one) {
			c.out.Push(line)
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

// finish removes a pending callback. It returns true only for the first caller: the answer
// or the cancellation.
func (c *Conn) finish(id string, one *callback) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending[id] != one {
		return false
	}
	delete(c.pending, id)
	return true
}

// responseLine is a control response.
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

// answer calls the handler and always returns a line with the answer.
func (c *Conn) answer(ctx context.Context, id string, request json.RawMessage) []byte {
	line, err := c.ask(ctx, id, request)
	if err == nil {
		return line
	}
	reason := err.Error()
	if reason == "" {
		reason = textNoReason
	}
	line, err = encode(responseLine{kindControlResponse, response{Subtype: subtypeError, RequestID: id, Error: reason}})
	if err != nil {
		panic(err) // strings always marshal
	}
	return line
}

// ask runs the handler and encodes its response. It recovers panics, also from marshalling.
func (c *Conn) ask(ctx context.Context, id string, request json.RawMessage) (line []byte, err error) {
	inner, ok := peek(request)
	if !ok {
		return nil, errors.New(textNoRequest)
	}
	if c.o.Handler == nil {
		return nil, errors.New(textNoHandler)
	}
	subtype := inner.text("subtype")
	err = fault.Guard("an answer to claude", func() error {
		said, err := c.o.Handler(ctx, subtype, request)
		if err != nil {
			return err
		}
		if said == nil {
			said = struct{}{}
		}
		line, err = encode(responseLine{kindControlResponse, response{Subtype: subtypeSuccess, RequestID: id, Response: said}})
		return err
	})()
	if stack := fault.Stack(err); stack != "" { // the panic's text may contain a message
		c.o.Log.Error("answering a control request panicked", "subtype", clean.Cut(clean.Line(subtype), maxWord), "stack", stack)
		err = errors.New(textFault)
	}
	return line, err
}

// head is a line's top-level fields, undecoded. A missing field is nil; the last of equal
// keys counts.
type head map[string]json.RawMessage

// peek reads the fields of raw and reports whether it is one JSON object.
func peek(raw []byte) (h head, ok bool) {
	err := json.Unmarshal(raw, &h)
	return h, err == nil && h != nil
}

// text returns a string field; any other value is "".
func (h head) text(field string) (s string) {
	if json.Unmarshal(h[field], &s) != nil {
		return ""
	}
	return s
}
