package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/agent"
	"ollimbot/core/base/testkit"
	"ollimbot/core/brief/skill"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/label"
	"ollimbot/routines"
)

func TestAPatternIsCoveredOnlyWhereItCanBeProved(t *testing.T) {
	for _, c := range []struct {
		have, want string
		covered    bool
	}{
		{"Bash(ollim-bot tasks *)", "Bash(ollim-bot tasks *)", true},
		{"Bash(ollim-bot tasks *)", "Bash(ollim-bot tasks list)", true},
		{"Bash(ollim-bot tasks *)", "Bash(ollim-bot tasks list *)", true},
		{"Bash(ollim-bot tasks:*)", "Bash(ollim-bot tasks)", true},
		{"Bash(ollim-bot tasks *)", "Bash(ollim-bot tasks*)", false},
		{"Bash(ollim-bot tasks *)", "Bash(ollim-bot *)", false},
		{"Bash(ls)", "Bash(ls *)", false},
		{"Bash(ls *)", "Bash(ls)", true},
		{"Bash(rm *)", "Bash", false},
		{"Bash", "Bash(rm *)", true},
		{"Bash(git * log)", "Bash(git x log)", false},
		{"Write(./**.md)", "Write(./notes/today.md)", true},
		{"Write(./**.md)", "Write(notes/*.md)", true},
		{"Write(./**.md)", "Write(./notes/**.md)", true},
		{"Write(./**.md)", "Write(./notes/**)", false},
		{"Write(./**.md)", "Edit(./notes/a.md)", false},
		{"Write(./notes/*.md)", "Write(./notes/a.md)", true},
		{"Write(./notes/*.md)", "Write(./notes/old/a.md)", false},
		{"Write(./notes/*.md)", "Write(./notes/**.md)", false},
		{"Write(./notes)", "Write(./notes*)", false},
		{"Write(./**.md)", "Write", false},
		{"Write(./**.md)", "Write(*)", false},
		{"Write(./**.md)", "Write(//etc/a.md)", false},
		{"Read(//srv/**)", "Read(//srv/a/*)", true},
		{"Read(~/notes/**)", "Read(//srv/a/*)", false},
		{"WebFetch", "WebFetch(domain:example.com)", true},
		{"WebFetch(domain:example.com)", "WebFetch(domain:www.example.com)", true},
		{"WebFetch(domain:example.com)", "WebFetch(domain:example.org)", false},
		{"WebFetch(domain:example.com)", "WebFetch", false},
		{"mcp__docs__*", "mcp__docs__search", true},
		{"mcp__docs__search", "mcp__docs__*", false},
		{"Agent", "Task(gmail-reader)", true},
		{"Skill(email *)", "Skill(other)", false},
	} {
		if got := covers([]string{"Glob", c.have}, c.want); got != c.covered {
			t.Errorf("%s covers %s: %v", c.have, c.want, got)
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

func TestWhatAFileGrantsIsReadFromItsBytes(t *testing.T) {
	g, root := newGuard(t)
	testkit.Must(t, os.MkdirAll(filepath.Join(root, "skills", "day"), 0o700))
	write(t, filepath.Join(root, "skills", "day", "SKILL.md"), "---\nname: day\ndescription: d\nallowed-tools: [\"Bash(cal *)\"]\n---\nIt is !`date`.\n")
	w := Writer{Allowed: []string{"Write(./**.md)"}}
	routine := func(extra string) string {
		return "---\nid: \"a\"\ncron: \"0 9 * * *\"\nbackground: true\n" + extra + "---\nGo.\n"
	}
	for name, c := range map[string]struct {
		rel, text string
		want      []string
	}{
		"nothing":             {"routines/a.md", routine(""), nil},
		"defaults":            {"routines/a.md", routine("allowed-tools: [\"Read(./**.md)\"]\n"), nil},
		"what the writer has": {"routines/a.md", routine("allowed-tools: [\"Write(./notes/*.md)\"]\n"), nil},
		"a tool":              {"routines/a.md", routine("allowed-tools: [\"Bash(rm *)\"]\n"), []string{"use Bash(rm *)"}},
		"with CRLF":           {"routines/a.md", strings.ReplaceAll(routine("allowed-tools: [\"Bash(rm *)\"]\n"), "\n", "\r\n"), []string{"use Bash(rm *)"}},
		"in snake case":       {"routines/a.md", routine("allowed_tools: [\"Bash\"]\n"), []string{"use Bash"}},
		"in YAML's ways":      {"routines/a.md", routine("allowed-tools: !!seq [ !!str \"\\x42ash\" ]\n"), []string{"use Bash"}},
		"its skill's":         {"routines/a.md", routine("skills: [day]\n"), []string{"use Bash(cal *)", "run `date`"}},
		"in the foreground":   {"routines/a.md", "---\nid: a\ncron: \"0 9 * * *\"\nallowed-tools: [Bash]\n---\nGo.\n", nil},
		"trust":               {"reminders/a.md", "---\nid: a\nrun-at: \"2026-11-23T09:40:00-08:00\"\ntrust-input: true\n---\nGo.\n", []string{excessTrust}},
		"a check":             {"routines/a.md", routine("check: ./new.sh -q\n"), []string{"run `./new.sh -q` before each fire"}},
		"a check in front":    {"routines/a.md", "---\nid: a\ncron: \"0 9 * * *\"\ncheck: ./new.sh\n---\nGo.\n", nil},
		"a webhook":           {"webhooks/a.md", "anything", []string{excessOutside}},
		"a skill":             {"skills/x/SKILL.md", "---\nname: x\ndescription: d\nallowed-tools: [Bash]\n---\n!\x07`id`\n", []string{"use Bash", "run `id`"}},
		"a note":              {"notes/a.md", routine("allowed-tools: [Bash]\n"), nil},
		"a folder below":      {"routines/old/a.md", routine("allowed-tools: [Bash]\n"), nil},
	} {
		grants, _ := grantsOf(c.rel, []byte(c.text), g.skill)
		if got := excessOf(w, BackgroundTools(), grants); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestATaskThatACommandOfTheAgentWritesIsTheAgents(t *testing.T) {
	g, root := newGuard(t)
	evil := []byte("---\nid: \"a\"\ncron: \"* * * * *\"\nbackground: true\nallowed-tools: [\"Bash\"]\n---\nGo.\n")
	task := func(rel string) routines.Task {
		r, _ := routines.ParseRoutine(rel, evil)
		r.Digest = routines.Digest(evil)
		return r.Task
	}
	s := g.Session(Scope{Kind: Background, Rules: Rules{Allowed: []string{"Bash(cp *)"}}})
	copying := bash("cp notes/x.md routines/x.md")
	if d := s.PreTool(t.Context(), copying); !d.Allow {
		t.Fatal(d.Reason)
	}
	write(t, filepath.Join(root, "routines", "x.md"), string(evil))
	x := task("routines/x.md")
	if g.TaskWaits(&x) == "" {
		t.Error("it fires while the command runs")
	}
	s.Hooks(nil).PostTool(t.Context(), copying)
	testkit.Must(t, os.Rename(filepath.Join(root, "routines", "x.md"), filepath.Join(root, "routines", "y.md")))
	if y := task("routines/y.md"); g.TaskWaits(&y) == "" {
		t.Error("another name makes it the user's")
	}
	evil = append(evil, "The user's.\n"...)
	write(t, filepath.Join(root, "routines", "z.md"), string(evil))
	if z := task("routines/z.md"); g.TaskWaits(&z) != "" {
		t.Error("what comes after the command is not the user's")
	}
}

func TestWhatTheUserSavesWhileAConfinedCommandRunsIsTheUsers(t *testing.T) {
	for _, c := range []struct {
		name       string
		begin, now bool // whether commands are confined
		waits      bool
	}{{"always", true, true, false}, {"not any more", true, false, true}, {"not when the session began", false, true, true}} {
		t.Run(c.name, func(t *testing.T) {
			g, root := newGuard(t)
			confined := c.begin
			g.o.Confined = func() bool { return confined }
			s := g.Session(Scope{Kind: Background, Rules: Rules{Allowed: []string{"Bash(cp *)"}}})
			confined = c.now
			if d := s.PreTool(t.Context(), bash("cp notes/x.md notes/y.md")); !d.Allow {
				t.Fatal(d.Reason)
			}
			mine := []byte("---\nid: \"a\"\ncron: \"* * * * *\"\nbackground: true\nallowed-tools: [\"Bash\"]\n---\nGo.\n")
			write(t, filepath.Join(root, "routines", "x.md"), string(mine))
			r, _ := routines.ParseRoutine("routines/x.md", mine)
			r.Digest = routines.Digest(mine)
			if why := g.TaskWaits(&r.Task); (why != "") != c.waits {
				t.Errorf("it waits: %q", why)
			}
		})
	}
}

func TestAReminderThatTheAgentAddsByCommandIsTheAgents(t *testing.T) {
	g, root := newGuard(t)
	s := g.Session(Scope{Rules: Rules{Allowed: MainTools()}, Mode: func() Mode { return DontAsk }})
	adding := bash(`ollim-bot reminder add -m "Go" --delay 1 --allowed-tools "Bash(rm *)"`)
	if d := s.PreTool(t.Context(), adding); !d.Allow {
		t.Fatalf("%+v", d)
	}
	if d := s.Permission(t.Context(), adding); !d.Allow {
		t.Fatal(d.Reason)
	}
	made, err := routines.AddReminder(g.o.Dir, routines.Reminder{RunAt: time.Now(), Task: routines.Task{Body: "Go", Background: true, Allowed: []string{"Bash(rm *)"}}})
	testkit.Must(t, err)
	if g.TaskWaits(&made.Task) == "" {
		t.Error("it fires before the command has ended")
	}
	s.Hooks(nil).PostTool(t.Context(), adding)
	if why := g.TaskWaits(&made.Task); !strings.Contains(why, "Bash(rm *)") {
		t.Errorf("it fires: %q", why)
	}
	g.Rest()
	write(t, filepath.Join(root, "reminders", "mine.md"), "---\nid: \"m\"\nrun-at: \"2026-11-23T09:40:00-08:00\"\nallowed-tools: [\"Bash(rm *)\"]\n---\nGo.\n")
	data, err := g.o.Dir.Read("reminders/mine.md")
	testkit.Must(t, err)
	r, _ := routines.ParseReminder("reminders/mine.md", data, nil)
	r.Digest = routines.Digest(data)
	if why := g.TaskWaits(&r.Task); why != "" {
		t.Errorf("the user's own waits: %s", why)
	}
}

func TestALinkOfTheUserDoesNotMakeTheAgentsWordsTheirs(t *testing.T) {
	g, root := newGuard(t)
	text := "---\nid: \"a\"\ncron: \"* * * * *\"\nbackground: true\nallowed-tools: [\"Bash\"]\n---\n"
	write(t, filepath.Join(root, "notes", "day.md"), text+"Mine.\n")
	link(t, "../notes/day.md", filepath.Join(root, "routines", "day.md"))
	s := g.Session(Scope{Rules: Rules{Allowed: MainTools()}})
	if d := s.PreTool(t.Context(), writing("notes/day.md", text+"Yours.\n")); !d.Allow {
		t.Fatal(d.Reason)
	}
	r, _ := routines.ParseRoutine("routines/day.md", []byte(text+"Yours.\n"))
	r.Digest = routines.Digest([]byte(text + "Yours.\n"))
	if g.TaskWaits(&r.Task) == "" {
		t.Error("it fires with the user's rights")
	}
}

// A skill folder without a SKILL.md does not hide the skills after it.
func TestASkillThatACommandOfTheAgentWritesIsTheAgents(t *testing.T) {
	g, root := newGuard(t)
	for _, folder := range []string{"aaa", "day", "mine"} {
		testkit.Must(t, os.MkdirAll(filepath.Join(root, "skills", folder), 0o700))
	}
	save := func(folder, more string) {
		write(t, filepath.Join(root, "skills", folder, "SKILL.md"), "---\nname: "+folder+"\ndescription: d\nallowed-tools: [Bash]\n---\n"+more)
	}
	s := g.Session(Scope{Kind: Background, Rules: Rules{Allowed: []string{"Bash(cp *)"}}})
	copying := bash("cp x skills/day/SKILL.md")
	if d := s.PreTool(t.Context(), copying); !d.Allow {
		t.Fatal(d.Reason)
	}
	save("day", "Go.\n")
	s.Hooks(nil).PostTool(t.Context(), copying)
	save("mine", "Go.\n")
	for folder, waits := range map[string]bool{"day": true, "mine": false} {
		found, ok := skill.Read(g.o.Dir, folder)
		if why := g.SkillWaits(found); !ok || (why != "") != waits {
			t.Errorf("%s: %v, %q", folder, ok, why)
		}
	}
}

// A question about one file allows that file and no tool.
func TestTheUserIsAskedAboutATaskThatMayDoMoreThanItsWriter(t *testing.T) {
	more := map[string]string{"allowed-tools: [\"Bash(rm *)\"]": "Bash(rm *)", "check: ./new.sh": "run `./new.sh` before each fire"}
	for _, answer := range []Verdict{Allow, Always, Deny} {
		for line, asked := range more {
			theUserIsAsked(t, "---\nid: \"a\"\ncron: \"0 9 * * *\"\nbackground: true\n"+line+"\n---\nGo.\n", asked, answer)
		}
	}
}

// theUserIsAsked writes a routine from the conversation, with the user's answer.
func theUserIsAsked(t *testing.T, text, asked string, answer Verdict) {
	synctest.Test(t, func(t *testing.T) {
		g, root := newGuard(t)
		var questions []string
		g.approvals.OnChange(func(a Approval) {
			if a.Verdict != "" {
				return
			}
			questions = append(questions, a.Label)
			if err := g.approvals.Answer(t.Context(), a.ID, answer); err != nil {
				t.Error(err)
			}
		})
		s := g.Session(Scope{Rules: Rules{Allowed: MainTools()}, Mode: func() Mode { return Ask }})
		u := writing("routines/a.md", text)
		if d := s.PreTool(t.Context(), u); !d.Allow || !d.Ask {
			t.Fatalf("%+v", d)
		}
		d := s.Permission(t.Context(), u)
		if len(questions) != 1 || !strings.Contains(questions[0], asked) || d.Allow != answer.Allows() {
			t.Errorf("%s: %+v after %q", answer, d, questions)
		}
		write(t, filepath.Join(root, "routines", "a.md"), text)
		r, _ := routines.ParseRoutine("routines/a.md", []byte(text))
		r.Digest = routines.Digest([]byte(text))
		if why := g.TaskWaits(&r.Task); (why == "") != answer.Allows() {
			t.Errorf("%s: it waits: %q", answer, why)
		}
		if g.sessionAllows("Write") {
			t.Errorf("%s about a file allows the tool", answer)
		}
	})
}

// A known file does not hide the files after it.
func TestACommandMayLeaveSeveralTasks(t *testing.T) {
	g, root := newGuard(t)
	text := "---\nid: \"%s\"\ncron: \"* * * * *\"\nbackground: true\nallowed-tools: [\"Bash\"]\n---\nGo.\n"
	s := g.Session(Scope{Kind: Background, Rules: Rules{Allowed: []string{"Bash(cp *)", "Write(./**.md)"}}})
	copying := bash("cp x routines/b.md")
	for _, u := range []agent.ToolUse{writing("routines/a.md", fmt.Sprintf(text, "a")), copying} {
		if d := s.PreTool(t.Context(), u); !d.Allow {
			t.Fatal(d.Reason)
		}
	}
	for _, id := range []string{"a", "b", "c"} {
		write(t, filepath.Join(root, "routines", id+".md"), fmt.Sprintf(text, id))
	}
	s.Hooks(nil).PostTool(t.Context(), copying)
	for _, id := range []string{"a", "b", "c"} {
		r, _ := routines.ParseRoutine("routines/"+id+".md", []byte(fmt.Sprintf(text, id)))
		r.Digest = routines.Digest([]byte(fmt.Sprintf(text, id)))
		if g.TaskWaits(&r.Task) == "" {
			t.Errorf("%s fires with the user's rights", id)
		}
	}
}

// A call may write other bytes than the guard predicted.
func TestWhatACallHasReallyWrittenIsTheAgents(t *testing.T) {
	g, root := newGuard(t)
	s := g.Session(Scope{Rules: Rules{Allowed: MainTools()}})
	text := "---\nid: \"a\"\ncron: \"* * * * *\"\nbackground: true\nallowed-tools: [\"Bash\"]\n---\n"
	u := writing("routines/day.md", text+"As foreseen.\n")
	if d := s.PreTool(t.Context(), u); !d.Allow {
		t.Fatal(d.Reason)
	}
	write(t, filepath.Join(root, "routines", "day.md"), text+"Something else.\n")
	s.Hooks(nil).PostTool(t.Context(), u)
	g.Rest()
	r, _ := routines.ParseRoutine("routines/day.md", []byte(text+"Something else.\n"))
	r.Digest = routines.Digest([]byte(text + "Something else.\n"))
	if g.TaskWaits(&r.Task) == "" {
		t.Error("it fires with the user's rights")
	}
}

func TestOnlyTaskFilesAndWhatTheirLinksLeadToGrantRights(t *testing.T) {
	g, root := newGuard(t)
	write(t, filepath.Join(root, "notes", "day.md"), "x")
	write(t, filepath.Join(root, "routines", "plain.md"), "x")
	link(t, "../notes/day.md", filepath.Join(root, "routines", "day.md"))
	for path, want := range map[string]string{
		"routines/plain.md": "routines/plain.md", "notes/day.md": "routines/day.md", "notes/../notes/day.md": "routines/day.md",
		"notes/other.md": "", "routines/old/a.md": "", "skills/day/SKILL.md": "skills/day/SKILL.md", "skills/day/more.md": "", "/srv/routines/a.md": "",
	} {
		if rel, ok := g.granting(path); rel != want || ok != (want != "") {
			t.Errorf("%s is %q, %v", path, rel, ok)
		}
	}
}

// The command line approves tasks in a separate process.
func TestAnApprovalByAnotherProcessIsNoticed(t *testing.T) {
	g, _ := newGuard(t)
	mine, other := g.provenance, newProvenance(g.o.Dir)
	_, err := mine.record("abc", Origin{Path: "routines/a.md", At: time.Unix(1, 0), Excess: []string{"use Bash"}})
	testkit.Must(t, err)
	load := func(what string, want bool) {
		t.Helper()
		changed, err := mine.Load()
		if o, _ := mine.Find("routines/a.md", "abc"); err != nil || changed != want || o.Approved.IsZero() == (what == "approved") {
			t.Errorf("%s: changed %v, %+v, %v", what, changed, o, err)
		}
	}
	load("recorded", false)
	testkit.Must(t, other.Approve("abc", "routines/a.md", time.Unix(2, 0)))
	load("approved", true)
	load("approved", false)
	testkit.Must(t, other.Withdraw("abc"))
	load("withdrawn", true)
}

// The prompt of a run that starts with untrusted text lists only what it may use.
func TestQuietLeavesWhatReads(t *testing.T) {
	may, mayNot := Quiet([]string{
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

func TestOnlyTheUserAllows(t *testing.T) {
	g, _ := newGuard(t)
	for command, allowed := range map[string]bool{
		"ollim-bot allow 1a2b3c4d": false, "/usr/bin/ollim-bot --data-dir x allow y": false, "sh -c 'ollim-bot allow x'": false,
		"ollim-bot tasks list": true, "ollim-bot reminder list": true, "echo allow": true,
	} {
		mode := func() Mode { return BypassPermissions }
		d := g.Session(Scope{Rules: Rules{Allowed: []string{"Bash"}}, Mode: mode}).PreTool(t.Context(), bash(command))
		if d.Allow != allowed {
			t.Errorf("%s: %+v", command, d)
		}
	}
}

func TestARunThatHasReadStrangersWordsKeepsNoToolThatActs(t *testing.T) {
	acting := []agent.ToolUse{
		writing("notes/a.md", "x"), file("Edit", "notes/a.md"), toolUse("NotebookEdit", fields{"notebook_path": "a.ipynb"}), bash("rm x"), bash("ollim-bot reminder add -m x --delay 5"),
		toolUse(toolset.Prefix+toolset.AddReminder, nil), toolUse(toolset.Prefix+toolset.CancelReminder, nil), toolUse(toolset.Prefix+toolset.SendFile, nil),
		toolUse(toolset.Prefix+toolset.UpdateNames, nil),
	}
	quiet := []agent.ToolUse{
		file("Read", "notes/a.md"), bash("ollim-bot help"), bash("ollim-bot reminder list"), bash("ollim-bot history list"), bash("ollim-bot gmail read 1"),
		toolUse(toolset.Prefix+toolset.PingUser, nil), toolUse(toolset.Prefix+toolset.ReportUpdates, nil), toolUse(toolset.Prefix+toolset.FollowUpChain, nil),
	}
	everything := Rules{Allowed: []string{"Bash", "Read", "Write", "Edit", "NotebookEdit", "WebFetch", "WebSearch", "Grep", "mcp__mail__*", toolset.Prefix + "update_names"}}
	for name, c := range map[string]struct {
		reads   agent.ToolUse
		tainted bool
	}{
		"a page":   {toolUse("WebFetch", fields{"url": "https://example.com"}), true},
		"a search": {toolUse("WebSearch", fields{"query": "x"}), true},
		"a file":   {file("Read", "downloads/a.txt"), true},
		"a detour": {file("Read", "notes/../downloads/a.txt"), true},
		"a server": {toolUse("mcp__mail__read", nil), true},
		"a note":   {file("Read", "notes/a.md"), false},
		"our docs": {toolUse("mcp__docs__search", nil), false},
	} {
		for _, trusted := range []bool{false, true} {
			g, _ := newGuard(t)
			told := ""
			s := g.Session(Scope{Kind: Background, Rules: everything, Taint: &Taint{Trusted: trusted, Changed: func(l label.Label) { told += string(l) }}})
			for _, u := range acting {
				if d := s.PreTool(t.Context(), u); !d.Allow {
					t.Fatalf("before %s: %s %s: %s", name, u.Name, u.Input, d.Reason)
				}
			}
			_ = s.PreTool(t.Context(), c.reads)
			_ = s.PreTool(t.Context(), c.reads)
			if (s.Label() != "") != c.tainted || told != string(s.Label()) {
				t.Fatalf("%s: tainted by %q, told %q", name, s.Label(), told)
			}
			for _, u := range acting {
				d := s.PreTool(t.Context(), u)
				if d.Allow != (!c.tainted || trusted) || !d.Allow && !strings.Contains(d.Reason, "trust-input") {
					t.Errorf("after %s, trusted %v: %s %s: %+v", name, trusted, u.Name, u.Input, d)
				}
			}
			for _, u := range quiet {
				if d := s.PreTool(t.Context(), u); !d.Allow {
					t.Errorf("after %s: %s %s: %s", name, u.Name, u.Input, d.Reason)
				}
			}
		}
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
