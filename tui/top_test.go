package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/fork"
	"ollimbot/tui/theme"
)

// aDay is a day on which everything has happened that the top line tells.
func aDay(at time.Time) core.Snapshot {
	s := withForks(busyDay(at))
	s.Forks = append(s.Forks, fork.View{ID: "bad00001", Title: "Rent", State: fork.Failed, Started: at.Add(-time.Hour), Ended: at.Add(-time.Minute)})
	s.Ended = s.Forks[len(s.Forks)-1:]
	s.Failures = s.Ended
	s.Approvals = []policy.Approval{{ID: "a1", Label: "Run this command? x", Tool: "Bash", Asked: at, Until: at.Add(time.Hour)}}
	s.Engine.Today.CostUSD = 1.09
	return s
}

func TestTheTopLineHasAMarkOnlyIfSomethingIsWrong(t *testing.T) {
	s := busyDay(day)
	if line := Frame(still{snap: s}, FrameOptions{Width: 120, Height: 40})[0]; !strings.HasPrefix(line, " All quiet. 3 pings today.") {
		t.Errorf("%q", line)
	}
	s.Engine.OK, s.Engine.State = false, "not logged in"
	if line := Frame(still{snap: s}, FrameOptions{Width: 120, Height: 40})[0]; !strings.HasPrefix(line, " ✗ "+s.Engine.Name+" cannot answer: not logged in.") {
		t.Errorf("%q", line)
	}
}

func TestTheDayHasTheFocusOnlyWhereItIsSeen(t *testing.T) {
	play(t, setup{w: 46, h: 12, snap: aDay}, func(s *stage) {
		s.press("0")
		s.sees("needs a")
	})
	play(t, setup{w: 120, h: 40, snap: aDay}, func(s *stage) {
		s.press("z", "0")
		s.sees("enter open", "←/→ walk")
		s.misses("zoomed")
		s.press("home", "enter") // what failed a minute before midnight
		s.sees("tail: Rent")
	})
}

// Poster 11: what keeps all pings or runs back is a coloured strip, with the key that mends it.
func TestWhatStopsTheBotIsAStripWithTheKeyThatMendsIt(t *testing.T) {
	look := theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
	open, _ := look.Ends(theme.Match)
	for name, c := range map[string]struct {
		change func(*core.Snapshot)
		words  string
	}{
		"muted":     {func(s *core.Snapshot) { s.Budget.Muted = day.Add(time.Hour) }, "1 m lets pings through"},
		"off":       {func(s *core.Snapshot) { s.Budget.State.Capacity = 0 }, "1 + lets pings through"},
		"no model":  {func(s *core.Snapshot) { s.Engine.Offline = true }, "Z opens"},
		"all quiet": {func(*core.Snapshot) {}, ""},
	} {
		s := busyDay(day)
		c.change(&s)
		line := Frame(still{snap: s}, FrameOptions{Width: 160, Height: 45, Theme: look})[0]
		if !strings.Contains(ansi.Strip(line), c.words) || strings.HasPrefix(line, open) != (c.words != "") {
			t.Errorf("%s: %q", name, line)
		}
	}
}

// Poster 11: who has seen the strip for a day needs a word only, and again what comes next.
func TestTheStripIsAWordAfterADay(t *testing.T) {
	play(t, setup{w: 160, h: 45}, func(s *stage) {
		s.change(func(c *core.Snapshot) { c.Budget.State.Capacity = 0 })
		s.sees("1 + lets pings through")
		time.Sleep(23 * time.Hour)
		s.change(func(c *core.Snapshot) { c.At = time.Now() })
		s.sees("lets pings through")
		time.Sleep(2 * time.Hour)
		s.change(func(c *core.Snapshot) { c.At = time.Now() })
		s.misses("lets pings through")
		if row := s.rows()[0]; !strings.HasPrefix(row, "  muted  Next: ") {
			t.Errorf("%q", row)
		}
		s.change(func(c *core.Snapshot) { c.Budget.State.Capacity = 5 })
		s.misses(" muted ")
		s.change(func(c *core.Snapshot) { c.Budget.State.Capacity = 0 })
		s.sees("1 + lets pings through")
	})
}
