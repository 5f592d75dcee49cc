package core

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// The dashboard's way with a task: it is added, described, fired, edited, deleted, and each step is taken back.
func TestATaskIsAddedFiredEditedDeletedAndTakenBack(t *testing.T) {
	const tea = "reminders/tea.md"
	first := task("routines/first.md", "id: aaaa0001\ncron: \"* 9 * * *\"\nallow-pin: true\n", "First things.")
	story(t, []file{first, task(tea, "id: cccc0001\nrun-at: \"2030-01-01T09:00:00Z\"\nbackground: true\n", "Tea.")}, func(w *world) {
		w.shows("a page with a problem and a note", w.describe("aaaa0001"), "did you mean allow-ping?", "It fires 60 times in each of its hours")
		gone := w.do(command.AddTask{Cron: "0 9 * * *", Message: "Gone."})
		for _, r := range w.index.Set().Routines {
			if r.ID != "aaaa0001" {
				testkit.Must(w, os.Remove(w.dir.Path(r.Path)))
			}
		}
		w.refuses("no longer exists", gone.Undo)
		w.index.Scan()
		w.refuses("not added from here", command.RemoveTask{ID: "cccc0001"})
		out := w.do(command.AddTask{Cron: "0 9 * * 1-5", Description: "Plan\x1b[2J", Message: "Plan the day.\n", Silent: true})
		w.holds(strings.HasPrefix(out.Message, "Plan") && strings.HasSuffix(out.Message, "next Mon 3 Jan 09:00"), "it answers", out.Message)
		w.do(w.do(out.Undo).Undo)
		set := w.index.Set()
		w.needs(len(set.Routines) == 2, "routines, problems", set.Routines, set.Problems)
		r := set.Routines[slices.IndexFunc(set.Routines, func(r *routines.Routine) bool { return r.ID != "aaaa0001" })]
		w.holds(len(r.ID) == 8 && r.Background && !r.AllowPing && r.Cron == "0 9 * * 1-5" && r.Mode == routines.OnPing && r.Thinking, "the routine", r)
		page := w.describe(r.ID)
		w.shows("its page", page, "Plan", r.ID+" · "+r.Path, "may not ping", "(0 9 * * 1-5)", "next ")
		w.lacks("its page", page, "\x1b")

		seen := must(w.Reads().Past(w.Context(), r.ID))(w).File
		edit := command.EditTask{ID: r.ID, Version: seen.Digest, Edit: routines.Edit{Set: []frontmatter.Entry{{Key: "cron", Value: "0 10 * * *"}}}}
		before := w.read(r.Path)
		changed := w.do(edit)
		w.is("it answers", changed.Message, "Plan changed")
		_, err := w.Do(w.Context(), edit) // an edit based on another version gets the current content of the file
		var other *command.ChangedError
		w.holds(errors.As(err, &other) && other.Now.Cron == "0 10 * * *" && other.Now.Digest != seen.Digest, "an edit of what was changed meanwhile", err)
		edit.Version, edit.Edit = other.Now.Digest, routines.Edit{Body: new(string)}
		w.refuses("", edit)
		w.do(changed.Undo)
		w.is("the file after undo", w.read(r.Path), before)

		w.do(command.DeleteTask{ID: r.ID})
		w.sleep(time.Second)
		w.do(w.do(command.FireNow{ID: "cccc0001"}).Undo) // while it is running
		w.sleep(time.Minute)
		w.holds(w.has(tea) && w.ran("cccc0001") == 1, "undo during the run, and runs", w.runs())
		fired := w.do(command.FireNow{ID: "cccc0001"})
		w.sleep(time.Minute)
		w.holds(!w.has(tea) && w.ran("cccc0001") == 2, "it was not run and removed", w.runs())
		w.do(fired.Undo)
		w.holds(w.has(tea), "undo after the run")
		w.refuses("within the last day", fired.Undo)
		w.holds(w.do(command.FireNow{ID: "cccc0001", Stays: true}).Undo == nil, "a fire beside the schedule can be taken back")
		w.sleep(time.Minute)
		w.holds(w.has(tea), "a fire beside the schedule used it up")
		w.do(command.DeleteTask{ID: "cccc0001"})
		w.is("the one that was removed last", w.do(command.RestoreTask{}).Message, "Tea. is back in the schedule")
		w.holds(w.has(tea) && !w.has(r.Path), "files", w.has(tea), w.has(r.Path))
		w.refuses("column 3", command.AddTask{Message: "m", Cron: "0 25 * * *"})
	})
}

// N5: the starter routines are installed next to existing files, which stay unchanged.
func TestTheStarterRoutinesAreInstalledBesideWhatIsThere(t *testing.T) {
	mine := task("routines/good-night.md", "id: \"cccc1001\"\ncron: \"0 9 * * *\"\n", "Mine.")
	renamed := task("routines/pills.md", "id: \"a11ce002\"\ncron: \"0 7 * * *\"\n", "My medication.") // a starter routine
	story(t, []file{mine, renamed}, func(w *world) {
		out := w.do(command.AddStarters{})
		w.is("it answers", out.Message, "4 starter routines installed: Inbox sweep, Morning plan, Move a little, Weekly review")
		set := w.index.Set()
		w.holds(len(set.Routines) == 6 && len(set.Problems) == 0, "routines, problems", len(set.Routines), set.Problems)
		w.is("the files", w.read(mine.rel)+w.read(renamed.rel), mine.text+renamed.text)
		w.holds(!w.has("routines/medication.md"), "a routine that was renamed is installed again")
	})
}

// What the dashboard shows of the budget and the updates is changed there and taken back.
func TestAChangeOfTheBudgetAndADiscardedUpdateAreTakenBack(t *testing.T) {
	story(t, nil, func(w *world) {
		budget := func() string {
			s := w.Snapshot().Budget.State
			return fmt.Sprint(s.Available, " of ", s.Capacity)
		}
		out := w.do(command.SetBudget{Capacity: new(2)})
		w.is("after the change", budget(), "2 of 2")
		w.do(out.Undo)
		w.is("after undo", budget(), "5 of 5")
		same := w.do(command.SetBudget{Capacity: new(5)})
		w.holds(same.Undo == nil && strings.Contains(same.Message, "unchanged"), "without a change it says", same)
		w.refuses("", command.SetBudget{Capacity: new(-1)}, command.SetBudget{RefillMinutes: new(0)})
		for _, m := range []string{"first", "second", "third"} {
			testkit.Must(w, w.updates.Append(w.now(), m))
			w.sleep(time.Second)
		}
		out = w.do(command.DiscardUpdate{Key: w.Snapshot().Updates[1].Key})
		w.is("discarded", w.pending(), "first / third")
		w.do(out.Undo)
		w.is("undone", w.pending(), "first / second / third")
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
	checks{t}.holds(len(list) == 1 && list[0].At.Minute() == 1 && list[0].Rate == 0.25, "fires that may ping", list)
}
