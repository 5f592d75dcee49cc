package core

import (
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
)

// choosy is an engine with a model that ignores every thinking setting.
type choosy struct{ agent.Engine }

func (choosy) Status() agent.Status {
	return agent.Status{Models: func() []agent.Model {
		return []agent.Model{
			{Names: []string{"opus", ""}, AlwaysThinks: true, OwnMeasure: true}, {Names: []string{"sonnet"}, OwnMeasure: true}, {Names: []string{"haiku"}},
		}
	}}
}
func (choosy) OnChange(func()) {}

// warning is a working engine of an untested version.
type warning struct {
	agent.Engine
	changed func()
}

func (*warning) Status() agent.Status      { return agent.Status{Version: "9.0.0", Warning: "it is newer"} }
func (w *warning) OnChange(changed func()) { w.changed = changed }

func TestWhatTheEngineWarnsOfIsSaidOnceAndKeepsNothingUp(t *testing.T) {
	w := &warning{Engine: script.New(script.Options{})}
	liveWith(t, w, func(home) {}, func(_ home, b *Bot) {
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
	liveWith(t, choosy{script.New(script.Options{})}, func(home) {}, func(_ home, b *Bot) {
		for _, c := range []struct{ line, says string }{
			{"/thinking off", "(default) still thinks"},
			{"/thinking", "(default) still thinks"},
			{"/thinking 8000", "(default) decides how much it thinks"},
			{"/model sonnet", "sonnet decides how much it thinks"},
			{"/thinking off", ""},
			{"/model opus", "opus still thinks"},
			{"/thinking adaptive", ""},
			{"/config thinking_fork off", "opus still thinks"},
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
