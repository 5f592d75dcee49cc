package core

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

func TestATaskFromTheFormIsWrittenFiresAndIsTakenBack(t *testing.T) {
	running(t, func(home) {}, func(h home, b *Bot) {
		out := do(t, b, command.AddTask{Cron: "0 9 * * 1-5", Description: "Plan\x1b[2J", Message: "Plan the day.\n", Silent: true})
		if !strings.HasPrefix(out.Message, "Plan") || !strings.HasSuffix(out.Message, "next Mon 3 Jan 09:00") {
			t.Errorf("message: %q", out.Message)
		}
		set := b.Index().Set()
		if len(set.Routines) != 1 {
			t.Fatalf("routines: %+v, problems %+v", set.Routines, set.Problems)
		}
		r := set.Routines[0]
		if len(r.ID) != 8 || !r.Background || r.AllowPing || r.Cron != "0 9 * * 1-5" || r.Mode != routines.OnPing || !r.Thinking || strings.Contains(r.Description, "\x1b") {
			t.Errorf("routine: %+v", r)
		}
		removed := do(t, b, out.Undo)
		if len(b.Index().Set().Routines) != 0 || h.has(r.Path) {
			t.Error("undo left the routine")
		}
		again := do(t, b, removed.Undo)
		if set := b.Index().Set(); len(set.Routines) != 1 || set.Routines[0].Cron != "0 9 * * 1-5" || again.Undo == nil {
			t.Errorf("after redo: %+v", set.Routines)
		}
		do(t, b, command.AddTask{At: b.now().Add(90*time.Second + time.Millisecond), Message: "Say it.\n\n```script\nsay done\n```", Foreground: true})
		time.Sleep(3 * time.Minute)
		if !spoken(b.Snapshot(), "done") || len(b.Index().Set().Reminders) != 0 {
			t.Error("the reminder did not fire in the main session")
		}
	})
}

func TestFiringAReminderByHandIsTakenBack(t *testing.T) {
	const text = "---\nid: \"cccc1001\"\nrun-at: \"2030-01-01T09:00:00Z\"\n---\nSay it.\n\n```script\nsay done\n```\n"
	running(t, func(h home) { h.write("reminders/say-it.md", text) }, func(h home, b *Bot) {
		out := do(t, b, command.FireNow{ID: "cccc1001"})
		time.Sleep(time.Minute)
		if h.has("reminders/say-it.md") {
			t.Fatal("it was not run and removed")
		}
		do(t, b, out.Undo)
		if set := b.Index().Set(); len(set.Reminders) != 1 || !h.has("reminders/say-it.md") {
			t.Errorf("undo: %+v", set.Reminders)
		}
		refused(t, b, out.Undo, "within the last day")
		out = do(t, b, command.FireNow{ID: "cccc1001"})
		do(t, b, out.Undo) // while it is running
		time.Sleep(time.Minute)
		if len(b.Index().Set().Reminders) != 1 || !h.has("reminders/say-it.md") {
			t.Error("undo during the run came too late")
		}
	})
}

func TestATaskThatCannotBeIsRefusedAndWritesNothing(t *testing.T) {
	running(t, func(home) {}, func(h home, b *Bot) {
		soon := b.now().Add(time.Hour)
		for words, c := range map[string]command.AddTask{
			"either":      {Message: "m"},
			"give either": {Message: "m", Cron: "0 9 * * *", At: soon},
			"column 3":    {Message: "m", Cron: "0 25 * * *"},
			"never fires": {Message: "m", Cron: "0 9 30 2 *"},
			"no message":  {Message: " \n\x1b", Cron: "0 9 * * *"},
			"in the past": {Message: "m", At: b.now().Add(-time.Minute)},
			"a year away": {Message: "m", At: b.now().AddDate(2, 0, 0)},
		} {
			refused(t, b, c, words)
		}
		for _, folder := range []string{"routines", "reminders"} {
			if list, err := os.ReadDir(filepath.Join(h.root, folder)); err == nil && len(list) > 0 {
				t.Errorf("%s holds %v", folder, list)
			}
		}
	})
}

