package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
)

// aDay is a day on which everything has happened that the top line tells.
func aDay(at time.Time) core.Snapshot {
	s := withForks(busyDay(at))
	s.Forks = append(s.Forks, fork.View{ID: "bad00001", Title: "Rent", State: fork.Failed, Started: at.Add(-time.Hour), Ended: at.Add(-time.Minute)})
	s.Ended = s.Forks[len(s.Forks)-1:]
	s.Failures = s.Ended
	s.Approvals = []policy.Approval{{ID: "a1", Label: "Bash(x)", Tool: "Bash", Asked: at, Until: at.Add(time.Hour)}}
	s.Engine.Today.CostUSD = 1.09
	return s
}

func TestTheTopLineGivesUpWhatMattersLeast(t *testing.T) {
	for w, want := range map[int]string{
		120: " ollim-bot   next Email sweep 14:30 (28m)   ● 3.2/5   today 3 pings · 1 run · $1.09   ✗ 1 failed   ⚑ 1 asks   14:02 UTC ",
		110: " ollim-bot   next Email sweep 14:30 (28m)   ● 3.2/5   today 3 pings · $1.09   ✗ 1 failed   ⚑ 1 asks   14:02 ",
		100: " ollim-bot   next Email sweep 14:30 (28m)   ● 3.2/5   today $1.09   ✗ 1 failed   ⚑ 1 asks   14:02 ",
		80:  " ollim-bot   next 14:30 (28m)   ● 3.2/5   ✗ 1 failed   ⚑ 1 asks   14:02 ",
		60:  " next 14:30   ● 3.2/5   ✗ 1 failed   ⚑ 1 asks   14:02 ",
		46:  " next 14:30   ● 3.2/5   ✗ 1 ⚑ 1 asks 14:02 ",
		12:  " ✗ 1 ⚑ 1 ",
	} {
		r := plainRoot(t, aDay(day))
		r.w = w
		line := r.topLine().draw(r.theme, w)
		if got := strings.Join(strings.Fields(line), " "); got != strings.Join(strings.Fields(want), " ") || ansi.StringWidth(line) != w {
			t.Errorf("%d cells: %q, want %q", w, line, want)
		}
	}
}

func TestEachWordOfTheTopLineLeadsToItsPage(t *testing.T) {
	for text, want := range map[string]action.Pane{
		"next Email": action.Task, "3.2/5": action.Budget, "today": action.Costs, "1 failed": action.Forks, "1 asks": action.Chat,
	} {
		r := plainRoot(t, aDay(day))
		r.w = 120
		r.setFocus(action.Updates)
		before, _, found := strings.Cut(r.topLine().draw(r.theme, r.w), text)
		r.topLine().press(r.w, ansi.StringWidth(before))
		if !found || r.focus != want {
			t.Errorf("%q leads to %s", text, r.focus)
		}
	}
}

func TestThatAllIsWellIsNotSaid(t *testing.T) {
	s := busyDay(day)
	if line := Frame(still{snap: s}, FrameOptions{Width: 120, Height: 40})[0]; strings.Contains(line, s.Engine.Name) || strings.Contains(line, s.Surface.Name) {
		t.Errorf("%q", line)
	}
	s.Engine.OK, s.Engine.State = false, "not logged in"
	if line := Frame(still{snap: s}, FrameOptions{Width: 120, Height: 40})[0]; !strings.Contains(line, "✗ "+s.Engine.Name+" not logged in") {
		t.Errorf("%q", line)
	}
}

func TestTheDayHasTheFocusOnlyWhereItIsSeen(t *testing.T) {
	play(t, setup{w: 46, h: 12, snap: aDay}, func(s *stage) {
		s.press("0")
		s.sees("it needs")
	})
	play(t, setup{w: 120, h: 40, snap: aDay}, func(s *stage) {
		s.press("z", "0")
		s.sees("enter open", "←/→ walk")
		s.misses("zoomed")
		s.press("left", "enter") // at midnight nothing stands there
		s.sees("nothing has happened today")
	})
}
