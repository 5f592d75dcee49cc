package login

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/oauth2"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
)

const (
	// File stores the logins. Its name hides it from the agent and from exports without
	// secrets, like the file of Google's login (core/safety/closed).
	File = store.StateDir + "/token_mcp.json"
	lock = "mcp_login"
	// early is how long before its expiry a token is renewed.
	early = time.Minute
)

// AsksError means that a server requires a login.
type AsksError struct{ Server string }

func (e *AsksError) Error() string { return fmt.Sprintf(textAsks, e.Server) }

// patience is the time limits of a login, which tests shorten.
type patience struct {
	request, discovery, user, renewal time.Duration
}

// Tokens manages the logins of one data directory. Its methods are safe for concurrent
// use, also by several processes.
type Tokens struct {
	dir  *store.Dir
	hide func(secret string)
	wait patience
}

// New returns the logins of a data directory. hide registers a secret to be kept out of
// logs.
func New(dir *store.Dir, hide func(secret string)) *Tokens {
	return &Tokens{dir: dir, hide: hide, wait: patience{
		request: 15 * time.Second, discovery: 45 * time.Second, user: 5 * time.Minute, renewal: 8 * time.Second,
	}}
}

// kept is a stored login.
type kept struct {
	// Address is the server's address: another server under the same name gets no token.
	Address  string           `json:"address"`
	Client   string           `json:"client_id"`
	Secret   string           `json:"client_secret,omitempty"`
	TokenURL string           `json:"token_url"`
	Style    oauth2.AuthStyle `json:"auth_style,omitempty"`
	Access   string           `json:"access_token"`
	Refresh  string           `json:"refresh_token,omitempty"`
	Expiry   time.Time        `json:"expiry,omitzero"`
}

func (k kept) token() *oauth2.Token { return &oauth2.Token{AccessToken: k.Access} }

// tokenFile is the content of the file.
type tokenFile struct {
	Servers map[string]kept `json:"servers"`
}

// find returns the login at a server. An unreadable file counts as empty.
func (t *Tokens) find(server, address string) (kept, bool) {
	var f tokenFile
	_, _ = t.dir.PeekJSON(File, &f) // logging in again sets a bad file aside
	k, ok := f.Servers[server]
	if !ok || k.Address != address || k.Access == "" {
		return kept{}, false
	}
	for _, secret := range []string{k.Access, k.Refresh, k.Secret} {
		t.hide(secret)
	}
	return k, true
}

// Has reports whether a login at a server exists.
func (t *Tokens) Has(server, address string) bool {
	_, ok := t.find(server, address)
	return ok
}

// Forget removes the login at a server, and reports whether it existed.
func (t *Tokens) Forget(server string) (there bool, err error) {
	err = t.dir.WithLock(lock, func() error {
		return t.change(func(all map[string]kept) { _, there = all[server]; delete(all, server) })
	})
	return there, err
}

// keep stores a login.
func (t *Tokens) keep(server string, k kept) error {
	return t.dir.WithLock(lock, func() error {
		return t.change(func(all map[string]kept) { all[server] = k })
	})
}

// change writes the file; the lock is held.
func (t *Tokens) change(do func(all map[string]kept)) error {
	var f tokenFile
	if _, err := t.dir.ReadJSON(File, &f); err != nil && !errors.As(err, new(*store.CorruptError)) {
		return fmt.Errorf("read the logins at MCP servers: %w", err)
	}
	if f.Servers == nil {
		f.Servers = map[string]kept{}
	}
	do(f.Servers)
	if err := t.dir.WriteJSON(File, f); err != nil {
		return fmt.Errorf("keep the login at an MCP server: %w", err)
	}
	return nil
}

// token returns the token of a login, renewed if it is about to expire or was rejected;
// nil without a login.
func (t *Tokens) token(ctx context.Context, of *Holder, rejected string) (*oauth2.Token, error) {
	good := func(k kept) bool {
		return k.Access != rejected && (k.Expiry.IsZero() || time.Until(k.Expiry) > early || k.Refresh == "")
	}
	k, ok := t.find(of.server, of.address)
	if !ok {
		return nil, nil
	}
	if good(k) {
		return k.token(), nil
	}
	err := t.dir.WithLock(lock, func() (err error) {
		if k, ok = t.find(of.server, of.address); !ok {
			return &AsksError{of.server}
		}
		if good(k) { // another process renewed it
			return nil
		}
		k, err = t.renewed(ctx, of, k)
		return err
	})
	if err != nil {
		return nil, err
	}
	return k.token(), nil
}

// renewed requests a new token and stores it; the lock is held. A login that has ended is
// removed.
func (t *Tokens) renewed(ctx context.Context, of *Holder, k kept) (kept, error) {
	ended := func() (kept, error) {
		return kept{}, errors.Join(&AsksError{of.server}, t.change(func(all map[string]kept) { delete(all, of.server) }))
	}
	if k.Refresh == "" {
		return ended()
	}
	ctx, stop := context.WithTimeout(context.WithValue(ctx, oauth2.HTTPClient, of.client), t.wait.renewal)
	defer stop()
	conf := oauth2.Config{ClientID: k.Client, ClientSecret: k.Secret, Endpoint: oauth2.Endpoint{TokenURL: k.TokenURL, AuthStyle: k.Style}}
	fresh, err := conf.TokenSource(ctx, &oauth2.Token{RefreshToken: k.Refresh}).Token()
	if refused, is := errors.AsType[*oauth2.RetrieveError](err); is {
		switch refused.ErrorCode {
		case "invalid_grant", "invalid_client", "unauthorized_client": // RFC 6749, section 5.2
			return ended()
		}
	}
	if err != nil {
		return kept{}, fmt.Errorf(textNotRenewed, reason(err))
	}
	t.hide(fresh.AccessToken)
	t.hide(fresh.RefreshToken)
	k.Access, k.Expiry = fresh.AccessToken, fresh.Expiry.Round(0)
	if fresh.RefreshToken != "" {
		k.Refresh = fresh.RefreshToken
	}
	return k, t.change(func(all map[string]kept) { all[of.server] = k })
}

// line shortens untrusted text to one line.
func line(text string) string { return clean.Cut(clean.Line(text), 300) }
