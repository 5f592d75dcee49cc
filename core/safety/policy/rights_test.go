package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/skill"
	"ollimbot/core/brief/toolset"
	"ollimbot/routines"
)

func TestAPatternIsCoveredOnlyWhereItCanBeProved(t *testing.T) {
	for _, c := range []struct {
		have         string
		covered, not []string
	}{
		{"Bash(ollim-bot tasks *)", []string{
			"Bash(ollim-bot tasks *)", "Bash(ollim-bot tasks list)", "Bash(ollim-bot tasks list *)",
		}, []string{"Bash(ollim-bot tasks*)", "Bash(ollim-bot *)"}},
		{"Bash(ollim-bot tasks:*)", []string{"Bash(ollim-bot tasks)"}, nil},
		{"Bash(ls)", nil, []string{"Bash(ls *)"}},
		{"Bash(ls *)", []string{"Bash(ls)"}, nil},
		{"Bash(rm *)", nil, []string{"Bash"}},
		{"Bash", []string{"Bash(rm *)"}, nil},
		{"Bash(git * log)", nil, []string{"Bash(git x log)"}},
		{"Write(./**.md)", []string{"Write(./notes/today.md)", "Write(notes/*.md)", "Write(./notes/**.md)"}, []string{
			"Write(./notes/**)", "Edit(./notes/a.md)", "Write", "Write(*)", "Write(//etc/a.md)",
		}},
		{"Write(./notes/*.md)", []string{"Write(./notes/a.md)"}, []string{"Write(./notes/old/a.md)", "Write(./notes/**.md)"}},
		{"Write(./notes)", nil, []string{"Write(./notes*)"}},
		{"Write(./a*)", nil, []string{"Write(./ab*)"}},
		{"Write(./a**b)", []string{"Write(./ax*yb)"}, []string{"Write(./ax*y)", "Write(./x*b)"}},
		{"Read(//srv/**)", []string{"Read(//srv/a/*)"}, nil},
		{"Read(~/notes/**)", nil, []string{"Read(//srv/a/*)"}},
		{"WebFetch", []string{"WebFetch(domain:example.com)"}, nil},
		{"WebFetch(domain:example.com)", []string{"WebFetch(domain:www.example.com)"}, []string{
			"WebFetch(domain:example.org)", "WebFetch", "WebFetch(example.com)", "WebFetch(domain:*.example.com)", "WebFetch(domain:example.com/x)",
			"WebFetch(domain:)",
		}},
		{"WebFetch(https://example.com:*)", []string{"WebFetch(https://example.com)"}, nil},
		{"mcp__docs__*", []string{"mcp__docs__search"}, nil},
		{"mcp__docs__search", nil, []string{"mcp__docs__*"}},
		{"Agent", []string{"Task(gmail-reader)"}, nil},
		{"Skill(email *)", nil, []string{"Skill(other)"}},
	} {
		for i, want := range append(c.covered, c.not...) {
			if got := covers([]string{"Glob", c.have}, want); got != (i < len(c.covered)) {
				t.Errorf("%s covers %s: %v", c.have, want, got)
			}
		}
	}
}

// typical patterns, and texts that may match them
var (
	somePatterns = []string{
		"Bash", "Bash(ls)", "Bash(ls *)", "Bash(ls -l *)", "Bash(rm *)", "Bash(rm:*)", "Bash(git * log)", "Read", "Read(./**.md)", "Read(./notes/*.md)",
		"Write", "Write(./**.md)", "Write(./notes/*.md)", "Write(./notes/a.md)", "Write(./**)", "Write(notes/**)", "Edit(./**.md)", "Edit(*)",
		"WebFetch", "WebFetch(domain:a.org)", "WebFetch(domain:b.a.org)", "WebSearch", "mcp__docs__*", "mcp__docs__search", "mcp__x__y", "Agent", "Task(reader)",
	}
	someUses = []agent.ToolUse{
		bash("ls"), bash("ls -l x"), bash("ls x"), bash("rm x"), bash("rm"), bash("git x log"), bash("id"),
		file("Read", "notes/a.md"), file("Read", "a.md"), file("Read", "x.txt"), file("Write", "notes/a.md"), file("Write", "notes/b/c.md"),
		file("Write", "b.md"), file("Write", "notes/x.txt"), file("Write", "x.txt"), file("Edit", "notes/a.md"), file("Edit", "x.txt"), file("Write", "/etc/x.md"),
		toolUse("WebFetch", fields{"url": "https://a.org/x"}), toolUse("WebFetch", fields{"url": "https://b.a.org/x"}), toolUse("WebFetch", fields{"url": "https://c.org"}),
		toolUse("WebSearch", fields{"query": "x"}), toolUse("mcp__docs__search", nil), toolUse("mcp__docs__read", nil), toolUse("mcp__x__y", nil),
		toolUse("Agent", fields{"subagent_type": "reader"}), toolUse("Task", fields{"subagent_type": "other"}),
	}
)

