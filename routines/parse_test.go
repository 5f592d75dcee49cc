package routines

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones of the tests, whatever the machine has
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
	"ollimbot/routines/cron"
	"ollimbot/routines/recur"
	"ollimbot/routines/when"
)

func losAngeles(t testing.TB) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation("America/Los_Angeles")
	testkit.Must(t, err)
	return loc
}

// parseEither parses a file as the kind given by its path.
func parseEither(rel string, data []byte, zone *time.Location) []Problem {
	if strings.Contains(rel, "reminder") {
		_, problems := ParseReminder(rel, data, zone)
		return problems
	}
	_, problems := ParseRoutine(rel, data)
	return problems
}

func report(problems []Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%s:%d:%d: %s: %s\n", p.File, p.Line, p.Column, p.Severity, p.Message)
	}
	return b.String()
}

func TestBrokenFilesAreAnsweredWithPlaceAndCure(t *testing.T) {
	files, err := filepath.Glob("testdata/broken/*.md")
	if err != nil || len(files) < 15 {
		t.Fatalf("found %d broken files: %v", len(files), err)
	}
	var got strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		testkit.Must(t, err)
		problems := parseEither(path.Base(file), data, losAngeles(t))
		if len(problems) == 0 {
			t.Errorf("%s: nothing is wrong with it", file)
		}
		got.WriteString(report(problems))
	}
	want, err := os.ReadFile("testdata/broken.golden")
	testkit.Must(t, err)
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("problems differ from testdata/broken.golden (-want +got):\n%s", diff)
	}
}

