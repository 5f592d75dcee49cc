package discordtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Discord's sizes (reference, "Uploading Files").
const (
	maxRequest = 25 << 20 // bytes of one request
	maxFile    = 10 << 20 // bytes of one file
)

// route is one row of the table. The segments are the path; a star stands for
// any one. Open ones need no bot token. Counted ones have a limit per channel.
type route struct {
	method, segments string
	open, counted    bool
	check            func(*call) *Plan
	handle           func(*Server, *call) *Plan
}

var routes = []route{
	{method: "GET", segments: "gateway", open: true, handle: (*Server).getGateway},
	{method: "GET", segments: "gateway/bot", handle: (*Server).getGatewayBot},
	{method: "GET", segments: "users/@me", handle: (*Server).getSelf},
	{method: "POST", segments: "users/@me/channels", handle: (*Server).openDM},
	{method: "GET", segments: "applications/@me", handle: (*Server).getApplication},
	{method: "GET", segments: "applications/*/commands", handle: (*Server).getCommands},
	{method: "PUT", segments: "applications/*/commands", handle: (*Server).putCommands},
	{method: "POST", segments: "channels/*/typing", handle: (*Server).postTyping},
	{method: "GET", segments: "channels/*/messages", handle: (*Server).getMessages},
	{method: "POST", segments: "channels/*/messages", counted: true, check: checkCreate, handle: (*Server).postMessage},
	{method: "GET", segments: "channels/*/messages/*", handle: on((*Server).target, (*Server).getMessage)},
	{method: "PATCH", segments: "channels/*/messages/*", counted: true, check: checkEdit, handle: on((*Server).target, (*Server).patchMessage)},
	{method: "DELETE", segments: "channels/*/messages/*", handle: on((*Server).target, (*Server).deleteMessage)},
	{method: "PUT", segments: "channels/*/messages/*/reactions/*/@me", handle: on((*Server).target, (*Server).putReaction)},
	{method: "DELETE", segments: "channels/*/messages/*/reactions/*/@me", handle: on((*Server).target, (*Server).deleteReaction)},
	{method: "POST", segments: "interactions/*/*/callback", open: true, check: checkCallback, handle: (*Server).postCallback},
	{method: "POST", segments: "webhooks/*/*", open: true, check: checkCreate, handle: (*Server).postFollowup},
	{method: "PATCH", segments: "webhooks/*/*/messages/*", open: true, check: checkEdit, handle: on((*Server).followup, (*Server).patchMessage)},
	{method: "DELETE", segments: "webhooks/*/*/messages/*", open: true, handle: on((*Server).followup, (*Server).deleteMessage)},
}

// on makes a handler of what is done to the message that a path names.
func on(find func(*Server, *call) (*Message, *Plan), do func(*Server, *call, *Message) *Plan) func(*Server, *call) *Plan {
	return func(s *Server, c *call) *Plan {
		m, refusal := find(s, c)
		if refusal != nil {
			return refusal
		}
		return do(s, c, m)
	}
}

// route finds the row for a call; a call that has none is a violation, because
// no bot needs it, or the fake must learn it.
func (s *Server) route(c *call) *route {
	for i, r := range routes {
		want := strings.Split(r.segments, "/")
		if r.method == c.method && slices.EqualFunc(want, c.seg, func(w, s string) bool { return w == "*" && s != "" || w == s }) {
			return &routes[i]
		}
	}
	c.problem("unknown route")
	return nil
}

// call is one REST request on its way through the fake.
type call struct {
	method   string
	path     string   // escaped, without /api/vN
	seg      []string // the path's segments, decoded
	query    url.Values
	body     []byte // JSON; of an upload the payload_json
	files    []File
	header   http.Header
	problems []string // breaches of the contract, reported when the call is over
}

// problem notes a breach. What Discord itself would accept goes on.
func (c *call) problem(text string) { c.problems = append(c.problems, text) }

var apiRoot = regexp.MustCompile(`^/api(/v(9|10))?/`)

