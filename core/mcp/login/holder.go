package login

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Holder adds the token to the requests to one server. It never asks the user.
type Holder struct {
	tokens          *Tokens
	server, address string
	client          *http.Client
	asks            atomic.Bool
}

var _ auth.OAuthHandler = (*Holder)(nil)

// Holder returns the holder for a server. home is the server's address.
func (t *Tokens) Holder(server, address string, home *url.URL) *Holder {
	return &Holder{tokens: t, server: server, address: address, client: guarded(home, t.wait.request)}
}

// Asks reports whether the server wants a login that is missing.
func (h *Holder) Asks() bool { return h.asks.Load() }

// TokenSource implements auth.OAuthHandler.
func (h *Holder) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	if !h.tokens.Has(h.server, h.address) {
		return nil, nil
	}
	return source{ctx, h}, nil
}

// source is the token for one request.
type source struct {
	ctx context.Context
	h   *Holder
}

// Token implements oauth2.TokenSource.
func (s source) Token() (*oauth2.Token, error) { return s.h.token(s.ctx, "") }

func (h *Holder) token(ctx context.Context, rejected string) (*oauth2.Token, error) {
	t, err := h.tokens.token(ctx, h, rejected)
	if errors.As(err, new(*AsksError)) {
		h.asks.Store(true)
	}
	return t, err
}

// Authorize implements auth.OAuthHandler: it renews a token that the server no longer
// accepts, or else reports that the user has to log in.
func (h *Holder) Authorize(ctx context.Context, r *http.Request, resp *http.Response) error {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)) // so that the connection can be reused
	_ = resp.Body.Close()
	if resp.StatusCode == http.StatusForbidden && !lacksScope(resp.Header) {
		return nil // the next answer gives the reason
	}
	if sent := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); sent != "" && resp.StatusCode == http.StatusUnauthorized {
		t, err := h.token(ctx, sent)
		if t != nil || err != nil {
			return err
		}
	}
	h.asks.Store(true)
	return &AsksError{h.server}
}

// lacksScope reports whether a server wants the user to grant more permissions (RFC 6750,
// section 3.1).
func lacksScope(h http.Header) bool {
	list, _ := oauthex.ParseWWWAuthenticate(h["Www-Authenticate"]) // an unreadable header is ignored
	for _, c := range list {
		if c.Scheme == "bearer" && c.Params["error"] == "insufficient_scope" {
			return true
		}
	}
	return false
}
