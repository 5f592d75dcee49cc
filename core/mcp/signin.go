package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"ollimbot/core/base/words"
	"ollimbot/core/mcp/login"
)

// ownHeader reports whether the file configures its own authorization, so that no login
// is needed.
func (s Server) ownHeader() bool {
	for name := range s.Headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return true
		}
	}
	return false
}

// holder returns the token holder for a server over HTTP; nil if it has none.
func (h *Host) holder(config Server) *login.Holder {
	home, err := url.Parse(config.URL)
	if err != nil || config.URL == "" || config.ownHeader() {
		return nil
	}
	return h.logins.Holder(config.Name, config.URL, home)
}

// Login starts a login at a server, replacing any other, and returns once its page is
// known (Login.URL). The login ends by itself; Options.Say reports the outcome.
func (h *Host) Login(ctx context.Context, name string) (*login.Login, error) {
	s, err := h.named(name)
	if err != nil {
		return nil, err
	}
	config := s.configured()
	switch {
	case config.URL == "":
		return nil, fmt.Errorf(textNoLogin, config.Name)
	case config.ownHeader():
		return nil, fmt.Errorf(textOwnHeader, config.Name)
	}
	select {
	case <-h.begun:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	home, err := url.Parse(config.URL)
	if err != nil {
		return nil, err
	}
	l, err := h.logins.Login(config.Name, config.URL, home, httpClient(config))
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	old := h.login
	h.login = l
	h.mu.Unlock()
	if old != nil {
		old.Stop()
	}
	if !h.begin(func(ctx context.Context) { h.loggedIn(ctx, s, l, l.Run(ctx)) }) {
		return nil, errStopping
	}
	if _, err := l.URL(ctx); err != nil {
		return nil, fmt.Errorf(textLoginFailed, config.Name, err)
	}
	return l, nil
}

// loggedIn reports the outcome of a login, and lists the server's tools.
func (h *Host) loggedIn(ctx context.Context, s *server, l *login.Login, err error) {
	h.mu.Lock()
	replaced := h.login != l
	if !replaced {
		h.login = nil
	}
	h.mu.Unlock()
	page, _ := l.URL(ctx)
	if replaced || ctx.Err() != nil || err != nil && page == "" { // the caller that started it knows
		return
	}
	if err != nil {
		h.o.Say(fmt.Errorf(textLoginFailed, l.Server(), err).Error())
		return
	}
	s.again()
	if _, err = s.acquire(ctx); err != nil {
		h.o.Say(fmt.Sprintf(textLoggedInBut, l.Server(), err))
		return
	}
	s.release()
	h.o.Say(fmt.Sprintf(textLoggedIn, l.Server(), words.Count(h.stateOf(s).Tools, "tool")))
}

// Logout removes the login at a server. Running connections continue until the server
// asks again.
func (h *Host) Logout(name string) error {
	s, err := h.named(name)
	if err != nil {
		return err
	}
	name = s.configured().Name
	there, err := h.logins.Forget(name)
	if err == nil && !there {
		err = fmt.Errorf(textNotLoggedIn, name)
	}
	if c := s.drop(); err == nil && c != nil {
		h.begin(func(context.Context) { c.close() })
	}
	return err
}

// Redirected reports whether a message is the address that completes a login at a server,
// and passes it on. It contains a secret and must not be stored.
func (h *Host) Redirected(text string) bool {
	if !login.Redirected(text) {
		return false
	}
	h.mu.Lock()
	l := h.login
	h.mu.Unlock()
	if l == nil {
		h.o.Say(textNothingWaits)
		return true
	}
	if err := l.Take(text); err != nil {
		h.o.Say(fmt.Errorf(textLoginFailed, l.Server(), err).Error())
	}
	return true
}

// named returns the server with a name, as written by the user.
func (h *Host) named(name string) (*server, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.servers[serverName(name)]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf(textNoServer, name)
}

// again allows an immediate retry after the user has logged in.
func (s *server) again() {
	s.mu.Lock()
	s.failures, s.retryAt, s.problem, s.asks = 0, time.Time{}, "", false
	s.mu.Unlock()
	s.host.signal()
}

// drop ends a connection that uses an earlier login.
func (s *server) drop() (end *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end, s.conn = s.conn, nil
	return end
}

// waits records that a server requires a login, and tells the user the first time. c is
// the connection that was in use; may be nil.
func (s *server) waits(c *connection, err error) {
	asks, is := errors.AsType[*login.AsksError](err)
	if !is {
		return
	}
	s.mu.Lock()
	first, ends := !s.asks, c != nil && s.conn == c
	s.asks = true
	if ends {
		s.conn = nil
		s.backOff(asks.Error())
	}
	s.mu.Unlock()
	if ends {
		s.host.begin(func(context.Context) { c.close() })
	}
	if first {
		s.host.o.Notice(fmt.Sprintf(textAsksLogin, asks.Server, asks))
	}
	s.host.changed()
}

// loggedInMeanwhile reports whether another process has logged in at a server that
// requires a login.
func (s *server) loggedInMeanwhile() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asks && s.host.logins.Has(s.config.Name, s.config.URL)
}

// Texts about logins.
const (
	textNoLogin      = "%s is a program on this machine, which needs no login"
	textOwnHeader    = "%s has an Authorization header, which is used as it is: remove it to log in"
	textLoginFailed  = "the login at the MCP server %s has failed: %w"
	textLoggedIn     = "You are logged in at the MCP server %s: %s. Tools that the conversation does not know yet come with your first message after /clear."
	textLoggedInBut  = "You are logged in at the MCP server %s, but it does not work: %v"
	textNotLoggedIn  = "you are not logged in at %s"
	textNothingWaits = "No login at an MCP server is waiting for this address: start one with /mcp login NAME."
	textAsksLogin    = "MCP server %s: %v"
)
