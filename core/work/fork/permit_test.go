package fork

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/agent"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store/storetest"
)

// Hook and callback of a run decide alike, because engines allow some calls without the
// callback.
func TestARunMayUseWhatItsListsName(t *testing.T) {
	h := newHarness(t)
	r := newRun(&h.m.o, Job{
		Task: task(), Allowed: []string{"Read(./**.md)", "Write", "Bash"}, Disallowed: []string{"Bash(rm *)"},
	}, nil)
	o := r.options(Limits{})
	hooks, permission := o.Hooks, o.Permission
	for _, tt := range []struct {
		tool, input string
		want        string // part of the reason; empty: allowed
	}{
		{"Read", `{"file_path":"notes/a.md"}`, ""},
		{"Read", `{"file_path":"notes/a.json"}`, "not available in background forks"},
		{"Read", `{"file_path":"state/config.json"}`, "only where a list of tools names it"},
		{"Bash", `{"command":"ls"}`, ""},
		{"Bash", `{"command":"ls; rm x"}`, "disallowed"},
		{"Write", `{"file_path":"notes/a.txt","content":"x"}`, ""},
		{"Write", `{"file_path":"state/a.txt","content":"x"}`, "write-protected"},
		{"WebFetch", `{"url":"https://example.com"}`, "not available in background forks"},
		{"mcp__discord__ping_user", `{"message":"x"}`, ""},
	} {
		u := agent.ToolUse{Name: tt.tool, Input: []byte(tt.input)}
		for name, d := range map[string]agent.Decision{"hook": hooks.PreTool(t.Context(), u), "callback": permission(t.Context(), u)} {
			if d.Allow != (tt.want == "") || !strings.Contains(d.Reason, tt.want) {
				t.Errorf("%s %s by %s: %+v", tt.tool, tt.input, name, d)
			}
		}
	}
	broken := agent.ToolUse{Name: "Write", Input: []byte(`{"file_path":"routines/a.md","content":"x"}`)}
	if d := hooks.PreTool(t.Context(), broken); d.Allow || !strings.HasPrefix(d.Reason, "routine-validator: ") {
		t.Errorf("a broken routine: %+v", d)
	}
}

func TestARunsCommandsHaveTheRightsOfTheRun(t *testing.T) {
	var by []policy.Scope
	h := newHarness(t, func(o *Options) {
		o.Commands = func(_ context.Context, s *policy.Session, _ []string) agent.CommandResult {
			by = append(by, s.Scope())
			return agent.CommandResult{Stdout: "done"}
		}
	})
	h.troubles = []string{"command of the agent was refused"}
	r := newRun(&h.m.o, Job{Task: task(), Allowed: []string{"Bash(ollim-bot reminder *)"}, Disallowed: []string{"Bash(ollim-bot reminder cancel *)"}}, nil)
	o := r.options(Limits{})
	if got := o.Command(t.Context(), []string{"reminder", "list"}); got.Stdout != "done" {
		t.Errorf("what is allowed gives %+v", got)
	}
	for _, args := range [][]string{{"reminder", "cancel", "x"}, {"routine", "list"}} {
		if got := o.Command(t.Context(), args); got.Exit == 0 || !strings.Contains(got.Stderr, "not available in background forks") {
			t.Errorf("%q gives %+v", args, got)
		}
	}
	if len(by) != 1 || by[0].Kind != policy.Background || by[0].Session != r.id || len(by[0].Rules.Allowed) != 1 {
		t.Errorf("who asks: %+v", by)
	}
}

func TestARunRecordsTheMarkdownThatItWrites(t *testing.T) {
	var commits []string
	served(t, func(t *testing.T, h *harness) {
		// The script engine runs no tools, so the files already exist.
		for _, name := range []string{"USER.md", "other.txt"} {
			storetest.Put(t, h.dir, name, "x")
		}
		job := playing(task(),
			`ask Write {"file_path":"USER.md","content":"x"}`,
			`ask Write {"file_path":"other.txt","content":"x"}`,
			`ask Write {"file_path":"state/x.md","content":"x"}`,
			`ask Write {"file_path":"routines/x.md","content":"no front matter"}`,
			`say done`)
		job.Allowed = []string{"Write"}
		v := h.done(job)
		if diff := cmp.Diff([]string{"USER.md: auto: write USER.md"}, commits); diff != "" {
			t.Error(diff)
		}
		wants(t, "the tail", strings.Join(h.lines(v.ID), "\n"), "write-protected", "routine-validator: ")
	}, func(o *Options) { o.Commit = func(rel, message string) { commits = append(commits, rel+": "+message) } })
}
