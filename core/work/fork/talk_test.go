package fork

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/core/talk/post"
	"ollimbot/routines"
)

func TestABackgroundRunCannotMoveTheConversation(t *testing.T) {
	for name, call := range map[string]func(*run) agent.ToolResult{
		toolset.SaveContext:     func(r *run) agent.ToolResult { return r.tools.SaveContext(context.Background()) },
		toolset.EnterFork:       func(r *run) agent.ToolResult { return r.tools.EnterFork(context.Background(), "plants", 0) },
		toolset.ExitFork:        func(r *run) agent.ToolResult { return r.tools.ExitFork(context.Background()) },
		toolset.UpdateNames:     func(r *run) agent.ToolResult { return r.tools.UpdateNames(context.Background(), "Sam", "b") },
		toolset.ProposeReminder: func(r *run) agent.ToolResult { return r.tools.Propose(context.Background(), toolset.Promise{}) },
	} {
		h := newHarness(t)
		r := h.run(task())
		a := call(r)
		if lines := tailOf(r); !a.IsError || !strings.HasPrefix(a.Text, "Error: ") || len(lines) != 1 || !strings.HasPrefix(lines[0], "refuse "+name+" refused: ") {
			t.Errorf("%s: %+v, the tail is %q", name, a, lines)
		}
		if v := r.status.snapshot(); v.Refused != 0 || len(h.sent()) != 0 {
			t.Errorf("%s counts as a refused ping", name)
		}
		blocked := call(h.run(task(mode(routines.Blocked))))
		if offered := strings.Contains(a.Text, "report_updates"); offered != (name == toolset.ExitFork) || strings.Contains(blocked.Text, "report_updates") {
			t.Errorf("%s points to a report: %q, and where there is none %q", name, a.Text, blocked.Text)
		}
	}
}

func TestAFileIsSentWithItsNameAndRealPath(t *testing.T) {
	h := newHarness(t)
	storetest.Put(t, h.dir, "notes/week.md", "plan")
	r := h.run(task())
	if a := r.tools.SendFile(t.Context(), "notes/week.md", "Your week", false); a.IsError || a.Text != "File sent: week.md" {
		t.Fatalf("%+v", a)
	}
	root, err := filepath.EvalSymlinks(h.dir.Root())
	testkit.Must(t, err)
	want := []post.Post{{Text: "Your week", Files: []string{filepath.Join(root, "notes", "week.md")}}}
	id := identity(r.id, want[0], 0)
	want[0].Nonce, want[0].Context, want[0].Source, want[0].Buttons = id, "bg", "Email sweep", post.Ping(id)
	if diff := cmp.Diff(want, h.sent()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"ping File sent: week.md · Your week"}, tailOf(r)); diff != "" {
		t.Error(diff)
	}
}

func TestAFileThatCannotBeSentCostsNothing(t *testing.T) {
	h := newHarness(t)
	storetest.Put(t, h.dir, "state/token.json", "{}")
	r := h.run(task())
	for path, want := range map[string]string{"missing.md": "Error: file not found or not a regular file", "state/token.json": "was not sent"} {
		if a := r.tools.SendFile(t.Context(), path, "", true); !a.IsError || !strings.Contains(a.Text, want) {
			t.Errorf("%+v", a)
		}
	}
	if v := r.status.snapshot(); v.Pings != 0 || v.Refused != 0 || h.tokens() != 5 || len(h.sent()) != 0 {
		t.Errorf("%d pings, %d refused, %v tokens", v.Pings, v.Refused, h.tokens())
	}
	// Whether anything may be sent at all is checked before the file.
	if a := h.run(task(noPing)).tools.SendFile(t.Context(), "missing.md", "", false); !strings.Contains(a.Text, "disabled") {
		t.Errorf("%+v", a)
	}
}

func TestAScriptCanSendAFile(t *testing.T) {
	served(t, func(t *testing.T, h *harness) {
		storetest.Put(t, h.dir, "week.md", "plan")
		v := h.done(playing(task(mode(routines.Freely)),
			`call enter_fork {"topic":"plants"}`, `call send_file {"file_path":"week.md"}`, `call send_file {"file_path":"week.md"}`))
		if v.Pings != 1 || v.Refused != 1 || v.Tools != 3 {
			t.Errorf("%+v", v)
		}
	})
}

func TestARunEndsWithAReasonWhenItHasCostTheLimitOfATurn(t *testing.T) {
	r := newHarness(t).run(task())
	for _, c := range []struct{ limit, cost float64 }{{2, 1.9}, {2, 2}, {2, 2.5}, {0, 99}} {
		left, stop := r.options(Limits{TurnCap: c.limit}).Hooks.Afford(t.Context(), agent.Spending{Used: agent.Usage{CostUSD: c.cost}, Allowed: 0.5})
		if over := c.limit > 0 && c.cost >= c.limit; (stop != "") != over || left != 0.5 {
			t.Errorf("%v of %v: %q, %v are allowed", c.cost, c.limit, stop, left)
		} else if over && c.cost > c.limit {
			wants(t, "above it", stop, "$2.50", "$2.00", "turn_cap")
		}
	}
}
