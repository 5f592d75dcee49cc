package routines

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines/cron"
	"ollimbot/routines/recur"
)

func TestARoutineIsWrittenAsTheOriginalReadsIt(t *testing.T) {
	d := storetest.Dir(t)
	got, err := AddRoutine(d, Routine{
		Task: Task{
			ID: "a1b2c3d4", Description: "Say\u200b \"hi\"", Body: "Check\x1b[31m email & summarize!\nBriefly.\n",
			Background: true, Model: "haiku", Isolated: true, Mode: Freely,
			Allowed: []string{"WebFetch", "Bash(ollim-bot tasks *)"}, Skills: []string{"focus"}, Subagent: "gmail-reader",
		},
		Cron: "0 9 * * 1-5", RunMissed: true,
	})
	testkit.Must(t, err)
	if got.Path != "routines/check-email-summarize-briefly.md" || got.Schedule.Never() {
		t.Errorf("%+v", got)
	}
	want := `---
id: "a1b2c3d4"
cron: "0 9 * * 1-5"
background: true
model: "haiku"
thinking: false
isolated: true
description: "Say \"hi\""
update-main-session: "freely"
allow-ping: false
allowed-tools:
  - "WebFetch"
  - "Bash(ollim-bot tasks *)"
skills:
  - "focus"
subagent: "gmail-reader"
missed: "run"
---
Check email & summarize!
Briefly.
`
	if diff := cmp.Diff(want, storetest.Text(t, d, got.Path)); diff != "" {
		t.Error(diff)
	}
}

func TestHiddenCharactersOfANewTaskAreNotWritten(t *testing.T) {
	d, hidden := storetest.Dir(t), Task{Description: "Say\u200b\x1b[31m it\nagain", Body: "\n  Go\u202e on\x1b[31m.\nNow. \n"}
	routine, err := AddRoutine(d, Routine{Task: hidden, Cron: "0 9 * * *"})
	testkit.Must(t, err)
	reminder, err := AddReminder(d, Reminder{Task: hidden, RunAt: time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)})
	testkit.Must(t, err)
	for _, got := range []Task{routine.Task, reminder.Task} {
		if text := storetest.Text(t, d, got.Path); strings.ContainsAny(text, "\u200b\u202e\x1b") || strings.Contains(text, "x1b") || got.Description != "Say it again" || got.Body != "Go on.\nNow." {
			t.Errorf("%q, %q:\n%s", got.Description, got.Body, text)
		}
	}
}

func TestAReminderAlwaysSaysWhetherItIsBackground(t *testing.T) {
	d := storetest.Dir(t)
	at := time.Date(2026, 11, 23, 9, 40, 0, 123456789, losAngeles(t))
	task := Task{Body: "Laundry", Thinking: true, AllowPing: true, Mode: OnPing, ID: "0000000a"}
	got, err := AddReminder(d, Reminder{Task: task, RunAt: at})
	testkit.Must(t, err)
	want := "---\nid: \"0000000a\"\nrun-at: \"2026-11-23T09:40:00.123456-08:00\"\nbackground: false\n---\nLaundry\n"
	if diff := cmp.Diff(want, storetest.Text(t, d, got.Path)); diff != "" {
		t.Error(diff)
	}
	task.ID, task.Background = "", true
	chain, err := AddReminder(d, Reminder{Task: task, RunAt: at, MaxChain: 2})
	testkit.Must(t, err)
	if len(chain.ID) != 8 || chain.ChainParent != chain.ID || chain.Path != "reminders/laundry-"+chain.ID+".md" {
		t.Errorf("%+v", chain)
	}
	child, err := AddReminder(d, Reminder{Task: task, RunAt: at, MaxChain: 2, ChainDepth: 1, ChainParent: chain.ID})
	testkit.Must(t, err)
	if child.ChainParent != chain.ID || child.Path != "reminders/laundry-"+child.ID+".md" {
		t.Errorf("%+v", child)
	}
}

