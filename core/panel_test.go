package core

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/agent/script"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/routines/schedule"
)

func TestASnoozedTaskIsMarkedSkippedAndGoesOnByItselfOrByUndo(t *testing.T) {
	const id = "bbbb0001"
	story(t, []file{routine(id, "*/5 * * * *", "", "say looked")}, func(w *world) {
		w.sleep(time.Minute)
		before := w.ran(id)
		end := w.now().Add(19 * time.Minute)
		out := w.do(command.Snooze{ID: id, Until: end})
		w.is("it answers", out.Message, "Task bbbb0001 is snoozed until 01:20")
		v, tagged := w.view(id), 0
		w.holds(v.Snoozed.Equal(end) && !v.Paused && v.Next.Equal(end) && v.When == "every 5 minutes", "the list of all shows", v)
		for _, e := range w.Snapshot().Schedule.Entries {
			if e.Held && e.Tag == "snoozed until 01:20" {
				tagged++
			}
		}
		w.is("rows that say so", tagged, 1)
		text, err := w.dispatch.Preview(t.Context(), id, w.now(), false)
		testkit.Must(t, err)
		w.shows("an agent reads", text, "1:20 AM")
		w.lacks("an agent reads", text, "1:05 AM")
		w.sleep(15 * time.Minute)
		w.is("runs while it is snoozed", w.ran(id), before)
		w.do(out.Undo)
		w.sleep(4*time.Minute + 30*time.Second)
		w.is("runs, updates after undo", []any{w.ran(id), w.pending()}, []any{before + 1, ""})
	})
}

func TestAPauseOutlivesARestartAndUndoGivesTheSnoozeBack(t *testing.T) {
	const id = "bbbb0002"
	var undo command.Value
	story(t, []file{remind(id, 10*time.Minute, "", `say here`)}, func(w *world) {
		w.do(command.Snooze{ID: id, Until: w.now().Add(3 * time.Hour)})
		undo = w.do(command.Pause{ID: id, Paused: true}).Undo
		w.sleep(time.Hour)
	}, func(w *world) {
		v := w.view(id)
		w.needs(v.Paused && v.Next.IsZero() && w.runs() == "", "after the restart", v, w.runs())
		w.do(undo)
		w.holds(!w.view(id).Paused && !w.view(id).Snoozed.IsZero(), "after undo", w.view(id))
		w.sleep(2*time.Hour + time.Minute)
		w.is("at the end of the snooze", w.runs(), id+" done")
		w.holds(!w.has("reminders/"+id+".md"), "its file is still there")
	})
}

func TestAMuteRefusesPingsLikeQuietHoursAndCriticalOnesComeThrough(t *testing.T) {
	const report = `call report_updates {"message":"r"}`
	story(t, []file{
		remind("bbbb0004", 10*time.Minute, "", `call ping_user {"message":"Soft."}`, report),
		remind("bbbb0005", 11*time.Minute, "", `call ping_user {"message":"Hard.","critical":true}`, report),
		remind("bbbb0006", 70*time.Minute, "", `call ping_user {"message":"Later."}`, report),
	}, func(w *world) {
		until := w.now().Add(time.Hour)
		out := w.do(command.MuteUntil{Until: until})
		s := w.Snapshot().Budget
		w.holds(s.Muted.Equal(until) && s.Quiet.Equal(until) && strings.Contains(out.Message, "02:00"), "muted, quiet, and the answer", s, out.Message)
		text := w.preview("bbbb0004")
		w.shows("the preamble", text, "2:00 AM")
		w.sleep(30 * time.Minute)
		s = w.Snapshot().Budget
		w.is("pings, critical ones, tokens", []any{w.pings(), s.State.CriticalUsed, s.State.DailyUsed}, []any{"Hard.", 1, 0})
		w.sleep(45 * time.Minute)
		s = w.Snapshot().Budget
		w.is("pings after the mute", w.pings(), "Hard. / Later.")
		w.holds(s.Muted.IsZero() && s.Quiet.IsZero(), "it is muted still", s)
	})
}

func TestAMuteOutlivesARestartAndUndoGivesTheFormerOneBack(t *testing.T) {
	var undo command.Value
	two := dayOne.Add(2 * time.Hour)
	muted := func(w *world, when string, want time.Time) {
		w.Helper()
		got := w.Snapshot().Budget.Muted
		w.holds(got.Equal(want), when+" it is muted until", got)
	}
	story(t, nil, func(w *world) {
		w.do(command.MuteUntil{Until: two})
		undo = w.do(command.MuteUntil{Until: two.Add(time.Hour)}).Undo
	}, func(w *world) {
		muted(w, "after the restart", two.Add(time.Hour))
		w.do(undo)
		muted(w, "after undo", two)
		again := w.do(command.MuteUntil{})
		muted(w, "after the end", time.Time{})
		w.holds(!w.has("state/mute.json"), "the file of an ended mute is there")
		w.do(again.Undo)
		muted(w, "after the undo of the end", two)
		w.refuses("in the past", command.MuteUntil{Until: w.now().Add(-time.Minute)})
		w.refuses("capacity", command.MuteUntil{Until: w.now().AddDate(2, 0, 0)})
	})
	for _, garbage := range []string{"{", `{"until": 5}`, "[]", "null", ""} { // no mute, and kept aside
		story(t, []file{{"state/mute.json", garbage}}, func(w *world) {
			muted(w, fmt.Sprintf("with %q", garbage), time.Time{})
			w.do(command.MuteUntil{Until: two})
			muted(w, fmt.Sprintf("over %q", garbage), two)
		})
	}
}

