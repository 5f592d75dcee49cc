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
	"ollimbot/core/base/goldentest"
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

func report(problems []Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%s:%d:%d: %s: %s\n", p.File, p.Line, p.Column, p.Severity, p.Message)
	}
	return b.String()
}

func TestBrokenFilesAreAnsweredWithPlaceAndCureAndARealUsersHaveNoProblems(t *testing.T) {
	var got strings.Builder
	for glob, n := range map[string]int{"testdata/broken/*.md": 15, "testdata/data-dir/*/*.md": 12} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) != n {
			t.Fatalf("found %d files %s: %v", len(files), glob, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			testkit.Must(t, err)
			kind := KindRoutine
			if strings.Contains(file, "reminder") {
				kind = KindReminder
			}
			_, problems := Parse(kind, path.Base(file), data, losAngeles(t))
			if (len(problems) > 0) != (n == 15) {
				t.Errorf("%s: %s", file, report(problems))
			}
			got.WriteString(report(problems))
		}
	}
	goldentest.Compare(t, "broken.golden", got.String())
}

func TestWhatAFileLeavesOutHasItsDefault(t *testing.T) {
	routine, found := ParseRoutine("r.md", []byte("---\nid: a\ncron: 0 9 * * *\nskills:\nallowed-tools: []\n---\nGo\n"))
	reminder, more := ParseReminder("r.md", []byte("---\nid: a\nrun-at: 2026-11-23T09:40:00Z\nmodel: ~\n---\nGo\n"), nil)
	schedule, err := cron.Parse("0 9 * * *")
	testkit.Must(t, err)
	task := Task{ID: "a", Path: "r.md", Body: "Go", Thinking: true, AllowPing: true, Mode: OnPing}
	ofRoutine, ofReminder := task, task
	ofRoutine.Kind, ofRoutine.Allowed = KindRoutine, []string{}
	ofReminder.Kind, ofReminder.Background = KindReminder, true
	if diff := cmp.Diff(Routine{Task: ofRoutine, Cron: "0 9 * * *", Schedule: recur.Of(schedule), Late: UsualLate}, routine); diff != "" || len(found) > 0 {
		t.Errorf("a routine: %s%s", report(found), diff)
	}
	if diff := cmp.Diff(Reminder{Task: ofReminder, RunAt: time.Date(2026, 11, 23, 9, 40, 0, 0, time.UTC)}, reminder); diff != "" || len(more) > 0 {
		t.Errorf("a reminder: %s%s", report(more), diff)
	}
}

func TestAllProblemsOfAFileAreReportedInItsOrder(t *testing.T) {
	_, problems := ParseRoutine("routines/x.md", []byte("---\nmodel: gpt\ncron: 0 99 * * *\nallow-ping: perhaps\n---\n\n"))
	var lines []int
	for _, p := range problems {
		lines = append(lines, p.Line)
	}
	if diff := cmp.Diff([]int{1, 2, 3, 4, 6}, lines); diff != "" {
		t.Errorf("%s\n%s", diff, report(problems))
	}
}

func TestRunAtIsReadInEveryFormOfISO8601(t *testing.T) {
	zone := losAngeles(t)
	for want, texts := range map[string][]string{
		"2026-11-23 09:40:00 PST": {
			"2026-11-23T09:40:00-08:00", "2026-11-23 09:40:00-08:00", "2026-11-23 09:40:00 -08:00", "2026-11-23T09:40-0800",
			"2026-11-23T17:40:00Z", "2026-11-23t17:40:00z", "2026-11-23 17:40Z", "2026-11-23T17:40:00.000000+00:00",
			"2026-11-23T17:40+00", "2026-11-23T23:25:00+05:45",
		},
		"2026-11-23 09:40:00 PST naive": {"2026-11-23T09:40:00", "2026-11-23 09:40", "2026-11-23 09:40:00.0"},
		"2026-03-08 03:00:00 PDT naive": {"2026-03-08 02:30"}, // it is skipped
		"an error":                      {"", "next tuesday", "09:40", "2026-13-01T00:00:00Z", "2026-11-23T25:00", "23.11.2026 09:40", "1763890800"},
	} {
		for _, text := range texts {
			at, naive, err := when.Written(text, zone)
			got := at.Format("2006-01-02 15:04:05 MST") + map[bool]string{true: " naive"}[naive]
			if err != nil {
				got = "an error"
			}
			if got != want {
				t.Errorf("%q is %s, want %s", text, got, want)
			}
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

func TestABodyIsVisibleAndNotTooLong(t *testing.T) {
	for body, want := range map[string]string{
		"\n\u200b\x1b[2J\n":                   "error: there is no prompt",
		strings.Repeat("line\n", 196):         "",
		strings.Repeat("line\n", 196) + "end": "r.md:201:1: warning: the file has 201 lines",
	} {
		_, problems := ParseRoutine("r.md", []byte("---\nid: a\ncron: 0 9 * * *\n---\n"+body))
		if got := report(problems); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%.20q: %s", body, got)
		}
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
		{Task{Kind: KindWebhook, Body: "Order {{id}} is {{state}}."}, "Order id is state."},
	} {
		got := c.task.Title()
		if got != c.want || utf8.RuneCountInString(got) > titleRunes {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestAPlaceIsNamedAsTheUserKnowsIt(t *testing.T) {
	for want, p := range map[string]Problem{
		`the routine "tea", line 3`:    {File: "routines/tea.md", Line: 3, Column: 7},
		`the webhook "parcel"`:         {File: "webhooks/parcel.md"},
		`the skill "day plan", line 2`: {File: "skills/day plan/SKILL.md", Line: 2},
		"the list of keys, line 4":     {File: "~/.config/ollim-bot/keys.yaml", Line: 4},
		"the list of MCP servers":      {File: ".mcp.json"},
		"routines":                     {File: "routines"},
		"notes.md, line 1":             {File: "/home/ana/notes.md", Line: 1},
	} {
		if got := p.Place(); got != want {
			t.Errorf("%+v is in %q, want %q", p, got, want)
		}
	}
}

func FuzzParseNeverPanics(f *testing.F) {
	for _, glob := range []string{"testdata/broken/*.md", "testdata/data-dir/*/*.md"} {
		files, err := filepath.Glob(glob)
		testkit.Must(f, err)
		for _, file := range files {
			data, err := os.ReadFile(file)
			testkit.Must(f, err)
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
