package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"
)

// banFor is how long a ban is taken to last that does not say so itself.
const banFor = 15 * time.Minute

// tooMany reads a 429. Discord answers in JSON; anything else comes from what
// stands before it and concerns this machine's address.
func (c *Client) tooMany(k *call, r reply) end {
	if r.cut != nil {
		return c.failed(k, r)
	}
	if k.address != "" {
		wait := max(retryAfter(r), time.Second)
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
	if r.header.Get("X-RateLimit-Scope") != "shared" { // those are not held against us
		c.standing.note(r.at)
	}
	if said.Code == 30046 {
		return end{err: refusal(r, k.bare, c.hiding(k))}
	}
	wait, ok := fromSeconds(said.RetryAfter)
	if !ok || wait == 0 {
		wait = retryAfter(r)
	}
	global := said.Global || r.header.Get("X-RateLimit-Global") == "true"
	c.limits.block(k, r, global, r.at.Add(wait))
	c.log.Info("a request was limited", "request", k.rule(), "wait_ms", wait.Milliseconds(), "global", global)
	return end{err: &LimitedError{After: wait}, limited: true, wait: wait}
}

func (c *Client) banned(k *call, r reply) end {
	wait := retryAfter(r)
	if wait == 0 {
		wait = banFor
	}
	c.standing.ban(r.at.Add(wait))
	c.log.Error("this address is turned away; nothing is asked until that is over", "request", k.rule(), "wait_ms", wait.Milliseconds())
	return end{err: &BanError{After: wait}}
}

// retryAfter reads the header of that name, in seconds or as a date; 0 where
// there is none.
func retryAfter(r reply) time.Duration {
	said := r.header.Get("Retry-After")
	if d, ok := span(said); ok {
		return d
	}
	if at, err := http.ParseTime(said); err == nil {
		return min(max(at.Sub(r.at), 0), 24*time.Hour)
	}
	return 0
}
