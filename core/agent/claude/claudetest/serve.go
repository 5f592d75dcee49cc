package claudetest

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

const (
	pathMessages = "/v1/messages"
	pathCount    = "/v1/messages/count_tokens"

	maxBody = 32 << 20 // bytes, as in the real API
)

// errCut means that the step itself ends the answer early.
var errCut = errors.New("cut by the step")

// exchange is one request and its answer.
type exchange struct {
	s   *Server
	w   http.ResponseWriter
	at  int // index in the record
	req Request
}

// serve answers one request and records it.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	x := &exchange{s: s, w: w, req: Request{
		Time: time.Now(), Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Raw: raw,
	}}
	post := r.Method == http.MethodPost && (r.URL.Path == pathMessages || r.URL.Path == pathCount)
	var unread error
	if err == nil && post {
		unread = x.req.read()
	}
	x.at = s.add(x.req)
	left := true // true even if the code below panics
	defer func() {
		s.update(x.at, func(r *Request) { r.Ended, r.Left = true, left })
	}()
	switch {
	case err != nil:
		err = x.refuse(Step{Error: http.StatusRequestEntityTooLarge})
	case r.Method == http.MethodHead && r.URL.Path == "/":
		x.begin(http.StatusOK)
	case !s.admits(r.Header):
		err = x.refuse(Step{Error: http.StatusUnauthorized})
	case !post:
		err = x.refuse(Step{Error: http.StatusNotFound})
	case unread != nil:
		err = x.refuse(complaint(unread.Error()))
	case r.URL.Path == pathCount:
		err = x.json(http.StatusOK, object{"input_tokens": len(raw) / 4})
	default:
		err = x.answer(r.Context())
	}
	left = err != nil && !errors.Is(err, errCut)
	if left {
		// Without this the answer would look complete, because net/http ends it properly on Close.
		// If the connection is gone, the error does not matter.
		_ = x.cut()
	}
}

// admits reports whether a request has the key.
func (s *Server) admits(h http.Header) bool {
	return s.o.Key == "" || h.Get("x-api-key") == s.o.Key || h.Get("authorization") == "Bearer "+s.o.Key
}

// answer plays the request's step. ctx ends with the connection.
func (x *exchange) answer(ctx context.Context) error {
	if why := x.req.fault(); why != "" {
		return x.refuse(Step{Error: http.StatusBadRequest, ErrMsg: why})
	}
	if _, err := x.s.cache.Take(x.req.Raw, time.Now()); err != nil {
		return x.refuse(Step{Error: http.StatusBadRequest, ErrMsg: err.Error()})
	}
	step := x.s.choose(x.req)
	late := time.NewTimer(time.Duration(step.DelayMS) * time.Millisecond)
	defer late.Stop()
	select {
	case <-late.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	if step.Hold != "" && step.HoldAfter <= 0 {
		if err := x.s.wait(ctx, step.Hold); err != nil {
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

// whole answers without streaming. Effects that a step wants between chunks happen before the
// answer, which has no chunks.
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
		step.Error = statusOf(step.SSEError)
		return x.refuse(step)
	}
	m := newMessage(x.req, step)
	return x.json(http.StatusOK, m.object())
}

// refuse answers with a step's error.
func (x *exchange) refuse(step Step) error {
	r := refusalFor(step.Error)
	if step.RetryAfter != "" {
		x.w.Header().Set("retry-after", string(step.RetryAfter))
	}
	return x.json(step.Error, object{"type": "error", "error": object{"type": r.kind, "message": cmp.Or(step.ErrMsg, r.text)}})
}

// json sends a whole answer.
func (x *exchange) json(status int, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	x.w.Header().Set("content-type", "application/json")
	x.begin(status)
	_, err = x.w.Write(b)
	return err
}

// begin sends the headers of an answer and records its status.
func (x *exchange) begin(status int) {
	x.w.Header().Set("request-id", newID("req_"))
	x.s.update(x.at, func(r *Request) { r.Status = status })
	x.w.WriteHeader(status)
}

// cut closes the TCP connection, even in the middle of an answer.
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

// newID returns a globally unique ID, because the claude command stores IDs in its sessions, which
// outlive a server.
func newID(prefix string) string { return prefix + rand.Text() }

// choose selects the answer to a request: Answer's, the summary for a compaction, the script's, or
// an echo.
func (s *Server) choose(r Request) Step {
	step := s.find(r)
	if step.PromptTooLong {
		step.Error = http.StatusBadRequest
		step.ErrMsg = cmp.Or(step.ErrMsg, textTooLong)
	}
	if step.Times > 0 {
		step = s.fail(step)
	}
	return step
}

func (s *Server) find(r Request) Step {
	s.mu.Lock()
	decide := s.decide
	s.mu.Unlock()
	if decide != nil {
		if step, ok := decide(r); ok {
			return step
		}
	}
	if strings.Contains(r.Prompt(), compactMark) {
		return Step{Text: summary(r)}
	}
	step, found, err := fromScript(r.Messages)
	switch {
	case err != nil:
		return complaint(err.Error())
	case found:
		return step
	}
	return Step{Text: echo(r)}
}

// fail counts a step's failures: it returns the step with its faults the first Times times, and
// then without.
func (s *Server) fail(step Step) Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := Script(step)
	if s.failures[key] >= step.Times {
		step.Error, step.ErrMsg, step.RetryAfter, step.PromptTooLong = 0, "", "", false
		step.DropAfter, step.SSEError, step.SSEAfter = 0, "", 0
		return step
	}
	s.failures[key]++
	return step
}

// complaint refuses an invalid request of a test.
func complaint(why string) Step {
	return Step{Error: http.StatusBadRequest, ErrMsg: "fakeapi: " + why}
}
