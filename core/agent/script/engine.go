// Package script is the offline engine: an engine without a model. It plays the script in a prompt
// (docs/contributing/offline-engine.md), or says that there is none. It uses the same tools, hooks and
// permission checks as a model, and keeps a journal of the messages it received.
//
// It must not know forks, budgets or the bot's files: it sees prompts and tool results only.
package script

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
)

const (
	// keptSessions and keptTurns limit the memory: the oldest are dropped first.
	keptSessions = 200
	keptTurns    = 50
)

// Options of the engine. The zero value never waits.
type Options struct {
	// Pace scales every wait, including those of scripts: 1 is the pace of a fast
	// model, 0.1 is ten times faster, 0 does not wait.
	Pace float64
	// Dir contains the journal of the messages each session received, which survives a crash. If
	// nil, there is no journal.
	Dir *store.Dir
	// Offline precedes a session's first answer to the user; empty in the demo.
	Offline string
	// Talk returns a script that answers the user's message, the topic of a fork, or one of the bot's own messages to a fork,
	// of which it gets the tag: "[fork-timeout]". Nil for none.
	Talk func(said string) string
	// Priced reports usage without a price, so that tokens cost the same as with a model; otherwise
	// they are free.
	Priced bool
}

// Engine opens sessions, which are kept in memory. Use New.
type Engine struct {
	o Options

	mu sync.Mutex
	// sessions contains the history of each session ID, order the IDs by age.
	sessions map[string][]exchange
	order    []string
}

// exchange is one finished turn: the start of the question and the answer, and the size
// of both in characters.
type exchange struct {
	Asked, Answered string
	size            int
}

// keptWords is how much of a question or answer is kept, in characters.
const keptWords = 4 << 10

// New returns an engine.
func New(o Options) *Engine {
	return &Engine{o: o, sessions: map[string][]exchange{}}
}

// Open starts, resumes or forks a session. An ID that is not a UUID returns agent.ErrNoSession. An
// unknown UUID is resumed with an empty history, because sessions do not survive a restart.
func (e *Engine) Open(ctx context.Context, o agent.SessionOptions) (agent.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open an offline session: %w", err)
	}
	if err := o.CheckIDs(); err != nil {
		return nil, fmt.Errorf("open an offline session: %w", err)
	}
	e.mu.Lock()
	history := e.sessions[o.Resume]
	e.mu.Unlock()
	id := o.Resume
	if o.Resume == "" || o.Fork {
		id = cmp.Or(o.ID, store.NewUUID())
	}
	e.remember(id, history)
	return &session{engine: e, id: id, o: o, settings: o.Settings, history: history}, nil
}

// remember stores a history, which must not be changed afterwards.
func (e *Engine) remember(id string, history []exchange) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.sessions[id]; !known {
		e.order = append(e.order, id)
		if len(e.order) > keptSessions {
			delete(e.sessions, e.order[0])
			e.order = e.order[1:]
		}
	}
	e.sessions[id] = history
}

// errInterrupted is the cause with which Interrupt cancels a turn.
var errInterrupted = errors.New("interrupted")

// session is one conversation of the offline engine.
type session struct {
	engine *Engine
	id     string
	o      agent.SessionOptions

	mu sync.Mutex
	// cancel ends the running turn; nil if none is running.
	cancel   context.CancelCauseFunc
	settings agent.Settings
	history  []exchange
	turns    int
	closed   bool
}

// ID returns the session's ID, which is known from the start.
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
			s.mu.Lock()
			s.cancel(nil)
			s.cancel = nil
			s.mu.Unlock()
			yield(nil, err)
			return
		}
		t := &turn{s: s, ctx: turnCtx, yield: yield, history: history, rounds: 1, thinks: s.current().Thinking != "off"}
		defer s.end(t, m.Text)
		t.play(m)
		t.finish()
	}
}

func (s *session) begin(ctx context.Context) (context.Context, []exchange, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, nil, agent.ErrClosed
	case s.cancel != nil:
		return nil, nil, agent.ErrTwoTurns
	}
	turnCtx, cancel := context.WithCancelCause(ctx)
	s.cancel = cancel
	return turnCtx, s.history, nil
}

