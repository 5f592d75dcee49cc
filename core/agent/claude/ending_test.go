package claude

import (
	"context"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

func TestAToolCanEndTheTurnAndLeavesNoInterruptionInTheHistory(t *testing.T) {
	testkit.Alone(t)
	r := newRig(t)
	leave := func(o *agent.SessionOptions) {
		o.Tools = []agent.Tool{{
			Name: "leave", Description: "Leaves.", Schema: []byte(`{"type":"object","properties":{}}`),
			Call: func(context.Context, agent.Approved) agent.ToolResult {
				return agent.ToolResult{Text: "it is so", EndTurn: true}
			},
		}}
	}
	s := r.open(leave)
	h := say(t, s, claudetest.Script(claudetest.Step{Text: "I go.", Tool: "mcp__discord__leave", Input: map[string]any{}}, claudetest.Step{Text: "Too much."}))
	if end := h.result(t); end.Interrupted || end.IsError || h.text() != "I go." || len(r.requests()) != 1 {
		t.Errorf("it says %q in %d requests and ends as %+v", h.text(), len(r.requests()), end)
	}
	if h := say(t, s, "and on "+claudetest.Script(claudetest.Step{Text: "Fine."})); h.text() != "Fine." {
		t.Errorf("the next turn says %q", h.text())
	}
	q := r.requests()
	for _, never := range []string{"interrupted by user", "No response requested"} {
		if strings.Contains(string(q[len(q)-1].Raw), never) {
			t.Errorf("the history says %q", never)
		}
	}
}
