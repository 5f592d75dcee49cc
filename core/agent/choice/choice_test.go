package choice

import (
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/storage/store"
	"ollimbot/core/storage/store/storetest"
)

// memory is an engine that remembers the messages to each of its sessions and answers with its
// name.
type memory struct {
	name   string
	told   map[string][]string
	models []string // of each turn
	down   bool
}

func (m *memory) HasSession(id string) bool { return m.told[id] != nil }

func (m *memory) HasMessage(_ context.Context, id string, digest [sha256.Size]byte) (bool, error) {
	return slices.ContainsFunc(m.told[id], func(s string) bool { return sha256.Sum256([]byte(s)) == digest }), nil
}

func (m *memory) Open(_ context.Context, o agent.SessionOptions) (agent.Session, error) {
	id := o.Resume
	if o.Resume != "" && m.told[o.Resume] == nil {
		return nil, agent.ErrNoSession
	}
	if o.Resume == "" || o.Fork {
		if id = o.ID; id == "" {
			id = store.NewUUID()
		}
	}
	return &conversation{m: m, id: id, o: o, parent: o.Resume}, nil
}

type conversation struct {
	m      *memory
	id     string
	o      agent.SessionOptions
	parent string
}

func (c *conversation) ID() string                      { return c.id }
func (c *conversation) Interrupt(context.Context) error { return nil }
func (c *conversation) Close() error                    { return nil }
func (c *conversation) Configure(_ context.Context, s agent.Settings) error {
	c.o.Settings = s
	return nil
}

func (c *conversation) Send(_ context.Context, m agent.Message) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		c.m.models = append(c.m.models, c.o.Settings.Model)
		if c.m.down {
			yield(agent.Result{SessionID: c.id, IsError: true, Unavailable: true, Text: "no money left"}, nil)
			return
		}
		if _, known := c.m.told[c.id]; !known && c.parent != c.id {
			c.m.told[c.id] = slices.Clone(c.m.told[c.parent])
		}
		c.m.told[c.id] = append(c.m.told[c.id], m.Text)
		answer := c.m.name
		if m.Text == promptSummary {
			answer = "SUMMARY OF " + strings.Join(c.m.told[c.parent], ",")
		}
		if yield(agent.Text{Delta: answer}, nil) {
			yield(agent.Result{SessionID: c.id, Usage: agent.Usage{InputTokens: 1, Free: true}}, nil)
		}
	}
}

// bench is an Engine with three memory engines as members.
type bench struct {
	t                        *testing.T
	e                        *Engine
	claude, messages, script *memory
	chosen, main, recent     string
	fallback                 []string
	told                     []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	d := storetest.Dir(t)
	if err := d.Prepare(); err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, chosen: Claude}
	brain := func(name string) *memory { return &memory{name: name, told: map[string][]string{}} }
	b.claude, b.messages, b.script = brain(Claude), brain(Messages), brain(Script)
	b.e = New(Options{
		Dir: d, Log: slog.New(slog.DiscardHandler), Members: []Member{{Claude, b.claude}, {Messages, b.messages}, {Script, b.script}},
		Chosen:   func() (string, string) { return b.chosen, "" },
		Fallback: func() []string { return b.fallback },
		Server: func(model string) string {
			server, _, _ := strings.Cut(model, "/")
			return server
		},
		Main: func() string { return b.main }, Recent: func() string { return b.recent },
		Tell: func(text string) { b.told = append(b.told, text) },
	})
	return b
}

