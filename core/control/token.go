package control

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"sync"

	"ollimbot/core/agent"
)

// Command runs the bot's own command line for one session, and decides whether
// the session may. It may block while a person thinks and ends with ctx.
type Command func(ctx context.Context, args []string) agent.CommandResult

// Token stands for one session. Nil is the token of a session without a socket:
// its methods do nothing.
type Token struct {
	value  string
	server *Server
	life   context.Context
	end    context.CancelFunc

	mu      sync.Mutex
	bound   bool
	command Command
}

// Issue makes a token that counts from now on, for a process that may not know
// yet whose it is: its calls are refused until Bind. A nil server issues nil.
func (s *Server) Issue() *Token {
	if s == nil {
		return nil
	}
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails
	t := &Token{value: base64.RawURLEncoding.EncodeToString(secret[:]), server: s}
	t.life, t.end = context.WithCancel(context.Background())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[t] = struct{}{}
	return t
}

// Env is what the environment of the session's process carries; nothing where
// the socket could not be opened.
func (t *Token) Env() []string {
	if t == nil {
		return nil
	}
	path := t.server.Path()
	if path == "" {
		return nil
	}
	return []string{SocketVar + "=" + path, SessionVar + "=" + t.value}
}

// Bind gives the calls that come with the token to a session. Nil refuses them.
func (t *Token) Bind(c Command) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bound, t.command = true, c
}

// Revoke ends the token: calls under way are cancelled, later ones refused. It
// waits for nobody and is idempotent.
func (t *Token) Revoke() {
	if t == nil {
		return
	}
	t.server.mu.Lock()
	delete(t.server.tokens, t)
	t.server.mu.Unlock()
	t.end()
}

// token is the one with this value, or nil. All are compared, each in constant
// time, so that the time tells nothing.
func (s *Server) token(value string) *Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found *Token
	for t := range s.tokens {
		if subtle.ConstantTimeCompare([]byte(t.value), []byte(value)) == 1 {
			found = t
		}
	}
	return found
}

// call runs a command for the session; the end of the token cancels it.
func (t *Token) call(ctx context.Context, args []string) agent.CommandResult {
	t.mu.Lock()
	bound, command := t.bound, t.command
	t.mu.Unlock()
	switch {
	case !bound:
		return refusal(textUnbound)
	case command == nil:
		return refusal(textNoWay)
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	defer context.AfterFunc(t.life, cancel)()
	if t.life.Err() != nil {
		return refusal(textUnknown)
	}
	return command(ctx, args)
}
