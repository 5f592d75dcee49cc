package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/tui/action"
)

// border is the row of the tabs of a frame.
func tabRow(s core.Snapshot, w int, focus action.Pane) string {
	return ansi.Strip(Frame(s, FrameOptions{Width: w, Height: 24, Focus: focus})[1])
}

func TestTabsSayWhatGoesOnInPanesThatAreNotOnTheScreen(t *testing.T) {
	s := withForks(busyDay(day))
	for _, c := range []struct {
		w     int
		focus action.Pane
		has   []string
	}{
		{80, action.Forks, []string{" 1 Budget 3.2/5 ", " 2 Schedule 28m ", " 3 Updates 2 ", "▸4 Forks ", " 5 Chat ", " 6 Logs "}},
		{80, action.Chat, []string{" 1 Budget 3.2/5 ", " 4 Forks 2 ", "▸5 Chat "}},
		{80, action.Budget, []string{"▸1 Ping budget ", " 2 Schedule 28m "}},
		{66, action.Forks, []string{" 1 3.2/5 ", " 2 28m ", " 3 (2) ", "▸4 Forks "}},
		{56, action.Logs, []string{" 1 3.2/5 ", " 2 28m ", " 3 (2) ", " 4 (2) ", " 5 ", "▸6 Logs "}},
	} {
		row := tabRow(s, c.w, c.focus)
		for _, want := range c.has {
			if !strings.Contains(row, want) {
				t.Errorf("%d wide, %s: no %q in %q", c.w, c.focus, want, row)
			}
		}
	}
	muted := s
	muted.Budget.Muted = day.Add(time.Hour)
	if row := tabRow(muted, 80, action.Chat); !strings.Contains(row, "1 Budget muted") {
		t.Errorf("a mute is not said: %q", row)
	}
	if row := tabRow(core.Snapshot{At: day}, 80, action.Forks); !strings.Contains(row, " 1 Budget  2 Schedule  3 Updates ") {
		t.Errorf("with nothing there is something: %q", row)
	}
}

func TestATabWithAStateIsClickedAsAWhole(t *testing.T) {
	play(t, setup{w: 80, h: 24}, func(s *stage) {
		s.clickOn("3.2/5")
		s.sees("▸1 Ping budget")
		s.clickOn("28m")
		s.sees("▸2 Schedule", "1 Budget 3.2/5")
	})
}

func TestTheFirstWordsOfTheDemoStandUntilAKey(t *testing.T) {
	try := setup{w: 80, h: 24, options: Options{Try: true}}
	play(t, try, func(s *stage) {
		time.Sleep(18 * time.Second)
		s.sees("1 then +")
		time.Sleep(3 * time.Second)
		s.misses("1 then +")
	})
	play(t, try, func(s *stage) {
		time.Sleep(10 * time.Second)
		s.press("3")
		s.misses("1 then +")
	})
}

func TestAnEmptyPaneSaysWhereToGoOn(t *testing.T) {
	empty := func(at time.Time) core.Snapshot { return core.Snapshot{At: at, Zone: time.UTC} }
	play(t, setup{snap: empty}, func(s *stage) {
		s.sees("c costs   tab next pane   2 schedule   5 chat")
		s.misses("/ find", "w wrap", "End follow")
		s.press("/")
		s.sees("no run yet")
		s.press("3")
		s.sees("tab next pane   2 schedule   5 chat")
		s.press("2")
		s.sees("n new   tab next pane   5 chat")
		s.clickOn("tab next pane")
		s.sees("▸ 3 Updates")
	})
	play(t, setup{snap: func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }}, func(s *stage) {
		s.sees("/ find")
		s.misses("tab next pane")
	})
}
