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
	"ollimbot/core/work/fork"
	"ollimbot/routines/schedule"
)

func TestASnoozedTaskIsMarkedSkippedAndGoesOnByItselfOrByUndo(t *testing.T) {
	running(t, func(h home) {
		h.write("routines/r.md", "---\nid: \"bbbb0001\"\ncron: \"*/5 * * * *\"\nbackground: true\ndescription: \"Look\"\n---\nLook.\n\n```script\nsay looked\n```\n")
	}, func(_ home, b *Bot) {
		time.Sleep(time.Minute)
		before := len(b.Snapshot().Forks)
		end := b.now().Add(19 * time.Minute)
		out := do(t, b, command.Snooze{ID: "bbbb0001", Until: end})
		if out.Message != "Look is snoozed until 01:20" {
			t.Errorf("message: %q", out.Message)
		}
		s := b.Snapshot()
		if v := viewOf(t, s, "bbbb0001"); !v.Snoozed.Equal(end) || v.Paused || !v.Next.Equal(end) || v.When != "every 5 minutes" {
			t.Errorf("the list of all shows %+v", v)
		}
		tagged := 0
		for _, e := range s.Schedule.Entries {
			if e.Held && e.Tag == "snoozed until 01:20" {
				tagged++
			}
		}
		if tagged != 1 {
			t.Errorf("the schedule shows %+v", s.Schedule.Entries)
		}
		if text, err := b.dispatch.Preview(t.Context(), "bbbb0001", b.now(), false); err != nil || strings.Contains(text, "1:05 AM") || !strings.Contains(text, "1:20 AM") {
			t.Errorf("an agent is told (%v):\n%s", err, text)
		}
		time.Sleep(15 * time.Minute)
		if n := len(b.Snapshot().Forks); n != before {
			t.Errorf("%d runs while it was snoozed", n-before)
		}
		do(t, b, out.Undo)
		time.Sleep(4*time.Minute + 30*time.Second)
		s = b.Snapshot()
		if n := len(s.Forks); n != before+1 || len(s.Updates) != 0 {
			t.Errorf("after undo: %d runs, updates %+v", n-before, s.Updates)
		}
	})
}

func TestAPauseOutlivesARestartAndUndoGivesTheSnoozeBack(t *testing.T) {
	var undo command.Value
	lives(t, 0, func(h home) {
		h.reminder("bbbb0002", 10*time.Minute, "", `say here`)
	}, func(_ home, b *Bot) {
		do(t, b, command.Snooze{ID: "bbbb0002", Until: b.now().Add(3 * time.Hour)})
		undo = do(t, b, command.Pause{ID: "bbbb0002", Paused: true}).Undo
		time.Sleep(time.Hour)
	}, func(h home, b *Bot) {
		s := b.Snapshot()
		if v := viewOf(t, s, "bbbb0002"); !v.Paused || !v.Next.IsZero() || len(s.Forks) != 0 {
			t.Fatalf("after the restart: %+v, forks %+v", v, s.Forks)
		}
		do(t, b, undo)
		if v := viewOf(t, b.Snapshot(), "bbbb0002"); v.Paused || v.Snoozed.IsZero() {
			t.Errorf("after undo: %+v", v)
		}
		time.Sleep(2*time.Hour + time.Minute)
		s = b.Snapshot()
		if len(s.Forks) != 1 || s.Forks[0].State != fork.Done || s.Forks[0].Late || h.has("reminders/bbbb0002.md") {
			t.Errorf("at the end of the snooze: %+v", s.Forks)
		}
	})
}

func TestWhatCannotBeHeldIsSaid(t *testing.T) {
	running(t, func(h home) { h.reminder("bbbb0003", time.Hour, "") }, func(_ home, b *Bot) {
		refused(t, b, command.Snooze{ID: "nobody", Until: b.now().Add(time.Hour)}, "nobody")
		refused(t, b, command.Snooze{ID: "bbbb0003", Until: b.now().Add(-time.Hour)}, "in the past")
		refused(t, b, command.Snooze{ID: "bbbb0003", Until: b.now().AddDate(3, 0, 0)}, "pause it")
		if out := do(t, b, command.Pause{ID: "bbbb0003"}); out.Undo != nil || !strings.Contains(out.Message, "neither") {
			t.Errorf("letting go of what is not held: %+v", out)
		}
	})
}

