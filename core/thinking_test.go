package core

import (
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
)

// choosy is an engine one of whose models obeys nothing that is set about thinking.
type choosy struct{ agent.Engine }

func (choosy) Status() agent.Status {
	return agent.Status{Models: []agent.Model{
		{Names: []string{"opus", ""}, AlwaysThinks: true, OwnMeasure: true}, {Names: []string{"sonnet"}, OwnMeasure: true}, {Names: []string{"haiku"}},
	}}
}
func (choosy) OnChange(func()) {}

func TestASettingOfThinkingThatTheModelDoesNotObeyIsTold(t *testing.T) {
	engine := func() agent.Engine { return choosy{script.New(script.Options{Seed: 1})} }
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
