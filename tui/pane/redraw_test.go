package pane_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/fork"
	"ollimbot/core/updates"
	"ollimbot/tui/theme"
)

// findings are so many updates of so many words.
func findings(n, words int) []updates.Update {
	out := make([]updates.Update, n)
	for i := range out {
		out[i] = updates.Update{Key: fmt.Sprint(i), At: noon.Add(-time.Duration(n-i) * time.Minute), Message: fmt.Sprint("finding ", i, strings.Repeat(" and so on", words))}
	}
	return out
}

func TestNoUpdateIsCutWhileALineIsFree(t *testing.T) {
	s := open("updates")
	s.next(func(c *core.Snapshot) { c.Updates = findings(2, 40); c.Forks = nil })
	if screen := s.screen(80, 14); strings.Contains(screen, "…") {
		t.Errorf("there is room for all of it:\n%s", screen)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := open("updates")
		n := rapid.IntRange(1, 20).Draw(t, "updates")
		s.next(func(c *core.Snapshot) {
			c.Forks, c.Updates = nil, nil
			for _, u := range findings(n, 0) {
				u.Message += strings.Repeat(" and so on", rapid.IntRange(0, 30).Draw(t, "words"))
				c.Updates = append(c.Updates, u)
			}
		})
		for range rapid.IntRange(0, n).Draw(t, "down") {
			s.do("updates.down")
		}
		w, h := rapid.IntRange(26, 90).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h")
		lines := drawn(s, s.c, w, h, true)
		screen := strings.Join(lines, "\n")
		blank := 0
		for _, l := range lines {
			if strings.TrimSpace(l) == "" {
				blank++
			}
		}
		if strings.Contains(screen, "…") && blank > 0 || strings.Count(screen, "▸") != 1 || len(lines) != h {
			t.Fatalf("%d×%d:\n%s", w, h, screen)
		}
		for i := range n { // each of them is in sight where there are lines for that
			if h >= 2*n+30 && !strings.Contains(screen, fmt.Sprint("finding ", i)) {
				t.Fatalf("finding %d is missing:\n%s", i, screen)
			}
		}
	})
}

// While a run speaks there are thirty snapshots a second: the pane of a long list
// keeps its drawing while nothing of it has changed.
func TestAPaneIsDrawnAnewWhenItsOwnFactsChange(t *testing.T) {
	later := func(d time.Duration) func(*core.Snapshot) {
		return func(c *core.Snapshot) { c.At = c.At.Add(d) }
	}
	talk := func(c *core.Snapshot) {
		c.At, c.LogLines = c.At.Add(33*time.Millisecond), c.LogLines+1
		c.Budget.State.Available += 1e-6
		c.Forks = append([]fork.View(nil), c.Forks...)
		c.Forks[4].Lines++
		c.Updates = append([]updates.Update(nil), c.Updates...)
	}
	for i, change := range []func(*core.Snapshot){
		later(time.Minute), func(c *core.Snapshot) { c.Schedule.Entries = c.Schedule.Entries[1:] }, func(c *core.Snapshot) { c.Schedule.Problems = nil },
	} {
		s := open("schedule")
		before := s.Draw(s.c, 80, 12, true)
		s.next(talk)
		kept := s.Draw(s.c, 80, 12, true)
		if &before[0] != &kept[0] {
			t.Error("it is drawn anew though nothing of it has changed")
		}
		s.next(change)
		if after := s.screen(80, 12); after == strings.Join(textsOf(kept), "\n") {
			t.Errorf("it does not see change %d:\n%s", i, after)
		}
	}
}

// What is kept is what would be drawn, whatever time it is.
func TestAKeptDrawingIsTheOneOfNow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := open("schedule")
		for range rapid.IntRange(1, 20).Draw(t, "snapshots") {
			s.next(func(c *core.Snapshot) {
				c.At = c.At.Add(time.Duration(rapid.IntRange(0, 40_000).Draw(t, "ms")) * time.Millisecond)
			})
			got := s.screen(80, 12)
			fresh := *s
			fresh.c.Theme = theme.New(theme.Options{Dark: true, Plain: true}) // a drawing of its own
			if want := fresh.screen(80, 12); got != want {
				t.Fatalf("at %v\n%s\nis kept of\n%s", s.c.Snap.At, got, want)
			}
		}
	})
}