func TestAMuteRefusesPingsLikeQuietHoursAndCriticalOnesComeThrough(t *testing.T) {
	running(t, func(h home) {
		h.reminder("bbbb0004", 10*time.Minute, "", `call ping_user {"message":"Soft."}`, `call report_updates {"message":"r"}`)
		h.reminder("bbbb0005", 11*time.Minute, "", `call ping_user {"message":"Hard.","critical":true}`, `call report_updates {"message":"r"}`)
		h.reminder("bbbb0006", 70*time.Minute, "", `call ping_user {"message":"Later."}`, `call report_updates {"message":"r"}`)
	}, func(_ home, b *Bot) {
		until := b.now().Add(time.Hour)
		out := do(t, b, command.MuteUntil{Until: until})
		s := b.Snapshot()
		if !s.Budget.Muted.Equal(until) || !s.Budget.Quiet.Equal(until) || !strings.Contains(out.Message, "02:00") {
			t.Errorf("muted %v, quiet %v, %q", s.Budget.Muted, s.Budget.Quiet, out.Message)
		}
		if text, err := b.dispatch.Preview(t.Context(), "bbbb0004", time.Time{}, false); err != nil || !strings.Contains(text, "2:00 AM") {
			t.Errorf("the preamble does not tell of the mute (%v):\n%s", err, text)
		}
		time.Sleep(30 * time.Minute)
		s = b.Snapshot()
		if pings(s) != 1 || s.Budget.State.CriticalUsed != 1 || s.Budget.State.DailyUsed != 0 {
			t.Errorf("pings %d, critical %d, used %d", pings(s), s.Budget.State.CriticalUsed, s.Budget.State.DailyUsed)
		}
		time.Sleep(45 * time.Minute)
		s = b.Snapshot()
		if pings(s) != 2 || !s.Budget.Muted.IsZero() || !s.Budget.Quiet.IsZero() {
			t.Errorf("after the mute: pings %d, muted %v", pings(s), s.Budget.Muted)
		}
	})
}

func TestAMuteOutlivesARestartAndUndoGivesTheFormerOneBack(t *testing.T) {
	var undo command.Value
	var until time.Time
	lives(t, 0, func(home) {}, func(_ home, b *Bot) {
		until = b.now().Add(2 * time.Hour)
		do(t, b, command.MuteUntil{Until: until})
		undo = do(t, b, command.MuteUntil{Until: until.Add(time.Hour)}).Undo
	}, func(h home, b *Bot) {
		if m := b.Snapshot().Budget.Muted; !m.Equal(until.Add(time.Hour)) {
			t.Errorf("after the restart: %v", m)
		}
		do(t, b, undo)
		if m := b.Snapshot().Budget.Muted; !m.Equal(until) {
			t.Errorf("after undo: %v", m)
		}
		again := do(t, b, command.MuteUntil{})
		if m := b.Snapshot().Budget.Muted; !m.IsZero() || h.has("state/mute.json") {
			t.Errorf("after the end: %v", m)
		}
		do(t, b, again.Undo)
		if m := b.Snapshot().Budget.Muted; !m.Equal(until) {
			t.Errorf("after the undo of the end: %v", m)
		}
		refused(t, b, command.MuteUntil{Until: b.now().Add(-time.Minute)}, "in the past")
		refused(t, b, command.MuteUntil{Until: b.now().AddDate(2, 0, 0)}, "capacity")
	})
}

func TestGarbageInTheMuteIsNoMuteAndIsKeptAside(t *testing.T) {
	for _, text := range []string{"{", `{"until": 5}`, "[]", "null", ""} {
		running(t, func(h home) { h.write("state/mute.json", text) }, func(_ home, b *Bot) {
			if m := b.Snapshot().Budget.Muted; !m.IsZero() {
				t.Errorf("%q mutes until %v", text, m)
			}
			until := b.now().Add(time.Hour)
			do(t, b, command.MuteUntil{Until: until})
			if m := b.Snapshot().Budget.Muted; !m.Equal(until) {
				t.Errorf("over %q: muted until %v", text, m)
			}
		})
	}
}

func TestDeliverNowSendsTheHeaderAloneAndTakesTheUpdates(t *testing.T) {
	w := &recorder{Engine: offline()}
	liveWith(t, w, func(home) {}, func(_ home, b *Bot) {
		if out := do(t, b, command.DeliverNow{}); !strings.Contains(out.Message, "no pending updates") || out.Done != nil {
			t.Errorf("with nothing pending: %+v", out)
		}
		for i := range 2 {
			testkit.Must(t, b.updates.Append(b.now(), fmt.Sprintf("Thing %d.", i)))
		}
		out := do(t, b, command.DeliverNow{})
		select {
		case err := <-out.Done:
			testkit.Must(t, err)
		case <-time.After(5 * time.Minute):
			t.Fatal("no answer came")
		}
		const want = "[2000-01-01 Sat 01:00 AM CET] RECENT BACKGROUND UPDATES (mention key findings in your response):\n- (just now) Thing 0.\n- (just now) Thing 1."
		sent := w.messages()
		if len(sent) != 1 || sent[0] != want {
			t.Errorf("sent: %q", sent)
		}
		if s := b.Snapshot(); len(s.Updates) != 0 || len(s.Chat) == 0 || b.sessions.Main() == "" {
			t.Errorf("updates %+v, chat %+v", s.Updates, s.Chat)
		}
	})
}

