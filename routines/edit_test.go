package routines

import (
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
	"ollimbot/routines/cron"
	"ollimbot/routines/recur"
)

func TestARoutineIsWrittenAsTheOriginalReadsIt(t *testing.T) {
	d := storetest.Dir(t)
	got, err := AddRoutine(d, Routine{
		Task: Task{
			ID: "a1b2c3d4", Description: `Say "hi"`, Body: "Check email & summarize!\nBriefly.\n",
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
	d := storetest.Dir(t)
	at := time.Date(2026, 11, 23, 9, 40, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		add  func() error
		want string
	}{
		{"bad cron", func() error {
			_, err := AddRoutine(d, Routine{Task: Task{Body: "x"}, Cron: "0 9 * *"})
			return err
		}, "this has four"},
		{"never fires", func() error {
			_, err := AddRoutine(d, Routine{Task: Task{Body: "x"}, Cron: "0 0 30 2 *"})
			return err
		}, "never fires"},
		{"empty body", func() error {
			_, err := AddRoutine(d, Routine{Task: Task{Body: " \u200b\n"}, Cron: "0 9 * * *"})
			return err
		}, "there is no prompt"},
		{"dangerous tool", func() error {
			_, err := AddRoutine(d, Routine{Task: Task{Body: "x", Allowed: []string{"Bash(*)"}}, Cron: "0 9 * * *"})
			return err
		}, "too broad"},
		{"id of two lines", func() error {
			_, err := AddReminder(d, Reminder{Task: Task{ID: "a\nb", Body: "x"}, RunAt: at})
			return err
		}, "one line"},
		{"no time", func() error {
			_, err := AddReminder(d, Reminder{Task: Task{Body: "x"}})
			return err
		}, "there is no run-at"},
		{"depth beyond the chain", func() error {
			_, err := AddReminder(d, Reminder{Task: Task{Body: "x"}, RunAt: at, ChainDepth: 2, MaxChain: 1})
			return err
		}, "beyond max-chain"},
		{"both tool lists", func() error {
			_, err := AddReminder(d, Reminder{Task: Task{Body: "x", Allowed: []string{"A"}, Disallowed: []string{"B"}}, RunAt: at})
			return err
		}, "keep one"},
	} {
		if err := c.add(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for _, folder := range []string{RoutineFolder, ReminderFolder} {
		if entries, err := os.ReadDir(d.Path(folder)); err == nil && len(entries) > 0 {
			t.Errorf("%s holds %v", folder, entries)
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

func TestRemovingTakesTheFirstFileOfThatId(t *testing.T) {
	d := storetest.Dir(t)
	if rel, found, err := RemoveTask(d, KindRoutine, "a", Task{}); rel != "" || found || err != nil {
		t.Errorf("without a folder: %q %t %v", rel, found, err)
	}
	for name, text := range map[string]string{
		"routines/1-broken.md":  "---\nid: \"a\nno end",
		"routines/2-listed.md":  "- id: a\n",
		"routines/3-other.md":   "---\nid: ab\ncron: 0 9 * * *\n---\na\n",
		"routines/4-escaped.md": "---\nid: \"\\x61\"\n---\nx\n",
		"routines/5-same.md":    "---\nid: a\ncron: 0 9 * * *\n---\nx\n",
		"routines/0-notes.txt":  "---\nid: a\n---\nx\n",
		"reminders/1-same.md":   "---\nid: a\n---\nx\n",
	} {
		storetest.Put(t, d, name, text)
	}
	testkit.Must(t, os.Mkdir(d.Path("routines/0-folder.md"), 0o700))
	for _, want := range []string{"routines/4-escaped.md", "routines/5-same.md", ""} {
		rel, found, err := RemoveTask(d, KindRoutine, "a", Task{})
		if rel != want || found != (want != "") || err != nil {
			t.Errorf("got %q %t %v, want %q", rel, found, err, want)
		}
		if want == "" {
			continue
		}
		if _, err := os.Stat(d.Path(want)); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", want, err)
		}
	}
	if entries, err := os.ReadDir(d.Path(RoutineFolder)); err != nil || len(entries) != 5 {
		t.Errorf("other files are gone: %v %v", entries, err)
	}
	if rel, found, err := RemoveTask(d, KindReminder, "a", Task{}); rel != "reminders/1-same.md" || !found || err != nil {
		t.Errorf("%q %t %v", rel, found, err)
	}
	if _, _, err := RemoveTask(d, KindWebhook, "a", Task{}); err == nil {
		t.Error("a webhook is removed")
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

func TestEveryRoutineComesBackFromItsFile(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		expr := rapid.SampledFrom([]string{"0 9 * * *", "*/30 9-18 * * mon-fri", "0 9 13 * 5"}).Draw(t, "cron")
		schedule, err := cron.Parse(expr)
		if err != nil {
			t.Fatal(err)
		}
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

func TestEveryReminderComesBackFromItsFile(t *testing.T) {
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