func TestRightsAtFiringAreNeverMoreThanTheWritersUnlessApproved(t *testing.T) {
	root := t.TempDir()
	g, _ := guardAt(t, root)
	n := 0
	testkit.Check(t, func(r *rapid.T) {
		n++
		patterns := func(name string) []string {
			return rapid.SliceOfN(rapid.SampledFrom(somePatterns), 0, 6).Draw(r, name)
		}
		w := Writer{Kind: "background run", Alone: rapid.Bool().Draw(r, "alone"), Allowed: patterns("writer"), Disallowed: patterns("not")}
		name := fmt.Sprintf("s%d", n)
		task := routines.Routine{Cron: "0 9 * * *", Task: routines.Task{
			Kind: routines.KindRoutine, ID: fmt.Sprintf("id%d", n), Body: "Go.", Background: true, Thinking: true, Mode: routines.OnPing, AllowPing: true,
			Allowed: patterns("file"), TrustInput: rapid.Bool().Draw(r, "trust"),
		}}
		if rapid.Bool().Draw(r, "skill") {
			task.Skills = []string{name}
			dir := filepath.Join(root, "skills", name)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				r.Fatal(err)
			}
			text := "---\nname: " + name + "\ndescription: d\nallowed-tools:\n"
			for _, p := range patterns("skill tools") {
				text += "  - \"" + p + "\"\n"
			}
			if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte(text+"---\nRun.\n"), 0o600); err != nil {
				r.Fatal(err)
			}
		}
		data := routines.FormatRoutine(task)
		rel := "routines/" + task.ID + ".md"
		parsed, problems := routines.ParseRoutine(rel, data)
		if routines.HasErrors(problems) {
			return
		}
		parsed.Digest = routines.Digest(data)
		if err := g.Written(w, rel, data); err != nil {
			r.Fatal(err)
		}
		skills := skill.Load(g.o.Dir, task.Skills)
		bound := Compile(root, g.Bound(parsed.Task, skills))
		writer := Compile(root, w.rules(BackgroundTools()))
		for _, u := range someUses {
			if bound.Allows(u) && !writer.Allows(u) {
				r.Fatalf("%s %s may run; writer %+v, task %+v", u.Name, u.Input, w, parsed.Allowed)
			}
		}
		if g.Trusted(parsed.Task) {
			r.Fatal("an agent's file lets its run keep its tools")
		}
		more := false
		for _, p := range g.Bound(parsed.Task, nil).Allowed {
			more = more || !covers(w.rules(BackgroundTools()).Allowed, p)
		}
		if more {
			r.Fatal("a pattern of the run is not one of the writer's")
		}
		if waits := g.TaskWaits(&parsed.Task) != ""; !waits && len(excessOf(w, BackgroundTools(), taskGrants(parsed.Task, g.skill))) > 0 {
			r.Fatal("it grants more and does not wait")
		}
		if err := g.provenance.Approve(parsed.Digest, rel, time.Unix(1, 0)); err != nil {
			r.Fatal(err)
		}
		if why := g.TaskWaits(&parsed.Task); why != "" {
			r.Fatalf("approved, and it waits: %s", why)
		}
	})
}

func TestTheUserTalksWithConversationsAndNotWithRuns(t *testing.T) {
	g, _ := newGuard(t)
	for kind, want := range map[Kind]bool{Main: true, Interactive: true, Background: false} {
		if w := g.Session(Scope{Kind: kind}).Writer(); w.Talks() != want {
			t.Errorf("a %s talks: %t", w.Kind, w.Talks())
		}
	}
}

// The prompt of a run that starts with untrusted text lists only what it may use.
func TestQuietLeavesWhatReads(t *testing.T) {
	g, _ := newGuard(t)
	may, mayNot := g.Quiet([]string{
		"Read(./**.md)", "Write(./**.md)", "Edit", "NotebookEdit(a.ipynb)", "Bash", "Bash(rm *)", "Bash(ollim-bot gmail read *)", "Bash(ollim-bot help)",
		"WebFetch", toolset.Prefix + toolset.SendFile, toolset.Prefix + toolset.PingUser,
	}, []string{"WebSearch"})
	if want := []string{"Read(./**.md)", "Bash(ollim-bot gmail read *)", "Bash(ollim-bot help)", "WebFetch", toolset.Prefix + toolset.PingUser}; !slices.Equal(may, want) {
		t.Errorf("may use %q, want %q", may, want)
	}
	want := []string{
		"WebSearch", toolset.Prefix + toolset.AddReminder, toolset.Prefix + toolset.CancelReminder, toolset.Prefix + toolset.UpdateNames, toolset.Prefix + toolset.SendFile,
		toolset.Prefix + toolset.StopRoutine,
	}
	if !slices.Equal(mayNot, want) {
		t.Errorf("may not use %q, want %q", mayNot, want)
	}
}

func TestARunThatMayAskTheUserProxyHasWhatThatReads(t *testing.T) {
	g, _ := newGuard(t)
	search := bash("ollim-bot history search tea")
	for _, c := range []struct {
		allowed, disallowed []string
		may                 bool
	}{
		{nil, nil, false},
		{[]string{"Agent"}, nil, true},
		{[]string{"Task(user-proxy)"}, nil, true},
		{[]string{"Agent(gmail-reader)"}, nil, false},
		{[]string{"Agent"}, []string{"Agent(user-proxy)"}, false},
		{[]string{"Agent"}, []string{"Bash(ollim-bot history *)"}, false},
	} {
		task := routines.Task{Kind: routines.KindRoutine, Background: true, Allowed: c.allowed, Disallowed: c.disallowed}
		if got := Compile("/", g.Bound(task, nil)).Allows(search); got != c.may {
			t.Errorf("with %v and without %v the history may be read: %t", c.allowed, c.disallowed, got)
		}
	}
}
