package pane_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/updates"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
)

func TestBudgetStatesAreWords(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*core.BudgetView)
		words  []string
	}{
		{"full", func(b *core.BudgetView) {
			b.State.Available, b.NextAt, b.FullAt = 5, time.Time{}, time.Time{}
		}, []string{"full", "5 / 5"}},
		{"empty", func(b *core.BudgetView) { b.State.Available = 0.97 }, []string{"empty", "0.9 / 5"}},
		{"muted", func(b *core.BudgetView) { b.State.Capacity, b.State.Available = 0, 0 }, []string{"muted", "Only critical"}},
		{"quiet", func(b *core.BudgetView) { b.Quiet = noon.Add(17*time.Hour + 28*time.Minute) }, []string{"quiet until Tue 07:30", "critical only"}},
		{"reserved", func(*core.BudgetView) {}, []string{"1 on its way"}},
	} {
		s := open("budget")
		s.next(func(snap *core.Snapshot) { c.change(&snap.Budget) })
		t.Run(c.name, func(t *testing.T) { has(t, s.screen(40, 8), c.words...) })
	}
}

func TestScheduleSelectsWhatComesNextAndStaysWithIt(t *testing.T) {
	s := open("schedule")
	if a := s.do(action.ScheduleFire); a.Do != (command.FireNow{ID: "0f1e2d3c"}) {
		t.Errorf("the next task fires, got %#v", a.Do)
	}
	s.do(action.ScheduleDown, action.ScheduleDown) // Move a little
	s.next(func(c *core.Snapshot) {
		c.Schedule.Entries = append([]schedule.Entry{{ID: "new", FireTime: noon.Add(time.Minute)}}, c.Schedule.Entries[1:]...)
		c.Schedule.Entries = append([]schedule.Entry{{ID: "newer", FireTime: noon.Add(time.Second)}}, c.Schedule.Entries...)
	})
	if a := s.do(action.SchedulePreview); a.Show == nil || a.Show.Load != (command.Preview{ID: "11aa22bb"}) {
		t.Errorf("the selection left its task: %#v", a.Show)
	}
}

func TestScheduleDetailsAskForEverythingAboutTheTask(t *testing.T) {
	s := open("schedule")
	a := s.do(action.ScheduleDown, action.ScheduleDetails)
	if d := cmp.Diff(&pane.Page{Title: "Has the landlord answered?", Load: command.Describe{ID: "c0ffee00"}}, a.Show); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestAProblemIsReadNotFired(t *testing.T) {
	s := open("schedule")
	s.do(action.ScheduleBottom)
	has(t, s.do(action.ScheduleDetails).Show.Body, "error in routines/gym.md:3:8", "as in 0 9 * * 1", "last good version")
	if a := s.do(action.ScheduleFire); a.Do != nil || a.Toast == "" {
		t.Errorf("firing a problem answers %#v", a)
	}
}

func TestProblemsAreAlwaysInSight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := open("schedule")
		s.next(func(c *core.Snapshot) {
			for i := range rapid.IntRange(0, 20).Draw(t, "entries") {
				c.Schedule.Entries = append(c.Schedule.Entries, schedule.Entry{ID: fmt.Sprint(i), FireTime: noon.Add(time.Hour)})
			}
		})
		for range rapid.IntRange(0, 25).Draw(t, "down") {
			s.do(action.ScheduleDown)
		}
		screen := s.screen(rapid.IntRange(16, 90).Draw(t, "w"), rapid.IntRange(2, 30).Draw(t, "h"))
		if !strings.Contains(screen, "error") && !strings.Contains(screen, "gym.md:3:8") || strings.Count(screen, "▸") != 1 {
			t.Fatalf("the error or the selection is out of sight:\n%s", screen)
		}
	})
}

func TestReadOnlyPanesChangeNothing(t *testing.T) {
	for name, ids := range map[string][]action.ID{
		"schedule": {action.ScheduleFire}, "updates": {action.UpdatesDiscard},
		"forks": {action.ForksStop}, "chat": {action.ChatWrite, action.ChatSend},
	} {
		s := open(name)
		s.c.ReadOnly = true
		for _, id := range ids {
			if d := cmp.Diff(pane.Answer{Toast: "…"}, s.do(id), cmp.Transformer("any", func(s string) bool { return s != "" })); d != "" {
				t.Errorf("%s answers more than a toast:\n%s", id, d)
			}
			if s.Capture() {
				t.Errorf("%s opens an input", id)
			}
		}
	}
}

func TestUpdatesAreNewestFirstAndKeepTheirSelection(t *testing.T) {
	s := open("updates")
	if screen := s.screen(80, 12); strings.Index(screen, "Email triage") > strings.Index(screen, "Medication") {
		t.Error("the newest does not stand on top")
	}
	s.do(action.UpdatesDown)
	s.next(func(c *core.Snapshot) {
		c.Updates = append(c.Updates[:len(c.Updates):len(c.Updates)], updates.Update{Key: "c", At: noon, Message: "new"})
	})
	if a := s.do(action.UpdatesDiscard); a.Do != (command.DiscardUpdate{Key: "a"}) {
		t.Errorf("the selection left its update: %#v", a.Do)
	}
	has(t, s.do(action.UpdatesRead).Show.Body, "Medication: pinged at 8:00, no answer yet.", "Monday 23 November 2026, 08:02 PT")
	s.next(func(c *core.Snapshot) { c.Updates = nil })
	if a := s.do(action.UpdatesDiscard); a.Do != nil || a.Toast == "" {
		t.Errorf("without updates: %#v", a)
	}
}

func TestWhatTheUserLooksAtStaysSelected(t *testing.T) {
	s := open("schedule")
	first := s.do(action.ScheduleDetails).Show.Title
	s.next(func(c *core.Snapshot) {
		sooner := schedule.Entry{ID: "new", Description: "Sooner", FireTime: noon.Add(time.Second)}
		at := slices.IndexFunc(c.Schedule.Entries, func(e schedule.Entry) bool { return e.FireTime.After(noon) })
		c.Schedule.Entries = slices.Insert(slices.Clone(c.Schedule.Entries), at, sooner)
	})
	if got := s.do(action.ScheduleDetails).Show.Title; got != first {
		t.Errorf("the selection went from %q to %q", first, got)
	}
}

func TestFiringAReminderAsksBecauseItGoesWithItsRun(t *testing.T) {
	for views := range 3 {
		s := open("schedule")
		for range views {
			s.do(action.ScheduleView)
		}
		asked, done := map[command.Value]bool{}, map[command.Value]bool{}
		s.do(action.ScheduleTop)
		for range 12 {
			a := s.do(action.ScheduleFire)
			if a.Ask != nil {
				asked[a.Ask.Do] = true
				has(t, a.Ask.Text, "Has the landlord answered?", "Undo keeps it")
			}
			if a.Do != nil {
				done[a.Do] = true
			}
			s.do(action.ScheduleDown)
		}
		reminder := command.FireNow{ID: "c0ffee00"}
		if len(asked) != 1 || !asked[reminder] || done[reminder] || len(done) < 3 {
			t.Errorf("view %d: asked about %v, done at once %v", views, asked, done)
		}
	}
}
