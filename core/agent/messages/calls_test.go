package messages

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"ollimbot/core/agent"
)

// noting returns a bot tool that records the arguments of its calls.
func noting(name string, into *[]string) agent.Tool {
	return bot(name, func(args string) agent.ToolResult {
		*into = append(*into, args)
		return agent.ToolResult{Text: name + " did it"}
	})
}

func TestCallsOfOneAnswerAreAnsweredInOneMessage(t *testing.T) {
	var called []string
	b := newBench(t,
		streams(reply("tool_use", saying("Let me see."), use("a", "mcp__discord__note", object{"n": 1}), use("b", "mcp__discord__note", object{"n": 2}), use("c", "Nothing", object{}))),
		streams(reply("end_turn", saying("Done."))))
	s := b.open(func(o *agent.SessionOptions) { o.Tools = []agent.Tool{noting("note", &called)} })
	got := say(t, s, "do it")
	if got.err != nil || got.text != "Let me see.\nDone." || got.result.Text != "Done." || got.result.Turns != 2 {
		t.Errorf("the turn gave %q, %+v, %v", got.text, got.result, got.err)
	}
	if fmt.Sprint(called) != `[{"n":1} {"n":2}]` {
		t.Errorf("called with %v", called)
	}
	q := b.sent(1)
	q.valid(t)
	results := q.Messages[2].Content
	if q.roles() != "uau" || len(results) != 3 || results[2]["is_error"] != true {
		t.Errorf("the results are %v", results)
	}
	holds(t, "the answer for an unknown tool", fmt.Sprint(results[2]), "there is no tool Nothing. Available: ")
	if starts, ends := find[agent.ToolStart](got), find[agent.ToolEnd](got); len(starts) != 3 || len(ends) != 3 || ends[0].Text != "note did it" {
		t.Errorf("events %v %v", starts, ends)
	}
}

func TestArgumentsThatAreNoJSONReachNobody(t *testing.T) {
	for _, bad := range []string{`{"n":`, `[1]`, `"text"`, `null`, "{\"a\":\x01}"} {
		var called []string
		b := newBench(t, streams(reply("tool_use", use("a", "mcp__discord__note", bad))), streams(reply("end_turn", saying("Sorry."))))
		s := b.open(func(o *agent.SessionOptions) { o.Tools = []agent.Tool{noting("note", &called)} })
		got := say(t, s, "do it")
		q := b.sent(1)
		q.valid(t)
		if got.err != nil || len(called) > 0 {
			t.Errorf("%q: %v, called %v", bad, got.err, called)
		}
		holds(t, "the model is told", fmt.Sprint(q.Messages[2].Content), "not a JSON object")
	}
}

func TestCallsWithOneIdGetIdsOfTheirOwn(t *testing.T) {
	var called []string
	b := newBench(t,
		streams(reply("tool_use", use("a", "mcp__discord__note", object{"n": 1}), use("a", "mcp__discord__note", object{"n": 2}), use("", "mcp__discord__note", object{"n": 3}))),
		streams(reply("end_turn", saying("Done."))))
	s := b.open(func(o *agent.SessionOptions) { o.Tools = []agent.Tool{noting("note", &called)} })
	say(t, s, "do it")
	q := b.sent(1)
	q.valid(t)
	if len(called) != 3 || len(q.Messages[2].Content) != 3 {
		t.Errorf("called %v, answered %v", called, q.Messages[2].Content)
	}
}

