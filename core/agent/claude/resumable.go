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

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/sessionfile"
)

// resumable is the session that the bot sees. Its process may end between turns, by a signal or
// because of its memory; the next message then resumes the session in a new process.
type resumable struct {
	e       *Engine
	sending atomic.Bool // a Send is under way

	mu     sync.Mutex
	o      agent.SessionOptions // of a new process
	now    *session
	closed bool
}

var _ agent.Session = (*resumable)(nil)

// current returns the session's current process.
func (r *resumable) current() *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now
}

// ID returns the session's ID.
func (r *resumable) ID() string { return r.current().ID() }

// Interrupt ends the running turn, or one that was sent but has not started.
func (r *resumable) Interrupt(ctx context.Context) error { return r.current().Interrupt(ctx) }

// Configure changes the settings that differ, for later processes too. An empty setting changes
// nothing.
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

// notTakenError means that the process ended before it printed any line of the turn.
type notTakenError struct{ error }

func (u notTakenError) Unwrap() error { return u.error }

// Send runs one turn. It starts when no other turn is being read and the CLI is idle, so that the
// turn's lines belong to this message. A reader that leaves interrupts the turn. A process that
// ends before it has accepted the message is replaced, once.
func (r *resumable) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		if !r.sending.CompareAndSwap(false, true) {
			yield(nil, agent.ErrTwoTurns)
			return
		}
		defer r.sending.Store(false)
		s, err := r.run(ctx, m, yield)
		if s != nil && errors.As(err, &notTakenError{}) && !r.inHistory(ctx, s, m) {
			_, err = r.run(ctx, m, yield)
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

// run runs the turn in the current process and returns the error that ended it.
func (r *resumable) run(ctx context.Context, m agent.Message, yield func(agent.Event, error) bool) (*session, error) {
	s, t, err := r.post(ctx, m)
	if err != nil {
		return nil, err
	}
	defer func() { <-s.reader }()
	return s, s.pump(ctx, t, yield)
}

// inHistory reports whether the history might contain the message.
func (r *resumable) inHistory(ctx context.Context, s *session, m agent.Message) bool {
	heard, err := r.e.HasMessage(ctx, s.ID(), sha256.Sum256([]byte(m.Text)))
	return heard || err != nil
}

// post writes the message to a running process. One that cannot accept it is replaced, once,
// because it has read nothing of the message.
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

// resume opens the session in a new process. Without a history, it is opened as it was the first
// time.
func (r *resumable) resume(ctx context.Context) (*session, error) {
	r.mu.Lock()
	old, o, closed := r.now, r.o, r.closed
	r.mu.Unlock()
	if closed {
		return nil, agent.ErrClosed
	}
	if err := old.Close(); err != nil { // its ID has to be free
		return nil, err
	}
	id := old.ID()
	if _, err := os.Stat(sessionfile.Path(sessionfile.ConfigDir(r.e.env()), o.Dir, id)); err == nil {
		o.Resume, o.Fork, o.ID = id, false, ""
	} else if o.Resume != id {
		o.ID = id
	}
	old.log.Warn("process has ended; the session continues in a new one")
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