func (b *bench) open(o agent.SessionOptions) agent.Session {
	b.t.Helper()
	s, err := b.e.Open(b.t.Context(), o)
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// say sends a message and returns the engine that answered, and the notices before that.
func (b *bench) say(s agent.Session, text string) (answer, notes string) {
	b.t.Helper()
	for ev, err := range s.Send(b.t.Context(), agent.Message{Text: text}) {
		if err != nil {
			return "error: " + err.Error(), notes
		}
		switch ev := ev.(type) {
		case agent.Text:
			answer += ev.Delta
		case agent.Notice:
			notes += ev.Text
		case agent.Result:
			if ev.IsError {
				answer += "failed: " + ev.Text
			}
		}
	}
	return answer, notes
}

func TestASessionGetsTheEngineOfItsModelElseTheChosenOne(t *testing.T) {
	b := newBench(t)
	for _, c := range []struct{ chosen, model, want, asked string }{
		{Claude, "", Claude, ""},
		{Claude, "haiku", Claude, "haiku"},
		{Claude, "local/qwen3", Messages, "local/qwen3"},
		{Messages, "opus", Messages, "opus"},
		{Script, "local/qwen3", Script, ""},
	} {
		b.chosen = c.chosen
		s := b.open(agent.SessionOptions{Settings: agent.Settings{Model: c.model}})
		got, _ := b.say(s, "hello")
		models := b.e.member(c.want).(*memory).models
		if got != c.want || models[len(models)-1] != c.asked {
			t.Errorf("%s with %q: %s answers as %q", c.chosen, c.model, got, models)
		}
	}
}

func TestASessionThatIsResumedKeepsTheEngineThatMadeIt(t *testing.T) {
	b := newBench(t)
	s := b.open(agent.SessionOptions{})
	b.say(s, "one")
	b.chosen = Messages
	again := b.open(agent.SessionOptions{Resume: s.ID()})
	if got, _ := b.say(again, "two"); got != Claude || again.ID() != s.ID() {
		t.Errorf("%s answers", got)
	}
	if _, err := b.e.Open(t.Context(), agent.SessionOptions{Resume: store.NewUUID()}); err == nil {
		t.Error("an unknown session is resumed")
	}
}

func TestTheMainSessionTakesItsHistoryAlongAndComesBack(t *testing.T) {
	b := newBench(t)
	s := b.open(agent.SessionOptions{})
	b.say(s, "my cat is Ada")
	first := s.ID()
	b.main, b.chosen = first, Messages
	answer, note := b.say(s, "who is my cat?")
	if answer != Messages || !strings.Contains(note, "Switched from claude to messages") || !strings.Contains(note, "summary") || s.ID() == first {
		t.Fatalf("%q %q", answer, note)
	}
	told := b.messages.told[s.ID()]
	if len(told) != 2 || !strings.Contains(told[0], "SUMMARY OF my cat is Ada") || told[1] != "who is my cat?" {
		t.Errorf("it was told %q", told)
	}
	if len(b.claude.told[first]) != 1 {
		t.Errorf("the old session was told %q", b.claude.told[first])
	}
	// The message is found under either of the IDs that a delivery may have recorded.
	for _, id := range []string{first, s.ID()} {
		if has, err := b.e.HasMessage(t.Context(), id, sha256.Sum256([]byte("who is my cat?"))); !has || err != nil {
			t.Errorf("%s does not have it: %v", id, err)
		}
	}
	b.main, b.chosen = s.ID(), Claude
	if _, err := b.e.Open(t.Context(), agent.SessionOptions{Resume: b.main}); err != nil {
		t.Fatal(err)
	}
	if answer, _ := b.say(s, "and now?"); answer != Claude || s.ID() != first {
		t.Errorf("%s answers in %s, want %s", answer, s.ID(), first)
	}
	if told := b.claude.told[first]; len(told) != 3 || !strings.Contains(told[1], "SUMMARY OF") {
		t.Errorf("it was told %q", told)
	}
}

func TestAForkWithAnotherEngineKnowsTheNewestWords(t *testing.T) {
	b := newBench(t)
	s := b.open(agent.SessionOptions{})
	b.say(s, "one")
	b.main, b.recent = s.ID(), "the user said: one"
	f := b.open(agent.SessionOptions{Resume: b.main, Fork: true, Settings: agent.Settings{Model: "local/qwen3"}})
	if got, note := b.say(f, "digest"); got != Messages || note != "" {
		t.Errorf("%s %q", got, note)
	}
	told := b.messages.told[f.ID()]
	if len(told) != 1 || !strings.Contains(told[0], "the user said: one") || !strings.HasSuffix(told[0], "digest") {
		t.Errorf("it was told %q", told)
	}
	if f := b.open(agent.SessionOptions{Resume: b.main, Fork: true}); len(b.claude.told) != 1 || f.ID() == b.main {
		t.Error("a fork of the same engine is none")
	}
}

func TestAnotherEngineAnswersWhileOneIsOutOfReach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.fallback = []string{"local/qwen3", Script}
		changes := 0
		b.e.OnChange(func() { changes++ })
		s := b.open(agent.SessionOptions{})
		b.say(s, "my cat is Ada")
		b.main, b.recent, b.claude.down = s.ID(), "the user said: my cat is Ada", true
		first := s.ID()
		answer, note := b.say(s, "hello?")
		b.main = s.ID()
		if answer != Messages || !strings.Contains(note, "could not be asked") {
			t.Fatalf("%q %q", answer, note)
		}
		if w := b.e.Status(); w.Name != Messages || !strings.Contains(w.Warning, "local/qwen3 answers in place of claude: no money left") || changes != 1 {
			t.Errorf("%+v after %d changes", w, changes)
		}
		asked := len(b.claude.models)
		b.say(s, "again")
		b.say(b.open(agent.SessionOptions{}), "a run")
		if len(b.claude.models) != asked || changes != 1 {
			t.Errorf("it is asked again at once, %d changes", changes)
		}
		b.messages.down = true
		if answer, _ := b.say(s, "and now?"); answer != Script {
			t.Errorf("%s answers", answer)
		}
		b.main = s.ID()
		time.Sleep(mostWait)
		b.claude.down = false
		if answer, _ := b.say(s, "back?"); answer != Claude || s.ID() == first && len(b.claude.told[first]) < 3 {
			t.Errorf("%s answers", answer)
		}
		if len(b.told) != 1 || !strings.Contains(b.told[0], "claude answers again") || b.e.Status().Warning != "" {
			t.Errorf("the user was told %q, %+v", b.told, b.e.Status())
		}
	})
}

