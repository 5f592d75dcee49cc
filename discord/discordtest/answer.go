package discordtest

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

func respond(status int, body any) *Plan {
	return &Plan{Status: status, body: body, header: http.Header{}}
}

func ok(body any) *Plan { return respond(http.StatusOK, body) }

func nothing() *Plan { return respond(http.StatusNoContent, nil) }

// encoded is the body as it goes over the wire.
func (p *Plan) encoded() []byte {
	if p.body != nil {
		return encode(p.body)
	}
	return []byte(p.Body)
}

// Discord's error codes (topics/opcodes-and-status-codes) with the words that
// stand in its documentation.
var codeText = map[int]string{
	10003: "Unknown Channel",
	10008: "Unknown Message",
	10015: "Unknown Webhook",
	10062: "Unknown interaction",
	30046: "Maximum number of edits to messages older than 1 hour reached. Try again later",
	40005: "Request entity too large. Try sending something smaller in size",
	40060: "Interaction has already been acknowledged",
	40094: "This interaction has reached the maximum number of follow-up messages",
	50001: "Missing access",
	50005: "Cannot edit a message authored by another user",
	50006: "Cannot send an empty message",
	50007: "Cannot send messages to this user",
	50013: "You lack permissions to perform that action",
	50027: "Invalid webhook token",
	50035: "Invalid form body",
	50278: "Cannot send messages to this user due to having no mutual guilds",
}

// failure is an error as Discord words it.
func failure(status, code int) *Plan {
	return respond(status, object{"message": codeText[code], "code": code})
}

func unauthorized() *Plan {
	return respond(http.StatusUnauthorized, object{"message": "401: Unauthorized", "code": 0})
}

// invalidForm is 400 50035 with the tree that says where.
func invalidForm(field, why string) *Plan {
	tree := object{"_errors": []object{{"code": "BASE_TYPE_INVALID", "message": why}}}
	if field != "" {
		tree = object{field: tree}
	}
	return respond(http.StatusBadRequest, object{"message": codeText[50035], "code": 50035, "errors": tree})
}

// limited is Discord's 429, with the header in whole seconds and the body to
// the millisecond.
func limited(wait time.Duration, global bool) *Plan {
	a := respond(http.StatusTooManyRequests, object{
		"message": "You are being rate limited.", "code": 0, "global": global, "retry_after": math.Ceil(wait.Seconds()*1000) / 1000,
	})
	a.header.Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
	a.header.Set("X-RateLimit-Scope", "user")
	if global {
		a.header.Set("X-RateLimit-Global", "true")
		a.header.Set("X-RateLimit-Scope", "global")
	}
	return a
}

// Match says which requests a fault concerns.
type Match struct {
	Method string // empty: any
	// PathPrefix is compared with the path behind /api/vN, as
	// "/channels/*/messages": a segment * stands for any one. Files have their
	// path "/attachments/…". Empty: any.
	PathPrefix string
	Times      int // how many requests; 0 is one, below 0 all
	// AfterStored lets the request take effect before the plan is carried out:
	// the message is stored, and the client does not hear of it.
	AfterStored bool
}

// Plan is what a request gets, by itself or because a test has planned it; nil is
// none. Hold comes first; with neither Status nor Cut the real answer follows.
type Plan struct {
	Status int
	Body   string
	Cut    bool   // the connection ends without an answer; a file ends in its middle
	Hold   string // the request waits until Release is called with this key

	body   any // goes out as JSON in place of Body
	header http.Header
}

func (p *Plan) answers() bool { return p.Status != 0 || p.Cut }

// page is a plan of something in front of Discord, which answers in HTML.
func page(status int, body string) Plan {
	return Plan{Status: status, Body: body, header: http.Header{"Content-Type": {"text/html; charset=UTF-8"}}}
}

// Refused is an error of Discord's with this status and code: 403 and 50007.
func Refused(status, code int) Plan { return *failure(status, code) }

// Unauthorized is what every request gets after the token was reset.
func Unauthorized() Plan { return *unauthorized() }

// InvalidForm is 400 50035 about one field.
func InvalidForm(field, why string) Plan { return *invalidForm(field, why) }

// RateLimited is a 429 that asks for this pause.
func RateLimited(wait time.Duration, global bool) Plan { return *limited(wait, global) }

// OldEdits is the 429 with code 30046: too many edits of messages that are
// older than an hour.
func OldEdits(wait time.Duration) Plan {
	a := limited(wait, false)
	a.body = object{"message": codeText[30046], "code": 30046, "global": false, "retry_after": wait.Seconds()}
	return *a
}

// BareRateLimit is a 429 without a body.
func BareRateLimit() Plan { return Plan{Status: http.StatusTooManyRequests} }

// Banned is Cloudflare's 429 after too many invalid requests: HTML, no JSON.
func Banned(wait time.Duration) Plan {
	p := page(http.StatusTooManyRequests, "<!doctype html><title>Access denied</title><h1>Error 1015</h1><p>You are being rate limited.</p>")
	p.header.Set("Retry-After", strconv.Itoa(int(wait.Seconds())))
	return p
}