func TestOnlyWhatTheFormMadeAndNobodyTouchedIsTakenBack(t *testing.T) {
	running(t, func(h home) {
		h.write("routines/mine.md", "---\nid: \"cccc1001\"\ncron: \"0 9 * * *\"\n---\nMine.\n")
	}, func(h home, b *Bot) {
		refused(t, b, command.RemoveTask{ID: "cccc1001"}, "not added from here")
		undo := do(t, b, command.AddTask{Cron: "0 9 * * *", Message: "Edited later."}).Undo
		path := ""
		for _, r := range b.Index().Set().Routines {
			if r.ID != "cccc1001" {
				path = r.Path
			}
		}
		data, err := os.ReadFile(filepath.Join(h.root, path))
		testkit.Must(t, err)
		h.write(path, string(data)+"More.\n")
		refused(t, b, undo, "edited since")
		testkit.Must(t, os.Remove(filepath.Join(h.root, path)))
		refused(t, b, undo, "no longer exists")
		if !h.has("routines/mine.md") {
			t.Error("the user's own file is gone")
		}
	})
}

func TestADescriptionTellsEverythingAboutATask(t *testing.T) {
	h := newHome(t)
	h.write("routines/r.md", "---\nid: \"cccc1002\"\ncron: \"0 9 1 * 1\"\nbackground: true\nmodel: haiku\nallow-ping: false\nskills:\n  - coach\ndescription: \"First things\"\nallow-pin: true\n---\nPlan \x1b[2Jit.\n")
	h.reminder("cccc1003", 90*time.Minute, "max-chain: 2\n", "say hi")
	b := h.bot(script.New(script.Options{}))
	body := describe(t, b, "cccc1002")
	for _, want := range []string{
		"First things\n", "cccc1002 · routines/r.md", "with haiku", "may not ping", "coach", "(0 9 1 * 1)", "next ", "did you mean allow-ping?", "description: \"First things\"",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("it lacks %q:\n%s", want, body)
		}
	}
	if n := strings.Count(body, "09:00, in "); n != 10 || strings.Contains(body, "\x1b") {
		t.Errorf("%d fires, want 10, and no escapes:\n%q", n, body)
	}
	if body = describe(t, b, "cccc1003"); !strings.Contains(body, "check 1 of 3") || !strings.Contains(body, "in 1 h 30 min") {
		t.Errorf("the reminder:\n%s", body)
	}
	if _, err := b.Reads().Describe(t.Context(), "nobody"); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("a task that is not there: %v", err)
	}
}

func TestOnlyFiresThatCanSpendATokenCount(t *testing.T) {
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	at := func(minute int, change func(*schedule.Entry)) schedule.Entry {
		e := schedule.Entry{FireTime: noon.Add(time.Duration(minute) * time.Minute)}
		change(&e)
		return e
	}
	list := mayPing([]schedule.Entry{
		at(1, func(*schedule.Entry) {}),
		at(2, func(e *schedule.Entry) { e.Silent = true }),
		at(3, func(e *schedule.Entry) { e.Foreground = true }),
		at(4, func(e *schedule.Entry) { e.Held = true }),
		at(30, func(*schedule.Entry) {}), // in quiet hours
	}, func(t time.Time) time.Time {
		if t.Minute() >= 20 {
			return noon.Add(2 * time.Hour)
		}
		return time.Time{}
	}, func(string) float64 { return 0.25 })
	if len(list) != 1 || list[0].At.Minute() != 1 || list[0].Rate != 0.25 {
		t.Errorf("fires that may ping: %+v", list)
	}
}

