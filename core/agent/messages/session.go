package messages

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"

	"ollimbot/core/agent"
	"ollimbot/core/agent/callback"
	"ollimbot/core/agent/messages/history"
	"ollimbot/core/agent/messages/tools"
	"ollimbot/core/safety/control"
	"ollimbot/core/safety/policy"
)

// errInterrupted is the cause with which Interrupt ends a turn.
var errInterrupted = errors.New("interrupted")

// session is one conversation.
type session struct {
	e       *Engine
	log     *slog.Logger
	id      string
	o       agent.SessionOptions
	history *history.History
	host    *callback.Host
	box     *tools.Box // nil for a bare session
	tools   []tool
	token   *control.Token
	rules   func() *policy.Set
	// released is closed when everything in the session has ended.
	released chan struct{} // closed when the session has ended

	mu       sync.Mutex
	settings agent.Settings
	cancel   context.CancelCauseFunc // ends the running turn; nil without one
	closed   bool
}

// judge checks a path that resolves to a different place than it names.
func (s *session) judge(ctx context.Context, u agent.ToolUse) (refusal string) {
	d := s.host.PreTool(ctx, u)
	if d.Allow && d.Ask {
		d = s.host.Permission(ctx, u)
	}
	if d.Allow {
		return ""
	}
	return d.Reason
}

// ID returns the session's ID, which is known from the start.
func (s *session) ID() string { return s.id }

// Send runs one turn in the caller's goroutine.
func (s *session) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		ctx, err := s.begin(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.end()
		p, model, err := s.e.find(s.current().Model)
		if err != nil {
			yield(nil, err)
			return
		}
		t := &turn{talk: talk{
			s: s, ctx: ctx, tools: s.tools, counting: &sync.Mutex{}, bill: newBill(),
			history: s.history, provider: p, model: model, settings: s.current(),
		}, yield: yield}
		t.emit = t.put
		t.run(m)
		t.finish()
	}
}

// begin starts a turn.
func (s *session) begin(ctx context.Context) (context.Context, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, agent.ErrClosed
	case s.cancel != nil:
		return nil, agent.ErrTwoTurns
	}
	ctx, s.cancel = context.WithCancelCause(ctx)
	return ctx, nil
}

// end lets the next turn start.
func (s *session) end() {
	s.mu.Lock()
	s.cancel(nil)
	s.cancel = nil
	closed := s.closed
	s.mu.Unlock()
	if closed {
		if err := s.release(); err != nil {
			s.log.Warn("session did not close cleanly", "error", err)
		}
	}
}

func (s *session) current() agent.Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// Interrupt ends the running turn.
func (s *session) Interrupt(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel(errInterrupted)
	}
	return nil
}

// Configure changes the non-empty settings, from the next turn on.
func (s *session) Configure(_ context.Context, n agent.Settings) error {
	if err := checkThinking(n.Thinking); err != nil {
		return err
	}
	if n.Model != "" {
		if _, _, err := s.e.o.Providers.Find(n.Model); err != nil {
			return fmt.Errorf("change the model: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return agent.ErrClosed
	}
	s.settings = s.settings.With(n)
	return nil
}

// Close ends the session. A running turn ends with an error and then releases the rest. It must not
// be called from a hook, a tool or the permission callback of the session, because it waits for
// those.
func (s *session) Close() error {
	s.mu.Lock()
	again, running := s.closed, s.cancel != nil
	s.closed = true
	if running {
		s.cancel(agent.ErrClosed)
	}
	s.mu.Unlock()
	if again || running {
		return nil
	}
	return s.release()
}

// release closes everything that the session uses.
func (s *session) release() error {
	s.token.Revoke()
	s.host.Close()
	var err error
	if s.box != nil {
		err = s.box.Close()
	}
	err = errors.Join(err, s.history.Close())
	s.e.forget(s.id)
	close(s.released)
	if err != nil {
		return fmt.Errorf("close the session: %w", err)
	}
	return nil
}
