package script

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
)

// errClosed and errTwoTurns answer misuse of a session.
var (
	errClosed   = errors.New("the session is closed")
	errTwoTurns = errors.New("a turn is under way: wait for its end before sending again")
)

// errInterrupted is the cause with which Interrupt cancels a turn.
var errInterrupted = errors.New("interrupted")

// session is one conversation of the offline engine.
type session struct {
	engine *Engine
	id     string
	o      agent.SessionOptions

	mu sync.Mutex
	// cancel ends the running turn, nil when none runs.
	cancel   context.CancelCauseFunc
	settings agent.Settings
	history  []exchange
	used     agent.Usage // since the session was opened
	turns    int
	closed   bool
}

// ID is the session's id, known from the start.
func (s *session) ID() string { return s.id }

// Send plays one turn in the caller's goroutine.
func (s *session) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		turnCtx, history, err := s.begin(ctx)
		if err != nil {
			yield(nil, err)
			return
		}
		if err := s.engine.record(s.id, m.Text); err != nil {
			s.abandon()
			yield(nil, err)
			return
		}
		t := newTurn(turnCtx, s, yield)
		t.history = history
		defer s.end(t, m.Text)
		t.play(m)
		t.finish()
	}
}

// begin marks the turn as running.
func (s *session) begin(ctx context.Context) (context.Context, []exchange, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, nil, errClosed
	case s.cancel != nil:
		return nil, nil, errTwoTurns
	}
	turnCtx, cancel := context.WithCancelCause(ctx)
	s.cancel = cancel
	return turnCtx, s.history, nil
}

// abandon ends a turn that never began.
func (s *session) abandon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel(nil)
	s.cancel = nil
}

// end keeps the turn in the history and lets the next one begin.
func (s *session) end(t *turn, asked string) {
	s.mu.Lock()
	s.cancel(nil)
	s.cancel = nil
	s.used = s.used.Add(t.usage())
	if t.command {
		s.history = t.history // its own words are none of the conversation
	} else {
		s.turns++
		body := read(asked).Body
		h := append(slices.Clone(s.history), newExchange(body, t.said.String(), len(body)+t.saidSize))
		s.history = h[max(0, len(h)-keptTurns):]
	}
	h := s.history
	s.mu.Unlock()
	s.engine.remember(s.id, h)
}

// Interrupt ends the running turn; its Result says Interrupted.
func (s *session) Interrupt(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel(errInterrupted)
	}
	return nil
}

// Configure changes what fields are set. The model's name is all that this
// engine takes from it.
func (s *session) Configure(_ context.Context, n agent.Settings) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	if n.Model != "" {
		s.settings.Model = n.Model
	}
	if n.Thinking != "" {
		s.settings.Thinking = n.Thinking
	}
	if n.Mode != "" {
		s.settings.Mode = n.Mode
	}
	return nil
}

// Close ends the session; a running turn ends with an error.
func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.cancel != nil {
		s.cancel(errClosed)
	}
	return nil
}

// spent is what the finished turns have used, and how many they were.
func (s *session) spent() (agent.Usage, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, s.turns
}

func (s *session) current() agent.Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

func (s *session) model() string {
	if m := s.current().Model; m != "" {
		return m
	}
	return defaultModel
}

// maxSummary is what is left of an answer once it was summed up, in characters.
const maxSummary = 200

// engineCommand carries out a command of the engine itself; false when there is none.
func (t *turn) engineCommand(c agent.Command) bool {
	switch c {
	case agent.Compact:
		t.command = true
		t.compactNow()
	case agent.Cost:
		t.command = true
		t.say(t.cost())
	}
	return t.command
}

// compactNow sums the history up: the last exchange stays, shortened. A turn
// that is interrupted meanwhile changes nothing.
func (t *turn) compactNow() {
	before := preset + t.in/4
	if !t.emit(agent.Compacting{PreTokens: before}) || !t.wait(1500*time.Millisecond) {
		return
	}
	left := t.history[max(0, len(t.history)-1):]
	short := make([]exchange, 0, len(left))
	after := preset
	for _, e := range left {
		e = exchange{Asked: clean.Cut(e.Asked, maxSummary), Answered: clean.Cut(e.Answered, maxSummary)}
		e.size = len(e.Asked) + len(e.Answered)
		short = append(short, e)
		after += e.size / 4
	}
	if !t.emit(agent.Compacting{Done: true, PreTokens: before}) {
		return
	}
	t.history = short
	_, turns := t.s.spent()
	t.rounds = max(1, turns)
	t.lastText.Reset()
	fmt.Fprintf(&t.lastText, sayCompacted, before, after)
}

// cost is what the session has used since it was opened.
func (t *turn) cost() string {
	u, turns := t.s.spent()
	n := "1 turn"
	if turns != 1 {
		n = fmt.Sprintf("%d turns", turns)
	}
	return fmt.Sprintf(sayCost, n, u.Tokens(), u.Tokens()-u.OutputTokens, u.CacheRead, u.OutputTokens)
}
