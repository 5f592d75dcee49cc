package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"time"

	"ollimbot/core/base/web"
)

const (
	// patience limits the total time that one call waits for rate limits.
	patience = 60 * time.Second
	// maxTries limits the tries of one call that fail without being rate limited.
	maxTries = 5
	// tryTime limits one try, fileTime one that transfers files.
	tryTime  = 20 * time.Second
	fileTime = 2 * time.Minute
	// backOff is the pause after the first failed try; it doubles each time.
	backOff = 500 * time.Millisecond
	// leastWait times the number of 429 answers is the shortest wait after one: a
	// retry_after of zero must not cause a storm.
	leastWait = 250 * time.Millisecond
)

// call is one request and its policy.
type call struct {
	what   string // for errors: "send the message"
	method string
	route  string // with {} for each ID
	path   string // with the IDs
	major  string // the channel or interaction, which Discord limits separately
	// address replaces base and path for a download, which is not a request to the API: it has no token, and rate limits
	// do not apply.
	address string
	body    []byte
	kind    string             // content type of the body
	decode  func([]byte) error // nil ignores the answer
	most    int64              // largest answer in bytes
	before  func() error       // runs before the first try; an error ends the call. May be nil
	paid    bool               // before has run: a try continues for a moment after its caller ends
	// again means that the request is safe to repeat.
	again bool
	// done is the error code which shows a repeated try that an earlier one succeeded.
	done int
	// bare requests are authorized by an interaction's token in the path. They are sent without the bot's token, and the
	// global limit does not apply to them.
	bare   bool
	secret string // that token
	// shares names a limit that the call shares with others before Discord has named it; empty is its route's own.
	shares   string
	patience time.Duration
	tries    int
	time     time.Duration // limit of one try
	// fault is the reason why the request cannot be sent at all.
	fault error
	// maybe is set when a try was sent but not answered.
	maybe bool
}

// rule returns the key under which limits are stored.
func (k *call) rule() string { return k.method + " " + k.route }

// newCall fills a route with IDs. If an ID is empty or would change the path, the call fails without being sent.
func newCall(what, rule string, ids ...string) *call {
	method, route, _ := strings.Cut(rule, " ")
	k := &call{what: what, method: method, route: route, path: route, most: 16 << 20, patience: patience, tries: maxTries, time: tryTime}
	if len(ids) > 0 {
		k.major = ids[0]
	}
	for _, id := range ids {
		if id == "" || id == "." || id == ".." || len(id) > 512 {
			k.fault = fmt.Errorf("%w: %s", ErrInvalid, textNoID)
		}
		k.path = strings.Replace(k.path, "{}", url.PathEscape(id), 1)
	}
	return k
}

// fill encodes a value and files as the body.
func (k *call) fill(v any, files []File) {
	data, err := json.Marshal(v)
	k.kind = "application/json"
	if err == nil && len(files) > 0 {
		k.time = fileTime
		k.kind, data, err = withFiles(data, files)
	}
	if err != nil && k.fault == nil {
		k.fault = err
	}
	k.body = data
}

// do waits for the limits, sends the request and repeats it if that is safe.
func (c *Client) do(ctx context.Context, k *call) error {
	err := k.fault
	if err == nil {
		err = c.attempts(ctx, k)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", k.what, err)
	}
	return nil
}

func (c *Client) attempts(ctx context.Context, k *call) error {
	left, refusals := k.patience, 0
	for tries := 1; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := c.standing.check(time.Now()); err != nil {
			return err
		}
		wait := c.limits.reserve(k, time.Now())
		if wait == 0 {
			if k.before != nil {
				if err := k.before(); err != nil {
					return err
				}
				k.before, k.paid = nil, true
			}
			e := c.judge(k, c.try(ctx, k), tries)
			switch {
			case e.err == nil:
				return nil
			case ctx.Err() != nil:
				return ctx.Err()
			case e.limited:
				refusals++
				wait = max(e.wait, time.Duration(refusals)*leastWait)
			case !e.again || tries >= k.tries:
				return e.err
			default:
				if err := c.pause(ctx, max(e.wait, pauseAfter(tries)), e.err); err != nil {
					return err
				}
				c.log.Debug("request is repeated", "request", k.rule(), "after_tries", tries)
				tries++
				continue
			}
		}
		if wait > left {
			return &LimitedError{After: wait}
		}
		left -= wait
		c.log.Debug("request waits for a limit", "request", k.rule(), "wait_ms", wait.Milliseconds())
		if err := c.pause(ctx, wait, &LimitedError{After: wait}); err != nil {
			return err
		}
	}
}

// pauseAfter returns a random time in the upper half of a span that doubles, so that calls that failed together are
// not retried at the same time.
func pauseAfter(tries int) time.Duration {
	d := backOff << (tries - 1)
	return d/2 + rand.N(d/2) // only spreads load, no secret
}

// pause waits for d. If ctx would end first, it returns why at once; it also ends when the token is refused.
func (c *Client) pause(ctx context.Context, d time.Duration, why error) error {
	if over, ok := ctx.Deadline(); ok && time.Until(over) < d {
		return why
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-c.standing.refused:
		return ErrAuth
	case <-ctx.Done():
		return ctx.Err()
	}
}

// end is the result of a try: nil is success. A rate-limited try is repeated after wait, others only if again is set.
type end struct {
	err     error
	again   bool
	limited bool
	wait    time.Duration
}

// judge decides what an answer means.
func (c *Client) judge(k *call, r reply, tries int) end {
	if k.address == "" && r.status != 0 && r.status != 429 {
		c.limits.update(k, r.header, r.at)
	}
	switch {
	case r.err != nil:
		return end{err: r.err}
	case r.status == 0 || r.status == 408 || r.status >= 500, r.status/100 == 3 && k.address == "":
		return c.failed(k, r)
	case r.status/100 == 2:
		if k.decode == nil {
			return end{}
		}
		if r.cut == nil {
			r.cut = k.decode(r.body)
		}
		if r.cut == nil {
			return end{}
		}
		return c.failed(k, r)
	case r.status == 429:
		return c.tooMany(k, r)
	case k.address != "":
		return end{err: refusedFile(r.status)}
	}
	if r.status == 401 || r.status == 403 {
		c.standing.note(r.at)
	}
	err := refusal(r, k.bare, c.hiding(k))
	if r.status == 401 && !k.bare || errors.Is(err, ErrAuth) {
		c.standing.refuse()
		c.log.Error("the bot's token was refused; nothing more is asked")
		return end{err: ErrAuth}
	}
	var said *APIError
	if tries > 1 && k.done != 0 && errors.As(err, &said) && said.Code == k.done {
		return end{}
	}
	return end{err: err}
}

// failed returns the result of a try that might have been executed, unless it was never sent.
func (c *Client) failed(k *call, r reply) end {
	cause := r.cut
	if cause == nil {
		cause = fmt.Errorf(textStatus, r.status)
	}
	if !r.unsent && (r.status == 0 || r.status/100 == 2) {
		k.maybe = true
	}
	wait := time.Duration(0)
	if r.status >= 500 {
		wait = web.RetryAfter(r.header)
	}
	e := end{err: fmt.Errorf("%w: %w", ErrTransient, cause), again: k.again || r.unsent, wait: wait}
	if wait > patience {
		e.again = false
	}
	return e
}