// readCall takes a request apart. The second result refuses it, with the call
// as far as it was read.
func readCall(r *http.Request) (*call, *Plan) {
	c := &call{method: r.Method, path: r.URL.EscapedPath(), query: r.URL.Query(), header: r.Header}
	root := apiRoot.FindString(c.path)
	if root == "" {
		return c, nil // no route will match
	}
	c.path = c.path[len(root)-1:]
	for seg := range strings.SplitSeq(c.path[1:], "/") {
		plain, err := url.PathUnescape(seg)
		if err != nil {
			plain = seg
		}
		c.seg = append(c.seg, plain)
	}
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, maxRequest))
	if err != nil {
		return c, failure(http.StatusRequestEntityTooLarge, 40005)
	}
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/form-data") {
		c.body = body
		return c, nil
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return c, c.readParts(r)
}

func (c *call) readParts(r *http.Request) *Plan {
	if err := r.ParseMultipartForm(maxRequest); err != nil {
		c.problem("the multipart body cannot be read: " + err.Error())
		return invalidForm("", err.Error())
	}
	for name, values := range r.MultipartForm.Value {
		if name != "payload_json" {
			c.problem("unknown part " + name + " in a multipart body")
		}
		c.body = []byte(values[0])
	}
	for _, name := range slices.Sorted(maps.Keys(r.MultipartForm.File)) {
		if !strings.HasPrefix(name, "files[") {
			c.problem("unknown file " + name + " in a multipart body")
		}
		h := r.MultipartForm.File[name][0]
		f, err := h.Open()
		if err != nil || h.Size > maxFile {
			return failure(http.StatusRequestEntityTooLarge, 40005)
		}
		data, _ := io.ReadAll(f) // it is in memory
		c.files = append(c.files, File{Name: h.Filename, Type: h.Header.Get("Content-Type"), Data: data})
	}
	return nil
}

// decode reads the JSON of a call into v. The contract has accepted it, or is
// off; what does not fit is an invalid form either way.
func (c *call) decode(v any) *Plan {
	if err := json.Unmarshal(c.body, v); err != nil {
		return invalidForm("", err.Error())
	}
	return nil
}

// serveREST takes one request through the steps that Discord's would go
// through, with the plans of a test in between.
func (s *Server) serveREST(w http.ResponseWriter, r *http.Request) {
	c, a := readCall(r)
	rt := s.route(c)
	f := s.takeFault(c.method, c.path)
	entry := s.arrive(c)
	before, after := f != nil && !f.AfterStored, f != nil && f.AfterStored
	if before && !s.linger(r.Context(), f.plan) {
		return
	}
	switch {
	case before && f.plan.answers():
		if rt != nil {
			s.inspect(c, rt)
		}
		a = f.plan
	case rt == nil:
		a = respond(http.StatusNotFound, object{"message": "404: Not Found", "code": 0})
	case a == nil:
		a = s.process(c, rt)
	}
	if after && f.plan.answers() {
		a = f.plan
	}
	for _, p := range c.problems {
		s.violate("%s %s: %s\n\t%.600s", c.method, c.path, p, c.body)
	}
	s.decide(entry, a)
	if after && !s.linger(r.Context(), f.plan) {
		return
	}
	a.deliver(w)
}

