package core

import (
	"context"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/script"
	"ollimbot/core/policy"
)

func TestTheAgentsCommandsKnowTheirSession(t *testing.T) {
	e := eager{script.New(script.Options{Seed: 1, Pace: 1}), make(chan agent.SessionOptions, 9)}
	b := newHome(t).bot(e)
	if o := b.main.options(policy.Main); o.Command != nil {
		t.Error("commands are taken although nobody runs them")
	}
	var by []policy.Scope
	b.o.Commands = func(_ context.Context, s *policy.Session, _ []string) agent.CommandResult {
		by = append(by, s.Scope())
		return agent.CommandResult{}
	}
	for _, kind := range []policy.Kind{policy.Main, policy.Interactive} {
		o := b.main.options(kind)
		if got := o.Command(t.Context(), []string{"reminder", "list"}); got.Exit != 0 {
			t.Errorf("%s: reminder list gives %+v", kindName(kind), got)
		}
		if got := o.Command(t.Context(), []string{"budget", "set", "--capacity", "99"}); got.Exit == 0 {
			t.Errorf("%s: budget set gives %+v", kindName(kind), got)
		}
	}
	if len(by) != 2 || by[0].Session != "main session" || by[1].Session != "fork" {
		t.Errorf("who asks: %+v", by)
	}
}
