package tasks

import (
	"os"
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
		if list := d.pending(); len(list) != 1 || strings.Contains(list[0], "reached the user") {
			t.Errorf("the agent is told %q", list)
		}
	})
}

// A chain of checks continues where it was. A reminder that repeats until done starts
// over, because the user has seen it.
func TestAPutOffReminderGoesOnWithItsChain(t *testing.T) {
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

// The answer counts. The user is told why it could not be saved.
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