func TestWithNobodyElseTheFailureIsShown(t *testing.T) {
	b := newBench(t)
	b.claude.down = true
	s := b.open(agent.SessionOptions{})
	for range 2 {
		if answer, _ := b.say(s, "hello"); answer != "failed: no money left" {
			t.Errorf("%q", answer)
		}
	}
	b.fallback, b.messages.down = []string{"local/qwen3"}, true
	if answer, _ := b.say(s, "hello"); !strings.Contains(answer, "no money left") || len(b.told) != 0 {
		t.Errorf("%q %q", answer, b.told)
	}
}

func TestTheUsageOfWhatIsCarriedOverCounts(t *testing.T) {
	b := newBench(t)
	s := b.open(agent.SessionOptions{})
	b.say(s, "one")
	b.main, b.chosen = s.ID(), Messages
	for ev, err := range s.Send(t.Context(), agent.Message{Text: "two"}) {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := ev.(agent.Result); ok && r.Usage.InputTokens != 3 {
			t.Errorf("%+v", r.Usage)
		}
	}
}

func TestMovesAreBounded(t *testing.T) {
	b := newBench(t)
	for i := range maxMoves + 10 {
		b.e.move(fmt.Sprint(i), fmt.Sprint(i+1))
	}
	if list := b.e.moves(); len(list) != maxMoves || b.e.before("60") != "59" || b.e.after("0") != "" {
		t.Errorf("%d moves", len(list))
	}
	b.e.move("a", "b")
	b.e.move("b", "a")
	if _, err := b.e.HasMessage(t.Context(), "a", [32]byte{}); err != nil {
		t.Error(err)
	}
}