func TestWhatCannotBeHeldIsSaid(t *testing.T) {
	const id = "bbbb0003"
	story(t, []file{remind(id, time.Hour, "")}, func(w *world) {
		w.refuses("nobody", command.Snooze{ID: "nobody", Until: w.now().Add(time.Hour)})
		w.refuses("in the past", command.Snooze{ID: id, Until: w.now().Add(-time.Hour)})
		w.refuses("pause it", command.Snooze{ID: id, Until: w.now().AddDate(3, 0, 0)})
		out := w.do(command.Pause{ID: id})
		w.holds(out.Undo == nil && strings.Contains(out.Message, "neither"), "letting go of what is not held", out)
	})
}

func TestDeliverNowSendsTheHeaderAloneAndTakesTheUpdates(t *testing.T) {
	r := &recorder{Engine: offline()}
	setting{engine: r}.tell(t, func(w *world) {
		out := w.do(command.DeliverNow{})
		w.holds(strings.Contains(out.Message, "no pending updates") && out.Done == nil, "with nothing pending", out)
		for i := range 2 {
			testkit.Must(t, w.updates.Append(w.now(), fmt.Sprintf("Thing %d.", i)))
		}
		select {
		case err := <-w.do(command.DeliverNow{}).Done:
			testkit.Must(t, err)
		case <-time.After(5 * time.Minute):
			t.Fatal("no answer came")
		}
		w.is("sent", r.messages(), []string{"[2000-01-01 Sat 01:00 AM CET] RECENT BACKGROUND UPDATES (mention key findings in your response):\n" +
			"- (just now) Thing 0.\n- (just now) Thing 1."})
		w.holds(w.pending() == "" && len(w.Snapshot().Chat) > 0 && w.sessions.Main() != "", "what is left", w.pending(), w.Snapshot().Chat)
	})
}

func TestTheListOfAllTasksFollowsTheFiles(t *testing.T) {
	h := newHome(t)
	put := func(name, cron string) {
		h.put(task("routines/"+name+".md", fmt.Sprintf("id: %q\ncron: %q\n", name, cron), "Do "+name+"."))
	}
	for _, name := range []string{"b", "d", "f"} {
		put(name, "0 9 * * *")
	}
	b := h.bot(script.New(script.Options{}))
	check := func(want string) {
		t.Helper()
		b.index.Scan()
		var got []string
		for _, v := range b.Snapshot().Schedule.Tasks {
			got = append(got, v.Title+" "+v.When)
		}
		slices.Sort(got)
		is(t, "tasks", strings.Join(got, " / "), want)
	}
	check("Do b. at 9:00, every day / Do d. at 9:00, every day / Do f. at 9:00, every day")
	put("d", "0 10 * * *")
	put("a", "0 11 * * *")
	check("Do a. at 11:00, every day / Do b. at 9:00, every day / Do d. at 10:00, every day / Do f. at 9:00, every day")
	testkit.Must(t, os.Remove(filepath.Join(h.root, "routines/a.md")))
	check("Do b. at 9:00, every day / Do d. at 10:00, every day / Do f. at 9:00, every day")
}

func TestADayWithTooManyFiresSaysUntilWhenItIsComplete(t *testing.T) {
	var many []file
	for i := range 30 {
		many = append(many, routine(fmt.Sprintf("bbbb01%02d", i), "*/30 * * * *", ""))
	}
	story(t, many, func(w *world) {
		s := w.Snapshot().Schedule // 30 fires every half hour, of which 500 are visible within nine hours
		w.holds(len(s.Day) == 500 && s.DayUntil.Equal(s.Day[499].FireTime), "fires, and until when they are complete", len(s.Day), s.DayUntil)
	})
	story(t, nil, func(w *world) {
		s := w.Snapshot()
		w.holds(s.Schedule.DayUntil.After(s.At.Add(23*time.Hour)), "a day without fires is complete until", s.Schedule.DayUntil)
	})
}

func TestTheSnapshotListsTheDayAndAllTasks(t *testing.T) {
	story(t, []file{
		task("routines/r.md", "id: \"bbbb0007\"\ncron: \"30 2,14 * * *\"\nbackground: true\nallow-ping: false\ndescription: \"Twice\"\n", "Look."),
		task("routines/f.md", "id: \"bbbb0008\"\ncron: \"0 0 1 1 *\"\ndescription: \"New year\"\n", "Sing."),
		remind("bbbb0009", 10*time.Minute, "max-chain: 2\n", `say here`),
	}, func(w *world) {
		s := w.Snapshot().Schedule
		var day, all []string
		for _, e := range s.Day {
			day = append(day, e.FireTime.Format("15:04 ")+e.ID)
		}
		for _, v := range s.Tasks {
			all = append(all, fmt.Sprintf("%s %s %s %v %v %s", v.ID, v.Title, v.Kind, v.Foreground, v.Silent, v.Label))
		}
		w.is("the day", strings.Join(day, ", "), "01:10 bbbb0009, 02:30 bbbb0007, 14:30 bbbb0007")
		w.is("all tasks", strings.Join(all, ", "), "bbbb0009 Task bbbb0009 reminder false false Chain reminder (1/3), "+
			"bbbb0007 Twice routine false true , bbbb0008 New year routine true false ")
		w.do(command.Pause{ID: "bbbb0009", Paused: true})
		s = w.Snapshot().Schedule
		w.holds(s.Tasks[2].ID == "bbbb0009" && s.Tasks[2].Paused, "last, as it never fires", s.Tasks[2])
		w.holds(s.Day[0].Held && s.Day[0].Tag == schedule.TagPaused, "the day shows", s.Day[0])
	})
}