func TestWhatWouldNotLoadIsNotWritten(t *testing.T) {
	d, at := storetest.Dir(t), time.Date(2026, 11, 23, 9, 40, 0, 0, time.UTC)
	for want, task := range map[string]any{
		"this has four":      Routine{Task: Task{Body: "x"}, Cron: "0 9 * *"},
		"never fires":        Routine{Task: Task{Body: "x"}, Cron: "0 0 30 2 *"},
		"there is no prompt": Routine{Task: Task{Body: " \u200b\n"}, Cron: "0 9 * * *"},
		"too broad":          Routine{Task: Task{Body: "x", Allowed: []string{"Bash(*)"}}, Cron: "0 9 * * *"},
		"one line":           Reminder{Task: Task{ID: "a\nb", Body: "x"}, RunAt: at},
		"there is no run-at": Reminder{Task: Task{Body: "x"}},
		"beyond max-chain":   Reminder{Task: Task{Body: "x"}, RunAt: at, ChainDepth: 2, MaxChain: 1},
		"keep one of":        Reminder{Task: Task{Body: "x", Allowed: []string{"A"}, Disallowed: []string{"B"}}, RunAt: at},
	} {
		var err error
		if r, is := task.(Routine); is {
			_, err = AddRoutine(d, r)
		} else {
			_, err = AddReminder(d, task.(Reminder))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	for _, folder := range []string{RoutineFolder, ReminderFolder} {
		if entries, err := d.Entries(folder); err == nil && len(entries) > 0 {
			t.Errorf("%s holds %v", folder, entries)
		}
	}
}

func TestAnEditChangesWhatItSaysAndNothingElse(t *testing.T) {
	const head = "---\nid: a # mine\ncron: 0 9 * * *\nmood: good\n---\n"
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	cron := func(s string) Edit { return Edit{Set: []frontmatter.Entry{{Key: "cron", Value: s}}} }
	body := func(s string) Edit { return Edit{Body: &s} }
	for _, c := range []struct {
		name, file string
		edit       Edit
		want, says string
	}{
		{"a key", head + "Go.\n", cron("0 7 * * *"), strings.Replace(head, "0 9 * * *", `"0 7 * * *"`, 1) + "Go.\n", ""},
		{"the prompt", head + "Go.\n", body(" Stay\x1b[31m. \n"), head + "Stay.\n", ""},
		{"the prompt as it is", head + "\nGo.\n\n", body("Go."), head + "\nGo.\n\n", ""},
		{"a prompt in a file of Windows", crlf(head + "Go.\n"), body("Stay.\nHere."), crlf(head + "Stay.\nHere.\n"), ""},
		{"a prompt where there is none yet", strings.TrimSpace(head), body("Stay."), head + "Stay.\n", ""},
		{"what would not load", head + "Go.\n", cron("never"), head + "Go.\n", "this has one"},
		{"no prompt", head + "Go.\n", body(" "), head + "Go.\n", "there is no prompt"},
	} {
		d := storetest.Dir(t)
		storetest.Put(t, d, "routines/a.md", c.file)
		task := Task{Kind: KindRoutine, Path: "routines/a.md"}
		before, err := EditTask(d, task, Digest([]byte(c.file)), time.UTC, c.edit)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) || string(before) != c.file || storetest.Text(t, d, task.Path) != c.want {
			t.Errorf("%s: %v, %q, want %q", c.name, err, storetest.Text(t, d, task.Path), c.want)
		}
		if _, err = EditTask(d, task, "an older version", time.UTC, c.edit); !errors.Is(err, ErrOther) {
			t.Errorf("%s: an older version: %v", c.name, err)
		}
		if _, err = RevertTask(d, task, Digest([]byte(c.want)), before); err != nil || storetest.Text(t, d, task.Path) != c.file {
			t.Errorf("%s: reverted: %v", c.name, err)
		}
		testkit.Must(t, d.Remove(task.Path))
		if _, err = EditTask(d, task, Digest(nil), time.UTC, c.edit); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "change routines/a.md: ") {
			t.Errorf("%s: without a file: %v", c.name, err)
		}
	}
}