// process is the part that has no fault: contract, token, limits, handler, and
// the contract of the answer.
func (s *Server) process(c *call, rt *route) *Plan {
	if refusal := s.inspect(c, rt); refusal != nil {
		return refusal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !rt.open && c.header.Get("Authorization") != "Bot "+s.token {
		return unauthorized()
	}
	if refusal := s.limit(c, rt); refusal != nil {
		return refusal
	}
	a := rt.handle(s, c)
	s.limitHeaders(c, rt, a)
	s.change()
	if s.contract != nil {
		if err := s.contract.checkAnswer(c, a); err != nil {
			c.problem("the fake's own answer: " + err.Error())
		}
	}
	return a
}

// inspect holds a request against the contract and returns the refusal that
// Discord would send, nil without one.
func (s *Server) inspect(c *call, rt *route) *Plan {
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

// arrive notes a request before anything happens to it.
func (s *Server) arrive(c *call) int {
	r := &Request{Method: c.method, Path: c.path, Body: c.body}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.Requests = append(s.all.Requests, r)
	s.change()
	return len(s.all.Requests) - 1
}

// decide notes what a request is answered with.
func (s *Server) decide(entry int, a *Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := *s.all.Requests[entry]
	r.Status = a.Status
	s.all.Requests[entry] = &r
	s.change()
}

// linger waits as a plan says and reports whether anybody still waits for the
// answer.
func (s *Server) linger(ctx context.Context, p *Plan) bool {
	if p.Hold == "" {
		return true
	}
	s.mu.Lock()
	held := s.hold(p.Hold)
	s.mu.Unlock()
	select {
	case <-held:
		return true
	case <-ctx.Done():
	case <-s.stopped.Done():
	}
	return false
}

func (p *Plan) deliver(w http.ResponseWriter) {
	if p.Cut {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		reset(c)
		return
	}
	maps.Copy(w.Header(), p.header)
	raw := p.encoded()
	if w.Header().Get("Content-Type") == "" && len(raw) > 0 {
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(raw) // the client may have left; it will not miss the answer
}

func (s *Server) getGateway(*call) *Plan { return ok(object{"url": s.ws}) }

func (s *Server) getGatewayBot(*call) *Plan {
	return ok(object{
		"url": s.ws, "shards": 1,
		"session_start_limit": object{
			"total": max(1000, s.startsLeft), "remaining": s.startsLeft, "reset_after": 86400000, "max_concurrency": 1,
		},
	})
}

func (s *Server) getSelf(*call) *Plan {
	o := wireUser(s.bot)
	o["mfa_enabled"], o["locale"], o["verified"], o["email"] = false, "en-US", true, nil
	return ok(o)
}

func (s *Server) openDM(c *call) *Plan {
	var in struct {
		RecipientID string `json:"recipient_id"`
	}
	if refusal := c.decode(&in); refusal != nil {
		return refusal
	}
	u, known := s.users[in.RecipientID]
	if !known {
		return failure(http.StatusBadRequest, 50007)
	}
	return ok(s.wireChannel(s.directChannel(u)))
}

func (s *Server) getApplication(*call) *Plan { return ok(s.wireApplication()) }

func (s *Server) getCommands(c *call) *Plan {
	if c.seg[1] != s.app {
		return failure(http.StatusForbidden, 50001)
	}
	out := make([]json.RawMessage, 0, len(s.all.Commands))
	for _, k := range s.all.Commands {
		out = append(out, k.raw)
	}
	return ok(out)
}

// putCommands replaces all commands. One whose name stays keeps its id.
func (s *Server) putCommands(c *call) *Plan {
	var in []object
	if refusal := c.decode(&in); refusal != nil || c.seg[1] != s.app {
		return failure(http.StatusForbidden, 50001)
	}
	var commands []Command
	for _, o := range in {
		k := Command{Name: o["name"].(string)}
		same := func(other Command) bool { return other.Name == k.Name }
		if slices.ContainsFunc(commands, same) {
			return invalidForm("name", "Application command names must be unique")
		}
		if i := slices.IndexFunc(s.all.Commands, same); i >= 0 {
			k.ID = s.all.Commands[i].ID
		} else {
			k.ID = s.next(s.now())
		}
		dropNulls(o)
		defaults(o, object{
			"type": 1, "description": "", "nsfw": false, "dm_permission": true, "integration_types": []int{0},
			"default_member_permissions": nil, "contexts": nil, // required, and may be null
		})
		o["id"], o["application_id"], o["version"] = k.ID, s.app, s.next(s.now())
		k.raw = encode(o)
		commands = append(commands, k)
	}
	s.all.Commands = commands
	s.all.CommandPuts++
	return s.getCommands(c)
}