func TestTheListOfAllTasksFollowsTheFiles(t *testing.T) {
	h := newHome(t)
	put := func(name, cron string) {
		h.write("routines/"+name+".md", fmt.Sprintf("---\nid: %q\ncron: %q\n---\nDo %s.\n", name, cron, name))
	}
	for _, name := range []string{"b", "d", "f"} {
		put(name, "0 9 * * *")
	}
	b := h.bot(script.New(script.Options{}))
	check := func(want ...string) {
		t.Helper()
		b.index.Scan()
		var got []string
		for _, v := range b.Snapshot().Schedule.Tasks {
			got = append(got, v.Title+" "+v.When)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("tasks %q, want %q", got, want)
		}
	}
	check("Do b. at 9:00, every day", "Do d. at 9:00, every day", "Do f. at 9:00, every day")
	put("d", "0 10 * * *")
	put("a", "0 11 * * *")
	check("Do a. at 11:00, every day", "Do b. at 9:00, every day", "Do d. at 10:00, every day", "Do f. at 9:00, every day")
	testkit.Must(t, os.Remove(filepath.Join(h.root, "routines/a.md")))
	check("Do b. at 9:00, every day", "Do d. at 10:00, every day", "Do f. at 9:00, every day")
}

func TestADayWithTooManyFiresSaysUntilWhenItIsComplete(t *testing.T) {
	running(t, func(h home) {
		for i := range 30 {
			h.write(fmt.Sprintf("routines/r%02d.md", i), fmt.Sprintf("---\nid: \"bbbb01%02d\"\ncron: \"*/30 * * * *\"\nbackground: true\n---\nLook.\n", i))
		}
	}, func(_ home, b *Bot) {
		s := b.Snapshot().Schedule // 30 fires every half hour, of which 500 are visible within nine hours
		if len(s.Day) != 500 || !s.DayUntil.Equal(s.Day[499].FireTime) {
			t.Errorf("%d fires, complete until %v; the last is at %v", len(s.Day), s.DayUntil, s.Day[len(s.Day)-1].FireTime)
		}
	})
	running(t, func(home) {}, func(_ home, b *Bot) {
		if s := b.Snapshot(); !s.Schedule.DayUntil.After(s.At.Add(23 * time.Hour)) {
			t.Errorf("a day without fires is complete until %v only", s.Schedule.DayUntil)
		}
	})
}

func TestTheSnapshotListsTheDayAndAllTasks(t *testing.T) {
	running(t, func(h home) {
		h.write("routines/r.md", "---\nid: \"bbbb0007\"\ncron: \"30 2,14 * * *\"\nbackground: true\nallow-ping: false\ndescription: \"Twice\"\n---\nLook.\n")
		h.write("routines/f.md", "---\nid: \"bbbb0008\"\ncron: \"0 0 1 1 *\"\ndescription: \"New year\"\n---\nSing.\n")
		h.reminder("bbbb0009", 10*time.Minute, "max-chain: 2\n", `say here`)
	}, func(_ home, b *Bot) {
		s := b.Snapshot()
		var day, all []string
		for _, e := range s.Schedule.Day {
			day = append(day, e.FireTime.Format("15:04 ")+e.ID)
		}
		for _, v := range s.Schedule.Tasks {
			all = append(all, fmt.Sprintf("%s %s %s %v %v %s", v.ID, v.Title, v.Kind, v.Foreground, v.Silent, v.Label))
		}
		if got, want := strings.Join(day, ", "), "01:10 bbbb0009, 02:30 bbbb0007, 14:30 bbbb0007"; got != want {
			t.Errorf("day: %s, want %s", got, want)
		}
		if got, want := strings.Join(all, ", "), "bbbb0009 Task bbbb0009 reminder false false Chain reminder (1/3), bbbb0007 Twice routine false true , bbbb0008 New year routine true false "; got != want {
			t.Errorf("tasks: %s, want %s", got, want)
		}
		do(t, b, command.Pause{ID: "bbbb0009", Paused: true})
		if last := b.Snapshot().Schedule.Tasks[2]; last.ID != "bbbb0009" || !last.Paused {
			t.Errorf("what never fires does not stand last: %+v", last)
		}
		if kind := b.Snapshot().Schedule.Day[0]; !kind.Held || kind.Tag != schedule.TagPaused {
			t.Errorf("the day shows %+v", kind)
		}
	})
}
