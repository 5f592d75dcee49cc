package core

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

func TestATaskFromTheFormIsWrittenFiresAndIsTakenBack(t *testing.T) {
	story(t, nil, func(w *world) {
		out := w.do(command.AddTask{Cron: "0 9 * * 1-5", Description: "Plan\x1b[2J", Message: "Plan the day.\n", Silent: true})
		w.holds(strings.HasPrefix(out.Message, "Plan") && strings.HasSuffix(out.Message, "next Mon 3 Jan 09:00"), "it answers", out.Message)
		set := w.index.Set()
		w.needs(len(set.Routines) == 1, "routines, problems", set.Routines, set.Problems)
		r := set.Routines[0]
		w.holds(len(r.ID) == 8 && r.Background && !r.AllowPing && r.Cron == "0 9 * * 1-5" && r.Mode == routines.OnPing && r.Thinking, "the routine", r)
		w.lacks("its description", r.Description, "\x1b")
		removed := w.do(out.Undo)
		w.holds(len(w.index.Set().Routines) == 0 && !w.has(r.Path), "undo left the routine")
		again := w.do(removed.Undo)
		set = w.index.Set()
		w.holds(len(set.Routines) == 1 && set.Routines[0].Cron == "0 9 * * 1-5" && again.Undo != nil, "after redo", set.Routines)
		w.do(command.AddTask{At: w.now().Add(90*time.Second + time.Millisecond), Message: "Say it.\n\n" + plays("say done"), Foreground: true})
		w.sleep(3 * time.Minute)
		w.holds(w.spoke("done") && len(w.index.Set().Reminders) == 0, "the reminder did not fire in the main session")
	})
}

func TestFiringAReminderByHandIsTakenBack(t *testing.T) {
	const rel = "reminders/say-it.md"
	story(t, []file{task(rel, "id: \"cccc1001\"\nrun-at: \"2030-01-01T09:00:00Z\"\n", "Say it.\n\n"+plays("say done"))}, func(w *world) {
		restored := func(when string) {
			w.Helper()
			w.holds(len(w.index.Set().Reminders) == 1 && w.has(rel), when, w.index.Set().Reminders)
		}
		out := w.do(command.FireNow{ID: "cccc1001"})
		w.sleep(time.Minute)
		w.needs(!w.has(rel), "it was not run and removed")
		w.do(out.Undo)
		restored("undo after the run")
		w.refuses("within the last day", out.Undo)
		w.do(w.do(command.FireNow{ID: "cccc1001"}).Undo) // while it is running
		w.sleep(time.Minute)
		restored("undo during the run")
	})
}

func TestATaskThatCannotBeIsRefusedAndWritesNothing(t *testing.T) {
	story(t, nil, func(w *world) {
		for words, c := range map[string]command.AddTask{
			"either":      {Message: "m"},
			"give either": {Message: "m", Cron: "0 9 * * *", At: w.now().Add(time.Hour)},
			"column 3":    {Message: "m", Cron: "0 25 * * *"},
			"never fires": {Message: "m", Cron: "0 9 30 2 *"},
			"no message":  {Message: " \n\x1b", Cron: "0 9 * * *"},
			"in the past": {Message: "m", At: w.now().Add(-time.Minute)},
			"a year away": {Message: "m", At: w.now().AddDate(2, 0, 0)},
		} {
			w.refuses(words, c)
		}
		for _, folder := range []string{"routines", "reminders"} {
			list, err := os.ReadDir(filepath.Join(w.root, folder))
			w.holds(err != nil || len(list) == 0, folder+" holds", list)
		}
	})
}

func TestOnlyWhatTheFormMadeAndNobodyTouchedIsTakenBack(t *testing.T) {
	story(t, []file{task("routines/mine.md", "id: \"cccc1001\"\ncron: \"0 9 * * *\"\n", "Mine.")}, func(w *world) {
		w.refuses("not added from here", command.RemoveTask{ID: "cccc1001"})
		undo := w.do(command.AddTask{Cron: "0 9 * * *", Message: "Edited later."}).Undo
		path := ""
		for _, r := range w.index.Set().Routines {
			if r.ID != "cccc1001" {
				path = r.Path
			}
		}
		w.write(path, w.read(path)+"More.\n")
		w.refuses("edited since", undo)
		testkit.Must(t, os.Remove(filepath.Join(w.root, path)))
		w.refuses("no longer exists", undo)
		w.holds(w.has("routines/mine.md"), "the user's own file is gone")
	})
}

func TestADescriptionSaysEverythingAboutATask(t *testing.T) {
	story(t, []file{
		task("routines/r.md", "id: \"cccc1002\"\ncron: \"0 9 1 * 1\"\nbackground: true\nmodel: haiku\nallow-ping: false\nskills:\n  - coach\n"+
			"description: \"First things\"\nallow-pin: true\n", "Plan \x1b[2Jit."),
		remind("cccc1003", 90*time.Minute, "max-chain: 2\n", "say hi"),
	}, func(w *world) {
		body := w.describe("cccc1002")
		w.shows("the routine", body, "First things\n", "cccc1002 · routines/r.md", "with haiku", "may not ping", "coach", "(0 9 1 * 1)", "next ",
			"did you mean allow-ping?", "description: \"First things\"")
		w.lacks("the routine", body, "\x1b")
		w.is("fires ahead", strings.Count(body, "09:00, in "), 10)
		w.shows("the reminder", w.describe("cccc1003"), "check 1 of 3", "in 1 h 30 min")
		_, err := w.Reads().Describe(t.Context(), "nobody")
		fails(t, "a task that is not there", err, "nobody")
	})
}

