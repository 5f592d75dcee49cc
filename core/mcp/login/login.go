package login

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/fault"
	"ollimbot/core/base/web"
)

// callback is the path to which browsers are sent back. It distinguishes these addresses
// from those of Google's login.
const callback = "/mcp/callback"

// maxPage is the maximum length of the address of a page for the user, in bytes.
const maxPage = 4_000

// hello is a protocol request that shows whether the server requires a login.
const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
	`"clientInfo":{"name":"ollim-bot","version":"1"}}}`

// Login is one login at a server. Call Run once; the other methods are safe for
// concurrent use.
type Login struct {
	tokens  *Tokens
	server  string
	address string
	home    *url.URL
	web     *http.Client // for the server itself, with its headers
	client  *http.Client
	page    net.Listener
	answers chan url.Values // capacity 1
	known   chan struct{}   // closed when the page is known, or the login has ended
	ended   chan struct{}   // closed when the login has ended

	mu         sync.Mutex // guards the fields below
	url, state string
	err        error
	stop       context.CancelCauseFunc
}

// Login prepares a login at a server. web is the client for the server itself.
func (t *Tokens) Login(server, address string, home *url.URL, web *http.Client) (*Login, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for the browser: %w", err)
	}
	return &Login{
		tokens: t, server: server, address: address, home: home, web: web, client: guarded(home, t.wait.request), page: l,
		answers: make(chan url.Values, 1), known: make(chan struct{}), ended: make(chan struct{}), stop: func(error) {},
	}, nil
}

// Run carries out the login, within minutes at most.
func (l *Login) Run(ctx context.Context) error {
	ctx, late := context.WithTimeoutCause(ctx, l.tokens.wait.discovery+l.tokens.wait.user, &saidError{fmt.Sprintf(textLate, l.tokens.wait.user)})
	defer late()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	l.mu.Lock()
	l.stop = stop
	l.mu.Unlock()
	page := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: l}
	var group errgroup.Group
	group.Go(fault.Guard("the page of a login", func() error {
		_ = page.Serve(l.page) // the address can still be pasted
		return nil
	}))
	err := l.perform(ctx, stop)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	l.end(err)
	closing, done := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer done()
	_ = page.Shutdown(closing) // the page is optional
	_ = page.Close()
	_ = group.Wait()
	return l.err
}

// end records the outcome of the login.
func (l *Login) end(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.err = errors.New(reason(err))
	}
	if l.url == "" {
		close(l.known)
	}
	close(l.ended)
}

// perform contacts the server, and then its authorization server.
func (l *Login) perform(ctx context.Context, stop context.CancelCauseFunc) error {
	slow := time.AfterFunc(l.tokens.wait.discovery, func() { stop(&saidError{fmt.Sprintf(textUnanswered, l.tokens.wait.discovery)}) })
	defer slow.Stop()
	redirect := "http://" + l.page.Addr().String() + callback
	flow, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "ollim-bot", RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
		RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: l.client, NewTokenSource: l.keep,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			slow.Stop()
			return l.browse(ctx, args.URL)
		},
	})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, l.address, bytes.NewBufferString(hello))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := l.web.Do(r)
	if err != nil {
		return err
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized, resp.StatusCode == http.StatusForbidden && lacksScope(resp.Header):
		resp.Body = http.MaxBytesReader(nil, resp.Body, maxAnswer)
		return flow.Authorize(ctx, r, resp)
	case resp.StatusCode < 300:
		err = &saidError{textNoLoginAsked}
	default:
		err = &saidError{fmt.Sprintf(textAnswered, line(resp.Status))}
	}
	_ = resp.Body.Close()
	return err
}

// browse shows the page to the user and waits for the answer.
func (l *Login) browse(ctx context.Context, page string) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(page)
	if err != nil || !l.opens(u) || len(page) > maxPage {
		return nil, &saidError{fmt.Sprintf(textBadPage, line(page[:min(len(page), 60)]))}
	}
	l.mu.Lock()
	l.url, l.state = page, u.Query().Get("state")
	close(l.known)
	l.mu.Unlock()
	select {
	case q := <-l.answers:
		if said := q.Get("error"); said != "" {
			return nil, &saidError{fmt.Sprintf(textSaidNo, line(said))}
		}
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// opens reports whether a page may be shown to the user: it must use an encrypted
// connection, or be on this machine if the server is there too. User names before an @
// would only mislead.
func (l *Login) opens(u *url.URL) bool {
	if u.Host == "" || u.User != nil {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && web.Loopback(u.Hostname()) && web.Loopback(l.home.Hostname())
}

// keep stores the tokens of a successful login.
func (l *Login) keep(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
	for _, secret := range []string{t.AccessToken, t.RefreshToken, c.ClientSecret} {
		l.tokens.hide(secret)
	}
	return oauth2.StaticTokenSource(t), l.tokens.keep(l.server, kept{
		Address: l.address, Client: c.ClientID, Secret: c.ClientSecret, TokenURL: c.Endpoint.TokenURL, Style: c.Endpoint.AuthStyle,
		Access: t.AccessToken, Refresh: t.RefreshToken, Expiry: t.Expiry.Round(0),
	})
}

// Server is the name of the server.
func (l *Login) Server() string { return l.server }

// URL returns the page for the user to open, as soon as it is known. An error is the
// outcome of a login that ended before.
func (l *Login) URL(ctx context.Context) (string, error) {
	select {
	case <-l.known:
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.url == "" {
		return "", l.err
	}
	return l.url, nil
}

// Wait blocks until the login has ended, and returns the outcome.
func (l *Login) Wait(ctx context.Context) error {
	select {
	case <-l.ended:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Stop cancels a login.
func (l *Login) Stop() {
	l.mu.Lock()
	stop := l.stop
	l.mu.Unlock()
	stop(&saidError{textReplaced})
}

// Redirected reports whether a text is the final address of a login at an MCP server. It
// contains a secret.
func Redirected(text string) bool {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "http://127.0.0.1:") || strings.ContainsAny(text, " \n\t") {
		return false
	}
	u, err := url.Parse(text)
	return err == nil && u.Path == callback && u.Query().Has("state") && (u.Query().Has("code") || u.Query().Has("error"))
}

// Take processes the address pasted by the user.
func (l *Login) Take(text string) error {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return errors.New(textNotOurs)
	}
	return l.take(u.Query())
}

func (l *Login) take(q url.Values) error {
	l.mu.Lock()
	state := l.state
	l.mu.Unlock()
	if state == "" || subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(state)) != 1 || q.Get("code") == "" && q.Get("error") == "" {
		return errors.New(textNotOurs)
	}
	select {
	case l.answers <- q:
		return nil
	default:
		return errors.New(textTwice)
	}
}

// ServeHTTP serves the page to which the browser is sent.
func (l *Login) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || r.URL.Path != callback {
		http.NotFound(w, r)
		return
	}
	text, err := pageDone, l.take(r.URL.Query())
	if err == nil {
		select {
		case <-l.ended:
		case <-r.Context().Done():
		}
		l.mu.Lock()
		err = l.err
		l.mu.Unlock()
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		text = pageFailed
	}
	_, _ = io.WriteString(w, text) // the browser may have disconnected
}
