package tasks

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/routines"
)

// W3: pressed at 00:09, Not today moved it to 01:09 of the same night.
func TestNotTodayIsNeverTheSameNight(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	testkit.Must(t, err)
	at := func(text string) time.Time {
		when, err := time.ParseInLocation("2006-01-02 15:04", text, berlin)
		testkit.Must(t, err)
		return when
	}
	for _, c := range []struct{ first, now, want string }{
		{"2026-11-24 01:09", "2026-11-24 00:09", "2026-11-25 01:09"}, // put off before it was due
		{"2026-11-24 00:30", "2026-11-23 23:50", "2026-11-25 00:30"},
		{"2026-11-24 01:09", "2026-11-24 01:09", "2026-11-25 01:09"},
		{"2026-11-24 01:09", "2026-11-24 02:00", "2026-11-25 01:09"},
		{"2026-11-24 03:59", "2026-11-24 00:00", "2026-11-25 03:59"},
		{"2026-11-24 01:09", "2026-11-24 10:00", "2026-11-25 01:09"},
		{"2026-11-23 09:00", "2026-11-24 00:30", "2026-11-24 09:00"}, // the day ends at four
		{"2026-11-23 07:00", "2026-11-24 03:59", "2026-11-24 07:00"},
		{"2026-11-23 07:00", "2026-11-24 04:00", "2026-11-25 07:00"},
		{"2026-11-23 21:00", "2026-11-23 21:05", "2026-11-24 21:00"},
		{"2026-10-24 02:30", "2026-10-25 00:10", "2026-10-26 02:30"}, // the night of the clock change
	} {
		if got := tomorrow(at(c.first), at(c.now)); !got.Equal(at(c.want)) {
			t.Errorf("first due %s, put off at %s: %s, want %s", c.first, c.now, got.Format("2006-01-02 15:04"), c.want)
		}
	}
}

func TestAnAnswerBeforeTheReminderCameCountsNoPings(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		id := d.reminder(time.Hour)
		d.came("another", "m1", time.Minute)
		d.do(command.Remind{ID: id, Word: command.Done})
		if want := []string{`The user marked the reminder "Call Ada" (` + id + ") as done at 1:00 AM."}; !slices.Equal(d.pending(), want) {
			t.Errorf("the agent reads %q", d.pending())
		}
	})
}

// A chain of checks continues where it was. A reminder that repeats until done starts
// over, because the user has seen it.
func TestAPostponedReminderContinuesItsChain(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		for _, c := range []struct {
			untilDone bool
			check     string
		}{{false, "check 3 of 4"}, {true, "check 1 of 4"}} {
			r := routines.Reminder{Task: routines.Task{Body: "Call Ada", Background: true, AllowPing: true}, RunAt: d.now().Add(time.Hour), UntilDone: c.untilDone, MaxChain: 3, ChainDepth: 2}
			r, err := d.Book(policy.Writer{}).Add(t.Context(), r)
			testkit.Must(t, err)
			d.do(command.Remind{ID: r.ID, Word: command.Later})
			if body := d.describe(r.ID); !strings.Contains(body, c.check) {
				t.Errorf("%q is missing in\n%s", c.check, body)
			}
		}
	})
}

// The answer counts. The user reads why it could not be saved.
func TestAnAnswerThatCannotBeWrittenDownCountsAndSaysSo(t *testing.T) {
	for _, lock := range []string{"state/.pings.lock", "state/.pending_updates.lock"} {
		inBubble(t, func(t *testing.T, d *desk) {
			id := d.reminder(30 * time.Minute)
			d.came(id, "m1", time.Minute)
			testkit.Must(t, os.RemoveAll(d.dir.Path(lock)))
			testkit.Must(t, os.MkdirAll(d.dir.Path(lock), 0o700)) // blocks the lock
			out, err := d.Answer(t.Context(), command.Remind{ID: id, Word: command.Later}, "m1")
			if err == nil || !strings.HasPrefix(err.Error(), out.Message+", but the agent could not be informed") || !strings.Contains(err.Error(), lock) {
				t.Errorf("%s: %q, %v", lock, out.Message, err)
			}
			if at := d.File(id).RunAt; !at.Equal(d.now().Add(time.Hour)) || len(d.retired) == 0 {
				t.Errorf("%s: it is due at %s, and the buttons are %q", lock, at, d.retired)
			}
		})
	}
}

