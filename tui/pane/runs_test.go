package pane_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/agent"
	"ollimbot/core/fork"
	"ollimbot/tui/action"
)

// longDay is a day of many runs: one failed an hour ago, the others since then
// did not, one runs and one waits.
func longDay(c *core.Snapshot) {
	c.Started = noon.Add(-6 * time.Hour)
	c.Forks = []fork.View{
		{ID: "r0000000", Title: "Weekly review", State: fork.Running, Started: noon.Add(-time.Minute)},
		{ID: "w0000000", Title: "Email sweep", State: fork.Waiting, Position: 1, Queued: noon},
	}
	for i := range 15 {
		at := noon.Add(-time.Duration(i+1) * 5 * time.Minute)
		f := fork.View{ID: fmt.Sprintf("d%07d", i), Title: fmt.Sprintf("Task %d", i), State: fork.Done, Started: at, Ended: at.Add(time.Minute)}
		if i == 12 {
			f.ID, f.Title, f.State, f.Error = "f0000000", "Rent", fork.Failed, "the disk is full"
		}
		c.Forks = append(c.Forks, f)
	}
	c.Forks = append(c.Forks, fork.View{ // of another day
		ID: "f1111111", Title: "Old trouble", State: fork.Failed, Started: noon.Add(-9 * time.Hour), Ended: noon.Add(-8 * time.Hour),
	})
}

func (s *stage) rows(n int) []string { return strings.Split(s.screen(80, 18), "\n")[:n] }

func TestAFailureStaysOnTopUntilSomebodyHasLookedAtIt(t *testing.T) {
	s := open("forks")
	s.next(longDay)
	unseen := func() []string { return s.Pane.(interface{ Unseen(*core.Snapshot) []string }).Unseen(s.c.Snap) }
	wants := func(n int, titles ...string) {
		t.Helper()
		if got := len(unseen()); got != n {
			t.Errorf("%d failures are unseen, want %d", got, n)
		}
		for i, l := range s.rows(len(titles)) {
			if !strings.Contains(l, titles[i]) {
				t.Errorf("row %d is %q, want %s", i, l, titles[i])
			}
		}
	}
	wants(1, "Rent", "Weekly review", "Email sweep", "Task 0")
	s.do(action.ForksDown) // from the run that goes on: nobody has looked yet
	wants(1, "Rent", "Weekly review", "Email sweep")
	s.do(action.ForksUp, action.ForksUp)
	has(t, s.screen(80, 18), "tail: Rent", "the disk is full")
	wants(0, "Rent", "Weekly review") // it stays while it is looked at
	s.next(func(*core.Snapshot) {})
	wants(0, "Rent", "Weekly review")
	s.do(action.ForksDown)
	s.next(func(*core.Snapshot) {})
	wants(0, "Weekly review", "Email sweep", "Task 0")
	has(t, s.screen(80, 18), "tail: Weekly review")
}

func TestTheListOfRunsHasMoreThanAThirdWhereThereIsRoom(t *testing.T) {
	s := open("forks")
	s.next(longDay)
	for h, least := range map[int]int{9: 3, 18: 8, 24: 12, 40: 18} {
		n := 0
		for _, l := range strings.Split(s.screen(80, h), "\n") {
			if strings.Contains(l, "tail: ") {
				break
			}
			n++
		}
		if n < least || n > h/2 {
			t.Errorf("%d of %d lines", n, h)
		}
	}
}

func TestTheFiguresOfRunsStandBelowEachOther(t *testing.T) {
	s := open("forks")
	s.next(func(c *core.Snapshot) {
		ended := noon.Add(-time.Minute)
		c.Forks = []fork.View{
			{ID: "1", Title: "A", State: fork.Done, Started: noon.Add(-time.Hour), Ended: ended, Pings: 1, Reports: 1, Tools: 12, Usage: agent.Usage{InputTokens: 7800, CostUSD: 0.012}},
			{ID: "2", Title: "B", State: fork.Done, Started: noon.Add(-2 * time.Minute), Ended: ended, Tools: 1},
			{ID: "3", Title: "C", State: fork.Failed, Started: noon.Add(-2 * time.Minute), Ended: ended, Refused: 1, Usage: agent.Usage{InputTokens: 120, CostUSD: 1.2}},
			{ID: "4", Title: "D", State: fork.Running, Started: noon.Add(-2 * time.Minute), Reports: 1, Pings: 2, Critical: 1},
		}
	})
	columns := [][]string{{"pinged ", "critical"}, {"refused"}, {"reported"}, {"tool "}, {"tok"}, {"$"}}
	shown := len(columns) + 1
	for w := 130; w >= 40; w-- {
		n := 0
		for _, words := range columns {
			at := map[int]bool{}
			for _, l := range strings.Split(s.screen(w, 18), "\n")[:4] {
				for _, word := range words {
					if i := strings.Index(l, word); i >= 0 {
						at[len([]rune(l[:i]))] = true
					}
				}
			}
			if len(at) > 1 && words[0] != "$" {
				t.Errorf("%d cells: %q stands at %v", w, words, at)
			}
			n += min(1, len(at))
		}
		if n > shown {
			t.Errorf("%d columns at %d cells, and %d where there is more room", n, w, shown)
		}
		shown = n
	}
}