func TestATaskIsEditedInPlaceAndTakenBack(t *testing.T) {
	const file = "---\n# mine\nid: aaaa0001 # keep\ncron: \"0 9 * * *\"\ncolour: blue\nbackground: true\n---\nLook around.\n"
	running(t, func(h home) { h.write("routines/look.md", file) }, func(h home, b *Bot) {
		seen := pastOf(t, b, "aaaa0001").File
		if seen.Cron != "0 9 * * *" || seen.Body != "Look around." || seen.Digest == "" {
			t.Fatalf("what the file says: %+v", seen)
		}
		body := "Look twice."
		edit := routines.Edit{Set: []frontmatter.Entry{{Key: "cron", Value: "0 10 * * *"}, {Key: "description", Value: "Look"}}, Body: &body}
		out := do(t, b, command.EditTask{ID: "aaaa0001", Version: seen.Digest, Edit: edit})
		want := "---\n# mine\nid: aaaa0001 # keep\ncron: \"0 10 * * *\"\ncolour: blue\nbackground: true\ndescription: \"Look\"\n---\nLook twice.\n"
		if got := fileOf(t, h, "routines/look.md"); got != want || out.Message != "Look changed" {
			t.Errorf("%q\n%s", out.Message, got)
		}
		if r, _ := b.Index().Set().RoutineByID("aaaa0001"); r.Cron != "0 10 * * *" {
			t.Errorf("in force: %+v", r)
		}
		// An edit based on another version gets the current content of the file.
		_, err := b.Do(t.Context(), command.EditTask{ID: "aaaa0001", Version: seen.Digest, Edit: edit})
		var other *command.ChangedError
		if !errors.As(err, &other) || other.Now.Body != "Look twice." || other.Now.Digest == seen.Digest {
			t.Errorf("an edit of what was changed meanwhile: %v", err)
		}
		back := do(t, b, out.Undo)
		if got := fileOf(t, h, "routines/look.md"); got != file {
			t.Errorf("taken back:\n%s", got)
		}
		do(t, b, back.Undo)
		if got := fileOf(t, h, "routines/look.md"); got != want {
			t.Errorf("and again:\n%s", got)
		}
		for _, bad := range []routines.Edit{
			{Set: []frontmatter.Entry{{Key: "cron", Value: "61 * * * *"}}},
			{Set: []frontmatter.Entry{{Key: "cron", Value: "0 0 30 2 *"}}},
			{Set: []frontmatter.Entry{{Key: "model", Value: "gpt"}}},
			{Body: new(string)},
		} {
			version := pastOf(t, b, "aaaa0001").File.Digest
			if _, err := b.Do(t.Context(), command.EditTask{ID: "aaaa0001", Version: version, Edit: bad}); err == nil || fileOf(t, h, "routines/look.md") != want {
				t.Errorf("%+v: %v\n%s", bad, err, fileOf(t, h, "routines/look.md"))
			}
		}
	})
}

func TestADeletedTaskComesBack(t *testing.T) {
	running(t, func(h home) {
		h.write("routines/look.md", "---\nid: aaaa0001\ncron: \"0 9 * * *\"\n---\nLook around.\n")
		h.write("reminders/tea.md", "---\nid: cccc0001\nrun-at: \"2000-01-01T09:00:00-08:00\"\n---\nTea.\n")
	}, func(h home, b *Bot) {
		out := do(t, b, command.DeleteTask{ID: "aaaa0001"})
		if h.has("routines/look.md") {
			t.Fatal("its file is there")
		}
		if _, err := b.Do(t.Context(), command.DeleteTask{ID: "aaaa0001"}); err == nil {
			t.Error("it is deleted twice")
		}
		do(t, b, out.Undo)
		if !h.has("routines/look.md") {
			t.Error("it is not back")
		}
		do(t, b, command.DeleteTask{ID: "aaaa0001"})
		time.Sleep(time.Second)
		do(t, b, command.DeleteTask{ID: "cccc0001"})
		if last := do(t, b, command.RestoreTask{}); !h.has("reminders/tea.md") || h.has("routines/look.md") || last.Message != "Tea. is back in the schedule" {
			t.Errorf("the one that was removed last: %q", last.Message)
		}
	})
}

func TestAReminderThatIsFiredBesideItsScheduleStays(t *testing.T) {
	running(t, func(h home) {
		h.write("reminders/tea.md", "---\nid: cccc0001\nrun-at: \"2000-01-01T09:00:00-08:00\"\nbackground: true\n---\nTea.\n")
	}, func(h home, b *Bot) {
		if out := do(t, b, command.FireNow{ID: "cccc0001", Stays: true}); out.Undo != nil {
			t.Errorf("there is something to take back: %#v", out.Undo)
		}
		time.Sleep(time.Minute)
		if !h.has("reminders/tea.md") || len(b.Snapshot().Forks) != 1 {
			t.Errorf("its file is gone, or it did not run: %+v", b.Snapshot().Forks)
		}
	})
}

// fileOf returns the content of a file in the directory.
func fileOf(t *testing.T, h home, rel string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.root, rel))
	testkit.Must(t, err)
	return string(data)
}
