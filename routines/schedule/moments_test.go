package schedule

import (
	"strings"
	"testing"
	"time"

	"ollimbot/routines/leeway"
)

// usual makes the user active at a time of every day before the bubble starts.
func usual(at time.Duration) *leeway.Habit {
	begin := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	var active []time.Time
	for back := 1; back <= 28; back++ {
		active = append(active, begin.AddDate(0, 0, -back).Add(at))
	}
	return leeway.NewHabit(active, begin, time.UTC)
}

// row returns the first entry of a task in the view, as "09:00–11:00" or "10:05 reason".
func (n *night) row(id string) string {
	n.t.Helper()
	for _, e := range n.loop.View(n.clock()).Day {
		if e.ID != id {
			continue
		}
		text := e.FireTime.Format("15:04")
		if !e.Until.IsZero() {
			text += "–" + e.Until.Format("15:04")
		}
		return strings.TrimSpace(text + " " + e.Reason)
	}
	return ""
}

func TestAWindowIsARangeAndThenAMinuteThatSurvivesARestart(t *testing.T) {
	inBubble(t, func(n *night) {
		n.knows(leeway.Facts{Habit: usual(10*time.Hour + 8*time.Minute)})
		n.put("routines/a.md", routineText("a", "0 9 * * *", "Go.", "window: 9:00-11:00"))
		n.start()
		n.sleep(8 * time.Hour)
		if got := n.row("a"); got != "09:00–11:00" {
			t.Error("before the window:", got)
		}
		n.sleep(time.Hour + time.Minute)
		want := "10:05 you are usually here then"
		if got := n.row("a"); got != want {
			t.Error("in the window:", got)
		}
		n.knows(leeway.Facts{Habit: usual(10*time.Hour + 40*time.Minute)}) // too late to matter
		n.start()
		if got := n.row("a"); got != want {
			t.Error("after a restart:", got)
		}
		n.sleep(time.Hour + 4*time.Minute)
		n.want("01 10:05:00 a 01 10:05:00")
		n.start()
		n.sleep(55 * time.Minute)
		n.want("01 10:05:00 a 01 10:05:00")
		n.wantFates("a", "09:00 done")
		n.wantNotes()
		n.sleep(24 * time.Hour)
		n.want("01 10:05:00 a 01 10:05:00", "02 10:35:00 a 02 10:35:00")
	})
}

func TestABusyUserMovesAFireLaterButNotBeyondItsWindow(t *testing.T) {
	inBubble(t, func(n *night) {
		n.knows(leeway.Facts{Habit: usual(9*time.Hour + 8*time.Minute)})
		n.put("routines/a.md", routineText("a", "0 9 * * *", "Go.", "window: 9:00-11:00"))
		n.start()
		n.sleep(9*time.Hour + time.Minute)
		if got := n.row("a"); got != "09:05 you are usually here then" {
			t.Error(got)
		}
		begin := time.Date(2000, 1, 1, 9, 3, 0, 0, time.UTC)
		talks := func(until time.Duration) leeway.Facts {
			busy := leeway.Busy{From: begin, To: begin.Add(until), Why: "conversation"}
			return leeway.Facts{Habit: usual(9*time.Hour + 8*time.Minute), Busy: []leeway.Busy{busy}}
		}
		n.knows(talks(27 * time.Minute))
		n.sleep(5 * time.Minute)
		n.want()
		if got := n.row("a"); !strings.HasSuffix(got, "conversation until 09:30") {
			t.Error(got)
		}
		n.knows(talks(3 * time.Hour))
		n.sleep(113 * time.Minute)
		n.want()
		n.sleep(2 * time.Minute)
		n.want("01 11:00:00 a 01 11:00:00")
		if n.sleep(time.Hour); len(n.fired) != 1 {
			t.Error(n.fired)
		}
	})
}

func TestABotThatStartsInAWindowUsesTheRestOfItAndAfterItTheFireWasMissed(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText("a", "0 9 * * *", "Go.", "window: 9:00-11:00"))
		n.put("routines/b.md", routineText("b", "0 8 * * *", "Go.", "window: 8:00-9:00"))
		n.put("reminders/c.md", reminderText("c", "2000-01-01T09:00:00Z", "Call.", "window: 9:00-11:00"))
		n.put("reminders/d.md", reminderText("d", "2000-01-01T08:00:00Z", "Call.", "window: 8:00-9:00"))
		n.start()
		n.sleep(time.Hour)
		n.stop()
		n.sleep(9 * time.Hour) // to 10:00
		n.knows(leeway.Facts{Habit: usual(10*time.Hour + 38*time.Minute)})
		n.start()
		n.sleep(10 * time.Second)
		n.want("01 10:00:05 d 01 08:00:00 late")
		n.wantNotes(`Missed routine "Go." (was due 08:00)`)
		n.sleep(2 * time.Hour)
		if len(n.fired) != 3 || strings.Contains(n.fired[1]+n.fired[2], "late") || n.fired[1] < "01 10:20" || n.fired[2] > "01 11:00:01" {
			t.Error(n.fired)
		}
	})
}

func TestAWindowThatChangesWhileItIsOpenIsChosenAnew(t *testing.T) {
	inBubble(t, func(n *night) {
		n.knows(leeway.Facts{Habit: usual(11*time.Hour + 8*time.Minute)})
		n.put("routines/a.md", routineText("a", "0 9 * * *", "Go.", "window: 9:00-11:00"))
		n.start()
		n.sleep(9*time.Hour + time.Minute)
		n.put("routines/a.md", routineText("a", "0 9 * * *", "Go.", "window: 9:00-12:00"))
		n.look()
		n.sleep(time.Second)
		if got := n.row("a"); got != "11:05 you are usually here then" {
			t.Error(got)
		}
		if _, err := n.loop.Hold("a", Hold{Until: n.clock().Add(3 * time.Hour)}); err != nil {
			t.Fatal(err)
		}
		n.sleep(4 * time.Hour)
		n.want() // the snooze covers the moment
		n.wantFates("a", "09:00 held paused")
		if got := n.row("a"); got != "09:00–12:00" {
			t.Error("tomorrow:", got)
		}
	})
}

func TestAJitterIsLaterByMinutesThatDifferFromDayToDay(t *testing.T) {
	inBubble(t, func(n *night) {
		n.put("routines/a.md", routineText("a", "0 9 * * *", "Go.", "jitter: 30m"))
		n.start()
		n.sleep(10 * 24 * time.Hour)
		seen := map[string]bool{}
		for i, at := range n.starts {
			late := at.Sub(time.Date(2000, 1, 1+i, 9, 0, 0, 0, time.UTC))
			if late < 0 || late > 30*time.Minute {
				t.Error(at)
			}
			seen[late.String()] = true
		}
		if len(n.starts) != 10 || len(seen) < 5 {
			t.Error(n.fired)
		}
	})
}

func TestTwoTasksOfOneWindowKeepTheirDistance(t *testing.T) {
	inBubble(t, func(n *night) {
		n.knows(leeway.Facts{Habit: usual(10*time.Hour + 8*time.Minute)})
		for _, id := range []string{"a", "b"} {
			n.put("routines/"+id+".md", routineText(id, "0 9 * * *", "Go.", "window: 9:00-11:00"))
		}
		n.start()
		n.sleep(12 * time.Hour)
		if len(n.starts) != 2 || n.starts[1].Sub(n.starts[0]) < 5*time.Minute {
			t.Error(n.fired)
		}
	})
}
