package schedule

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core/base/testkit"
	"ollimbot/routines"
	"ollimbot/routines/account"
)

// A reminder with two moments ahead, in the bubble that begins on 1 January 2000.
func dentist(extra ...string) string {
	return reminderText(idA, "2000-01-03T09:00:00Z", "dentist", append([]string{`ahead: ["1 day: tomorrow", "1 hour"]`}, extra...)...)
}

func TestAReminderSpeaksBeforeItIsDue(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", dentist())
		var said []string
		n.does(func(_ context.Context, d Due) error {
			if d.Early != nil {
				said = append(said, d.Early.Long()+" "+d.Early.Text)
			}
			return nil
		})
		n.start()
		n.sleep(3 * day)
		n.want("02 09:00:00 aaaaaaaa 02 09:00:00", "03 08:00:00 aaaaaaaa 03 08:00:00", "03 09:00:00 aaaaaaaa 03 09:00:00")
		if strings.Join(said, "|") != "1 day tomorrow|1 hour " {
			t.Errorf("said %q", said)
		}
		n.wantFile("reminders/a.md", false)
		n.wantNotes()
		past, err := account.New(n.dir).Read(n.clock())
		testkit.Must(t, err)
		var rows []string
		for _, r := range past.Rows {
			rows = append(rows, r.Due.UTC().Format("02 15:04 ")+r.Title+" "+string(r.Fate))
		}
		if got := strings.Join(rows, "|"); got != "02 09:00 dentist (1 day before) done|03 08:00 dentist (1 hour before) done|03 09:00 dentist done" {
			t.Errorf("the account has %s", got)
		}
	})
}

// The schedule shows each moment, and no agent takes it for the task itself.
func TestMomentsAheadAreInTheSchedule(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", dentist())
		n.start()
		var day1 []string
		v := n.loop.View(n.clock().Add(21 * time.Hour))
		for _, e := range v.Day {
			day1 = append(day1, e.FireTime.Format("02 15:04 ")+e.Title+": "+e.Label+": "+e.Description)
		}
		if got := strings.Join(day1, "|"); got != "02 09:00 dentist (1 day before): Reminder (1 day before): tomorrow" || len(v.Tasks) != 1 {
			t.Errorf("the day has %s, and there are %d tasks", got, len(v.Tasks))
		}
		if v.Tasks[0].When != "1 day and 1 hour before" || !v.Tasks[0].Next.Equal(time.Date(2000, 1, 3, 9, 0, 0, 0, time.UTC)) {
			t.Errorf("%+v", v.Tasks[0])
		}
		var ahead []string
		for _, e := range n.loop.NextOf(idA, n.clock(), 5) {
			ahead = append(ahead, e.FireTime.Format("02 15:04"))
		}
		if got := strings.Join(ahead, "|"); got != "02 09:00|03 08:00|03 09:00" {
			t.Errorf("next: %s", got)
		}
		n.sleep(33*time.Hour + time.Minute)
		f := n.loop.Forward(n.clock(), "")
		if len(f.Entries) != 1 || f.Entries[0].Tag != tagJustFired || f.Entries[0].Title != "dentist (1 day before)" {
			t.Errorf("%+v", f.Entries)
		}
		if d, ok := n.loop.DueAt(idA, n.clock()); !ok || d.Early != nil {
			t.Errorf("by hand it fires %+v", d)
		}
	})
}

// While nothing runs, the last of the missed moments is said late; once the reminder itself is due, none.
func TestAMissedMomentAheadIsSaidLateOnce(t *testing.T) {
	for name, c := range map[string]struct {
		away  time.Duration
		fires []string
	}{
		"one":       {34 * time.Hour, []string{"02 10:00:05 aaaaaaaa 02 09:00:00 late", "03 08:00:00 aaaaaaaa 03 08:00:00", "03 09:00:00 aaaaaaaa 03 09:00:00"}},
		"two":       {56*time.Hour + 30*time.Minute, []string{"03 08:30:05 aaaaaaaa 03 08:00:00 late", "03 09:00:00 aaaaaaaa 03 09:00:00"}},
		"it is due": {58 * time.Hour, []string{"03 10:00:07 aaaaaaaa 03 09:00:00 late"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(n *night) {
				n.put("reminders/a.md", dentist())
				n.start()
				n.stop()
				n.sleep(c.away)
				for range 2 {
					n.start()
					n.sleep(time.Minute)
				}
				n.sleep(3 * day)
				n.want(c.fires...)
			})
		})
	}
}

