package claude

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/claude/wire"
	"ollimbot/core/safety/control"
	"ollimbot/core/storage/store"
)

// child is the process behind a session: *process.Process in the program, pipes in
// tests.
type child interface {
	Stdin() io.WriteCloser
	Stdout() io.Reader
	StderrTail() string
	PID() int
	Err() error
	Signal(os.Signal) error
	Resident() (bytes int64, ok bool)
	Stop(ctx context.Context, patience time.Duration) error
}

var _ child = (*process.Process)(nil)

var errGone = errors.New(textGone)

const (
	// answerLimit is how long the CLI may take to answer a request while it runs. It takes
	// milliseconds, even during a turn.
	answerLimit = 5 * time.Second
	// closeGrace is how long Close waits for the interruption of a running turn.
	closeGrace = time.Second
	// goneLimit is how long each step of ending a process without output may take.
	goneLimit = time.Second
)

// session is a conversation during the lifetime of its process. Its goroutine, live, reads the
// process's output and passes it to the current turn. Between a line and the reader of the turn
// there is one queue, the turn's.
type session struct {
	e       *Engine
	log     *slog.Logger
	key     string // the engine's ID for the process
	child   child
	conn    *wire.Conn
	host    *host
	token   *control.Token // for the bot's commands in its shell
	started time.Time
	// reader has room for one: the current reader of a turn.
	reader chan struct{}
	done   chan struct{} // closed when the session has released everything

	// booking is held while charges are passed on, to keep their order.
	booking sync.Mutex

	// mu guards the fields below. It is never held over I/O or a callback of the bot.
	mu       sync.Mutex
	id       string // the CLI's current ID of the session
	settings agent.Settings
	flow     flow
	meter    meter
	// early are the errors of results that arrived before any turn.
	early []string
	// reason is why the bot ended the process, ended why nothing can be sent any longer.
	reason, ended error
	memory        int64
	// calm is closed and replaced when it may have become possible to write a message.
	calm chan struct{}
}

func newSession(e *Engine, key string, c child, o agent.SessionOptions, token *control.Token) *session {
	s := &session{
		e: e, log: e.o.Log.With("session", key), key: key, id: key, child: c, started: time.Now(), token: token, settings: o.Settings,
		reader: make(chan struct{}, 1), done: make(chan struct{}), calm: make(chan struct{}),
	}
	s.host = newHost(o, s.log)
	s.host.spending, s.host.settle = s.spending, s.settle
	s.conn = wire.New(c.Stdout(), c.Stdin(), wire.Options{Handler: s.host.handle, Line: s.route, Log: s.log})
	return s
}

// live reads the session to its end. When it returns, the connection, the process, the callbacks
// and the ID have been released.
func (s *session) live() {
	defer close(s.done)
	var g sync.WaitGroup
	g.Go(func() { // slow callbacks do not delay the reader of a turn
		<-s.conn.Ended()
		_ = s.e.safely("end of a session", s.abandon) // safely has logged it
	})
	if err := s.conn.Run(context.Background()); err != nil { // ends with the process
		s.log.Debug("connection ended", "error", err)
	}
	g.Wait()
	s.token.Revoke()
	if err := s.stop(); err != nil {
		s.log.Warn("process was not ended cleanly", "error", err)
	}
	s.host.close()
	s.e.forget(s)
}

// abandon ends the running turns once the process can print nothing more.
func (s *session) abandon() {
	// The process must be reaped so that its last output is known; live reports the error. One that
	// has closed its output but keeps running is useless, and the user is waiting.
	_ = s.child.Stop(context.Background(), goneLimit)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended = s.reason; s.ended == nil {
		s.ended = errGone
		if said := s.child.StderrTail(); said != "" {
			s.ended = fmt.Errorf(textGoneSaid, said)
		} else if err := s.child.Err(); err != nil {
			s.ended = fmt.Errorf(textGoneSaid, err)
		}
	}
	for _, t := range []*turn{s.flow.current, s.flow.waiting} {
		if t != nil && t == s.flow.current {
			s.loseTurn(t)
		}
		switch {
		case t == nil:
		case t.forced != nil:
			end := *t.forced
			end.SessionID = s.id
			t.events.end(end)
		case t == s.flow.waiting:
			t.events.fail(notTakenError{s.ended})
		default:
			t.events.fail(s.ended)
		}
	}
	s.flow.current, s.flow.waiting = nil, nil
	s.calmed()
	s.later(s.flush)
}