func TestAnIDNeverLeadsAFileElsewhere(t *testing.T) {
	d := storetest.Dir(t)
	for _, body := range []string{"x", "水"} {
		r, err := AddReminder(d, Reminder{Task: Task{ID: "../" + body, Body: body}, RunAt: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil || r.ID != "../"+body || path.Dir(r.Path) != ReminderFolder || !IsTaskFile(r.Path) {
			t.Errorf("%+v, %v", r.Task, err)
		}
	}
}

// drawTask draws a task as read from a file.
func drawTask(t *rapid.T, kind Kind) Task {
	text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("ab\"'\\#:-\n\t{}[]é…\u00a0"))))
	line := rapid.Map(text, clean.Line)
	list := func(label string) []string {
		items := rapid.SliceOfN(rapid.Map(line, func(s string) string { return "x" + s }), 0, 3).Draw(t, label)
		for i := range items {
			items[i] = strings.TrimSpace(strings.NewReplacer("(", "", ")", "").Replace(items[i]))
		}
		if rapid.Bool().Draw(t, label+" given") {
			return items
		}
		return nil
	}
	task := Task{
		Kind: kind, ID: rapid.StringMatching(`[0-9a-f]{8}`).Draw(t, "id"),
		Description: line.Draw(t, "description"),
		Body:        strings.TrimSpace(clean.Text("x" + text.Draw(t, "body"))),
		Background:  rapid.Bool().Draw(t, "background"),
		Model:       rapid.SampledFrom([]string{"", "opus", "sonnet", "haiku"}).Draw(t, "model"),
		Thinking:    rapid.Bool().Draw(t, "thinking"),
		Isolated:    rapid.Bool().Draw(t, "isolated"),
		Mode:        rapid.SampledFrom([]Mode{Always, OnPing, Freely, Blocked}).Draw(t, "mode"),
		AllowPing:   rapid.Bool().Draw(t, "allow ping"),
		Skills:      list("skills"),
		Subagent:    line.Draw(t, "subagent"),
	}
	if tools := list("tools"); rapid.Bool().Draw(t, "allowed") {
		task.Allowed = tools
	} else {
		task.Disallowed = tools
	}
	return task
}

func TestEveryRoutineIsReadAsItWasWritten(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		expr := rapid.SampledFrom([]string{"0 9 * * *", "*/30 9-18 * * mon-fri", "0 9 13 * 5"}).Draw(t, "cron")
		schedule, err := cron.Parse(expr)
		testkit.Must(t, err)
		want := Routine{
			Task: drawTask(t, KindRoutine), Cron: expr, Schedule: recur.Of(schedule),
			RunMissed: rapid.Bool().Draw(t, "missed"), Late: UsualLate,
		}
		got, problems := ParseRoutine("", FormatRoutine(want))
		if HasErrors(problems) {
			t.Fatal(report(problems))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestEveryReminderIsReadAsItWasWritten(t *testing.T) {
	zone := losAngeles(t)
	testkit.Check(t, func(t *rapid.T) {
		micros := rapid.Int64Range(0, 4_000_000_000_000_000).Draw(t, "microseconds")
		limit := rapid.IntRange(0, 9).Draw(t, "max chain")
		want := Reminder{
			Task: drawTask(t, KindReminder), RunAt: time.UnixMicro(micros).In(zone), MaxChain: limit,
			ChainDepth:  rapid.IntRange(0, limit).Draw(t, "depth"),
			ChainParent: rapid.SampledFrom([]string{"", "c0ffee00"}).Draw(t, "parent"),
		}
		got, problems := ParseReminder("", FormatReminder(want), zone)
		if HasErrors(problems) {
			t.Fatal(report(problems))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestALongDiffIsCutAndSaysSo(t *testing.T) {
	diff := Diff([]byte("a\n"), []byte(strings.Repeat("line\n", mostDiff)))
	if !strings.HasSuffix(diff, "+line\n+line") || !strings.Contains(diff, " characters are not shown here⟧") || len(diff) > mostDiff+8 {
		t.Errorf("%d characters end with %q", len(diff), diff[len(diff)-100:])
	}
	if got := Diff([]byte("a\x1b[31m\r\n"), []byte("b\x1b[31m\r\n")); strings.ContainsAny(got, "\x1b\r") {
		t.Errorf("it is not cleaned: %q", got)
	}
}