func TestOnlyFiresThatCanSpendATokenCount(t *testing.T) {
	noon := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	list := mayPing([]schedule.Entry{
		{FireTime: at(1)}, {FireTime: at(2), Silent: true}, {FireTime: at(3), Foreground: true}, {FireTime: at(4), Held: true}, {FireTime: at(30)}, // in quiet hours
	}, func(t time.Time) time.Time {
		if t.Minute() >= 20 {
			return noon.Add(2 * time.Hour)
		}
		return time.Time{}
	}, func(string) float64 { return 0.25 })
	holds(t, len(list) == 1 && list[0].At.Minute() == 1 && list[0].Rate == 0.25, "fires that may ping", list)
}

func TestATaskIsEditedInPlaceAndTakenBack(t *testing.T) {
	const rel = "routines/look.md"
	const text = "---\n# mine\nid: aaaa0001 # keep\ncron: \"0 9 * * *\"\ncolour: blue\nbackground: true\n---\nLook around.\n"
	const want = "---\n# mine\nid: aaaa0001 # keep\ncron: \"0 10 * * *\"\ncolour: blue\nbackground: true\ndescription: \"Look\"\n---\nLook twice.\n"
	story(t, []file{{rel, text}}, func(w *world) {
		seen := w.past("aaaa0001").File
		w.needs(seen.Cron == "0 9 * * *" && seen.Body == "Look around." && seen.Digest != "", "what the file says", seen)
		body := "Look twice."
		edit := routines.Edit{Set: []frontmatter.Entry{{Key: "cron", Value: "0 10 * * *"}, {Key: "description", Value: "Look"}}, Body: &body}
		out := w.do(command.EditTask{ID: "aaaa0001", Version: seen.Digest, Edit: edit})
		w.is("it answers", out.Message, "Look changed")
		w.is("the file", w.read(rel), want)
		r, _ := w.index.Set().RoutineByID("aaaa0001")
		w.is("in force", r.Cron, "0 10 * * *")
		// An edit based on another version gets the current content of the file.
		_, err := w.Do(t.Context(), command.EditTask{ID: "aaaa0001", Version: seen.Digest, Edit: edit})
		var other *command.ChangedError
		w.holds(errors.As(err, &other) && other.Now.Body == "Look twice." && other.Now.Digest != seen.Digest, "an edit of what was changed meanwhile", err)
		back := w.do(out.Undo)
		w.is("taken back", w.read(rel), text)
		w.do(back.Undo)
		w.is("and again", w.read(rel), want)
		for _, bad := range []routines.Edit{
			{Set: []frontmatter.Entry{{Key: "cron", Value: "61 * * * *"}}},
			{Set: []frontmatter.Entry{{Key: "cron", Value: "0 0 30 2 *"}}},
			{Set: []frontmatter.Entry{{Key: "model", Value: "gpt"}}},
			{Body: new(string)},
		} {
			w.refuses("", command.EditTask{ID: "aaaa0001", Version: w.past("aaaa0001").File.Digest, Edit: bad})
			w.is("the file after a bad edit", w.read(rel), want)
		}
	})
}

func TestADeletedTaskReturns(t *testing.T) {
	const look, tea = "routines/look.md", "reminders/tea.md"
	story(t, []file{
		task(look, "id: aaaa0001\ncron: \"0 9 * * *\"\n", "Look around."),
		task(tea, "id: cccc0001\nrun-at: \"2000-01-01T09:00:00-08:00\"\nbackground: true\n", "Tea."),
	}, func(w *world) {
		out := w.do(command.DeleteTask{ID: "aaaa0001"})
		w.needs(!w.has(look), "its file is there")
		w.refuses("", command.DeleteTask{ID: "aaaa0001"})
		w.do(out.Undo)
		w.holds(w.has(look), "it is not back")
		w.do(command.DeleteTask{ID: "aaaa0001"})
		w.sleep(time.Second)
		w.do(command.DeleteTask{ID: "cccc0001"})
		w.is("the one that was removed last", w.do(command.RestoreTask{}).Message, "Tea. is back in the schedule")
		w.holds(w.has(tea) && !w.has(look), "files", w.has(tea), w.has(look))
		// A reminder that is fired beside its schedule stays.
		out = w.do(command.FireNow{ID: "cccc0001", Stays: true})
		w.holds(out.Undo == nil, "there is something to take back", out.Undo)
		w.sleep(time.Minute)
		w.holds(w.has(tea) && w.ran("cccc0001") == 1, "its file is gone, or it did not run", w.runs())
	})
}
