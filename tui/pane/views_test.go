package pane_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/fork"
	"ollimbot/core/updates"
	"ollimbot/routines"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
)

func TestViewsOfTheScheduleLookAsTheyDid(t *testing.T) {
	for turns, name := range []string{"window", "day", "all"} {
		for _, th := range []struct {
			name  string
			theme *theme.Theme
			sizes [][2]int
		}{
			{"", plainTheme(), [][2]int{{28, 9}, {40, 8}, {80, 12}, {120, 20}}},
			{"-ascii", theme.New(theme.Options{Plain: true, ASCII: true}), [][2]int{{80, 12}}},
		} {
			s := open("schedule")
			s.c.Theme = th.theme
			for range turns {
				s.do(action.ScheduleView)
			}
			for _, size := range th.sizes {
				compare(t, fmt.Sprintf("schedule-%s%s-%dx%d", name, th.name, size[0], size[1]), s.Lines(s.c, size[0], size[1], true))
			}
		}
	}
}

func TestTheTitleOfTheScheduleSaysWhichViewItIs(t *testing.T) {
	s := open("schedule")
	s.next(func(c *core.Snapshot) { c.Schedule.Problems = nil })
	var got []string
	for range 4 {
		_, state := s.Title(s.c)
		got = append(got, state)
		s.do(action.ScheduleView)
	}
	if d := cmp.Diff([]string{"next 3h", "24 h", "all tasks 8", "next 3h"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestTheSelectionStaysWithItsTaskFromViewToView(t *testing.T) {
	s := open("schedule")
	s.do(action.ScheduleDown, action.ScheduleDown) // Move a little
	for range 3 {
		s.do(action.ScheduleView)
		if a := s.do(action.ScheduleFire); a.Do != (core.FireNow{ID: "11aa22bb"}) {
			t.Errorf("another task is selected: %#v", a.Do)
		}
	}
}

// In the day a task may fire many times: each fire is a row of its own.
func TestAFireOfTheDayStaysSelectedAsTimeGoesOn(t *testing.T) {
	s := open("schedule")
	s.do(action.ScheduleView)
	for range 6 { // 18:15
		s.do(action.ScheduleDown)
	}
	marked := func() string {
		for _, l := range strings.Split(s.screen(80, 20), "\n") {
			if strings.HasPrefix(l, "▸") {
				return strings.TrimPrefix(l, "▸")[:5]
			}
		}
		return ""
	}
	before := marked()
	s.next(func(c *core.Snapshot) { c.Schedule.Day = c.Schedule.Day[2:] })
	if after := marked(); before != "18:15" || after != before {
		t.Errorf("%q was selected, now it is %q", before, after)
	}
}

func TestHoldsAnswerWithTheirCommands(t *testing.T) {
	s := open("schedule")
	s.do(action.ScheduleView, action.ScheduleView)
	select5 := []action.ID{action.ScheduleTop, action.ScheduleDown, action.ScheduleDown, action.ScheduleDown, action.ScheduleDown}
	if a := s.do(append(select5, action.SchedulePause)...); a.Do != (core.Pause{ID: "5a5a5a5a", Paused: false}) {
		t.Errorf("what is paused goes on, got %#v", a.Do)
	}
	if a := s.do(action.ScheduleDown, action.SchedulePause); a.Do != (core.Pause{ID: "9a8b7c6d", Paused: true}) {
		t.Errorf("got %#v", a.Do)
	}
	want := &pane.Until{Title: "Snooze Medication until", For: core.Snooze{ID: "9a8b7c6d"}, Now: noon.Add(18*time.Hour + 57*time.Minute + 50*time.Second)}
	if d := cmp.Diff(want, s.do(action.ScheduleSnooze).Until); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if a := s.do(action.ScheduleOpen); a.Edit == nil || *a.Edit != (pane.Edit{File: "routines/medication.md"}) {
		t.Errorf("opens %#v", a.Edit)
	}
}

func TestAProblemOpensAtItsPlace(t *testing.T) {
	s := open("schedule")
	a := s.do(action.ScheduleBottom, action.ScheduleOpen)
	if a.Edit == nil || *a.Edit != (pane.Edit{File: "routines/gym.md", Line: 3, Column: 8}) {
		t.Errorf("opens %#v", a.Edit)
	}
	for _, id := range []action.ID{action.ScheduleSnooze, action.SchedulePause, action.SchedulePreview} {
		if a := s.do(id); a.Toast == "" || a.Do != nil || a.Until != nil || a.Show != nil {
			t.Errorf("%s answers %#v", id, a)
		}
	}
}

func TestNothingScheduledStillTakesANewTask(t *testing.T) {
	s := open("schedule")
	s.next(func(c *core.Snapshot) { c.Schedule = core.ScheduleView{} })
	for range 3 {
		if !s.do(action.ScheduleNew).Create {
			t.Error("no form")
		}
		s.do(action.ScheduleView)
	}
}

func TestThousandsOfTasksAreDrawnAsFastAsAFew(t *testing.T) {
	s := open("schedule")
	s.next(func(c *core.Snapshot) {
		c.Schedule.Tasks = make([]core.TaskView, 10_000)
		for i := range c.Schedule.Tasks {
			c.Schedule.Tasks[i] = core.TaskView{ID: fmt.Sprint(i), Title: fmt.Sprintf("Task %d", i), When: "9:00, every day", Next: noon.Add(time.Hour)}
		}
	})
	s.do(action.ScheduleView, action.ScheduleView, action.ScheduleBottom)
	allocs := testing.AllocsPerRun(5, func() {
		s.next(func(*core.Snapshot) {})
		s.screen(80, 20)
	})
	if allocs > 1500 {
		t.Errorf("%.0f allocations to draw 20 of 10,000 rows", allocs)
	}
	has(t, s.screen(80, 20), "Task 9999")
}

func TestAComingDroughtIsSaidInWordsAndWithASign(t *testing.T) {
	s := open("budget")
	s.next(func(c *core.Snapshot) {
		c.Budget.State.Available, c.Budget.Dry = 1.2, c.Schedule.Entries[3].FireTime
		c.Budget.Forecast = []core.Tokens{{At: noon, Left: 1.2}, {At: c.Schedule.Entries[2].FireTime, Left: 0.5}, {At: c.Budget.Dry, Left: 0.9}}
	})
	has(t, s.screen(80, 12), "! dry at 15:15: Nudge me to stand up an… finds no token")
	has(t, s.screen(40, 8), "! dry at 15:15", "finds no token")
	has(t, s.Line(s.c, 60), "! dry at 15:15")
	if _, state := s.Title(s.c); state != "dry 15:15" {
		t.Errorf("the title says %q", state)
	}
	for _, size := range [][2]int{{40, 8}, {80, 12}, {120, 20}} {
		compare(t, fmt.Sprintf("budget-dry-%dx%d", size[0], size[1]), s.Lines(s.c, size[0], size[1], true))
	}
}

func TestMutedUntilATimeShowsAndAsks(t *testing.T) {
	s := open("budget")
	until := noon.Add(2 * time.Hour)
	s.next(func(c *core.Snapshot) { c.Budget.Muted, c.Budget.Quiet = until, until })
	has(t, s.screen(40, 8), "muted until 16:02", "critical only")
	if n := strings.Count(s.screen(40, 8), "until 16:02"); n != 1 {
		t.Errorf("it is said %d times", n)
	}
	want := &pane.Until{Title: "Mute pings that are not critical until", For: core.MuteUntil{}, Now: until}
	if d := cmp.Diff(want, s.do(action.Mute).Until); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestAnUpdateNamesTheRunThatLeftIt(t *testing.T) {
	s := open("updates")
	left := noon.Add(-7 * time.Minute)
	s.next(func(c *core.Snapshot) {
		c.Updates = []updates.Update{{Key: "x", At: left, Message: "The pill was taken."}}
	})
	has(t, s.screen(80, 12), "Medication: The pill was taken.")
	has(t, s.do(action.UpdatesRead).Show.Body, "by Medication.", "\nThe pill was taken.")
	s.next(func(c *core.Snapshot) { // two may have left it
		c.Forks = append(c.Forks[:len(c.Forks):len(c.Forks)], fork.View{Title: "Other", Reports: 1, Started: left.Add(-time.Minute)})
	})
	if screen := s.screen(80, 12); strings.Contains(screen, "Medication:") {
		t.Errorf("a guess is shown as a fact:\n%s", screen)
	}
	if a := s.do(action.UpdatesDeliver); a.Do != (core.DeliverNow{}) {
		t.Errorf("got %#v", a.Do)
	}
}

func TestHeldFiresAreNotOnTheTimeline(t *testing.T) {
	s := open("schedule")
	s.next(func(c *core.Snapshot) {
		at := c.Schedule.Day[0].FireTime
		c.Schedule.Day = []routines.Entry{{ID: "a", FireTime: at.Add(time.Hour)}, {ID: "b", FireTime: at.Add(time.Hour), Held: true}, {ID: "c", FireTime: at.Add(2 * time.Hour), Silent: true}}
	})
	s.do(action.ScheduleView)
	first := strings.Split(s.screen(120, 12), "\n")[0]
	if !strings.HasPrefix(first, " ·   1   1✕  ·") {
		t.Errorf("the timeline is %q", first)
	}
}
