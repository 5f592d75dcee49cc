package google

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/web"
)

const (
	attempts    = 4
	attemptTime = 15 * time.Second
	firstWait   = 150 * time.Millisecond
	// patience is the longest wait that Google may ask for.
	patience  = 20 * time.Second
	maxAnswer = 64 << 20 // bytes
)

// strangerError means that something on the way answered instead of Google, such as the
// login page of a hotel network. Google got nothing.
type strangerError struct{ what string }

func (e *strangerError) Error() string { return e.what }

// stranger describes an answer that Google's APIs never give, or returns "".
func stranger(res *http.Response) string {
	page := strings.HasPrefix(res.Header.Get("Content-Type"), "text/html")
	switch to, err := res.Location(); {
	case res.StatusCode >= 300 && res.StatusCode < 400 && err == nil:
		return "a redirect to " + to.Host
	case res.StatusCode == http.StatusNetworkAuthenticationRequired, page && res.StatusCode < 300:
		return "a web page"
	}
	return ""
}

// call is one call of an API.
type call struct {
	scope  Scope
	method string
	path   []string // its segments, the service first
	query  url.Values
	body   any
	once   bool    // never repeated after an attempt that Google may have carried out
	sync   *string // receives the token that requests later changes to a list; may be nil
}

// refusal is an error that Google returned.
type refusal struct {
	status  int
	reasons []string
	message string
	wait    time.Duration // Retry-After
	after   bool          // Google may have carried out an earlier attempt
}

func (r *refusal) Error() string {
	return fmt.Sprintf(textRefused, r.status, clean.Cut(clean.Line(r.message), 300))
}

// is reports whether one of the reasons was given.
func (r *refusal) is(reasons ...string) bool {
	return slices.ContainsFunc(r.reasons, func(s string) bool { return slices.Contains(reasons, s) })
}

// later reports that the same call may succeed in a while.
func (r *refusal) later() bool {
	return r.status == http.StatusTooManyRequests || r.status == http.StatusForbidden && r.is("rateLimitExceeded", "userRateLimitExceeded")
}

// lostError means that no answer arrived, so Google may have carried out the call unless
// it was never sent.
type lostError struct {
	err    error
	unsent bool
	at     time.Time // Google's clock, if known
}

func (e *lostError) Error() string { return clean.Cut(clean.Line(root(e.err).Error()), 200) }
func (e *lostError) Unwrap() error { return e.err }

// root is the cause of a failed request, without the wrapper that quotes its address.
func root(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return u.Err
	}
	return err
}

// gone reports that the named thing does not exist.
func gone(err error) bool {
	r := (*refusal)(nil)
	return errors.As(err, &r) && (r.status == http.StatusNotFound || r.status == http.StatusGone)
}

// api makes calls with the user's credentials, for all services.
type api struct {
	creds *credentials
	base  string // of everything, in tests
	http  *http.Client
}

// hosts are the services by the first segment of their paths.
var hosts = map[string]string{
	"tasks":    "https://tasks.googleapis.com",
	"calendar": "https://www.googleapis.com",
	"gmail":    "https://gmail.googleapis.com",
}

// address is the URL of a path of a service.
func (a *api) address(path []string, query url.Values) string {
	base := a.base
	if base == "" {
		base = hosts[path[0]]
	}
	escaped := make([]string, len(path))
	for i, p := range path {
		escaped[i] = url.PathEscape(p)
	}
	address := base + "/" + strings.Join(escaped, "/")
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return address
}

// do makes a call and reads its answer into out, which may be nil. It retries temporary
// failures, within limits, and its error says why it gave up.
func (a *api) do(ctx context.Context, k call, out any) error {
	if s := a.creds.State(); s.On() && !s.May(k.scope) {
		return notAllowed(k.scope)
	}
	for _, p := range k.path { // ids are untrusted, and must not change the path
		if p == "" || p == "." || p == ".." {
			return ErrUnknown
		}
	}
	var err error
	rejected, renewed, lost := "", false, false
	for n := range attempts {
		err = a.try(ctx, k, &rejected, out)
		r, missing := (*refusal)(nil), (*lostError)(nil)
		wait := firstWait << n
		switch {
		case err == nil:
			a.creds.reached("")
			return nil
		case errors.As(err, &missing):
			lost = lost || !missing.unsent
			if k.once && !missing.unsent {
				return err
			}
		case errors.As(err, &r):
			r.after = lost
			switch {
			case r.status == http.StatusUnauthorized && !renewed:
				renewed = true
				continue // with a new token
			case !r.later():
				return explain(k, r)
			case r.wait > patience:
				return says(textPatience, r.wait)
			}
			wait = max(wait, r.wait)
		default:
			return err
		}
		if n == attempts-1 {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait + rand.N(wait/4+1)):
		}
	}
	if missing := (*lostError)(nil); errors.As(err, &missing) {
		text := fmt.Sprintf(textReach, missing)
		if other := (*strangerError)(nil); errors.As(err, &other) {
			text = fmt.Sprintf(textStranger, other)
		}
		a.creds.reached(text)
		return errors.New(text)
	}
	return says(textPatience, "a while")
}