func TestWhoMayCallIsAskedInOrder(t *testing.T) {
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
		{name: "a tool of the bot needs nobody", tool: "mcp__discord__note", hook: agent.Decision{Allow: true}, runs: true},
		{name: "a hook refuses", tool: "mcp__discord__note", hook: agent.Decision{Reason: "not now"}, says: "not now"},
		{name: "a hook asks", tool: "mcp__discord__note", hook: agent.Decision{Allow: true, Ask: true}, permission: &agent.Decision{Reason: "he said no"}, asked: 1, says: "he said no"},
		{name: "another server's tool is asked for", tool: "mcp__docs__note", hook: agent.Decision{Allow: true}, permission: &agent.Decision{Allow: true}, runs: true, asked: 1},
		{name: "a pattern allows it", tool: "mcp__docs__note", allowed: "mcp__docs__*", hook: agent.Decision{Allow: true}, runs: true},
		{name: "a pattern forbids it", tool: "mcp__docs__note", allowed: "mcp__docs__*", disallowed: "mcp__docs__note", hook: agent.Decision{Allow: true}, says: "not available"},
		{name: "nobody can be asked", tool: "mcp__docs__note", hook: agent.Decision{Allow: true}, says: "no one is here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var called []string
			var asked, posted atomic.Int32
			b := newBench(t, streams(reply("tool_use", use("a", c.tool, object{}))), streams(reply("end_turn", saying("Done."))))
			s := b.open(func(o *agent.SessionOptions) {
				mine, docs := noting("note", &called), noting("note", &called)
				docs.Server = "docs"
				o.Tools = []agent.Tool{mine, docs}
				o.Allowed, o.Disallowed = split(c.allowed), split(c.disallowed)
				o.Hooks.PreTool = func(_ context.Context, u agent.ToolUse) agent.Decision { return of(u, c.hook) }
				o.Hooks.PostTool = func(context.Context, agent.ToolUse) { posted.Add(1) }
				o.Permission = nil
				if c.permission != nil {
					o.Permission = func(_ context.Context, u agent.ToolUse) agent.Decision { asked.Add(1); return of(u, *c.permission) }
				}
			})
			got := say(t, s, "do it")
			ends := find[agent.ToolEnd](got)
			if got.err != nil || len(ends) != 1 || ends[0].Denied == c.runs || (len(called) == 1) != c.runs || asked.Load() != c.asked || (posted.Load() == 1) != c.runs {
				t.Errorf("ended as %+v (%v), called %v, asked %d, told %d", ends, got.err, called, asked.Load(), posted.Load())
			}
			holds(t, "the model is told", fmt.Sprint(b.sent(1).Messages[2].Content), c.says)
		})
	}
}

// of returns a decision about this call.
func of(u agent.ToolUse, d agent.Decision) agent.Decision {
	d.Digest = u.Digest()
	return d
}

func split(pattern string) []string {
	if pattern == "" {
		return nil
	}
	return strings.Fields(pattern)
}

func TestAToolEndsTheTurnAndTheNextOneGoesOn(t *testing.T) {
	stops := 0
	b := newBench(t, streams(reply("tool_use", use("a", "mcp__discord__leave", object{}))), streams(reply("end_turn", saying("Here again."))))
	s := b.open(func(o *agent.SessionOptions) {
		o.Tools = []agent.Tool{bot("leave", func(string) agent.ToolResult { return agent.ToolResult{Text: "bye", EndTurn: true} })}
		o.Hooks.Stop = func(context.Context, bool) string { stops++; return "" }
	})
	if got := say(t, s, "leave"); got.err != nil || b.count() != 1 || got.result.Interrupted || got.result.IsError {
		t.Errorf("%d requests, %+v, %v", b.count(), got.result, got.err)
	}
	if got := say(t, s, "and now?"); got.result.Text != "Here again." {
		t.Errorf("the next turn gave %+v, %v", got.result, got.err)
	}
	b.sent(1).valid(t)
	if stops != 1 { // by the second turn
		t.Errorf("the stop hook was asked %d times", stops)
	}
}

func TestTheStopHookHoldsATurnOnce(t *testing.T) {
	var asked []bool
	b := newBench(t, streams(reply("end_turn", saying("Done."))), streams(reply("end_turn", saying("Reported."))))
	s := b.open(func(o *agent.SessionOptions) {
		o.Hooks.Stop = func(_ context.Context, again bool) string {
			asked = append(asked, again)
			return "you owe a report"
		}
	})
	got := say(t, s, "work")
	if got.err != nil || fmt.Sprint(asked) != "[false true]" || got.result.Text != "Reported." || b.count() != 2 {
		t.Errorf("asked %v, %d requests, %+v %v", asked, b.count(), got.result, got.err)
	}
	holds(t, "the second request", fmt.Sprint(b.sent(1).Messages[2].Content), "you owe a report")
}

func TestACallThatPanicsIsAnErrorOfThatCall(t *testing.T) {
	b := newBench(t, streams(reply("tool_use", use("a", "mcp__discord__burst", object{}))), streams(reply("end_turn", saying("Oh."))))
	s := b.open(func(o *agent.SessionOptions) {
		o.Tools = []agent.Tool{bot("burst", func(string) agent.ToolResult { panic("burst") })}
	})
	if got := say(t, s, "go"); got.err != nil || got.result.Text != "Oh." {
		t.Errorf("%+v %v", got.result, got.err)
	}
	holds(t, "the model is told", fmt.Sprint(b.sent(1).Messages[2].Content), "failed inside the bot")
}
