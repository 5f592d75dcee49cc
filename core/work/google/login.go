package google

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
)

const (
	// loginAge is how long a started login accepts the address from the browser.
	loginAge = 30 * time.Minute
	// loginPoll is how often a login checks whether another process has finished it.
	loginPoll = 500 * time.Millisecond
	loginLock = "google_login"
)

// pending is a started login. It is stored in a file because the program may end before
// the user returns with the answer.
type pending struct {
	State    string    `json:"state"`
	Verifier string    `json:"verifier"`
	Redirect string    `json:"redirect"`
	Scopes   []Scope   `json:"scopes"`
	At       time.Time `json:"at"`
}

// Login is a login that waits for the user.
type Login struct {
	URL string // for the user to open

	c     *Client
	state string
	l     net.Listener
}

// Begin starts a login with these permissions and those already granted. It replaces an
// earlier one. Call Wait next.
func (c *Client) Begin(scopes ...Scope) (*Login, error) {
	a, err := c.app()
	if err != nil {
		return nil, err
	}
	have := c.State()
	for _, s := range []Scope{Tasks, Calendar, Mail} {
		if have.Kind != Lapsed && len(have.Scopes) > 0 && have.May(s) && !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the browser: %w", err)
	}
	p := pending{State: rand.Text(), Verifier: oauth2.GenerateVerifier(), Redirect: "http://" + l.Addr().String(), Scopes: scopes, At: c.now()}
	if err := c.dir.WriteJSON(loginFile, p); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	address := c.config(a, p).AuthCodeURL(p.State, oauth2.AccessTypeOffline, oauth2.SetAuthURLParam("prompt", "consent"), oauth2.S256ChallengeOption(p.Verifier))
	return &Login{URL: address, c: c, state: p.State, l: l}, nil
}

func (c *Client) config(a app, p pending) *oauth2.Config {
	conf := &oauth2.Config{ClientID: a.ID, ClientSecret: a.Secret, RedirectURL: p.Redirect, Endpoint: c.api.endpoint(a.AuthURI, a.TokenURI)}
	for _, s := range p.Scopes {
		conf.Scopes = append(conf.Scopes, string(s))
	}
	return conf
}

// Wait blocks until the browser answers, the address was pasted into this or another
// process, or ctx ends.
func (l *Login) Wait(ctx context.Context) error {
	came := make(chan error, 1)
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || !r.URL.Query().Has("state") {
			http.NotFound(w, r)
			return
		}
		err := l.c.Finish(r.Context(), "http://"+l.l.Addr().String()+r.URL.RequestURI())
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, pageFailed) // the browser may have gone
		} else {
			_, _ = io.WriteString(w, pageDone)
		}
		if !errors.Is(err, errNotOurs) {
			select {
			case came <- err:
			default:
			}
		}
	})}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = fault.Guard("the page of the login", func() error { return server.Serve(l.l) })() // the address can still be pasted
	}()
	defer func() {
		ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer stop()
		_ = server.Shutdown(ctx) // the page is optional, so an error does not matter
		<-served
	}()
	tick := time.NewTicker(loginPoll)
	defer tick.Stop()
	for {
		select {
		case err := <-came:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			if p, err := l.c.pending(); err == nil && p.State == l.state {
				continue
			}
			select {
			case err := <-came:
				return err
			case <-time.After(loginPoll): // it was finished elsewhere
			}
			if l.c.State().On() {
				return nil // it was pasted
			}
			return says(textNoLogin)
		}
	}
}

var errNotOurs = says(textNotOurs)

// pending reads the started login, unless it has expired.
func (c *Client) pending() (pending, error) {
	var p pending
	found, err := c.dir.PeekJSON(loginFile, &p)
	if err != nil || !found || c.now().Sub(p.At) > loginAge {
		return pending{}, says(textNoLogin)
	}
	return p, nil
}

