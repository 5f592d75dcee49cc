package claude

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/agent/claude/wire"
)

// resumable is a session as the bot has it. The process behind it may end while
// nothing runs, by a signal, for want of memory, or because it has used too much:
// the next message then resumes the session in a new one.
type resumable struct {
	e       *Engine
	sending atomic.Bool // a Send is under way

	mu     sync.Mutex
	o      agent.SessionOptions // what a new process is opened with
	now    *session
	closed bool
}

var _ agent.Session = (*resumable)(nil)

// current is the session's process as it is now.
func (r *resumable) current() *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// ID is what the command calls the session.
func (r *resumable) ID() string { return r.current().ID() }

// Interrupt ends the running turn, and one that was sent and has not begun.
func (r *resumable) Interrupt(ctx context.Context) error { return r.current().Interrupt(ctx) }

// Configure changes what differs from the settings in force, also for processes
// to come. A setting that is empty stays as it is.
func (r *resumable) Configure(ctx context.Context, n agent.Settings) error {
	now := r.current()
	if err := now.Configure(ctx, n); err != nil && !now.dead() {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.o.Settings = r.o.Settings.With(n)
	return nil
}

// Close ends the session and its process; a running turn ends with an error.
func (r *resumable) Close() error {
	r.mu.Lock()
	r.closed = true
	now := r.now
	r.mu.Unlock()
	return now.Close()
}

// notTakenError is the end of a process that has shown nothing of the turn yet.
type notTakenError struct{ error }

func (u notTakenError) Unwrap() error { return u.error }

// Send runs one turn. It begins when nobody reads another one and the CLI is
// idle, so that the turn's lines are this message's. Breaking off interrupts
// the turn. A process that ends before it has taken the message is replaced, once.
func (r *resumable) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		if !r.sending.CompareAndSwap(false, true) {
			yield(nil, agent.ErrTwoTurns)
			return
		}
		defer r.sending.Store(false)
		for last := false; r.run(ctx, m, yield, last); last = true {
		}
	}
}

// run runs the turn in the process that is there. again says that this has ended
// without the message, and that nobody was told so.
func (r *resumable) run(ctx context.Context, m agent.Message, yield func(agent.Event, error) bool, last bool) (again bool) {
	s, t, err := r.post(ctx, m)
	if err != nil {
		yield(nil, err)
		return false
	}
	defer func() { <-s.reader }()
	s.pump(ctx, t, func(ev agent.Event, err error) bool {
		if !last && errors.As(err, &notTakenError{}) && !r.inHistory(ctx, s, m) {
			again = true
			return false
		}
		return yield(ev, err)
	})
	return again
}

// inHistory reports whether a message may stand in the history.
func (r *resumable) inHistory(ctx context.Context, s *session, m agent.Message) bool {
	heard, err := r.e.HasMessage(ctx, s.ID(), sha256.Sum256([]byte(m.Text)))
	return heard || err != nil
}

// post writes the message to a process that lives. One that cannot take it is
// replaced, once: nothing of the message was read then.
func (r *resumable) post(ctx context.Context, m agent.Message) (*session, *turn, error) {
	s := r.current()
	if !s.dead() {
		t, err := s.post(ctx, m)
		if err == nil || ctx.Err() != nil {
			return s, t, err
		}
	}
	s, err := r.resume(ctx)
	if err != nil {
		return nil, nil, err
	}
	t, err := s.post(ctx, m)
	return s, t, err
}

// resume opens the session in a new process. Before its first message there is no
// history of its own: then it is opened as it was at first.
func (r *resumable) resume(ctx context.Context) (*session, error) {
	r.mu.Lock()
	old, o, closed := r.now, r.o, r.closed
	r.mu.Unlock()
	if closed {
		return nil, agent.ErrClosed
	}
	if err := old.Close(); err != nil { // its id has to be free
		return nil, err
	}
	id := old.ID()
	if _, err := os.Stat(sessionfile.Path(sessionfile.ConfigDir(r.e.env()), o.Dir, id)); err == nil {
		o.Resume, o.Fork, o.ID = id, false, ""
	} else if o.Resume != id {
		o.ID = id
	}
	old.log.Warn("process has ended; the session goes on in a new one")
	s, err := r.e.open(ctx, o)
	if err != nil {
		return nil, fmt.Errorf(textNoResume, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		r.e.discard(s)
		return nil, agent.ErrClosed
	}
	r.now = s
	return s, nil
}

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
		{"model", n.Model, &now.Model, func(m string) (request, error) { return request{"subtype": "set_model", "model": m}, nil }},
		{"thinking", n.Thinking, &now.Thinking, askThinking},
		{"mode", n.Mode, &now.Mode, func(m string) (request, error) {
			return request{"subtype": "set_permission_mode", "mode": permissionMode(m)}, nil
		}},
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
		s.reason = agent.ErrClosed
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
