package claude

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/claudetest"
	"ollimbot/core/agent/claude/wire"
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

func TestARequestIsCountedOnce(t *testing.T) {
	y := newTranslator(nil, "").tally
	y.note("a", "claude-haiku", wire.Usage{Input: 100, Output: 1, CacheRead: 7})
	y.note("a", "claude-haiku", wire.Usage{Input: 100, Output: 1, CacheRead: 7})
	y.note("a", "", wire.Usage{Output: 40})
	y.note("b", "claude-opus", wire.Usage{Input: 5, Output: 1, CacheWrite: 3})
	y.note("", "claude-opus", wire.Usage{Input: 1000})
	want := agent.Usage{InputTokens: 105, OutputTokens: 41, CacheRead: 7, CacheWrite: 3}
	if got := y.sum(unpriced); got != want || y.model != "claude-haiku" {
		t.Errorf("%+v of %s", got, y.model)
	}
}

func unpriced(string, agent.Usage) float64 { return 0 }

// A subagent with another model than its turn's was charged at the turn's price.
func TestEachRequestIsPricedAtItsModelsRate(t *testing.T) {
	y := newTranslator(nil, "").tally
	y.note("a", "claude-haiku", wire.Usage{Input: 100})
	y.note("sub", "claude-opus", wire.Usage{Input: 1})
	y.note("sub", "", wire.Usage{Output: 10})
	y.note("unnamed", "", wire.Usage{Input: 1000})
	price := func(model string, u agent.Usage) float64 {
		return map[string]float64{"claude-haiku": 1, "claude-opus": 1e6}[model] * float64(u.Tokens())
	}
	if got := y.sum(price); got.CostUSD != 11e6+1100 || got.InputTokens != 1101 {
		t.Errorf("%+v", got)
	}
}

// A turn without calls continues only if its end is blocked; then the cost is checked.
func TestATurnThatMustGoOnIsAskedAboutItsCost(t *testing.T) {
	for stop, want := range map[string]string{"": `{"decision":"block","reason":"report first"}`, "too much": "{}"} {
		asked := 0
		h := boundHost(t, &hostRun{stop: func(context.Context, bool) string { return "report first" }})
		h.spending = func() (agent.Spending, string) { asked++; return agent.Spending{}, stop }
		h.settle = func(float64, string) {}
		answer, err := h.handle(t.Context(), "hook_callback", json.RawMessage(`{"callback_id":"`+hookStop+`","input":{}}`))
		testkit.Must(t, err)
		if text, _ := json.Marshal(answer); string(text) != want || asked != 1 {
			t.Errorf("%q: %s, asked %d times", stop, text, asked)
		}
	}
}

// M7: the API reports an empty account as an invalid request.
func TestAnEmptyAccountIsOneThatAnotherEngineAnswersFor(t *testing.T) {
	const said = "API Error: 400 Your credit balance is too low to access the Anthropic API."
	for name, c := range map[string]struct {
		result wire.Result
		class  string
	}{
		"as it is":    {wire.Result{IsError: true, Text: said, APIErrorStatus: 400}, "invalid_request"},
		"in a list":   {wire.Result{IsError: true, Errors: []string{said}}, "unknown"},
		"by class":    {wire.Result{IsError: true, Text: "no"}, "billing_error"},
		"by status":   {wire.Result{IsError: true, APIErrorStatus: 402}, "unknown"},
		"bad request": {wire.Result{IsError: true, Text: "API Error: 400 no good", APIErrorStatus: 400}, "invalid_request"},
	} {
		tr := newTranslator(nil, "")
		tr.failure = c.class
		end, away := tr.result(c.result, false, nil), name != "bad request"
		if !end.IsError || end.Unavailable != away || strings.HasPrefix(end.Text, "the account has no money left: add some") != away {
			t.Errorf("%s: %+v", name, end)
		}
	}
}

// The same with a played command, which prints what the real one does.
func TestTheQuestionOfATurnsCostStandsBeforeEachCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []agent.Spending
		stop := ""
		st := newStage(t, Options{})
		s, p := played(t, st, func(o *agent.SessionOptions) {
			o.Permission = func(_ context.Context, u agent.ToolUse) agent.Decision { return u.Allowed() }
			o.Hooks.Afford = func(_ context.Context, x agent.Spending) (float64, string) {
				asked = append(asked, x)
				return 7, stop
			}
		})
		request := func(id string, in, out int) []string {
			return []string{
				fmt.Sprintf(`{"type":"stream_event","event":{"type":"message_start","message":{"id":%q,"model":"claude-opus","usage":{"input_tokens":%d,"output_tokens":1}}}}`, id, in),
				fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"model":"claude-opus","usage":{"input_tokens":%d,"output_tokens":1},"content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}`, id, in),
				fmt.Sprintf(`{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":%d}}}`, out),
			}
		}
		ask := func(subtype, r string) string {
			synctest.Wait()
			answer, err := inner(s).host.handle(t.Context(), subtype, json.RawMessage(r))
			testkit.Must(t, err)
			text, err := json.Marshal(answer)
			testkit.Must(t, err)
			return string(text)
		}
		const hook = `{"callback_id":"ollim_pre_tool","tool_use_id":"t","input":{"tool_name":"Bash","tool_input":{},"tool_use_id":"t"}}`
		const call = `{"tool_name":"Bash","input":{},"tool_use_id":"t"}`
		if got := ask("hook_callback", hook); got != "{}" || len(asked) != 0 {
			t.Errorf("before a turn: %s, asked %+v", got, asked)
		}
		done := make(chan told, 1)
		go func() { done <- say(t, s, "go") }()
		<-p.messages
		p.say(begin)
		p.say(request("a", 100, 40)...)
		if got := ask("hook_callback", hook); got != "{}" {
			t.Errorf("the hook says %s", got)
		}
		p.say(request("b", 200, 50)...)
		stop = "too much"
		if got := ask("hook_callback", hook); !strings.Contains(got, `"continue":false`) || !strings.Contains(got, `"ask"`) {
			t.Errorf("the hook says %s", got)
		}
		if got := ask("can_use_tool", call); !strings.Contains(got, `"deny"`) || !strings.Contains(got, `"interrupt":true`) {
			t.Errorf("the permission is %s", got)
		}
		p.say(aborted, idle)
		if end := (<-done).result(t); end.Stopped != "too much" || end.IsError || end.Interrupted {
			t.Errorf("%+v", end)
		}
		want := []agent.Spending{
			{Model: "claude-opus", Used: agent.Usage{InputTokens: 100, OutputTokens: 40}},
			{Model: "claude-opus", Used: agent.Usage{InputTokens: 300, OutputTokens: 90}, Allowed: 7},
		}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Error(diff)
		}
	})
}