// stop ends the process in steps. If another call has already started them, it only waits.
func (s *session) stop() error {
	return s.child.Stop(context.Background(), process.Patience)
}

// ID returns the ID that the session was opened with, unless the CLI has changed it.
func (s *session) ID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.id
}

// post writes the message once the CLI is idle and no other turn is being read. From then on the
// caller is the reader. A message sent earlier would join the running turn.
func (s *session) post(ctx context.Context, m agent.Message) (*turn, error) {
	blocks := content(m)
	for {
		if err := s.waitQuiet(ctx); err != nil {
			return nil, err
		}
		select {
		case s.reader <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		t, err := s.write(m, blocks)
		if t != nil {
			return t, nil
		}
		<-s.reader
		if err != nil {
			return nil, err
		}
	}
}

// waitQuiet waits until a message can be written. It returns an error if that will never be
// possible.
func (s *session) waitQuiet(ctx context.Context) error {
	for {
		s.mu.Lock()
		ok, wait := s.flow.quiet(time.Now())
		ended, calm := s.ended, s.calm
		s.mu.Unlock()
		if ended != nil || ok {
			return ended
		}
		if err := pause(ctx, calm, wait); err != nil {
			return err
		}
	}
}

// write sends the message if the CLI is still idle; otherwise it returns neither a turn nor an
// error. It holds the lock, so that no line arrives before the turn is known.
func (s *session) write(m agent.Message, blocks []wire.Block) (*turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != nil {
		return nil, s.ended
	}
	if ok, _ := s.flow.quiet(time.Now()); !ok {
		return nil, nil
	}
	t := &turn{
		events: newEventQueue(), tr: newTranslator(s.host.denied, m.Command),
		uuid: store.NewUUID(), command: m.Command, since: time.Now(),
	}
	if err := s.conn.Send(wire.UserMessage(t.uuid, blocks)); err != nil {
		return nil, fmt.Errorf("send the message: %w", err)
	}
	s.flow.waiting = t
	return t, nil
}

// pause waits for a signal, but no longer than limit if that is set.
func pause(ctx context.Context, signal <-chan struct{}, limit time.Duration) error {
	var late <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		late = t.C
	}
	select {
	case <-signal:
		return nil
	case <-late:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// dead reports whether the session's process can accept no more messages.
func (s *session) dead() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended != nil || s.reason != nil
}

// Interrupt ends the running turn, or one that was sent but has not started. The CLI answers with
// the turn's result.
func (s *session) Interrupt(ctx context.Context) error {
	if !s.markStopped(nil) {
		return nil
	}
	return s.interrupt(ctx, answerLimit)
}

// Configure changes the settings that differ. An empty setting changes nothing.
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

// Close ends the session and its process; a running turn ends with an error. The ID is free when it
// returns. It must not be called from a hook, a tool or the permission callback of the session,
// because it waits for those.
func (s *session) Close() error {
	s.token.Revoke()
	s.mu.Lock()
	if s.reason == nil {
		s.reason = agent.ErrClosed
	}
	running := s.flow.busy()
	s.mu.Unlock()
	if running { // otherwise the turn would run to its end after its input is closed
		if err := s.interrupt(context.Background(), closeGrace); err != nil {
			s.log.Debug("turn was not interrupted before the end", "error", err)
		}
	}
	err := s.stop()
	<-s.done
	if err != nil {
		return fmt.Errorf("close the session: %w", err)
	}
	return nil
}
