package core

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/talk/transcript"
)

// choosy is an engine one of whose models obeys nothing that is set about thinking.
type choosy struct{ agent.Engine }

func (choosy) Status() agent.Status {
	return agent.Status{Models: func() []agent.Model {
		return []agent.Model{
			{Names: []string{"opus", ""}, AlwaysThinks: true, OwnMeasure: true}, {Names: []string{"sonnet"}, OwnMeasure: true}, {Names: []string{"haiku"}},
		}
	}}
}
func (choosy) OnChange(func()) {}

// warning is an engine that works, of a version that nobody has tried.
type warning struct {
	agent.Engine
	changed func()
}

func (*warning) Status() agent.Status      { return agent.Status{Version: "9.0.0", Warning: "it is newer"} }
func (w *warning) OnChange(changed func()) { w.changed = changed }

// process is an engine with processes.
type process struct {
	agent.Engine
	opened    atomic.Int32
	loggedOut bool
}

func (p *process) Status() agent.Status { return agent.Status{LoginNeeded: p.loggedOut} }
func (*process) OnChange(func())        {}

func (*process) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func (p *process) Open(ctx context.Context, o agent.SessionOptions) (agent.Session, error) {
	p.opened.Add(1)
	return p.Engine.Open(ctx, o)
}

func TestTheMainSessionIsOpenBeforeItsFirstMessage(t *testing.T) {
	for config, want := range map[string]int32{`{}`: 1, `{"claude_warm": 0}`: 0} {
		p := &process{Engine: script.New(script.Options{})}
		liveWith(t, func() agent.Engine { return p }, func(h home) { h.write("state/settings.json", config) }, func(_ home, b *Bot) {
			synctest.Wait()
			if n := p.opened.Load(); n != want {
				t.Errorf("with %s %d sessions are open", config, n)
			}
			tell(t, b, "hello")
			if n := p.opened.Load(); n != 1 {
				t.Errorf("with %s a message leads to %d sessions", config, n)
			}
		})
	}
}

func TestASessionThatNobodyWasLoggedInForIsNotKept(t *testing.T) {
	p := &process{Engine: script.New(script.Options{}), loggedOut: true}
	liveWith(t, func() agent.Engine { return p }, func(home) {}, func(_ home, b *Bot) {
		synctest.Wait()
		tell(t, b, "hello")
		if n := p.opened.Load(); n != 2 {
			t.Errorf("%d sessions were opened", n)
		}
	})
}

func TestWhatTheEngineWarnsOfIsSaidOnceAndKeepsNothingUp(t *testing.T) {
	w := &warning{Engine: script.New(script.Options{})}
	liveWith(t, func() agent.Engine { return w }, func(home) {}, func(_ home, b *Bot) {
		for range 3 {
			w.changed()
		}
		said := 0
		s := b.Snapshot()
		for _, n := range s.Notices {
			if n.Text == "it is newer" {
				said++
			}
		}
		if said != 1 || !s.Engine.OK || s.Engine.State != "ready" || s.Engine.Warning != "it is newer" {
			t.Errorf("said %d times; %+v", said, s.Engine)
		}
	})
}

func TestASettingOfThinkingThatTheModelDoesNotObeyIsTold(t *testing.T) {
	engine := func() agent.Engine { return choosy{script.New(script.Options{})} }
	liveWith(t, engine, func(home) {}, func(_ home, b *Bot) {
		for _, c := range []struct{ line, says string }{
			{"/thinking off", "(default) thinks all the same"},
			{"/thinking", "(default) thinks all the same"},
			{"/thinking 8000", "(default) thinks as much as it needs"},
			{"/model sonnet", "sonnet thinks as much as it needs"},
			{"/thinking off", ""},
			{"/model opus", "opus thinks all the same"},
			{"/thinking adaptive", ""},
			{"/config thinking_fork off", "opus thinks all the same"},
			{"/model haiku", ""},
			{"/thinking 8000", ""},
		} {
			got := type_(t, b, c.line).Message
			if c.says == "" && strings.Contains(got, "thinks") || !strings.Contains(got, c.says) {
				t.Errorf("%s answers %q", c.line, got)
			}
		}
	})
}

func TestAnAnswerWithoutAWordIsTold(t *testing.T) {
	running(t, func(home) {}, func(_ home, b *Bot) {
		tell(t, b, script_(`think What could I say?`))
		s := b.Snapshot()
		if last := s.Chat[len(s.Chat)-1]; last.Role != transcript.Notice || !strings.Contains(last.Text, "an empty reply") {
			t.Errorf("the last entry is %+v", last)
		}
		tell(t, b, script_(`say Here I am.`))
		for _, e := range b.Snapshot().Chat[len(s.Chat):] {
			if e.Role == transcript.Notice {
				t.Errorf("an answer has the notice %q", e.Text)
			}
		}
	})
}
