package claude

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/wire"
)

// request is a control request with what its subtype needs.
type request map[string]any

// Interrupt ends the running turn, and one that was sent and has not begun.
// What the CLI makes of it is the turn's result.
func (s *session) Interrupt(ctx context.Context) error {
	if !s.markStopped(nil) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	return s.ask(ctx, request{"subtype": "interrupt"})
}

// markStopped notes that turns are to end, all or one of them; false where
// there is none. One that waits is interrupted once more when it begins: the
// CLI forgets an interruption that comes too early.
func (s *session) markStopped(only *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := false
	for _, t := range []*turn{s.flow.current, s.flow.waiting} {
		if t == nil || only != nil && t != only {
			continue
		}
		found = true
		if t.stopped.IsZero() {
			t.stopped = time.Now()
		}
	}
	return found
}

// requestInterrupt interrupts and does not wait for anybody to hear of it.
func (s *session) requestInterrupt() {
	ctx, cancel := context.WithTimeout(context.Background(), answerLimit)
	defer cancel()
	if err := s.ask(ctx, request{"subtype": "interrupt"}); err != nil {
		s.log.Warn("turn was not interrupted", "error", err)
	}
}

// ask sends a control request. A connection that has ended is no error: there
// is nothing left to ask for.
func (s *session) ask(ctx context.Context, r request) error {
	_, err := s.conn.Request(ctx, r)
	if errors.Is(err, wire.ErrClosed) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask claude for %v: %w", r["subtype"], err)
	}
	return nil
}

// later runs f beside the reader, in a goroutine that the engine waits for.
func (s *session) later(f func()) { s.e.later("request", f) }

// Configure changes what differs from the settings in force. A setting that is
// empty stays as it is.
func (s *session) Configure(ctx context.Context, n agent.Settings) error {
	s.mu.Lock()
	now, ended := s.settings, s.ended
	s.mu.Unlock()
	if ended != nil {
		return ended
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	for _, c := range []struct {
		field, want string
		now         *string
		ask         func(string) (request, error)
	}{
		{"model", n.Model, &now.Model, askModel},
		{"thinking", n.Thinking, &now.Thinking, askThinking},
		{"mode", n.Mode, &now.Mode, askMode},
	} {
		if c.want == "" || c.want == *c.now {
			continue
		}
		r, err := c.ask(c.want)
		if err != nil {
			return err
		}
		if err := s.ask(ctx, r); err != nil {
			return fmt.Errorf("change the %s: %w", c.field, err)
		}
		*c.now = c.want
		s.mu.Lock()
		s.settings = now
		s.mu.Unlock()
	}
	return nil
}

func askModel(model string) (request, error) {
	return request{"subtype": "set_model", "model": model}, nil
}

func askMode(mode string) (request, error) {
	return request{"subtype": "set_permission_mode", "mode": permissionMode(mode)}, nil
}

func askThinking(thinking string) (request, error) {
	tokens, ok := thinkingTokens(thinking)
	if !ok {
		return nil, fmt.Errorf(textThinking, thinking)
	}
	return request{"subtype": "set_max_thinking_tokens", "max_thinking_tokens": tokens}, nil
}

// Close ends the session and its process; a running turn ends with an error.
// The id is free when it returns. It must not be called from a hook, a tool or
// the permission callback of the session: it waits for those.
func (s *session) Close() error {
	s.token.Revoke()
	s.mu.Lock()
	if s.reason == nil {
		s.reason = errClosed
	}
	running := s.flow.busy()
	s.mu.Unlock()
	if running { // else closing its input would let it go on to its end
		ctx, cancel := context.WithTimeout(context.Background(), closeGrace)
		if err := s.ask(ctx, request{"subtype": "interrupt"}); err != nil {
			s.log.Debug("turn was not interrupted before the end", "error", err)
		}
		cancel()
	}
	err := s.stop()
	<-s.done
	if err != nil {
		return fmt.Errorf("close the session: %w", err)
	}
	return nil
}
