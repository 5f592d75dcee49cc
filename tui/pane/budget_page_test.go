package pane_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/work/budget"
)

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