// Broken is a 5xx from something in front of Discord.
func Broken(status int) Plan {
	return page(status, "<html><head><title>"+strconv.Itoa(status)+" "+http.StatusText(status)+"</title></head></html>")
}

// Lost ends the connection in place of an answer.
func Lost() Plan { return Plan{Cut: true} }

// Garbled is a 200 whose JSON ends too early.
func Garbled() Plan {
	return Plan{Status: http.StatusOK, header: http.Header{"Content-Type": {"application/json"}}, Body: `{"id":"1","content":`}
}

type fault struct {
	Match
	plan *Plan
	left int // below 0: no end
}

// Fault plans what happens to the next requests that match. Faults are tried in
// the order of their making; a used up one is gone. The function that it
// returns lifts the fault early.
func (s *Server) Fault(m Match, p Plan) (lift func()) {
	f := &fault{Match: m, plan: &p, left: m.Times}
	if f.left == 0 {
		f.left = 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, f)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		f.left = 0
	}
}

// NoFaults lifts all of them.
func (s *Server) NoFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

func (s *Server) takeFault(method, path string) *fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.faults {
		if f.left == 0 || f.Method != "" && f.Method != method || !matchesPath(f.PathPrefix, path) {
			continue
		}
		if f.left > 0 {
			f.left--
		}
		return f
	}
	return nil
}

// matchesPath compares whole segments, but for the pattern's last one, which
// may be the beginning of a segment.
func matchesPath(prefix, path string) bool {
	want, got := strings.Split(strings.TrimPrefix(prefix, "/"), "/"), strings.Split(strings.TrimPrefix(path, "/"), "/")
	if len(want) > len(got) {
		return false
	}
	for i, w := range want {
		if w == "*" || w == got[i] {
			continue
		}
		if i < len(want)-1 || !strings.HasPrefix(got[i], w) {
			return false
		}
	}
	return true
}

// hold is the channel that Release closes. Callers hold the lock.
func (s *Server) hold(key string) chan struct{} {
	if s.holds[key] == nil {
		s.holds[key] = make(chan struct{})
	}
	return s.holds[key]
}

// Release lets the requests go on that a plan holds under this key, and those
// that come later.
func (s *Server) Release(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.hold(key):
	default:
		close(s.hold(key))
	}
}

// What the limits allow. Discord documents none of the numbers per channel;
// these are the observed ones (Discord.Net issue 2375).
const (
	channelLimit = 5
	channelSpan  = 5 * time.Second
	globalLimit  = 50
	globalSpan   = time.Second
)

// window counts the requests of one bucket since its first.
type window struct {
	from time.Time
	n    int
}

// take counts one request and reports how long to wait when it is one too many.
func (w *window) take(now time.Time, limit int, span time.Duration) time.Duration {
	if now.Sub(w.from) >= span {
		*w = window{from: now}
	}
	if w.n >= limit {
		return w.from.Add(span).Sub(now)
	}
	w.n++
	return 0
}

func (s *Server) window(key string) *window {
	if s.limits[key] == nil {
		s.limits[key] = &window{}
	}
	return s.limits[key]
}

// limit counts a call and refuses it when it comes too early. Interaction
// endpoints count for nothing here, as with Discord. Callers hold the lock.
func (s *Server) limit(c *call, rt *route) *Plan {
	if !s.o.Limits || rt.open {
		return nil
	}
	now := s.now()
	wait, global := s.window("").take(now, globalLimit, globalSpan), true
	if wait == 0 && rt.counted {
		wait, global = s.window(c.bucket()).take(now, channelLimit, channelSpan), false
	}
	if wait == 0 {
		return nil
	}
	s.all.Limited++
	return limited(wait, global)
}

// limitHeaders tells the client how much of its bucket is left. Callers hold
// the lock.
func (s *Server) limitHeaders(c *call, rt *route, a *Plan) {
	if !s.o.Limits || !rt.counted || a.Status == http.StatusTooManyRequests {
		return
	}
	w := s.window(c.bucket())
	reset := w.from.Add(channelSpan)
	a.header.Set("X-RateLimit-Limit", strconv.Itoa(channelLimit))
	a.header.Set("X-RateLimit-Remaining", strconv.Itoa(channelLimit-w.n))
	a.header.Set("X-RateLimit-Reset", fmt.Sprintf("%.3f", float64(reset.UnixMilli())/1000))
	a.header.Set("X-RateLimit-Reset-After", fmt.Sprintf("%.3f", max(0, reset.Sub(s.now()).Seconds())))
	a.header.Set("X-RateLimit-Bucket", strings.ReplaceAll(rt.method+rt.segments, "/", ""))
}

// bucket is what a limit of a channel counts by.
func (c *call) bucket() string { return c.method + " " + c.seg[1] }
