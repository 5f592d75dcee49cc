package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
	"ollimbot/core/talk/notice"
	"ollimbot/tui/action"
)

// border is the row of the tabs of a frame.
func tabRow(s core.Snapshot, w int, focus action.Pane) string {
	return ansi.Strip(Frame(still{snap: s}, FrameOptions{Width: w, Height: 24, Focus: focus})[6])
}

func TestTabsSayWhatGoesOnInPanesThatAreNotOnTheScreen(t *testing.T) {
	s := withForks(busyDay(day))
	for _, c := range []struct {
		w     int
		focus action.Pane
		has   []string
	}{
		{80, action.Forks, []string{" 1 Ping budget  2 Schedule  3 Updates (2) ", "▸4 Runs ", " 5 Chat  6 Logs "}},
		{80, action.Chat, []string{" 4 Runs (2) ", "▸5 Chat "}},
		{56, action.Forks, []string{" 1  2  3 (2) ", "▸4 Runs ", " 5  6 "}},
		{56, action.Logs, []string{" 1  2  3 (2)  4 (2)  5 ", "▸6 Logs "}},
	} {
		row := tabRow(s, c.w, c.focus)
		for _, want := range c.has {
			if !strings.Contains(row, want) {
				t.Errorf("%d wide, %s: no %q in %q", c.w, c.focus, want, row)
			}
		}
	}
	if row := tabRow(core.Snapshot{At: day}, 80, action.Forks); !strings.Contains(row, " 1 Ping budget  2 Schedule  3 Updates ") {
		t.Errorf("with nothing there is something: %q", row)
	}
}

func TestAnEmptyPaneSaysWhereToGoOn(t *testing.T) {
	tell(t, []story{
		{"with a key or a click", setup{snap: func(at time.Time) core.Snapshot { return core.Snapshot{At: at, Zone: time.UTC} }}, `
			  => tab next pane   2 schedule   5 chat | !/ filter | !w wrap | !End follow
			/ => no run yet
			3 => tab next pane   2 schedule   5 chat
			2 => n new   tab next pane   5 chat
			<tab next pane> => ▸ 3 Updates`},
		{"but not where something is", setup{snap: busyForks}, `=> / filter | !tab next pane`},
		{"a tab with a state is clicked as a whole", sized(80, 24), `<(2)> => ▸3 Updates`},
	})
}

func TestWhatIsSaidCoversNothing(t *testing.T) {
	full := func(b *bot) { b.talk("f1f1f1f1", 60); b.talk("log", 60) }
	for _, size := range [][2]int{{200, 60}, {120, 40}, {96, 26}, {80, 24}, {44, 30}, {56, 14}, {120, 12}, {40, 10}} {
		for _, keys := range [][]string{{"1"}, {"2", "down"}, {"3"}, {"4"}, {"4", "z", "enter"}, {"6", "&", "x"}, {"5", "i", "x"}, {"2", "n"}, {"?"}, {"1", "e"}} {
			t.Run(fmt.Sprintf("%v on %v", keys, size), func(t *testing.T) {
				play(t, setup{w: size[0], h: size[1], rings: full, env: []string{"NO_MOTION=1"}, snap: busyForks}, func(s *stage) {
					s.press(keys...)
					time.Sleep(20 * time.Second)
					s.hears(notice.Alert) // nothing: but curves stand where they do now
					before := s.rows()
					s.hears(notice.Alert, strings.Repeat("the disk is full ", 12))
					for y, l := range s.rows() {
						switch {
						case strings.Contains(l, "the disk is full"):
							if y != size[1]-1 && (y != size[1]-2 || strings.ContainsAny(before[y], "─╰╯│")) { // the rows of messages and keys
								t.Errorf("it covers %q", before[y])
							}
						case steady(l) != steady(before[y]):
							t.Errorf("row %d has changed:\n%s", y, cmp.Diff(before[y], l))
						}
					}
					s.sees("✗ the disk is full")
				})
			})
		}
	}
}
