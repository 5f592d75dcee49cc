package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/base/web"
)

const (
	// longestSpan bounds the wait that a header can impose; Discord's windows last seconds.
	longestSpan = time.Hour
	// manyWindows is the number of windows at which expired ones are dropped. Each
	// interaction adds one.
	manyWindows = 128
)

// limits stores Discord's rate limits, so that a call waits before it is sent instead of being refused. It counts
// requests between answers, which spreads a burst over several windows.
type limits struct {
	mu     sync.Mutex
	global time.Time // until then only interactions are sent
	// buckets are Discord's names for shared limits, by route. There are few routes.
	buckets map[string]string
	windows map[string]window
}

// reactions is the limit of adding and removing reactions, one in reactEvery, until Discord has described it. The first
// two of a program would otherwise be one too many.
const (
	reactions  = "reactions"
	reactEvery = 300 * time.Millisecond
)

// window is the remaining part of a limit. A limit of 0 is unknown: only the wait is known.
type window struct {
	limit, left int
	until       time.Time
	span        time.Duration // expected length of the next window
}

// key returns the key of a call's window: Discord's bucket, otherwise the route, and the channel or interaction,
// which Discord limits separately. The lock must be held.
func (l *limits) key(k *call) string {
	return cmp.Or(l.buckets[k.rule()], k.shares, k.rule()) + " " + k.major
}