// An editor may have saved the file a moment ago. The user sees its current state, not
// the one that the bot read last.
func TestAnEditOfAFileThatWasJustSavedShowsIt(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		id := d.routine()
		before := d.File(id)
		data, err := d.dir.Read(before.Path)
		testkit.Must(t, err)
		testkit.Must(t, os.WriteFile(d.dir.Path(before.Path), []byte(strings.Replace(string(data), before.Cron, "15 6 * * *", 1)), 0o600))
		var changed *command.ChangedError
		_, err = d.try(command.EditTask{ID: id, Version: before.Digest, Edit: set("cron", "0 8 * * *")})
		if !errors.As(err, &changed) || changed.Now.Cron != "15 6 * * *" {
			t.Errorf("%+v", err)
		}
	})
}

// Words become the keys that say them. Those that do not change keep how the user wrote them, and those that
// nothing says any more go (issue 43).
func TestAScheduleInWordsWritesTheKeysThatChange(t *testing.T) {
	inBubble(t, func(t *testing.T, d *desk) {
		id := d.add(command.AddTask{Cron: "every other tuesday at 9 from 4 january 2000 until march, except 24 dec to 2 jan", Message: "Put out the bins"})
		file := d.File(id)
		if file.Cron != "0 9 * * 2, every 2 weeks, from 4 January 2000 until 31 March 2000, except 24 December to 2 January" {
			t.Fatalf("the file says %q", file.Cron)
		}
		data, err := d.dir.Read(file.Path)
		testkit.Must(t, err)
		mine := strings.Replace(string(data), "skip: \"24 Dec to 2 Jan\"", "skip: # Christmas\n  - 24 December to 2 Jan", 1)
		testkit.Must(t, os.WriteFile(d.dir.Path(file.Path), []byte(mine), 0o600))
		d.o.Schedule.Refresh(file.Path)
		body := d.describe(id)
		for _, want := range []string{"at 9:00, every 2 weeks on Tuesday, from 4 January 2000 until 31 March 2000", "Tue 2000-01-11 09:00, it is every 2 weeks"} {
			if !strings.Contains(body, want) {
				t.Errorf("it is described as\n%s", body)
			}
		}
		out := d.do(command.EditTask{ID: id, Version: d.File(id).Digest, Edit: set("cron", "tuesdays at 10 from 4 january 2000, 4 times, except 24 dec to 2 jan")})
		data, err = d.dir.Read(file.Path)
		testkit.Must(t, err)
		want := strings.NewReplacer("0 9 * * 2", "0 10 * * 2", "every: \"2 weeks\"\n", "", "until: \"2000-03-31\"\n", "").Replace(mine)
		if got := strings.Replace(string(data), "times: 4\n", "", 1); got != want || got == string(data) {
			t.Errorf("the file is\n%s\nwant, with the times,\n%s", data, want)
		}
		d.do(out.Undo)
		if data, err = d.dir.Read(file.Path); err != nil || string(data) != mine {
			t.Errorf("after undo the file is\n%s", data)
		}
		d.do(command.EditTask{ID: id, Version: d.File(id).Digest, Edit: set("cron", "every morning")})
		if got := d.File(id).Cron; got != "15 7 * * *" {
			t.Errorf("my morning is %s", got)
		}
		never := command.EditTask{ID: id, Version: d.File(id).Digest, Edit: set("cron", "0 9 * * 1, on the last friday")}
		if _, err := d.try(never); err == nil || !strings.Contains(err.Error(), "never falls") {
			t.Error(err)
		}
	})
}