// try makes one attempt. It sets rejected to a token that Google did not accept.
func (a *api) try(ctx context.Context, k call, rejected *string, out any) error {
	t, err := a.bearer(ctx, *rejected)
	if err != nil {
		return err
	}
	var body io.Reader
	if k.body != nil {
		data, err := json.Marshal(k.body)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, k.method, a.address(k.path, k.query), body)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+t.Access)
	if k.body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := a.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if name := (x509.HostnameError{}); errors.As(err, &name) {
			return &lostError{err: &strangerError{name.Error()}, unsent: true}
		}
		dial := (*net.OpError)(nil)
		return &lostError{err: err, unsent: errors.As(err, &dial) && dial.Op == "dial"}
	}
	defer res.Body.Close()
	at, _ := http.ParseTime(res.Header.Get("Date")) // zero if missing
	if who := stranger(res); who != "" {
		return &lostError{err: &strangerError{who}, unsent: true}
	}
	switch {
	case res.StatusCode >= 500:
		return &lostError{err: fmt.Errorf("it answered %d", res.StatusCode), at: at}
	case res.StatusCode >= 300:
		if res.StatusCode == http.StatusUnauthorized {
			*rejected = t.Access
		}
		return readRefusal(res)
	case out == nil || res.StatusCode == http.StatusNoContent:
		_, err = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer))
	default:
		if err = json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(out); err == nil {
			_, err = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<10)) // so that the connection can be reused
		}
	}
	if err != nil {
		return &lostError{err: fmt.Errorf("its answer is incomplete or not JSON: %w", err), at: at}
	}
	return nil
}

func readRefusal(res *http.Response) *refusal {
	var answer struct {
		Error struct {
			Message string
			Status  string
			Errors  []struct{ Reason string }
			Details []struct{ Reason string }
		}
	}
	_ = json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&answer) // the status is enough
	r := &refusal{status: res.StatusCode, message: answer.Error.Message, wait: web.RetryAfter(res.Header)}
	for _, e := range append(answer.Error.Errors, answer.Error.Details...) {
		r.reasons = append(r.reasons, e.Reason)
	}
	return r
}

// explain adds the cure to a refusal.
func explain(k call, r *refusal) error {
	switch {
	case r.status == http.StatusUnauthorized:
		return says(textLapsed)
	case r.is("insufficientPermissions", "insufficientScopes", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"):
		return notAllowed(k.scope)
	case r.is("accessNotConfigured", "SERVICE_DISABLED"):
		return says(textSwitchedOff)
	case r.is("dailyLimitExceeded", "quotaExceeded"):
		return says(textQuota)
	}
	return r
}

func notAllowed(s Scope) error {
	what := ""
	if s == Mail {
		what = " mail"
	}
	return fmt.Errorf(textNotAllowed, s.Name(), what)
}

// pages iterates over a list. Only one page is in memory at a time.
func pages[T any](ctx context.Context, a *api, k call) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for {
			var page struct {
				Items    []T    `json:"items"`
				Messages []T    `json:"messages"`
				Next     string `json:"nextPageToken"`
				Sync     string `json:"nextSyncToken"`
			}
			if err := a.do(ctx, k, &page); err != nil {
				yield(none, unknown(err))
				return
			}
			for _, item := range append(page.Items, page.Messages...) {
				if !yield(item, nil) {
					return
				}
			}
			if page.Next == "" {
				if k.sync != nil {
					*k.sync = page.Sync
				}
				return
			}
			k.query.Set("pageToken", page.Next)
		}
	}
}

// ErrUnknown means that an id does not exist.
var ErrUnknown = errors.New("this id does not exist")

// unknown turns Google's several answers about a missing id into ErrUnknown.
func unknown(err error) error {
	r := (*refusal)(nil)
	if gone(err) || errors.As(err, &r) && r.status == http.StatusBadRequest && invalidID(r) {
		return fmt.Errorf("%w%w", ErrUnknown, silent{err})
	}
	return err
}

func invalidID(r *refusal) bool {
	text := strings.ToLower(r.message)
	return slices.ContainsFunc([]string{"invalid id", "invalid task id", "invalid task list", "invalid resource id"}, func(s string) bool {
		return strings.Contains(text, s)
	})
}

// deleted is the result of a deletion. If an earlier attempt's answer was lost and the
// retry finds nothing, the deletion succeeded.
func deleted(err error) error {
	if r := (*refusal)(nil); gone(err) && errors.As(err, &r) && r.after {
		return nil
	}
	return unknown(err)
}

// lostAfter means that something may or may not have been created.
func lostAfter(err error) error { return fmt.Errorf(textLost, err) }
