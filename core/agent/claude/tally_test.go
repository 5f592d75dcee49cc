package claude

import (
	"context"
	"strings"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/base/testkit"
)

// turn_cap had no effect here, because the command reports the cost only at the end of a turn.
func TestATurnOfTheCommandAsksBeforeItCostsMore(t *testing.T) {
	testkit.Alone(t)
	for name, call := range map[string]claudetest.Step{
		"a command":           bash("echo one"),
		"a tool of the bot":   {Tool: "mcp__discord__echo", Input: map[string]any{}},
		"a file of its own":   {Tool: "Read", Input: map[string]any{"file_path": "CLAUDE.md"}},
		"two calls at a time": {Blocks: []claudetest.Block{{Type: "tool_use", Name: "Bash", Input: bash("echo one").Input}, {Type: "tool_use", Name: "Bash", Input: bash("echo two").Input}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			var asked []agent.Spending
			s := r.open(func(o *agent.SessionOptions) {
				o.Tools = []agent.Tool{whoTool("x")}
				o.Hooks.Afford = func(_ context.Context, x agent.Spending) (float64, string) {
					asked = append(asked, x)
					if x.Used.InputTokens > 1500 {
						return x.Allowed, "too much"
					}
					return 7, ""
				}
			})
			call.In, call.Out, call.CacheRead = 1000, 50, 20
			h := say(t, s, claudetest.Script(call, call, call, claudetest.Step{Text: "Done."}))
			end := h.result(t)
			if end.Stopped != "too much" || end.IsError || end.Interrupted || len(r.requests()) != 2 || end.Usage.InputTokens < 2000 {
				t.Errorf("%d requests, %+v", len(r.requests()), end)
			}
			first, last := asked[0], asked[len(asked)-1]
			if last.Used.CostUSD <= 0 { // the bot has no prices here, and the command has its own
				t.Errorf("asked about %+v", last.Used)
			}
			if first.Used.InputTokens != 1000 || first.Used.CacheRead != 20 || first.Used.OutputTokens == 0 || first.Allowed != 0 || !strings.Contains(first.Model, "haiku") {
				t.Errorf("asked first %+v", first)
			}
			if last.Used.InputTokens != 2000 || last.Allowed != 7 || last.Used.OutputTokens < 51 {
				t.Errorf("asked last %+v", last)
			}
			if h := say(t, s, claudetest.Script(claudetest.Step{Text: "Next."})); h.text() != "Next." || h.result(t).Stopped != "" {
				t.Errorf("the next turn: %q, %+v", h.text(), h.result(t))
			}
			q := r.requests()
			if !strings.Contains(string(q[len(q)-1].Raw), "Next.") {
				t.Error("the history is lost")
			}
		})
	}
}
