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
)

func TestABackgroundRunCannotMoveTheConversation(t *testing.T) {
	calls := map[string]func(*run) agent.ToolResult{
		toolset.SaveContext: func(r *run) agent.ToolResult { return r.tools.SaveContext(context.Background()) },
		toolset.EnterFork:   func(r *run) agent.ToolResult { return r.tools.EnterFork(context.Background(), "plants", 0) },
		toolset.ExitFork:    func(r *run) agent.ToolResult { return r.tools.ExitFork(context.Background()) },
		toolset.UpdateNames: func(r *run) agent.ToolResult { return r.tools.UpdateNames(context.Background(), "Sam", "b") },
	}
	for name, call := range calls {
		h := newHarness(t)
		r := h.run(task())
		a := call(r)
		if !a.IsError || !strings.HasPrefix(a.Text, "Error: "+name+" is not available in background forks") {
			t.Errorf("%s: %+v", name, a)
		}
		if lines := tailOf(r.status.ring); len(lines) != 1 || !strings.HasPrefix(lines[0], "refuse "+name+" refused: ") {
			t.Errorf("%s: tail %q", name, lines)
		}
		if v := r.status.snapshot(); v.Refused != 0 || len(h.sent()) != 0 {
			t.Errorf("%s counts as a refused ping", name)
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
	if diff := cmp.Diff([]string{"ping File sent: week.md · Your week"}, tailOf(r.status.ring)); diff != "" {
		t.Error(diff)
	}
	if reason := r.tools.stopRule(t.Context(), false); reason == "" {
		t.Error("a sent file must be reported")
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

func TestARunEndsWithAReasonWhenItHasCostTheLimitOfATurn(t *testing.T) {
	h := newHarness(t)
	r := h.run(task())
	afford := r.options(Limits{TurnCap: 2}).Hooks.Afford
	if _, stop := afford(t.Context(), agent.Spending{Used: agent.Usage{CostUSD: 1.9}}); stop != "" {
		t.Errorf("below the limit: %q", stop)
	}
	_, stop := afford(t.Context(), agent.Spending{Used: agent.Usage{CostUSD: 2.5}})
	if !strings.Contains(stop, "$2.50") || !strings.Contains(stop, "turn_cap") {
		t.Errorf("above it: %q", stop)
	}
	if _, stop := r.options(Limits{}).Hooks.Afford(t.Context(), agent.Spending{Used: agent.Usage{CostUSD: 99}}); stop != "" {
		t.Errorf("without a limit: %q", stop)
	}
	if err := resultError(agent.Result{Stopped: stop}); err.Error() != stop {
		t.Errorf("the run fails with %v", err)
	}
}
