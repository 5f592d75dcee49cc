package messages

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"ollimbot/core/agent"
	"ollimbot/core/agent/messages/provider"
	"ollimbot/core/agent/messages/tools"
)

func TestCallsOfOneAnswerAreAnsweredInOneMessage(t *testing.T) {
	b := newBench(t, calls(saying("Let me see."), note(object{"n": 1}), use("b", "mcp__discord__note", object{"n": 2}), use("c", "Nothing", object{})), done)
	got := b.says(b.open(b.notes), "do it", "Let me see.\nDone.")
	if got.result.Text != "Done." || got.result.Turns != 2 || fmt.Sprint(b.called) != `[{"n":1} {"n":2}]` {
		t.Errorf("the turn gave %+v, called with %v", got.result, b.called)
	}
	q := b.sent(1)
	q.valid(t)
	if results := q.Messages[2].Content; q.roles() != "uau" || len(results) != 3 || results[2]["is_error"] != true {
		t.Errorf("the results are %v", results)
	}
	if starts, ends := find[agent.ToolStart](got), find[agent.ToolEnd](got); len(starts) != 3 || len(ends) != 3 || ends[0].Text != "note did it" {
		t.Errorf("events %v %v", starts, ends)
	}
}

func TestWhoMayCallIsAskedInOrder(t *testing.T) {
	yes, no := agent.Decision{Allow: true}, func(why string) agent.Decision { return agent.Decision{Reason: why} }
	refused := no("he said no")
	for _, c := range []struct {
		name                string
		tool                string
		allowed, disallowed string
		hook                agent.Decision
		permission          *agent.Decision
		runs                bool
		asked               int32
		says                string
	}{
		{name: "a tool of the bot needs no answer", tool: "mcp__discord__note", hook: yes, runs: true},
		{name: "a hook refuses", tool: "mcp__discord__note", hook: no("not now"), says: "not now"},
		{name: "a hook asks", tool: "mcp__discord__note", hook: agent.Decision{Allow: true, Ask: true}, permission: &refused, asked: 1, says: "he said no"},
		{name: "another server's tool is asked for", tool: "mcp__docs__note", hook: yes, permission: &yes, runs: true, asked: 1},
		{name: "a pattern allows it", tool: "mcp__docs__note", allowed: "mcp__docs__*", hook: yes, runs: true},
		{name: "a pattern forbids it", tool: "mcp__docs__note", allowed: "mcp__docs__*", disallowed: "mcp__docs__note", hook: yes, says: "not available"},
		{name: "no one can be asked", tool: "mcp__docs__note", hook: yes, says: "no one is here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			of := func(u agent.ToolUse, d agent.Decision) agent.Decision { d.Digest = u.Digest(); return d }
			var asked, posted atomic.Int32
			b := newBench(t, calls(use("a", c.tool, object{})), done)
			got := b.says(b.open(b.notes, b.notes, func(o *agent.SessionOptions) {
				o.Tools[1].Server = "docs"
				o.Allowed, o.Disallowed = strings.Fields(c.allowed), strings.Fields(c.disallowed)
				o.Hooks.PreTool = func(_ context.Context, u agent.ToolUse) agent.Decision { return of(u, c.hook) }
				o.Hooks.PostTool = func(context.Context, agent.ToolUse) { posted.Add(1) }
				o.Permission = nil
				if c.permission != nil {
					o.Permission = func(_ context.Context, u agent.ToolUse) agent.Decision { asked.Add(1); return of(u, *c.permission) }
				}
			}), "do it", "Done.")
			ends := find[agent.ToolEnd](got)
			if len(ends) != 1 || ends[0].Denied == c.runs || (len(b.called) == 1) != c.runs || asked.Load() != c.asked || (posted.Load() == 1) != c.runs {
				t.Errorf("ended as %+v, called %v, asked %d, posted %d", ends, b.called, asked.Load(), posted.Load())
			}
			holds(t, "the model is told", b.sent(1).told(2), c.says)
		})
	}
}

func TestAToolEndsTheTurnAndTheNextOneIsWhole(t *testing.T) {
	stops := 0
	b := newBench(t, calls(use("a", "mcp__discord__leave", object{}), use("b", "mcp__discord__stay", object{})), ends("Here again."))
	s := b.open(func(o *agent.SessionOptions) {
		o.Tools = []agent.Tool{
			bot("leave", func(string) agent.ToolResult { return agent.ToolResult{Text: "bye", EndTurn: true} }),
			bot("stay", func(string) agent.ToolResult { return agent.ToolResult{Text: "still here"} }),
		}
		o.Hooks.Stop = func(context.Context, bool) string { stops++; return "" }
	})
	if got := say(s, "leave"); got.err != nil || b.count() != 1 || got.result.Interrupted || got.result.IsError {
		t.Errorf("%d requests, %+v, %v", b.count(), got.result, got.err)
	}
	if got := b.says(s, "and now?", "Here again."); got.result.Text != "Here again." || stops != 1 { // asked by the second turn
		t.Errorf("the next turn gave %+v, the stop hook was asked %d times", got.result, stops)
	}
	b.sent(1).valid(t)
}

