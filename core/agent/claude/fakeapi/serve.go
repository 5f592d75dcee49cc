package fakeapi

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

const (
	pathMessages = "/v1/messages"
	pathCount    = "/v1/messages/count_tokens"

	maxBody = 32 << 20 // bytes, as the real API
)

// errCut ends an answer that the step itself breaks off.
var errCut = errors.New("cut by the step")

// exchange is one request and its answer.
type exchange struct {
	s   *Server
	w   http.ResponseWriter
	at  int // place in the record
	req Request
}

// serve answers one request and records it.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if !s.enter() {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	defer s.running.Done()
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	x := &exchange{s: s, w: w, req: Request{
		Time: time.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Raw: raw,
	}}
	post := r.Method == http.MethodPost && (r.URL.Path == pathMessages || r.URL.Path == pathCount)
	var unread error
	if err == nil && post {
		unread = x.req.read()
	}
	x.at = s.add(x.req)
	left := true // also when what follows panics
	defer func() {
		s.update(x.at, func(r *Request) { r.Ended, r.Left = true, left })
		s.o.Log.Debug("fake api answered", "method", x.req.Method, "path", x.req.Path, "left", left)
	}()
	switch {
	case err != nil:
		err = x.refuse(Step{Error: http.StatusRequestEntityTooLarge})
	case r.Method == http.MethodHead && r.URL.Path == "/":
		x.begin(http.StatusOK, Step{})
	case !s.admits(r.Header):
		err = x.refuse(Step{Error: http.StatusUnauthorized})
	case !post:
		err = x.refuse(Step{Error: http.StatusNotFound})
	case unread != nil:
		err = x.refuse(complaint(unread.Error()))
	case r.URL.Path == pathCount:
		err = x.json(http.StatusOK, Step{}, object{"input_tokens": len(raw) / 4})
	default:
		err = x.answer(r.Context())
	}
	left = err != nil && !errors.Is(err, errCut)
	if left {
		// Without this the answer would look whole: net/http ends it properly
		// when Close comes. Nobody is left to tell if the connection has gone.
		_ = x.cut()
	}
}

// admits reports whether a request carries the key.
func (s *Server) admits(h http.Header) bool {
	return s.o.Key == "" || h.Get("x-api-key") == s.o.Key || h.Get("authorization") == "Bearer "+s.o.Key
}

// answer plays the step that the request gets. ctx ends with the connection.
func (x *exchange) answer(ctx context.Context) error {
	if why := x.req.fault(); why != "" {
		return x.refuse(Step{Error: http.StatusBadRequest, ErrMsg: why})
	}
	step := x.s.choose(x.req)
	if err := pause(ctx, step.delay()); err != nil {
		return err
	}
	if step.Hold != "" && step.HoldAfter <= 0 {
		if err := x.s.wait(ctx, step.Hold); err != nil {
			return err
		}
	}
	if step.Hang {
		if err := x.s.wait(ctx, step.Key); err != nil {
			return err
		}
	}
	switch {
	case step.Error != 0:
		return x.refuse(step)
	case step.DropAfter < 0:
		return x.cut()
	case x.req.Stream:
		return x.stream(ctx, step)
	}
	return x.whole(ctx, step)
}

// whole answers without streaming. What a step wants to happen between chunks
// happens before the answer, which has none.
func (x *exchange) whole(ctx context.Context, step Step) error {
	if step.Hold != "" {
		if err := x.s.wait(ctx, step.Hold); err != nil {
			return err
		}
	}
	switch {
	case step.DropAfter > 0:
		return x.cut()
	case step.SSEError != "":
		step.Error, step.ErrType = statusOf(step.SSEError), step.SSEError
		return x.refuse(step)
	}
	m := newMessage(x.req, step)
	return x.json(http.StatusOK, step, m.object())
}

// refuse answers with a step's error.
func (x *exchange) refuse(step Step) error {
	kind, text := refusalFor(step.Error).kind, refusalFor(step.Error).text
	if step.ErrType != "" {
		kind = step.ErrType
	}
	if step.ErrMsg != "" {
		text = step.ErrMsg
	}
	if step.RetryAfter != "" {
		x.w.Header().Set("retry-after", string(step.RetryAfter))
	}
	return x.json(step.Error, step, object{"type": "error", "error": object{"type": kind, "message": text}})
}

// json sends a whole answer.
func (x *exchange) json(status int, step Step, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	x.w.Header().Set("content-type", "application/json")
	x.begin(status, step)
	_, err = x.w.Write(b)
	return err
}

// begin sends the head of an answer and records its status.
func (x *exchange) begin(status int, step Step) {
	h := x.w.Header()
	h.Set("request-id", newID("req_"))
	for name, value := range step.Headers {
		h.Set(name, value)
	}
	x.s.update(x.at, func(r *Request) { r.Status = status })
	x.w.WriteHeader(status)
}

// cut ends the TCP connection in the middle of whatever was sent.
func (x *exchange) cut() error {
	conn, _, err := http.NewResponseController(x.w).Hijack()
	if err != nil {
		return err
	}
	if err := conn.Close(); err != nil {
		return err
	}
	return errCut
}

// newID makes an id that no other server makes again: the claude command keeps
// them in its sessions, which outlive a server.
func newID(prefix string) string { return prefix + rand.Text() }