// Redirected reports whether a text is the address of a login. It contains a secret and
// must go to Finish only.
func (c *Client) Redirected(text string) bool {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "http://127.0.0.1:") || strings.ContainsAny(text, " \n\t") {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && u.Query().Has("state") && (u.Query().Has("code") || u.Query().Has("error"))
}

// Finish completes the login, in any process, with the address that Google sent the
// browser to. If Google cannot be reached, the login stays pending.
func (c *Client) Finish(ctx context.Context, address string) error {
	return c.dir.WithLock(loginLock, func() error {
		p, err := c.pending()
		if err != nil {
			return err
		}
		u, err := url.Parse(strings.TrimSpace(address))
		if err != nil {
			return errNotOurs
		}
		q := u.Query()
		code, said := q.Get("code"), q.Get("error")
		if subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(p.State)) != 1 || code == "" && said == "" {
			return errNotOurs
		}
		if said != "" {
			return errors.Join(says(textSaidNo, clean.Cut(clean.Line(said), 60)), c.dir.Remove(loginFile))
		}
		return c.exchange(ctx, p, code)
	})
}

// exchange turns a code into a token and saves it.
func (c *Client) exchange(ctx context.Context, p pending, code string) error {
	a, err := c.app()
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, refreshTime)
	defer stop()
	conf := c.config(a, p)
	got, err := conf.Exchange(context.WithValue(ctx, oauth2.HTTPClient, c.api.http), code, oauth2.VerifierOption(p.Verifier))
	if refused := (*oauth2.RetrieveError)(nil); errors.As(err, &refused) && refused.Response.StatusCode < 500 {
		return errors.Join(says(textCode, clean.Line(cmp.Or(refused.ErrorCode, refused.Response.Status))), c.dir.Remove(loginFile))
	}
	if err != nil {
		return says(textReach, clean.Line(root(err).Error()))
	}
	if got.RefreshToken == "" {
		return errors.Join(says(textNoRefresh), c.dir.Remove(loginFile))
	}
	t := token{
		Access: got.AccessToken, Refresh: got.RefreshToken, URI: conf.Endpoint.TokenURL, ID: a.ID, Secret: a.Secret,
		Universe: "googleapis.com", Expiry: instant{got.Expiry},
	}
	granted, _ := got.Extra("scope").(string)
	if t.Scopes = strings.Fields(granted); len(t.Scopes) == 0 {
		t.Scopes = conf.Scopes
	}
	if err := c.keep(t); err != nil {
		return err
	}
	if who, err := c.whose(ctx, c.State()); err == nil && who != "" { // optional
		t.Account = clean.Cut(clean.Line(who), 100)
		return errors.Join(c.keep(t), c.dir.Remove(loginFile))
	}
	return c.dir.Remove(loginFile)
}

// Logout ends the login, also at Google. The note is for the user.
func (c *Client) Logout(ctx context.Context) (note string, err error) {
	t, err := c.load()
	if errors.Is(err, ErrOff) {
		return "", c.forget()
	}
	if err == nil {
		note = c.revoke(ctx, t)
	}
	return note, c.forget()
}

// revoke revokes the login at Google. The note is for the user if that fails.
func (c *Client) revoke(ctx context.Context, t token) (note string) {
	address := "https://oauth2.googleapis.com/revoke"
	if c.api.base != "" {
		address = c.api.base + "/revoke"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(url.Values{"token": {t.Refresh}}.Encode()))
	if err != nil {
		return fmt.Sprintf(textNotRevoked, clean.Line(err.Error()))
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := c.api.http.Do(req)
	if err != nil {
		return fmt.Sprintf(textNotRevoked, clean.Line(root(err).Error()))
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 && res.StatusCode != http.StatusBadRequest { // 400: it was invalid already
		return fmt.Sprintf(textNotRevoked, res.Status)
	}
	return ""
}

// Waits reports whether a login is pending.
func (c *Client) Waits() bool {
	_, err := c.pending()
	return err == nil
}

// Close ends a login that will not be waited for; its address may still be pasted.
func (l *Login) Close() error { return l.l.Close() }
