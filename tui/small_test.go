package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/policy"
	"ollimbot/core/tail"
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
)

// Stories of small screens: what is written is seen, and what is free is used.

func TestOnAStripWhatIsWrittenIsSeen(t *testing.T) {
	forks := func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }
	lines := func(b *bot) {
		for _, id := range []string{"f1f1f1f1", pane.LogTail} {
			b.talk(id, 20)
			b.rings[id].Add(tail.Line{At: day, Kind: tail.Text, Text: "the last line"})
		}
	}
	for _, c := range []struct {
		keys  []string
		sees  []string
		after string // what is seen when esc has been pressed
	}{
		{[]string{"5", "i", "hello"}, []string{"▸ hello", "and a walk", "esc"}, "▸5"},
		{[]string{"6", "/", "lin"}, []string{"/lin", "the last line"}, "▸6"},
		{[]string{"6", "&", "las"}, []string{"las", "the last line"}, "▸6"},
		{[]string{"4", "/", "lin"}, []string{"/lin", "the last line"}, "▸4"},
	} {
		for _, size := range [][2]int{{40, 10}, {55, 12}, {120, 10}, {200, 11}} {
			t.Run(fmt.Sprintf("%s on %d×%d", strings.Join(c.keys, ""), size[0], size[1]), func(t *testing.T) {
				play(t, setup{w: size[0], h: size[1], snap: forks, rings: lines}, func(s *stage) {
					time.Sleep(20 * time.Second) // the toasts have ended
					s.press(c.keys[0])
					s.sees(c.after)
					s.press(c.keys[1])
					s.typed(c.keys[2])
					s.sees(c.sees...)
					s.press("esc")
					s.sees(c.after, " 1 ", " 2 ")
				})
			})
		}
	}
}

func TestOnAStripAToolCallIsSeenUntilEscPutsItAway(t *testing.T) {
	play(t, setup{w: 40, h: 10}, func(s *stage) {
		s.press("5")
		s.asks("a1", "Bash(rm x)")
		s.sees("permission", "Bash(rm x)", "y allow", "left")
		s.press("esc")
		s.sees(" 1  Budget", "▸5", "Bash(rm x)         y n a", "y allow", "n deny")
		s.asks("a2", "Bash(rm y)")
		s.sees(" 1  Budget")
		time.Sleep(time.Second)
		s.press("y")
		s.sees("Bash(rm y)", "permission") // another one
		time.Sleep(time.Second)
		s.press("n")
		s.misses("permission")
		s.sees(" 1  Budget")
		s.did(command.Answer{ID: "a1", Verdict: policy.Allow}, command.Answer{ID: "a2", Verdict: policy.Deny})
	})
}

func TestBelowOrBesideAStripStandsTheFocusedPane(t *testing.T) {
	for _, size := range [][2]int{{41, 40}, {200, 10}, {120, 12}, {44, 30}} {
		play(t, setup{w: size[0], h: size[1]}, func(s *stage) {
			s.press("2")
			s.sees("▸2", " 6  Logs", "▸ 2 Schedule", "Move a little", "╰")
			x, y := s.find("Move a little")
			s.click(x, y)
			if row := s.rows()[y]; !strings.Contains(row, "▸") {
				t.Errorf("a click on the row selects nothing: %q", row)
			}
			s.clickOn("Updates")
			s.sees("▸ 3 Updates", "▸3")
		})
	}
}

func TestTheFirstKeysOfAPaneAreSeenOnEveryScreen(t *testing.T) {
	for _, w := range []int{layout.StripWidth, layout.TabsWidth, 80, layout.FullWidth} {
		for _, h := range []int{10, 30} {
			for _, zoom := range []bool{false, true} {
				r := newRoot(t.Context(), still{withForks(busyDay(day)), fullTail}, Options{})
				r.w, r.h, r.zoom = w, h, zoom
				r.refresh()
				for _, p := range action.Panes {
					r.setFocus(p)
					left, right := r.hints()
					mine := r.paneHints()
					switch {
					case len(left) < min(2, len(mine)) && w < 80 || len(left) == 0 || len(right) == 0:
						t.Errorf("%s at %d×%d: %v, %v", p, w, h, left, right)
					case left[0].ids != mine[0].ids || right[0].ids[0] != action.Help:
						t.Errorf("%s at %d×%d begins with %v, %v", p, w, h, left[0], right[0])
					case widthOf(left)+widthOf(right) > w:
						t.Errorf("%s at %d×%d is too long: %v, %v", p, w, h, left, right)
					}
				}
			}
		}
	}
}

func TestAStripSaysWhatOpensAPane(t *testing.T) {
	for _, p := range action.Panes {
		play(t, setup{w: 40, h: 10}, func(s *stage) {
			s.press(itoa(p.Number()))
			s.clickOn("z open")
			s.sees("zoomed")
			s.misses("z open")
		})
	}
}

func TestTheTooSmallScreenSaysTheNumberAndTheWayOut(t *testing.T) {
	for _, size := range [][2]int{{39, 9}, {20, 5}, {12, 3}, {10, 3}, {8, 3}, {100, 2}, {14, 1}} {
		lines := Frame(busyDay(day), FrameOptions{Width: size[0], Height: size[1]})
		all := strings.Join(lines, "\n")
		if !strings.HasPrefix(all, "40×10") || !strings.Contains(all, "q quits") {
			t.Errorf("%v says %q", size, all)
		}
	}
}

func TestWhereTheBotSpeaksIsSaidWholeOrNotAtAll(t *testing.T) {
	const hint = "(Discord: ollim-bot init)"
	for w, whole := range map[int]bool{120: true, 80: true, 60: false, 40: false} {
		s := busyDay(day)
		s.Surface = core.SurfaceStatus{Name: "chat here", State: hint, OK: true}
		top := Frame(s, FrameOptions{Width: w, Height: 24})[0]
		if !strings.Contains(top, "chat here") || strings.Contains(top, hint) != whole || !whole && strings.Contains(top, "Disc") {
			t.Errorf("%d wide: %q", w, top)
		}
	}
}
