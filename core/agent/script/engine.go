// Package script is an engine like any other, only that no model stands behind
// it: it plays the small script that a prompt's body holds (docs/offline-engine.md),
// and without one it improvises from the prompt's words. It goes through the
// same tools, hooks and permission callback as a model would, so the demo, the
// tests and a run without an account exercise the real paths.
//
// It must not know forks, budgets or the bot's files: what it knows of the bot
// stands in the prompt and comes back from the tools. Of its own it keeps a
// journal of what it was told, as a model keeps its sessions.
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
	"ollimbot/core/base/words"
	"ollimbot/core/storage/store"
)

const (
	// keptSessions and keptTurns bound what is remembered: the oldest go first.
	keptSessions = 200
	keptTurns    = 50
	// defaultModel is the name that stands for no model at all.
	defaultModel = "offline"
)

// Options of the engine. The zero value plays without any waiting.
type Options struct {
	// Seed makes the improvisation repeatable: the same seed and prompt give the
	// same words and calls.
	Seed uint64
	// Pace scales every wait, those of a script too: 1 is the pace of a quick
	// model, 0.1 ten times faster, 0 waits for nothing.
	Pace float64
	// Dir is where it is written down which session was told what, so that it is
	// known after a crash; nil remembers nothing.
	Dir *store.Dir
	// Offline is said once in front of a session's first answer to the user; empty in the
	// demo.
	Offline string
	// Priced leaves open what the tokens cost, so that they count as those of a model
	// would; otherwise they are free.
	Priced bool
}

// Engine opens sessions that live in memory. Use New.
type Engine struct {
	o Options

	mu sync.Mutex
	// sessions is what each session id remembers, order the ids by age.
	sessions map[string][]exchange
	order    []string
}

// exchange is one finished turn: the beginnings of what was said, and the size of
// all of it in characters.
type exchange struct {
	Asked, Answered string
	size            int
}

// keptWords is how much of a question and of an answer is kept, in characters.
const keptWords = 4 << 10

// New returns an engine.
func New(o Options) *Engine {
	return &Engine{o: o, sessions: map[string][]exchange{}}
}

// Open starts, resumes or forks a session. An id that is not a UUID gives
// agent.ErrNoSession; a UUID that this engine has never seen is resumed with an
// empty history, because an engine without a memory on disk cannot know better.
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

// remember stores a history, which nobody changes in place.
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

// begin marks the turn as running.
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
		// A copy of the question: it is a part of a longer prompt.
		one := exchange{Asked: strings.Clone(clean.Cut(body, keptWords)), Answered: clean.Cut(t.said.String(), keptWords), size: len(body) + t.saidSize}
		h := append(slices.Clone(s.history), one)
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
		u, turns := t.s.spent()
		t.say(fmt.Sprintf(sayCost, words.Count(turns, "turn"), u.Tokens(), u.Tokens()-u.OutputTokens, u.CacheRead, u.OutputTokens))
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

const (
	// journalFile is what a model's own session files would be: which session
	// was told what. It is cut to its newer half when it has journalMost bytes.
	journalFile = "state/script_messages.jsonl"
	journalMost = 2 << 20
	journalText = 2000 // characters of a message that are kept for people
)

// heard is one line of the journal.
type heard struct {
	Session string `json:"session"`
	Digest  string `json:"sha256"`
	Text    string `json:"text"`
}

// record writes down that a session has taken a message, before anything is said
// to it: from then on the message counts as delivered, crash or not.
func (e *Engine) record(session, text string) error {
	if e.o.Dir == nil {
		return nil
	}
	sum := sha256.Sum256([]byte(text))
	err := e.journal().Append(heard{session, hex.EncodeToString(sum[:]), clean.Cut(clean.Text(text), journalText)})
	if err != nil {
		return fmt.Errorf("keep the message: %w", err)
	}
	return nil
}

func (e *Engine) journal() store.Log[heard] {
	return store.Log[heard]{Dir: e.o.Dir, Rel: journalFile, Limit: journalMost, Keep: journalMost / 2}
}

// HasMessage reports whether a session was told a message (agent.HistoryChecker).
func (e *Engine) HasMessage(_ context.Context, session string, digest [sha256.Size]byte) (bool, error) {
	if e.o.Dir == nil {
		return false, nil
	}
	list, _, err := e.journal().Newest(journalMost)
	if err != nil {
		return false, fmt.Errorf("read the journal: %w", err)
	}
	want := heard{Session: session, Digest: hex.EncodeToString(digest[:])}
	return slices.ContainsFunc(list, func(h heard) bool { return h.Session == want.Session && h.Digest == want.Digest }), nil
}

// HasSession reports whether a session was told anything (agent.Keeper).
func (e *Engine) HasSession(id string) bool {
	if e.o.Dir == nil {
		return false
	}
	list, _, err := e.journal().Newest(journalMost)
	return err == nil && slices.ContainsFunc(list, func(h heard) bool { return h.Session == id })
}
