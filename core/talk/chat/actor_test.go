package chat

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/talk/transcript"
)

// actor is an engine that plays scripted turns. It has processes, a login and a memory,
// as far as the test sets them up.
type actor struct {
	mu sync.Mutex
	// plays are the events of the next turns; a turn without a play says "fine".
	plays []play
	// refuse maps session ids to errors of Open.
	refuse  map[string]error
	login   bool // is required
	opened  []agent.SessionOptions
	cast    []*acting
	heard   []string
	has     bool // whether it has the message in question
	hasErr  error
	hasDone []string // sessions it was asked about
	before  int      // number of sessions opened before the restart
	stiff   error    // the result of every interrupt, setting and close
}

// play is one turn: events, an error at its end, and functions that run in between.
type play []any

func (a *actor) Run(ctx context.Context) error { <-ctx.Done(); return nil }
func (a *actor) OnChange(func())               {}
func (a *actor) Status() agent.Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	return agent.Status{LoginNeeded: a.login}
}

func (a *actor) HasMessage(_ context.Context, session string, _ [sha256.Size]byte) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.hasDone = append(a.hasDone, session)
	return a.has, a.hasErr
}

func (a *actor) Open(_ context.Context, o agent.SessionOptions) (agent.Session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.refuse[o.Resume]; err != nil {
		return nil, err
	}
	a.opened = append(a.opened, o)
	s := &acting{actor: a, o: o, id: o.ID}
	if s.id == "" {
		s.id = o.Resume
	}
	if s.id == "" {
		s.id = fmt.Sprintf("new-%d", a.before+len(a.opened))
	}
	a.cast = append(a.cast, s)
	return s, nil
}

// next adds the events of one turn.
func (a *actor) next(p ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.plays = append(a.plays, p)
}

// asks adds a turn in which the newest session asks for a command.
func (a *actor) asks(command string) {
	a.next(func(ctx context.Context) {
		input, _ := json.Marshal(map[string]string{"command": command})
		a.newest().o.Permission(ctx, agent.ToolUse{Name: "Bash", Input: input})
	}, agent.Text{Delta: "after it"})
}

// session returns the n-th opened session.
func (a *actor) session(n int) *acting {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cast[n]
}

func (a *actor) newest() *acting {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cast[len(a.cast)-1]
}

// inputs returns the messages of all sessions, without timestamps.
func (a *actor) inputs() (out []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, h := range a.heard {
		_, text, found := strings.Cut(h, "] ")
		if !found {
			text = h
		}
		out = append(out, strings.TrimSpace(text))
	}
	return out
}

// acting is a session of the actor.
type acting struct {
	actor *actor
	o     agent.SessionOptions
	id    string

	mu          sync.Mutex
	stopped     context.CancelFunc
	interrupted bool
	stops       int
	closed      bool
	settings    []agent.Settings
}

func (s *acting) ID() string { return s.id }

func (s *acting) Send(ctx context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	a := s.actor
	a.mu.Lock()
	a.heard = append(a.heard, m.Text)
	var p play = []any{agent.Text{Delta: "fine"}}
	if len(a.plays) > 0 {
		p, a.plays = a.plays[0], a.plays[1:]
	}
	a.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	s.mu.Lock()
	s.stopped, s.interrupted = cancel, false
	s.mu.Unlock()
	return func(yield func(agent.Event, error) bool) {
		defer cancel()
		for _, one := range p {
			switch one := one.(type) {
			case error:
				yield(nil, one)
				return
			case func():
				one()
			case func(context.Context):
				one(ctx)
			case agent.Result:
				s.o.Hooks.Charge(agent.Charge{Model: s.o.Settings.Model, Used: one.Usage})
				yield(one, nil)
				return
			case agent.Event:
				if !yield(one, nil) {
					return
				}
			}
		}
		s.mu.Lock()
		r := agent.Result{SessionID: s.id, Interrupted: s.interrupted}
		s.mu.Unlock()
		s.o.Hooks.Charge(agent.Charge{Model: s.o.Settings.Model})
		yield(r, nil)
	}
}

func (s *acting) Interrupt(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupted, s.stops = true, s.stops+1
	if s.stopped != nil {
		s.stopped()
	}
	return s.actor.stiff
}

func (s *acting) Configure(_ context.Context, set agent.Settings) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings = append(s.settings, set)
	return s.actor.stiff
}

func (s *acting) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return s.actor.stiff
}

func (s *acting) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// configured returns the newest settings applied to the session.
func (s *acting) configured() agent.Settings {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.settings) == 0 {
		return s.o.Settings
	}
	return s.settings[len(s.settings)-1]
}

// call calls a tool of the bot.
func (s *acting) call(t *testing.T, name, args string) agent.ToolResult {
	t.Helper()
	i := slices.IndexFunc(s.o.Tools, func(tool agent.Tool) bool { return tool.Name == name })
	u := agent.ToolUse{Name: name, Input: json.RawMessage(args)}
	a, _ := agent.Approve(u, u.Allowed())
	return s.o.Tools[i].Call(t.Context(), a)
}

// untilStopped holds a turn until it is interrupted.
func untilStopped(ctx context.Context) { <-ctx.Done() }

// acted runs a story with an actor as the engine.
func acted(t *testing.T, story func(s *stage, a *actor)) { actedWith(t, &actor{}, nil, story) }

// actedWith prepares the stage before the conversation runs.
func actedWith(t *testing.T, a *actor, prepare func(s *stage), story func(s *stage, a *actor)) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "data")
	synctest.Test(t, func(t *testing.T) {
		s := stageAt(t, root, a)
		if prepare != nil {
			prepare(s)
		}
		s.run(func(s *stage) { story(s, a) })
		for i, session := range a.cast {
			if !session.isClosed() {
				t.Errorf("the program has ended, and session %d is still open", i)
			}
		}
	})
}

// say sends a message of the user and waits for the answer.
func (s *stage) say(text string) {
	s.t.Helper()
	s.sent++
	s.hear(fmt.Sprint(1000+s.sent), text)
	s.settle()
}

// enter opens a fork as the user does, and waits for its first answer.
func (s *stage) enter(topic string) {
	s.t.Helper()
	testkit.Must(s.t, s.EnterFork(topic))
	s.settle()
}

// clear begins a new conversation.
func (s *stage) clear() {
	s.t.Helper()
	_, err := s.Clear(s.t.Context())
	testkit.Must(s.t, err)
}

// entries returns the texts of one role in the chat, without cards.
func (s *stage) entries(role transcript.Role) (out []string) {
	for _, e := range s.o.Records.Transcript.Entries() {
		if e.Role == role && e.Embed == nil {
			out = append(out, e.Text)
		}
	}
	return out
}

// noted reports whether the user got a notice with this text.
func (s *stage) noted(text string) bool {
	s.phone.mu.Lock()
	defer s.phone.mu.Unlock()
	return slices.ContainsFunc(s.phone.notes, func(n string) bool { return strings.Contains(n, text) })
}

// click presses a button, which must succeed.
func (s *stage) click(id string) string {
	s.t.Helper()
	done, err := s.Click(s.t.Context(), "9001", id)
	testkit.Must(s.t, err)
	s.settle()
	return done
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

var enterFork = agent.ToolEnd{Name: toolset.Prefix + toolset.EnterFork}
