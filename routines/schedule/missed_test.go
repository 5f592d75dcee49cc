package schedule

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestARoutineNeverSeenBeforeIsNotMissed(t *testing.T) {
	inBubble(t, func(n *night) {
		time.Sleep(9*time.Hour + 30*time.Minute)
		n.put("routines/a.md", routineText(idA, "0 9 * * *", "water", "missed: run"))
		n.start()
		n.sleep(time.Hour)
		n.want()
		n.wantNotes()
	})
}

func TestAFireWhileTheBotWasDownIsNotedOnce(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 9 * * *", "water", `description: "Water the plants"`))
		n.start()
		n.stop()
		time.Sleep(10 * time.Hour)
		n.start()
		n.stop()
		n.start()
		n.sleep(time.Hour)
		n.want()
		n.wantNotes(`Missed routine "Water the plants" (was due 09:00)`)
	})
}

func TestAMissedFireOfAnotherDayIsNotedWithTheDay(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 9 1 * *", "water"))
		n.start()
		n.stop()
		time.Sleep(33 * time.Hour)
		n.start()
		n.stop()
		time.Sleep(32*24*time.Hour + 20*time.Hour)
		n.start()
		n.wantNotes(`Missed routine "water" (was due Saturday 09:00)`, `Missed routine "water" (was due Tuesday 09:00)`)
	})
}

func TestRunMissedRunsOnceLateAndCountsAllAsOne(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 * * * *", "water", "missed: run"))
		n.start()
		n.stop()
		time.Sleep(3*time.Hour + 30*time.Minute)
		n.start()
		n.sleep(20 * time.Minute)
		n.want("01 00:00:00 aaaaaaaa 01 00:00:00", "01 03:30:05 aaaaaaaa 01 03:00:00 late +2")
		n.wantNotes(`Missed routine "water" (was due 03:00); it runs now, late`)
		n.start()
		n.sleep(10 * time.Minute)
		n.want("01 00:00:00 aaaaaaaa 01 00:00:00", "01 03:30:05 aaaaaaaa 01 03:00:00 late +2", "01 04:00:00 aaaaaaaa 01 04:00:00")
	})
}

func TestRunMissedForgetsWhatIsOlderThanTwelveHours(t *testing.T) {
	for over, fires := range map[time.Duration][]string{0: {"01 13:00:05 aaaaaaaa 01 01:00:00 late"}, time.Second: nil} {
		inBubble(t, func(n *night) {
			n.put("routines/a.md", routineText(idA, "0 1 * * *", "water", "missed: run"))
			n.start()
			n.stop()
			time.Sleep(13*time.Hour + over)
			n.start()
			n.sleep(time.Hour)
			n.want(fires...)
			note := `Missed routine "water" (was due 01:00)`
			if over == 0 {
				note += "; it runs now, late"
			}
			n.wantNotes(note)
		})
	}
}

func TestAFireIsOnTimeForAMinute(t *testing.T) {
	for late, fires := range map[time.Duration][]string{time.Minute: {"01 01:01:00 aaaaaaaa 01 01:00:00"}, time.Minute + time.Second: nil} {
		inBubble(t, func(n *night) {
			n.put("routines/a.md", routineText(idA, "0 1 * * *", "water"))
			n.start()
			n.stop()
			time.Sleep(time.Hour + late)
			n.start()
			n.sleep(time.Minute)
			n.want(fires...)
			if missed := fires == nil; len(n.notes) > 0 != missed {
				t.Errorf("%s late: notes %q", late, n.notes)
			}
		})
	}
}

// While nothing is running, only a missed fire wakes the dashboard.
func TestOnlyAMissedFireWakesTheDashboardWhileNothingRuns(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 9 * * *", "water"))
		n.start()
		n.sleep(time.Hour)
		quiet := n.changes()
		n.sleep(time.Hour)
		if n.changes() != quiet {
			t.Errorf("woken %d times for nothing", n.changes()-quiet)
		}
		n.jump(10 * time.Hour)
		n.sleep(time.Minute)
		if n.changes() == quiet {
			t.Error("nobody was woken for the fire that was missed")
		}
		n.want()
	})
}

func TestALateRunThatHadNotStartedSurvivesARestart(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText(idA, "0 1 * * *", "water", "missed: run"))
		n.start()
		n.stop()
		time.Sleep(2 * time.Hour)
		n.start() // it notes this, and stops before the five seconds are over
		n.stop()
		n.start()
		n.sleep(time.Minute)
		n.want("01 02:00:05 aaaaaaaa 01 01:00:00 late")
		n.wantNotes(`Missed routine "water" (was due 01:00); it runs now, late`)
	})
}

func TestABacklogStartsStaggered(t *testing.T) {
	inBubble(t, func(n *night) {
		for i := range 3 {
			n.put(fmt.Sprintf("routines/%d.md", i), routineText(fmt.Sprintf("0000000%d", i), "0 1 * * *", "water", "missed: run"))
			n.put(fmt.Sprintf("reminders/%d.md", i), reminderText(fmt.Sprintf("1000000%d", i), "2000-01-01T01:00:00Z", "call"))
		}
		n.start()
		n.stop()
		time.Sleep(2 * time.Hour)
		n.start()
		n.sleep(time.Minute)
		if len(n.starts) != 6 {
			t.Fatalf("%d started: %v", len(n.starts), n.fired)
		}
		for i, at := range n.starts {
			if want := 2*time.Hour + 5*time.Second + time.Duration(i)*2*time.Second; at.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) != want {
				t.Errorf("start %d is at %v", i, at)
			}
		}
	})
}

func TestManyMissedRoutinesMakeOneNote(t *testing.T) {
	inBubble(t, func(n *night) {
		for i := range 30 {
			n.put(fmt.Sprintf("routines/%02d.md", i), routineText(fmt.Sprintf("%08x", i), "0 1 * * *", fmt.Sprintf("task %d", i)))
		}
		n.start()
		n.stop()
		time.Sleep(2 * time.Hour)
		n.start()
		if len(n.notes) != 1 || !strings.HasPrefix(n.notes[0], "Missed 30 routines: ") || !strings.HasSuffix(n.notes[0], "and 25 more") {
			t.Errorf("notes are %q", n.notes)
		}
	})
}