// reserve takes one request out of the call's window. It returns 0 if the call can be sent now, or the time to wait
// before reserving again.
func (l *limits) reserve(k *call, now time.Time) time.Duration {
	if k.address != "" {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !k.bare && now.Before(l.global) {
		return l.global.Sub(now)
	}
	key := l.key(k)
	w, known := l.windows[key]
	switch {
	case !known && k.shares == reactions:
		l.store(key, window{limit: 1, until: now.Add(reactEvery), span: reactEvery}, now)
		return 0
	case !known:
		return 0
	case now.Before(w.until):
	case w.limit == 0:
		delete(l.windows, key)
		return 0
	default:
		w.left, w.until = w.limit, now.Add(w.span)
	}
	if w.left <= 0 {
		return w.until.Sub(now)
	}
	w.left--
	l.windows[key] = w
	return 0
}

// update reads the rate limit headers of an answer.
func (l *limits) update(k *call, h http.Header, now time.Time) {
	limit, errL := strconv.Atoi(h.Get("X-RateLimit-Limit"))
	left, errR := strconv.Atoi(h.Get("X-RateLimit-Remaining"))
	span, ok := span(h.Get("X-RateLimit-Reset-After"))
	if errL != nil || errR != nil || !ok || limit < 1 || left < 0 || span == 0 || span > longestSpan {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.name(k, h)
	key := l.key(k)
	next := window{limit: limit, left: min(left, limit), until: now.Add(span), span: span}
	if old, known := l.windows[key]; known && now.Before(old.until) {
		next.span = max(span, old.span)
		switch apart := next.until.Sub(old.until); {
		case apart < -next.span/2:
			return // a late answer does not lift a newer limit
		case apart <= next.span/2:
			// The same window: requests in flight count too.
			next.left = min(next.left, old.left)
		}
	}
	l.store(key, next, now)
}

// block stops the call's window, or everything except interactions, until a time.
func (l *limits) block(k *call, r reply, global bool, until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if global {
		if until.After(l.global) {
			l.global = until
		}
		return
	}
	l.name(k, r.header)
	key := l.key(k)
	w := l.windows[key]
	w.left, w.until = 0, until
	l.store(key, w, r.at)
}

// name records the bucket of a route. The lock must be held.
func (l *limits) name(k *call, h http.Header) {
	bucket := h.Get("X-RateLimit-Bucket")
	if bucket == "" || len(bucket) > 100 {
		return
	}
	if l.buckets == nil {
		l.buckets = map[string]string{}
	}
	l.buckets[k.rule()] = bucket
}

// store sets a window and drops expired ones if there are many. The lock must be held.
func (l *limits) store(key string, w window, now time.Time) {
	if l.windows == nil {
		l.windows = map[string]window{}
	}
	if len(l.windows) >= manyWindows {
		for k, old := range l.windows {
			if !now.Before(old.until) {
				delete(l.windows, k)
			}
		}
	}
	l.windows[key] = w
}

// span reads a number of seconds, at most a day.
func span(s string) (time.Duration, bool) {
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	return web.Seconds(f), err == nil && f >= 0
}

// banFor is the assumed length of a ban of unknown duration.
const banFor = 15 * time.Minute

// tooMany reads a 429. Discord answers in JSON; anything else is from a proxy in front of
// it and concerns this machine's address.
func (c *Client) tooMany(k *call, r reply) end {
	if r.cut != nil {
		return c.failed(k, r)
	}
	if k.address != "" {
		wait := max(web.RetryAfter(r.header), time.Second)
		return end{err: &LimitedError{After: wait}, limited: true, wait: wait}
	}
	var said struct {
		RetryAfter float64 `json:"retry_after"`
		Global     bool    `json:"global"`
		Code       int     `json:"code"`
	}
	body := bytes.TrimSpace(r.body)
	if !bytes.HasPrefix(body, []byte("{")) || json.Unmarshal(body, &said) != nil {
		c.standing.note(r.at)
		return c.banned(k, r)
	}
	if r.header.Get("X-RateLimit-Scope") != "shared" { // those do not count against the bot
		c.standing.note(r.at)
	}
	if said.Code == discordgo.ErrCodeMaximumNumberOfEditsToMessagesOlderThanOneHourReached {
		return end{err: refusal(r, k.bare, c.hiding(k))}
	}
	wait := cmp.Or(web.Seconds(said.RetryAfter), web.RetryAfter(r.header))
	global := said.Global || r.header.Get("X-RateLimit-Global") == "true"
	c.limits.block(k, r, global, r.at.Add(wait))
	c.log.Info("a request was limited", "request", k.rule(), "wait_ms", wait.Milliseconds(), "global", global)
	return end{err: &LimitedError{After: wait}, limited: true, wait: wait}
}

func (c *Client) banned(k *call, r reply) end {
	wait := cmp.Or(web.RetryAfter(r.header), banFor)
	c.standing.ban(r.at.Add(wait))
	c.log.Error("this address is turned away; nothing is asked until that is over", "request", k.rule(), "wait_ms", wait.Milliseconds())
	return end{err: &LimitedError{After: wait, why: textBannedFor}}
}

const (
	// maxRefused answers of 401, 403 or 429 within refusedWithin stop the client: Discord
	// bans an address after ten thousand.
	maxRefused    = 500
	refusedWithin = 10 * time.Minute
)

// standing is the bot's status with Discord: whether its token is valid and its address is
// not blocked.
type standing struct {
	refused chan struct{} // closed when the token is refused

	mu     sync.Mutex
	banned time.Time // every call fails until then
	since  time.Time // start of the count
	count  int       // refused requests since then
}

// check returns the error with which all calls currently fail, or nil.
func (s *standing) check(now time.Time) error {
	select {
	case <-s.refused:
		return ErrAuth
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if wait := s.banned.Sub(now); wait > 0 {
		return &LimitedError{After: wait, why: textBannedFor}
	}
	if wait := s.since.Add(refusedWithin).Sub(now); s.count >= maxRefused && wait > 0 {
		return &LimitedError{After: wait, why: textStoppedFor}
	}
	return nil
}

// refuse makes every call, including waiting ones, end with ErrAuth.
func (s *standing) refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.refused:
	default:
		close(s.refused)
	}
}

func (s *standing) ban(until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until.After(s.banned) {
		s.banned = until
	}
}

// note counts a refused request.
func (s *standing) note(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.since) >= refusedWithin {
		s.since, s.count = now, 0
	}
	s.count++
}
