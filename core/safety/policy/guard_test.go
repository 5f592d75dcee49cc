package policy

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/agent"
)

func TestModesDecideWhatNoRuleDecides(t *testing.T) {
	g, _ := newGuard(t)
	rules := Rules{Allowed: MainTools(), Disallowed: []string{"WebSearch"}}
	asked := "asked"
	for _, tt := range []struct {
		mode Mode
		use  agent.ToolUse
		want string // "allow", "asked" or a part of the reason
	}{
		{DontAsk, bash("date"), "requires permission"},
		{DontAsk, file("Write", "notes/a.md"), "allow"},
		{DontAsk, file("Write", "notes/a.txt"), "requires permission"},
		{DontAsk, file("Read", "notes/a.md"), "allow"},
		{DontAsk, bash("ollim-bot history list"), "allow"},
		{DontAsk, toolUse("mcp__discord__enter_fork", nil), "allow"},
		{DontAsk, toolUse("mcp__discord__update_names", nil), "allow"},
		{DontAsk, toolUse("mcp__docs__search", nil), "allow"},
		{DontAsk, toolUse("mcp__other__search", nil), "requires permission"},
		{DontAsk, toolUse("Task", nil), "allow"},
		{DontAsk, toolUse("WebSearch", fields{"query": "x"}), "disallowed"},
		{"", bash("date"), "/permissions"},
		{"whatever", bash("date"), "requires permission"},
		{Ask, bash("date"), asked},
		{Ask, file("Read", "notes/a.md"), "allow"},
		{Ask, file("Write", "notes/a.txt"), asked},
		{AcceptEdits, bash("date"), asked},
		{AcceptEdits, file("Write", "notes/a.txt"), "allow"},
		{AcceptEdits, file("Edit", "/etc/hosts"), asked},
		{AcceptEdits, file("NotebookEdit", "notes/a.ipynb"), "allow"},
		{BypassPermissions, bash("ls; rm x"), "allow"},
		{BypassPermissions, file("Write", "/etc/hosts"), "allow"},
		{BypassPermissions, toolUse("WebSearch", fields{"query": "x"}), "disallowed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			g.approvals = &ApprovalQueue{always: func(a Approval) { g.Allow(a.Tool) }}
			questions := answering(t, g, Deny.always)
			d := g.Session(Scope{Rules: rules, Mode: func() Mode { return tt.mode }}).Permission(t.Context(), tt.use)
			got := d.Reason
			switch {
			case len(*questions) > 0:
				got = asked
			case d.Allow:
				got = "allow"
			}
			if !strings.Contains(got, tt.want) {
				t.Errorf("%q %s: %s, want %s", tt.mode, tt.use.Name, got, tt.want)
			}
		})
	}
}

func TestABackgroundRunAsksNobodyWhateverTheUserAllowed(t *testing.T) {
	g, _ := newGuard(t)
	g.Allow("Bash")
	g.approvals.OnChange(func(a Approval) { t.Errorf("asked: %+v", a) })
	permission := g.Session(Scope{Kind: Background, Mode: func() Mode { return BypassPermissions }}).Permission
	if d := permission(t.Context(), bash("date")); d.Allow || !strings.Contains(d.Reason, "not available in background forks") {
		t.Errorf("%+v", d)
	}
}

func TestWhatTheUserAllowsHoldsForTheSession(t *testing.T) {
	g, _ := newGuard(t)
	if g.sessionAllows("Bash") {
		t.Error("allowed at first")
	}
	for _, mode := range []Mode{DontAsk, Ask} {
		permission := g.Session(Scope{Kind: Interactive, Mode: func() Mode { return mode }}).Permission
		g.Allow("Bash")
		g.Allow("Agent")
		if d := permission(t.Context(), bash("anything; at all")); !d.Allow {
			t.Errorf("%s: %s", mode, d.Reason)
		}
		if d := permission(t.Context(), toolUse("Task", nil)); !d.Allow {
			t.Errorf("%s: %s", mode, d.Reason)
		}
		g.Reset()
		if g.sessionAllows("Bash") || g.sessionAllows("Agent") {
			t.Error("still allowed after a reset")
		}
	}
	if d := g.Session(Scope{}).Permission(t.Context(), bash("date")); d.Allow {
		t.Error("a tool is allowed after the reset")
	}
}

func TestTheUsersAnswerDecides(t *testing.T) {
	for _, tt := range []struct {
		verdict Verdict // empty means no answer
		allow   bool
		reason  string
	}{
		{Allow, true, ""},
		{Always, true, ""},
		{Deny, false, "user denied Bash(date)"},
		{"", false, "no one answered within 60 seconds"},
	} {
		synctest.Test(t, func(t *testing.T) {
			g, _ := newGuard(t)
			answering(t, g, tt.verdict.always)
			permission := g.Session(Scope{Session: "main", Mode: func() Mode { return Ask }}).Permission
			begin := time.Now()
			d := permission(t.Context(), bash("date"))
			if d.Allow != tt.allow || !strings.Contains(d.Reason, tt.reason) {
				t.Errorf("%s: %+v", tt.verdict, d)
			}
			if took := time.Since(begin); tt.verdict == "" && took != Patience {
				t.Errorf("waited %s", took)
			}
			if d := permission(t.Context(), bash("pwd")); d.Allow != tt.allow {
				t.Errorf("the next call after %q: %+v", tt.verdict, d)
			}
			if got := g.sessionAllows(g.tree.call(bash("pwd")).exact()); got != (tt.verdict == Always) || g.sessionAllows("Bash") {
				t.Errorf("after %q: allowed for the session %v", tt.verdict, got)
			}
		})
	}
}

func TestAnInterruptCancelsTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, _ := newGuard(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		d := g.Session(Scope{Mode: func() Mode { return Ask }}).Permission(ctx, bash("date"))
		if d.Allow || !strings.Contains(d.Reason, "cancelled") || len(g.Approvals().Pending()) > 0 {
			t.Errorf("%+v, pending %v", d, g.Approvals().Pending())
		}
	})
}

func TestARefusalNamesWhatWouldPass(t *testing.T) {
	g, _ := newGuard(t)
	for _, kind := range []Kind{Main, Background} {
		s := g.Session(Scope{Kind: kind, Rules: Rules{Allowed: []string{"Grep(./**.md)", "Glob(./**.md)", "Bash(ollim-bot help)", "Bash(ls *)", "WebFetch"}}})
		for _, u := range []agent.ToolUse{
			toolUse("Grep", fields{"pattern": "plum"}), toolUse("Grep", fields{"pattern": "plum", "type": "md"}), toolUse("Glob", fields{"pattern": "**"}),
		} {
			if d := s.PreTool(t.Context(), u); d.Allow || !strings.Contains(d.Reason, "What passes: ./**.md. Give a glob") {
				t.Errorf("kind %d: %+v", kind, d)
			}
		}
		if d := s.PreTool(t.Context(), toolUse("Bash", fields{"command": "cat x"})); !strings.Contains(d.Reason, "What passes: ollim-bot help, ls *.") {
			t.Errorf("kind %d: %+v", kind, d)
		}
		if d := s.PreTool(t.Context(), toolUse("Monitor", fields{"command": "ls"})); d.Allow || strings.Contains(d.Reason, "What passes") {
			t.Errorf("kind %d: %+v", kind, d)
		}
	}
}

// F3: a refusal names the same commands as the prompt: those that exist here, and no mail in a
// conversation.
func TestARefusalNamesNoCommandThatDoesNotExist(t *testing.T) {
	google := false
	g, _ := newGuard(t)
	g.o.Google = func() bool { return google }
	list := []string{"Bash(ollim-bot help)", "Bash(ollim-bot tasks *)", "Bash(ollim-bot gmail unread *)", "Bash(ollim-bot cal:*)"}
	for _, c := range []struct {
		kind   Kind
		google bool
		says   string
	}{
		{Main, false, "ollim-bot help"},
		{Interactive, true, "ollim-bot help, ollim-bot tasks *, ollim-bot cal:*"},
		{Background, false, "ollim-bot help"},
		{Background, true, "ollim-bot help, ollim-bot tasks *, ollim-bot gmail unread *, ollim-bot cal:*"},
	} {
		google = c.google
		d := g.Session(Scope{Kind: c.kind, Rules: Rules{Allowed: list}}).PreTool(t.Context(), bash("date"))
		if d.Allow || !strings.HasSuffix(d.Reason, "What passes: "+c.says+".") {
			t.Errorf("kind %d, Google %v: %+v", c.kind, c.google, d)
		}
	}
}

func TestAFaultInsideIsADenial(t *testing.T) {
	var said strings.Builder
	g, _ := newGuard(t)
	g.o.Log = slog.New(slog.NewTextHandler(&said, nil))
	d := g.Session(Scope{Mode: func() Mode { panic("no mode") }}).Permission(t.Context(), bash("date"))
	if d.Allow || d.Reason == "" || !strings.Contains(said.String(), "no mode") {
		t.Errorf("%+v, log %s", d, said.String())
	}
	g.o.Dir = nil // so that the validator cannot read the file
	d = g.Session(Scope{}).PreTool(t.Context(), toolUse("Edit", fields{"file_path": "routines/a.md", "old_string": "a", "new_string": "b"}))
	if d.Allow || d.Reason == "" {
		t.Errorf("hook: %+v", d)
	}
	synctest.Test(t, func(t *testing.T) {
		g, _ := newGuard(t)
		g.Approvals().OnChange(func(Approval) { panic("no surface") })
		d := g.Session(Scope{Mode: func() Mode { return Ask }}).Permission(t.Context(), bash("date"))
		if d.Allow || len(g.Approvals().Pending()) > 0 {
			t.Errorf("%+v, pending %v", d, g.Approvals().Pending())
		}
	})
}

func TestEnginesKnowNoDontAsk(t *testing.T) {
	for mode, want := range map[Mode]string{
		DontAsk: "default", Ask: "default", AcceptEdits: "acceptEdits", BypassPermissions: "bypassPermissions", "x": "default",
	} {
		if got := mode.Engine(); got != want {
			t.Errorf("%s is %s to an engine, want %s", mode, got, want)
		}
	}
}