func TestAResultHasOnlyWhatTheModelTakes(t *testing.T) {
	found := tools.Result{Text: "seen", Documents: []tools.Document{{Title: "a.pdf", MediaType: "application/pdf", Data: []byte("p")}}, Images: []agent.Image{{MediaType: "image/png", Data: []byte("i")}}}
	silent := found
	silent.Text = ""
	const document = `{"source":{"type":"base64","media_type":"application/pdf","data":"cA=="},"title":"a.pdf","type":"document"}`
	const image = `{"source":{"type":"base64","media_type":"image/png","data":"aQ=="},"type":"image"}`
	for _, c := range []struct {
		documents, images bool
		result            tools.Result
		want              string
	}{
		{true, true, found, `{"type":"text","text":"seen"},` + document + "," + image},
		{true, true, silent, document + "," + image},
		{false, true, silent, `{"type":"text","text":"(a.pdf was left out: this model does not accept such files.)"},` + image},
		{true, false, silent, `{"type":"text","text":"(A picture was left out: this model does not accept pictures.)"},` + document},
		{false, false, found, `{"type":"text","text":"seen\n(a.pdf was left out: this model does not accept such files.)\n(A picture was left out: this model does not accept pictures.)"}`},
		{false, false, tools.Result{Text: "seen"}, `{"type":"text","text":"seen"}`},
		{true, true, tools.Result{}, `{"type":"text","text":"` + answerNoText + `"}`},
	} {
		of := &talk{model: provider.Model{PDFs: c.documents, Images: c.images, Window: 200_000}}
		if got := string(of.result("a", outcome{Result: c.result})); got != `{"type":"tool_result","tool_use_id":"a","content":[`+c.want+`]}` {
			t.Errorf("documents %v, images %v: %s", c.documents, c.images, got)
		}
	}
}

func TestTheStopHookHoldsATurnOnce(t *testing.T) {
	var asked []bool
	b := newBench(t, done, ends("Reported."))
	got := say(b.open(func(o *agent.SessionOptions) {
		o.Hooks.Stop = func(_ context.Context, again bool) string {
			asked = append(asked, again)
			return "you owe a report"
		}
	}), "work")
	if got.err != nil || fmt.Sprint(asked) != "[false true]" || got.result.Text != "Reported." || b.count() != 2 {
		t.Errorf("asked %v, %d requests, %+v %v", asked, b.count(), got.result, got.err)
	}
	holds(t, "the second request", b.sent(1).told(2), "you owe a report")
}

func TestThinkingIsAskedForAsTheModelTakesIt(t *testing.T) {
	for _, c := range []struct{ model, setting, thinking, output string }{
		{"opus", "", `{"type":"adaptive","display":"summarized"}`, ``},
		{"opus", "off", `{"type":"adaptive","display":"summarized"}`, `{"effort":"low"}`},
		{"opus", "adaptive", `{"type":"adaptive","display":"summarized"}`, ``},
		{"opus", "2000", `{"type":"adaptive","display":"summarized"}`, `{"effort":"low"}`},
		{"opus", "8000", `{"type":"adaptive","display":"summarized"}`, `{"effort":"medium"}`},
		{"sonnet", "off", `{"type":"between_tools"}`, ``},
		{"haiku", "off", `{"type":"disabled"}`, ``},
		{"anthropic/claude-next", "adaptive", ``, ``},
	} {
		b := newBench(t, done)
		say(b.open(func(o *agent.SessionOptions) { o.Settings = agent.Settings{Model: c.model, Thinking: c.setting} }), "hello")
		if q := b.sent(0); string(q.Thinking) != c.thinking || string(q.Output) != c.output {
			t.Errorf("%s with thinking %q asks for %s and %s", c.model, c.setting, q.Thinking, q.Output)
		}
	}
	for _, c := range []struct {
		setting string
		budget  int // 0: none
	}{{"", 0}, {"off", 0}, {"0", 0}, {"adaptive", 10_000}, {"1", 1_024}, {"4000", 4_000}, {"90000", 15_000}} {
		p := paramsFor(provider.Model{MaxOutput: 30_000, Thinking: provider.Thinking{Style: provider.BudgetThinking}}, c.setting)
		if (p.Thinking != nil) != (c.budget > 0) || c.budget > 0 && (p.Thinking.Budget != c.budget || p.Thinking.Type != "enabled") {
			t.Errorf("with thinking %q a budget is %+v", c.setting, p.Thinking)
		}
	}
	if _, err := newBench(t, done).engine.Open(t.Context(), agent.SessionOptions{Settings: agent.Settings{Thinking: "much"}}); err == nil {
		t.Error("a setting that is none was taken")
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := newBench(t, done).engine.Open(stopped, agent.SessionOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a program that has ended opens a session: %v", err)
	}
}