func TestARealUsersFilesHaveNoProblems(t *testing.T) {
	files, err := filepath.Glob("testdata/data-dir/*/*.md")
	if err != nil || len(files) != 12 {
		t.Fatalf("found %d files: %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		testkit.Must(t, err)
		if problems := parseEither(filepath.ToSlash(file), data, losAngeles(t)); len(problems) > 0 {
			t.Error(report(problems))
		}
	}
}

func TestARoutineFileSaysEverything(t *testing.T) {
	const file = `---
id: 12345678
cron: "*/30 9-18 * * 1-5"
background: yes
model: haiku
thinking: off
isolated: true
description: "Check  e-mail"
update_main_session: freely
allow-ping: false
allowed-tools:
  - "Bash(ollim-bot tasks *)"
skills: [email-triage, focus]
subagent: gmail-reader
missed: run
some-key: from a newer version
---

Sweep the inbox.

--- not a fence
`
	got, problems := ParseRoutine("routines/sweep.md", []byte(file))
	if len(problems) > 0 {
		t.Fatal(report(problems))
	}
	schedule, err := cron.Parse("*/30 9-18 * * 1-5")
	testkit.Must(t, err)
	want := Routine{
		Task: Task{
			Kind: KindRoutine, ID: "12345678", Path: "routines/sweep.md", Description: "Check  e-mail",
			Body: "Sweep the inbox.\n\n--- not a fence", Background: true, Model: "haiku", Isolated: true,
			Mode: Freely, Allowed: []string{"Bash(ollim-bot tasks *)"},
			Skills: []string{"email-triage", "focus"}, Subagent: "gmail-reader",
		},
		Cron: "*/30 9-18 * * 1-5", Schedule: recur.Of(schedule), RunMissed: true, Late: UsualLate,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWhatAFileLeavesOutHasItsDefault(t *testing.T) {
	routine, problems := ParseRoutine("r.md", []byte("---\nid: a\ncron: 0 9 * * *\nskills:\nallowed-tools: []\n---\nGo\n"))
	if len(problems) > 0 {
		t.Fatal(report(problems))
	}
	if routine.Background || !routine.Thinking || !routine.AllowPing || routine.Mode != OnPing || routine.RunMissed {
		t.Errorf("routine: %+v", routine)
	}
	if routine.Skills != nil || routine.Disallowed != nil || routine.Allowed == nil || len(routine.Allowed) != 0 {
		t.Errorf("lists: skills %#v, allowed %#v, disallowed %#v", routine.Skills, routine.Allowed, routine.Disallowed)
	}
	reminder, problems := ParseReminder("r.md", []byte("---\nid: a\nrun-at: 2026-11-23T09:40:00Z\nmodel: ~\n---\nGo\n"), nil)
	if len(problems) > 0 {
		t.Fatal(report(problems))
	}
	if !reminder.Background || !reminder.Thinking || reminder.MaxChain != 0 || reminder.ChainParent != "" || reminder.Model != "" {
		t.Errorf("reminder: %+v", reminder)
	}
}

func TestEverySlipIsNamedAtItsPlace(t *testing.T) {
	const reminder = "run-at: 2026-11-23T09:40:00Z\n"
	for _, c := range []struct {
		name, kind, keys string
		line, column     int
		severity         Severity
		message          string
	}{
		{"null id", "routine", "id:\ncron: 0 9 * * *\n", 2, 1, Error, "there is no id"},
		{"id is a list", "routine", "id: [a]\ncron: 0 9 * * *\n", 2, 5, Error, "id must be a single value"},
		{"id of two lines", "routine", "id: \"a\\nb\"\ncron: 0 9 * * *\n", 2, 5, Error, "one line"},
		{"id that cannot be seen", "routine", "id: \"\\u200b\"\ncron: 0 9 * * *\n", 2, 5, Error, "visible characters"},
		{"id is endless", "routine", "id: " + strings.Repeat("a", 257) + "\ncron: 0 9 * * *\n", 2, 5, Error, "1 to 256"},
		{"cron without quotes", "routine", "id: a\ncron: 0 9 * 13 *\n", 3, 13, Error, "month 13"},
		{"cron in single quotes", "routine", "id: a\ncron: '0 9 * 13 *'\n", 3, 14, Error, "month 13"},
		{"cron is a list", "routine", "id: a\ncron: [0 9]\n", 3, 7, Error, "cron must be a single value"},
		{"null cron", "routine", "id: a\ncron: ~\n", 3, 1, Error, "there is no cron"},
		{"snake case", "routine", "id: a\ncron: 0 9 * * *\nallow_ping: never\n", 4, 13, Error, "allow-ping is"},
		{"bad model", "routine", "id: a\ncron: 0 9 * * *\nmodel: gpt\n", 4, 8, Error, "write opus, sonnet, haiku or a model with its provider, such as local/qwen3"},
		{"bad missed", "routine", "id: a\ncron: 0 9 * * *\nmissed: skip\n", 4, 9, Error, "write note or run"},
		{"both tool lists", "routine", "id: a\ncron: 0 9 * * *\ndisallowed-tools: [A]\nallowed-tools: [B]\n", 5, 1, Error, "keep one"},
		{"tools are a text", "routine", "id: a\ncron: 0 9 * * *\nallowed-tools: WebFetch\n", 4, 16, Error, "must be a list"},
		{"a tool is null", "routine", "id: a\ncron: 0 9 * * *\nallowed-tools:\n  - ~\n", 5, 5, Error, "is not text"},
		{"a tool is broad", "routine", "id: a\ncron: 0 9 * * *\nallowed-tools:\n  - Read(*)\n", 5, 5, Warning, "overly broad"},
		{"quoted false", "routine", "id: a\ncron: 0 9 * * *\nbackground: \"false\"\n", 4, 13, Warning, "counts as true"},
		{"escape in the description", "routine", "id: a\ncron: 0 9 * * *\ndescription: \"\\e[2Jhi\"\n", 4, 14, Warning, "invisible"},
		{"a letter missing", "routine", "id: a\ncron: 0 9 * * *\nsubagnt: x\n", 4, 1, Warning, "did you mean subagent?"},
		{"two letters swapped", "routine", "id: a\ncron: 0 9 * * *\nsiklls: x\n", 4, 1, Warning, "did you mean skills?"},
		{"a key of an earlier version", "routine", "id: a\ncron: 0 9 * * *\nmay-wait: true\n", 4, 1, Warning, "may-wait was removed"},
		{"a capital letter", "routine", "id: a\ncron: 0 9 * * *\nModel: haiku\n", 4, 1, Warning, "did you mean model?"},
		{"a key of reminders", "routine", "id: a\ncron: 0 9 * * *\nmax-chain: 1\n", 4, 1, Warning, "a key of reminders"},
		{"a key of routines", "reminder", "id: a\ncron: 0 9 * * *\n" + reminder, 3, 1, Warning, "a key of routines"},
		{"no run-at", "reminder", "id: a\n", 1, 1, Error, "there is no run-at"},
		{"run-at without hour", "reminder", "id: a\nrun-at: 2026-11-23\n", 3, 9, Error, "no time of day"},
		{"run-at on 30 February", "reminder", "id: a\nrun-at: 2026-02-30T10:00:00Z\n", 3, 9, Error, "does not exist"},
		{"run-at in the year 1", "reminder", "id: a\nrun-at: 0001-01-01T00:00:00Z\n", 3, 9, Error, "1900 to 9999"},
		{"negative chain", "reminder", "id: a\n" + reminder + "max-chain: -1\n", 4, 12, Error, "whole number from 0"},
		{"chain of a fraction", "reminder", "id: a\n" + reminder + "max-chain: 1.5\n", 4, 12, Error, "whole number from 0"},
		{"endless chain", "reminder", "id: a\n" + reminder + "max-chain: 99999999999999999999\n", 4, 12, Error, "to 10000"},
		{"depth beyond the chain", "reminder", "id: a\n" + reminder + "chain-depth: 3\nmax-chain: 2\n", 4, 14, Error, "beyond max-chain 2"},
		{"bad parent", "reminder", "id: a\n" + reminder + "chain-parent: \"a\\eb\"\n", 4, 15, Error, "not the id of a reminder"},
	} {
		problems := parseEither(c.kind+".md", []byte("---\n"+c.keys+"---\nGo\n"), losAngeles(t))
		if len(problems) != 1 {
			t.Errorf("%s: %d problems, want 1:\n%s", c.name, len(problems), report(problems))
			continue
		}
		p := problems[0]
		if p.Line != c.line || p.Column != c.column || p.Severity != c.severity || !strings.Contains(p.Message, c.message) {
			t.Errorf("%s: want %d:%d %s %q, got\n%s", c.name, c.line, c.column, c.severity, c.message, report(problems))
		}
		if HasErrors(problems) != (c.severity == Error) {
			t.Errorf("%s: HasErrors is %t", c.name, HasErrors(problems))
		}
	}
}

func TestAllProblemsOfAFileAreReportedInItsOrder(t *testing.T) {
	const file = "---\nmodel: gpt\ncron: 0 99 * * *\nallow-ping: perhaps\n---\n\n"
	_, problems := ParseRoutine("routines/x.md", []byte(file))
	var lines []int
	for _, p := range problems {
		lines = append(lines, p.Line)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4, 6}, lines); diff != "" {
		t.Errorf("%s\n%s", diff, report(problems))
	}
}

func TestKeysOfNobodyAreLeftInPeace(t *testing.T) {
	file := "---\nid: a\ncron: 0 9 * * *\nunknown-key: x\nnotes: y\ntag: z\nx: 1\n---\nGo\n"
	if _, problems := ParseRoutine("r.md", []byte(file)); len(problems) > 0 {
		t.Error(report(problems))
	}
}

func TestRunAtIsReadInEveryFormOfISO8601(t *testing.T) {
	zone := losAngeles(t)
	want := time.Date(2026, 11, 23, 9, 40, 0, 0, zone)
	for _, text := range []string{
		"2026-11-23T09:40:00-08:00", "2026-11-23 09:40:00-08:00", "2026-11-23 09:40:00 -08:00", "2026-11-23T09:40-0800",
		"2026-11-23T17:40:00Z", "2026-11-23t17:40:00z", "2026-11-23 17:40Z", "2026-11-23T17:40:00.000000+00:00",
		"2026-11-23T17:40+00", "2026-11-23T23:25:00+05:45",
	} {
		got, naive, err := when.Written(text, zone)
		if err != nil || naive || !got.Equal(want) || got.Location() != zone {
			t.Errorf("%s: %s, naive %t, %v", text, got, naive, err)
		}
	}
	for _, text := range []string{"2026-11-23T09:40:00", "2026-11-23 09:40", "2026-11-23 09:40:00.0"} {
		got, naive, err := when.Written(text, zone)
		if err != nil || !naive || !got.Equal(want) {
			t.Errorf("%s: %s, naive %t, %v", text, got, naive, err)
		}
	}
	gap, _, err := when.Written("2026-03-08 02:30", zone)
	if err != nil || gap.Format(time.DateTime) != "2026-03-08 03:00:00" {
		t.Errorf("a time that is skipped: %s, %v", gap, err)
	}
	for _, text := range []string{"", "next tuesday", "09:40", "2026-13-01T00:00:00Z", "2026-11-23T25:00", "23.11.2026 09:40", "1763890800"} {
		if got, _, err := when.Written(text, zone); err == nil {
			t.Errorf("%q is read as %s", text, got)
		}
	}
}

func TestWhatIsStoredAndSaidIsClean(t *testing.T) {
	file := "---\nid: a\ncron: 0 9 * * *\ndescription: \"\\u202Eevil\\a\"\n---\r\nHi\xff \x1b[2J\u202e there\r\n\tdone\n"
	r, problems := ParseRoutine("routines/\x1b]0;x\a.md", []byte(file))
	for _, s := range []string{r.Description, report(problems)} {
		if clean.Text(s) != s {
			t.Errorf("not clean: %q", s)
		}
	}
	if want := "Hi\ufffd  there\n    done"; r.Body != want {
		t.Errorf("body %q, want %q", r.Body, want)
	}
	if r.Description != "evil" || len(problems) != 3 || HasErrors(problems) {
		t.Errorf("description %q\n%s", r.Description, report(problems))
	}
}

func TestABodyOfNothingVisibleIsEmpty(t *testing.T) {
	_, problems := ParseRoutine("r.md", []byte("---\nid: a\ncron: 0 9 * * *\n---\n\u200b\x1b[2J\n"))
	if !HasErrors(problems) || !strings.Contains(report(problems), "there is no prompt") {
		t.Error(report(problems))
	}
}

func TestALongFileIsWarnedOf(t *testing.T) {
	head := "---\nid: a\ncron: 0 9 * * *\n---\n"
	if _, problems := ParseRoutine("r.md", []byte(head+strings.Repeat("line\n", 196))); len(problems) > 0 {
		t.Errorf("200 lines: %s", report(problems))
	}
	_, problems := ParseRoutine("r.md", []byte(head+strings.Repeat("line\n", 196)+"end"))
	if len(problems) != 1 || problems[0].Severity != Warning || problems[0].Line != 201 {
		t.Errorf("201 lines: %s", report(problems))
	}
}

func TestTheTitleIsWhatPeopleCallTheTask(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for _, c := range []struct {
		task Task
		want string
	}{
		{Task{ID: "a", Description: "Check e-mail", Body: "Sweep"}, "Check e-mail"},
		{Task{ID: "a", Body: "Sweep\n\n the   inbox"}, "Sweep the inbox"},
		{Task{ID: "a", Body: "Fold the laundry.\n\n```script\nsay ok\n```"}, "Fold the laundry."},
		{Task{ID: "a", Body: "```script\nsay ok\n```"}, "```script say ok ```"},
		{Task{ID: "a", Body: long}, strings.TrimSpace(strings.Repeat("word ", 11)) + "…"},
		{Task{ID: "a", Body: strings.Repeat("x", 100)}, strings.Repeat("x", 59) + "…"},
		{Task{ID: "a", Description: long}, strings.Repeat("word ", 11) + "word…"},
		{Task{ID: "a"}, "a"},
	} {
		got := c.task.Title()
		if got != c.want || utf8.RuneCountInString(got) > titleRunes {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func FuzzParseNeverPanics(f *testing.F) {
	for _, glob := range []string{"testdata/broken/*.md", "testdata/data-dir/*/*.md"} {
		files, err := filepath.Glob(glob)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, routine := ParseRoutine("routines/x.md", data)
		m, reminder := ParseReminder("reminders/x.md", data, time.UTC)
		if !HasErrors(routine) && (r.ID == "" || r.Body == "" || r.Schedule.Never()) {
			t.Fatalf("a routine without errors is not whole: %+v", r)
		}
		if !HasErrors(reminder) && (m.ID == "" || m.Body == "" || m.RunAt.IsZero() || m.ChainDepth > m.MaxChain) {
			t.Fatalf("a reminder without errors is not whole: %+v", m)
		}
		lines := strings.Count(string(data), "\n") + 2
		for _, p := range append(routine, reminder...) {
			if p.Line < 1 || p.Line > lines || p.Column < 1 || p.Message == "" || clean.Line(p.Message) != p.Message {
				t.Fatalf("problem %+v of a file of %d lines", p, lines)
			}
		}
		for _, s := range []string{r.Body, r.Description, r.Subagent, m.Body, strings.Join(r.Skills, "\n")} {
			if clean.Text(s) != s {
				t.Fatalf("not clean: %q", s)
			}
		}
	})
}

func BenchmarkParseRoutine(b *testing.B) {
	data, err := os.ReadFile("testdata/data-dir/routines/morning-task-review.md")
	testkit.Must(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, problems := ParseRoutine("routines/morning-task-review.md", data); len(problems) > 0 {
			b.Fatal(report(problems))
		}
	}
}

func TestEssentialIsForTasksThatPing(t *testing.T) {
	for name, c := range map[string]struct {
		kind  Kind
		lines string
		is    bool
		warns string
	}{
		"a reminder":             {KindReminder, "run-at: 2026-11-23T09:40:00Z\nessential: true", true, ""},
		"a background routine":   {KindRoutine, "cron: 0 9 * * *\nbackground: true\nessential: true", true, ""},
		"one in the foreground":  {KindRoutine, "cron: 0 9 * * *\nessential: true", false, "background: true"},
		"one that may not ping":  {KindReminder, "run-at: 2026-11-23T09:40:00Z\nallow-ping: false\nessential: true", false, "allow-ping"},
		"not where it says not":  {KindReminder, "run-at: 2026-11-23T09:40:00Z\nessential: false", false, ""},
		"not where it is absent": {KindReminder, "run-at: 2026-11-23T09:40:00Z", false, ""},
	} {
		task, problems := Parse(c.kind, "x.md", []byte("---\nid: a1\n"+c.lines+"\n---\nPills.\n"), time.UTC)
		warned := ""
		for _, p := range problems {
			warned += p.Message
		}
		if task.Essential != c.is || (warned == "") != (c.warns == "") || !strings.Contains(warned, c.warns) {
			t.Errorf("%s: %v, %q", name, task.Essential, warned)
		}
	}
	data := FormatRoutine(Routine{Task: Task{ID: "a1", Background: true, AllowPing: true, Thinking: true, Essential: true, Body: "x"}, Cron: "0 9 * * *"})
	if r, _ := ParseRoutine("x.md", data); !r.Essential {
		t.Errorf("%s", data)
	}
}
