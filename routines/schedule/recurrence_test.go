package schedule

import (
	"strings"
	"testing"
	"time"

	"ollimbot/routines/leeway"
)

const day = 24 * time.Hour

// From the file to the fire (issue 43). The bubble begins on Saturday 1 January 2000.
func TestARoutineFiresOnTheDaysThatItsKeysLeave(t *testing.T) {
	for name, c := range map[string]struct {
		cron  string
		keys  []string
		fires string
	}{
		"every other week": {"0 9 * * 2", []string{"every: 2 weeks", "from: 2000-01-04"}, "04 18"},
		"days":             {"0 17 * * 5", []string{"days: [second friday, last friday]"}, "14 28"},
		"bounds":           {"0 9 * * *", []string{"from: 2000-01-05", "until: 2000-01-07"}, "05 06 07"},
		"times":            {"0 9 * * *", []string{"from: 2000-01-05", "times: 2"}, "05 06"},
		"skip":             {"0 9 * * *", []string{"until: 2000-01-10", "skip: 2 Jan to 8 Jan, 2000-01-10"}, "01 09"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(n *night) {
				n.form = "02"
				n.put("routines/a.md", routineText(idA, c.cron, "water", c.keys...))
				n.start()
				n.sleep(30 * day)
				var days []string
				for _, f := range n.fired {
					days = append(days, f[:2])
				}
				if got := strings.Join(days, " "); got != c.fires {
					t.Errorf("fired on %s, want %s", got, c.fires)
				}
				n.wantNotes()
			})
		})
	}
}

// A routine that has ended says so, is never missed, and fires again once its end is later.
func TestARoutineThatHasEndedSaysSoAndCanBeExtended(t *testing.T) {
	inBubble(t, func(n *night) {
		text := routineText(idA, "0 9 * * *", "water", "missed: run", "until: 2000-01-02")
		n.put("routines/a.md", text)
		n.start()
		n.sleep(3 * day)
		n.stop()
		n.sleep(3 * day)
		n.start()
		n.sleep(time.Hour)
		n.want("01 09:00:00 aaaaaaaa 01 09:00:00", "02 09:00:00 aaaaaaaa 02 09:00:00")
		n.wantNotes()
		if v := n.loop.View(n.clock()).Tasks[0]; v.Ended != "ended on 2 January 2000" || !v.Next.IsZero() || v.When != "at 9:00, every day, until 2 January 2000" {
			t.Errorf("%+v", v)
		}
		if f := n.loop.Forward(n.clock(), ""); len(f.Entries) > 0 {
			t.Errorf("%+v", f.Entries)
		}
		n.put("routines/a.md", strings.Replace(text, "2000-01-02", "2000-01-08", 1))
		n.look()
		n.sleep(day)
		n.want("01 09:00:00 aaaaaaaa 01 09:00:00", "02 09:00:00 aaaaaaaa 02 09:00:00", "07 09:00:00 aaaaaaaa 07 09:00:00")
	})
}

// A clock that is set back over the end makes the routine fire again, from the new time on.
func TestAClockSetBackOverAnEndFiresAgain(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 9 * * *", "water", "until: 2000-01-02"))
		n.start()
		n.sleep(5 * day)
		n.jump(-5 * day)
		n.sleep(2*day + time.Hour)
		n.want("01 09:00:00 aaaaaaaa 01 09:00:00", "02 09:00:00 aaaaaaaa 02 09:00:00", "01 09:00:00 aaaaaaaa 01 09:00:00")
	})
}

// A missed fire runs late only as long as the file says, and a missed last one counts.
func TestLateSaysHowOldAMissedFireMayBe(t *testing.T) {
	for late, fires := range map[string]int{"1 hour": 0, "3 hours": 1, "20 hours": 1} {
		inBubble(t, func(n *night) {
			n.put("routines/a.md", routineText(idA, "0 9 * * *", "water", "missed: run", "late: "+late, "from: 2000-01-01", "times: 1"))
			n.start()
			n.stop()
			time.Sleep(11 * time.Hour)
			n.start()
			n.sleep(3 * day)
			if len(n.fired) != fires || len(n.notes) != 1 {
				t.Errorf("late: %s: fired %q, noted %q", late, n.fired, n.notes)
			}
		})
	}
}

// The times of a task with its own zone are of that zone's clock, and shown in the user's.
func TestATaskWithItsOwnZoneFollowsItsClock(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 9 * * *", "water", "zone: Asia/Tokyo", "window: 9:00-11:00", "from: 2000-01-02"))
		n.start()
		n.sleep(10 * time.Hour)
		v := n.loop.View(n.clock()).Tasks[0]
		const layout = "02 15:04 MST"
		if v.Next.Format(layout) != "02 00:00 UTC" || v.Until.Format(layout) != "02 02:00 UTC" || !strings.HasSuffix(v.When, "in Asia/Tokyo time, 9:00-11:00") {
			t.Errorf("%+v", v)
		}
		begin := time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)
		n.knows(leeway.Facts{Busy: []leeway.Busy{{From: begin, To: begin.Add(5 * time.Hour), Why: "meeting"}}}) // beyond the window
		n.sleep(20 * time.Hour)
		n.want("02 02:00:00 aaaaaaaa 02 02:00:00")
	})
}

// The forward schedule of the agent, the lists and the account use the same times.
func TestEveryViewShowsTheTimesThatFire(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 * * * *", "water", "from: 2000-01-02", "every: 2 days", "until: 2000-01-04"))
		n.start()
		n.sleep(22 * time.Hour)
		plan := n.loop.Plan(n.clock())
		want := time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC)
		v := plan.View()
		if f := plan.Forward(""); len(f.Entries) != 1 || !f.Entries[0].FireTime.Equal(want) {
			t.Errorf("forward: %+v", f.Entries)
		}
		if len(v.Day) == 0 || !v.Day[0].FireTime.Equal(want) || len(v.Day) != 23 || !v.Tasks[0].Next.Equal(want) {
			t.Errorf("view: %d, %+v", len(v.Day), v.Tasks)
		}
		next := plan.NextOf(idA, 30)
		if len(next) != 30 || next[24].FireTime.Format("02 15") != "04 00" {
			t.Errorf("next: %+v", next)
		}
		n.stop()
		n.sleep(3*day + 5*time.Hour)
		n.start()
		if due := n.fateWords(idA, n.clock()); len(due) != 48 {
			t.Errorf("%d due times are in the account, want 48", len(due))
		}
	})
}

// A window opens on the days that are left, and its fire does not wait beyond the last of them.
func TestAWindowOpensOnTheDaysThatAreLeft(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 9 * * *", "water", "window: 9:00-11:00", "days: first sunday", "times: 1", "from: 2000-01-01"))
		n.start()
		n.sleep(20 * day)
		if len(n.fired) != 1 || n.fired[0][:2] != "02" {
			t.Errorf("%q", n.fired)
		}
	})
}

// The record knows a routine by its whole schedule: a new bound owes nothing from before.
func TestANewBoundOwesNothingFromBefore(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 9 * * *", "water", "missed: run", "until: 2000-01-01"))
		n.start()
		n.stop()
		n.sleep(3*day + 12*time.Hour)
		n.put("routines/a.md", routineText(idA, "0 9 * * *", "water", "missed: run"))
		n.start()
		n.sleep(time.Hour)
		n.want()
		n.wantNotes()
	})
}
