package pane_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/work/budget"
)

func TestTheBudgetPageSaysWhetherThereIsEnough(t *testing.T) {
	s := open("budget")
	has(t, s.screen(120, 30), "✓ enough until Tue 14:02, even if every task pings")
	s.next(func(c *core.Snapshot) {
		c.Budget.State.Available, c.Budget.State.RefillRateMinutes = 1.1, 600
		c.Budget.Fires = slices.Clone(c.Budget.Fires)
		for i := range c.Budget.Fires {
			c.Budget.Fires[i].Rate = 0.05
		}
	})
	has(t, s.screen(120, 30), "✓ likely enough until Tue 14:02; if every task pings, out at 15:15: Nudge me to stand up")
	s.next(func(c *core.Snapshot) {
		c.Budget.State.Available, c.Budget.Fires = 0.2, slices.Clone(c.Budget.Fires)
		for i := range c.Budget.Fires {
			c.Budget.Fires[i].Rate = 0.9
		}
	})
	has(t, s.screen(120, 30), "! the next ping can go at 15:14; at 14:30 a ping is likely refused: Has the landlord")
	s.next(func(c *core.Snapshot) { c.Budget.State.Capacity = 0 })
	has(t, s.screen(120, 30), "muted: the capacity is 0")
}

// A ping that was answered is in the hour and on the weekday on which it was sent.
func TestTheBudgetPageShowsWhenPingsAreAnswered(t *testing.T) {
	s := open("budget")
	s.next(func(c *core.Snapshot) {
		at := time.Date(2026, 11, 16, 9, 30, 0, 0, c.Zone) // a Monday
		c.Budget.Pings = []budget.Ping{
			{At: at, Title: "One", Answered: at.Add(time.Minute)}, {At: at.Add(time.Minute), Title: "Two"}, {At: at, Title: "Three", Refused: "no token"},
		}
	})
	screen := s.screen(120, 30)
	has(t, screen, "1 of 2 pings answered", " Mon "+strings.Repeat("·", 18)+"▆▆"+strings.Repeat("·", 28), " Tue "+strings.Repeat("·", 48))
	if low := s.screen(120, 20); strings.Contains(low, "pings answered") {
		t.Errorf("a low page has no room for it:\n%s", low)
	}
}

func TestTheBudgetPageListsTheMessagesNewestFirst(t *testing.T) {
	s := open("budget")
	screen := s.screen(120, 30)
	has(t, screen, "Dana waits for the numbers.", "the budget is empty", "refused", "after 4 min", "not answered")
	last := -1
	for _, text := range []string{"Dana waits", "morning pill", "Sun 17:30 ◆ Medication"} {
		if at := strings.Index(screen, text); at <= last {
			t.Errorf("%q is not where it belongs:\n%s", text, screen)
		} else {
			last = at
		}
	}
	s.next(func(c *core.Snapshot) { c.Budget.Pings = nil })
	has(t, s.screen(120, 30), "3 pings, 1 critical")
}

// Refusals are rows, too, so that the rows are counted apart from the pings (S4).
func TestTheBudgetPageCountsItsRowsWithTheRefusals(t *testing.T) {
	s := open("budget")
	s.next(func(c *core.Snapshot) {
		c.Budget.Pings = nil
		for i := range 9 {
			c.Budget.Pings = append(c.Budget.Pings, budget.Ping{At: c.At.Add(-time.Hour + time.Duration(i)*time.Minute), Title: "Tea"})
		}
		c.Budget.Pings[0].Refused = "no token"
	})
	screen := s.screen(120, 10)
	_, after, _ := strings.Cut(screen, "newest ")
	rows, _, _ := strings.Cut(after, " of 9 ")
	if want := strconv.Itoa(strings.Count(screen, "not answered")); rows != want {
		t.Errorf("it says that it shows %q rows of nine, and shows %s:\n%s", rows, want, screen)
	}
}