// A moment whose run was cut off is said again after the next start, unless its run is known to have ended.
func TestAMomentAheadThatWasCutOffIsSaidOnce(t *testing.T) {
	for _, ended := range []bool{false, true} {
		inBubble(t, func(n *night) {
			n.put("reminders/a.md", dentist())
			n.does(func(ctx context.Context, _ Due) error { <-ctx.Done(); return ctx.Err() })
			n.start()
			n.sleep(33 * time.Hour)
			n.stop()
			asked := ""
			n.ended = func(id string, at, _ time.Time) bool { asked += id + at.UTC().Format(" 02 15:04"); return ended }
			n.does(func(context.Context, Due) error { return nil })
			n.start()
			n.sleep(time.Hour)
			fires := []string{"02 09:00:00 aaaaaaaa 02 09:00:00", "02 09:00:00 aaaaaaaa 02 09:00:00"}
			if ended {
				fires = fires[:1]
			}
			n.want(fires...)
			if asked != "aaaaaaaa 02 09:00" {
				t.Errorf("asked %q", asked)
			}
			n.start()
			n.sleep(time.Hour)
			n.want(fires...)
		})
	}
}

// The record is on the disk before anything is said, so a kill at any moment doubles nothing.
func TestAKillAtAMomentAheadRepeatsItWithTheSameName(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", dentist())
		var names []string
		var record []byte
		n.does(func(_ context.Context, d Due) error {
			names = append(names, d.Fire())
			if record == nil {
				record, _ = n.dir.Read(recordFile)
			}
			return nil
		})
		n.start()
		n.sleep(33*time.Hour + time.Second)
		n.stop()
		testkit.Must(t, os.WriteFile(n.dir.Path(recordFile), record, 0o600)) // as a kill leaves it
		n.start()
		n.sleep(time.Minute)
		if len(names) != 2 || names[0] != names[1] {
			t.Errorf("fires %q", names)
		}
	})
}

// Moments that have passed when the reminder is first seen, or gets another time, are not owed; those of a hold are left out.
func TestMomentsAheadFollowTheReminder(t *testing.T) {
	inBubble(t, func(n *night) {
		n.sleep(40 * time.Hour)
		n.put("reminders/a.md", dentist())
		n.start()
		n.sleep(time.Minute)
		n.want()
		n.put("reminders/a.md", strings.Replace(dentist(), "01-03T09", "01-04T09", 1))
		n.look()
		n.sleep(18 * time.Hour)
		n.want("03 09:00:00 aaaaaaaa 03 09:00:00")
		_, err := n.loop.Hold(idA, Hold{Until: n.clock().Add(30 * time.Hour)})
		testkit.Must(t, err)
		n.sleep(24 * time.Hour)
		n.want("03 09:00:00 aaaaaaaa 03 09:00:00")
		n.remove("reminders/a.md")
		n.look()
		n.sleep(day)
		n.want("03 09:00:00 aaaaaaaa 03 09:00:00")
	})
}

// A repetition says nothing ahead, and a moment costs no money.
func TestARepetitionSaysNothingAhead(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("reminders/a.md", reminderText(idA, "2000-01-01T02:00:00Z", "pills", "until: done", "max-chain: 1", "ahead: 10 minutes"))
		n.start()
		n.sleep(5 * time.Hour)
		n.want("01 01:50:00 aaaaaaaa 01 01:50:00", "01 02:00:00 aaaaaaaa 01 02:00:00", "01 02:30:00 aaaaaaaa 01 02:30:00", "01 03:00:00 aaaaaaaa 01 03:00:00")
	})
}

// A routine leaves out the days of a calendar, as it is on the disk; without the calendar it fires, and the account says why.
func TestARoutineLeavesOutTheDaysOfACalendar(t *testing.T) {
	inBubble(t, func(n *night) {
		n.form = "02"
		calendar := "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Off\nDTSTART;VALUE=DATE:20000102\nDTEND;VALUE=DATE:20000104\nEND:VEVENT\nEND:VCALENDAR\n"
		n.put("off.ics", calendar)
		n.put("routines/a.md", routineText(idA, "0 9 * * *", "water", "skip: 5 Jan, off.ics"))
		n.start()
		n.sleep(4*day + time.Hour)
		n.want("01 aaaaaaaa 01 09:00:00", "04 aaaaaaaa 04 09:00:00")
		n.put("off.ics", strings.Replace(calendar, "20000102", "20000107", 1))
		n.put("off.ics", strings.Replace(strings.Replace(calendar, "20000102", "20000107", 1), "20000104", "20000108", 1))
		n.sleep(4 * day)
		n.want("01 aaaaaaaa 01 09:00:00", "04 aaaaaaaa 04 09:00:00", "06 aaaaaaaa 06 09:00:00", "08 aaaaaaaa 08 09:00:00")
		n.remove("off.ics")
		n.sleep(day)
		past, err := account.New(n.dir).Read(n.clock())
		testkit.Must(t, err)
		if row := past.Rows[len(past.Rows)-1]; row.Fate != account.Ran || !strings.Contains(row.Why, "off.ics is not in the data directory") {
			t.Errorf("%+v", row)
		}
		found := false
		for _, p := range n.loop.Set().Problems {
			found = found || p.Severity == routines.Warning && strings.Contains(p.Message, "off.ics is not in the data directory")
		}
		if !found {
			t.Errorf("%+v", n.loop.Set().Problems)
		}
		synctest.Wait()
	})
}
