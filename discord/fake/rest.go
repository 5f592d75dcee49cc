package fake

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// call is one REST request on its way through the fake.
type call struct {
	method   string
	path     string   // escaped, without /api/vN
	seg      []string // the path's segments, decoded
	query    url.Values
	body     []byte // JSON; of an upload the payload_json
	files    []upload
	header   http.Header
	problems []string // breaches of the contract, reported when the call is over
}

// problem notes a breach. What Discord itself would accept goes on.
func (c *call) problem(text string) { c.problems = append(c.problems, text) }

// serveREST takes one request through the steps that Discord's would go
// through, with the plans of a test in between.
func (s *Server) serveREST(w http.ResponseWriter, r *http.Request) {
	c, refused := readCall(r)
	rt := s.route(c)
	f := s.takeFault(c.method, c.path)
	entry := s.arrive(c)
	if f != nil && !f.match.AfterStored && !s.linger(r.Context(), f.plan) {
		return
	}
	var a answer
	switch {
	case f != nil && !f.match.AfterStored && f.plan.answers():
		if rt != nil {
			s.inspect(c, rt)
		}
		a = f.plan.answer()
	case rt == nil:
		a = notFound()
	case refused != nil:
		a = *refused
	default:
		a = s.process(c, rt)
	}
	late := f != nil && f.match.AfterStored
	if late && f.plan.answers() {
		a = f.plan.answer()
	}
	for _, p := range c.problems {
		s.violate("%s %s: %s\n\t%.600s", c.method, c.path, p, c.body)
	}
	s.decide(entry, a)
	if late && !s.linger(r.Context(), f.plan) {
		return
	}
	s.deliver(w, a)
}

// process is the part that has no fault: contract, token, limits, handler, and
// the contract of the answer.
func (s *Server) process(c *call, rt *route) answer {
	if refusal := s.inspect(c, rt); refusal != nil {
		return *refusal
	}
	s.mu.Lock()
	refusal := s.admitCall(c, rt)
	var a answer
	if refusal == nil {
		a = rt.handle(s, c)
		s.limitHeaders(c, rt, &a)
		s.change()
	} else {
		a = *refusal
	}
	s.mu.Unlock()
	if s.contract != nil && refusal == nil {
		if err := s.contract.checkAnswer(c, a); err != nil {
			c.problem("the fake's own answer: " + err.Error())
		}
	}
	return a
}

// inspect holds a request against the contract and returns the refusal that
// Discord would send, nil without one.
func (s *Server) inspect(c *call, rt *route) *answer {
	if !strings.HasPrefix(c.header.Get("User-Agent"), "DiscordBot") {
		c.problem("the User-Agent does not begin with DiscordBot")
	}
	if s.contract != nil {
		if err := s.contract.checkRequest(c); err != nil {
			c.problem(err.Error())
			return invalidForm("", err.Error())
		}
	}
	if rt.check == nil {
		return nil
	}
	return rt.check(c)
}

// admitCall checks token and limits. Callers hold the lock.
func (s *Server) admitCall(c *call, rt *route) *answer {
	if !rt.open && c.header.Get("Authorization") != "Bot "+s.token {
		a := answer{status: http.StatusUnauthorized, body: object{"message": "401: Unauthorized", "code": 0}}
		return &a
	}
	if s.o.Limits {
		return s.limit(c, rt)
	}
	return nil
}

// arrive notes a request before anything happens to it.
func (s *Server) arrive(c *call) int {
	r := &Request{Method: c.method, Path: c.path, Query: c.query.Encode(), Body: c.body, At: s.now()}
	for _, f := range c.files {
		r.Files = append(r.Files, f.name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	s.change()
	return len(s.requests) - 1
}

// decide notes what a request is answered with.
func (s *Server) decide(entry int, a answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := *s.requests[entry]
	r.Status = a.status
	s.requests[entry] = &r
	s.change()
}

// linger waits as a plan says and reports whether anybody still waits for the
// answer.
func (s *Server) linger(ctx context.Context, p Plan) bool {
	if p.Delay > 0 {
		t := time.NewTimer(p.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
			return false
		case <-s.stopped.Done():
			return false
		}
	}
	if p.Hold == "" {
		return true
	}
	select {
	case <-s.hold(p.Hold):
		return true
	case <-ctx.Done():
	case <-s.stopped.Done():
	}
	return false
}

func (s *Server) deliver(w http.ResponseWriter, a answer) {
	if a.cut {
		cut(w)
		return
	}
	for k, v := range a.header {
		w.Header()[k] = v
	}
	raw := a.raw
	if a.body != nil {
		raw = encode(a.body)
	}
	if w.Header().Get("Content-Type") == "" && raw != nil {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(raw) // the client may have left; it will not miss the answer
}

// cut ends the connection below a response without one.
func cut(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	reset(c)
}

// route finds the row for a call; a call that has none is a violation, because
// no bot needs it, or the fake must learn it.
func (s *Server) route(c *call) *route {
	for i := range routes {
		if routes[i].method == c.method && matchesSegments(routes[i].segments, c.seg) {
			return &routes[i]
		}
	}
	c.problem("unknown route")
	return nil
}

func matchesSegments(pattern string, seg []string) bool {
	want := strings.Split(pattern, "/")
	return slices.EqualFunc(want, seg, func(w, s string) bool { return w == "*" && s != "" || w == s })
}

// decodeBody reads the JSON of a call into v. The contract has accepted it, or
// is off; what does not fit is an invalid form either way.
func decodeBody(c *call, v any) *answer {
	if err := json.Unmarshal(c.body, v); err != nil {
		return invalidForm("", err.Error())
	}
	return nil
}
