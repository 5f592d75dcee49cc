package chat

import (
	"context"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/safety/policy"
)

func TestTheAgentsCommandsKnowTheirSession(t *testing.T) {
	s := newStage(t, nil)
	if o := s.main.opener.options(policy.Main, s.reading.ofMain()); o.Command != nil {
		t.Error("commands are taken although nobody runs them")
	}
	var by []policy.Scope
	s.main.opener.commands = func(_ context.Context, caller *policy.Session, _ []string) agent.CommandResult {
		by = append(by, caller.Scope())
		return agent.CommandResult{}
	}
	for _, kind := range []policy.Kind{policy.Main, policy.Interactive} {
		o := s.main.opener.options(kind, &policy.Taint{})
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