// end adds the turn to the history and admits the next one.
func (s *session) end(t *turn, asked string) {
	s.mu.Lock()
	s.cancel(nil)
	s.cancel = nil
	if t.command {
		s.history = t.history // a command is not part of the conversation
	} else {
		s.turns++
		body := read(asked).body
		// Cloned, so that the long prompt around it can be freed.
		one := exchange{Asked: strings.Clone(clean.Cut(body, keptWords)), Answered: clean.Cut(t.said.String(), keptWords), size: len(body) + t.saidSize}
		h := append(slices.Clone(s.history), one)
		s.history = h[max(0, len(h)-keptTurns):]
	}
	h := s.history
	s.mu.Unlock()
	s.engine.remember(s.id, h)
}

// Interrupt ends the running turn; its Result is marked as interrupted.
func (s *session) Interrupt(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel(errInterrupted)
	}
	return nil
}

// Configure changes the settings that are set. Only the model's name and the thinking
// have an effect.
func (s *session) Configure(_ context.Context, n agent.Settings) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return agent.ErrClosed
	}
	s.settings = s.settings.With(n)
	return nil
}

// Close ends the session; a running turn ends with an error.
func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	if s.cancel != nil {
		s.cancel(agent.ErrClosed)
	}
	return nil
}

func (s *session) current() agent.Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings
}

// maxSummary is the length of a summarized question or answer, in characters.
const maxSummary = 200

// engineCommand runs /compact. It returns false for any other message.
func (t *turn) engineCommand(c agent.Command) bool {
	if c == agent.Compact {
		t.command = true
		t.compactNow()
	}
	return t.command
}

// compactNow reduces the history to its last exchange, shortened. An interrupted turn
// leaves it unchanged.
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
	t.s.mu.Lock()
	t.rounds = max(1, t.s.turns)
	t.s.mu.Unlock()
	fmt.Fprintf(&t.lastText, sayCompacted, before, after)
}

const (
	// journalFile records which session received which message. It is cut to its newer half when it
	// reaches journalMost bytes.
	journalFile = "state/script_messages.jsonl"
	journalMost = 2 << 20
	journalText = 8000 // characters of a message kept for readers
)

// journalEntry is one line of the journal.
type journalEntry struct {
	Session string `json:"session"`
	Digest  string `json:"sha256"`
	Text    string `json:"text"`
}

// record adds a message to the journal before it is answered. From then on the message counts as
// delivered, even after a crash.
func (e *Engine) record(session, text string) error {
	if e.o.Dir == nil {
		return nil
	}
	sum := sha256.Sum256([]byte(text))
	err := e.journal().Append(journalEntry{session, hex.EncodeToString(sum[:]), clean.Cut(clean.Text(text), journalText)})
	if err != nil {
		return fmt.Errorf("record the message: %w", err)
	}
	return nil
}

func (e *Engine) journal() jsonl.Log[journalEntry] {
	return jsonl.Log[journalEntry]{Dir: e.o.Dir, Rel: journalFile, Limit: journalMost, Keep: journalMost / 2}
}

// HasMessage reports whether a session received a message (agent.HistoryChecker).
func (e *Engine) HasMessage(_ context.Context, session string, digest [sha256.Size]byte) (bool, error) {
	if e.o.Dir == nil {
		return false, nil
	}
	list, _, err := e.journal().Newest(journalMost)
	if err != nil {
		return false, fmt.Errorf("read the journal: %w", err)
	}
	want := journalEntry{Session: session, Digest: hex.EncodeToString(digest[:])}
	return slices.ContainsFunc(list, func(h journalEntry) bool { return h.Session == want.Session && h.Digest == want.Digest }), nil
}

// HasSession reports whether a session received any message (agent.Keeper).
func (e *Engine) HasSession(id string) bool {
	if e.o.Dir == nil {
		return false
	}
	list, _, err := e.journal().Newest(journalMost)
	return err == nil && slices.ContainsFunc(list, func(h journalEntry) bool { return h.Session == id })
}
