package messages

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"ollimbot/core/agent"
)

func TestASubagentWorksByItselfAndItsWorkIsCounted(t *testing.T) {
	b := newBench(t, calls(saying("I let somebody look."), task("look at tea")), calls(note(object{"n": 1}), task("deeper")),
		ends("Tea is green."), ends("They say it is green."))
	var mu sync.Mutex
	var hooked []string
	s := b.open(b.notes, func(o *agent.SessionOptions) {
		o.Hooks.PreTool = func(_ context.Context, u agent.ToolUse) agent.Decision {
			mu.Lock()
			defer mu.Unlock()
			hooked = append(hooked, u.Name)
			return u.Allowed()
		}
	})
	got := b.says(s, "what is tea?", "I let somebody look.\nThey say it is green.")
	if fmt.Sprint(hooked) != "[Agent mcp__discord__note Agent]" || len(b.called) != 1 {
		t.Errorf("the hook saw %v, called %v", hooked, b.called)
	}
	if got.result.Turns != 4 || got.result.Usage.OutputTokens != 40 || got.result.Usage.CostUSD <= 0 {
		t.Errorf("counted: %+v", got.result)
	}
	starts, ends := find[agent.ToolStart](got), find[agent.ToolEnd](got)
	if len(starts) != 3 || starts[0].Subagent != "" || starts[1].Subagent != "look at tea" || len(ends) != 3 || ends[2].Text != "Tea is green." {
		t.Errorf("told %+v\n%+v", starts, ends)
	}
	inner, outer := b.sent(1), b.sent(3)
	inner.valid(t)
	outer.valid(t)
	if inner.roles() != "u" || outer.roles() != "uau" {
		t.Errorf("the subagent begins with %s, the session goes on with %s", inner.roles(), outer.roles())
	}
	holds(t, "the subagent's task", inner.told(0), "look at tea")
	holds(t, "what a subagent of a subagent is told", b.sent(2).told(2), "cannot start subagents")
	prefix := func(body string) string { return body[:strings.Index(body, `"messages":`)] }
	if prefix(b.wire.bodies[0]) != prefix(b.wire.bodies[1]) {
		t.Error("the subagent does not share the cached prefix")
	}
}

func TestSubagentsWorkBesideEachOther(t *testing.T) {
	var mu sync.Mutex
	waiting, most := 0, 0
	meet := make(chan struct{})
	b := newBench(t, calls(task("1"), task("2"), task("3")), func(r *http.Request) canned {
		mu.Lock()
		waiting++
		most = max(most, waiting)
		if waiting == 3 {
			close(meet)
		}
		mu.Unlock()
		<-meet
		return ends("part done")(r)
	})
	got := say(b.open(), "three parts")
	if got.err != nil || most < 3 || got.result.Turns != 5 {
		t.Errorf("%d at once, %+v, %v", most, got.result, got.err)
	}
}

func TestAnInterruptedSubagentEndsWithItsTurn(t *testing.T) {
	var s agent.Session
	b := newBench(t, calls(task("wait")), func(r *http.Request) canned {
		_ = s.Interrupt(context.Background())
		<-r.Context().Done()
		return canned{err: r.Context().Err()}
	})
	s = b.open()
	if got := say(s, "go"); got.err != nil || !got.result.Interrupted {
		t.Errorf("%+v, %v", got.result, got.err)
	}
	b.next(ends("Here."))
	say(s, "and now?")
	b.sent(2).valid(t)
}

func TestASearchIsARequestOfItsOwn(t *testing.T) {
	b := newBench(t, calls(use("a", "WebSearch", object{"query": "tea prices"})), ends("Tea costs 3 euros (https://example.com)."), ends("Three euros."))
	var asked []string
	s := b.open(func(o *agent.SessionOptions) {
		o.Permission = func(_ context.Context, u agent.ToolUse) agent.Decision {
			asked = append(asked, u.Name)
			return u.Allowed()
		}
	})
	if got := b.says(s, "what does tea cost?", "Three euros."); fmt.Sprint(asked) != "[WebSearch]" || got.result.Turns != 3 {
		t.Errorf("asked %v, %+v", asked, got.result)
	}
	if q := b.sent(1); len(q.Tools) != 1 || q.Tools[0]["type"] != "web_search_20260318" || q.roles() != "u" {
		t.Errorf("the search is sent with %v", q.Tools)
	}
	holds(t, "the result", b.sent(2).told(2), "3 euros")
}

// mailReader is a file in .claude/agents.
const mailReader = "---\nname: mail-reader\ndescription: Reads mail.\ntools:\n  - \"Bash(ollim-bot gmail *)\"\n---\nYou look through mail.\n"

// F1, G6: a subagent's instructions and rights are in its own file, and nowhere else.
func TestASubagentHasThePromptAndTheToolsOfItsFile(t *testing.T) {
	b := newBench(t,
		calls(use("a", "Agent", object{"description": "read mail", "prompt": "What is new?", "subagent_type": "mail-reader"})),
		calls(use("b", "Bash", object{"command": "ollim-bot tasks list"}), use("c", "Read", object{"file_path": "notes.md"})),
		ends("Two letters."))
	b.write(".claude/agents/mail-reader.md", mailReader)
	say(b.open(b.notes), "any mail?")
	q := b.sent(1)
	q.valid(t)
	system := fmt.Sprint(q.System)
	holds(t, "the subagent's system prompt", system, "You look through mail.")
	if strings.Contains(system, "You are the bot of a test.") || strings.Contains(system, "# How you work") {
		t.Errorf("the subagent reads the session's prompt: %.300s", system)
	}
	if len(q.Tools) != 1 || q.Tools[0]["name"] != "Bash" {
		t.Errorf("the subagent is offered %v", q.Tools)
	}
	if task := q.told(0); !strings.Contains(task, "What is new?") || strings.Contains(task, "You look through") {
		t.Errorf("its first message is %s", task)
	}
	told := b.sent(2).told(2)
	holds(t, "the refusal of a command", told, "What passes: ollim-bot gmail *.")
	holds(t, "the refusal of a tool", told, "there is no tool Read. Available: Bash")
}

// F1: without a list in its file a subagent has the session's tools, except for subagents.
func TestASubagentWithoutAListHasTheSessionsTools(t *testing.T) {
	b := newBench(t,
		calls(use("a", "Agent", object{"description": "think", "prompt": "Think.", "subagent_type": "thinker"})),
		ends("Thought."))
	b.write(".claude/agents/thinker.md", "---\nname: thinker\ndescription: Thinks.\n---\nYou think.\n")
	say(b.open(), "think")
	outer, inner := b.sent(0), b.sent(1)
	for _, x := range inner.Tools {
		if x["name"] == "Agent" {
			t.Error("a subagent is offered subagents")
		}
	}
	if len(inner.Tools) != len(outer.Tools)-1 {
		t.Errorf("%d of %d tools", len(inner.Tools), len(outer.Tools))
	}
}

// F4: a task's list may use the name Task, and so may the model.
func TestTheOlderNameOfTheDelegationToolWorks(t *testing.T) {
	b := newBench(t,
		calls(use("a", "Task", object{"description": "look", "prompt": "look"}), use("b", "Agent", object{"description": "look", "prompt": "look", "subagent_type": "lost"})),
		ends("Seen."))
	b.write(".claude/agents/lost.md", "---\nname: lost\ndescription: x\nmodel: none\n---\nYou look.\n")
	b.says(b.open(), "look", "Seen.")
	holds(t, "the answer of the call", b.sent(2).told(2), "Seen.")
	holds(t, "the answer where no model has the name", b.sent(2).told(2), `unknown model "none"`)
}
