package tui

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/core"
	"ollimbot/core/base/tail"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/transcript"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/updates"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/layout"
	"ollimbot/tui/settings"
	"ollimbot/tui/view"
)

// Stories of small screens: what is written is seen, and what is free is used.

func TestOnAStripWhatIsWrittenIsSeen(t *testing.T) {
	lines := func(b *bot) {
		for _, id := range []string{"f1f1f1f1", core.LogTail} {
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
		{[]string{"6", "&", "lin"}, []string{"&lin", "the last line"}, "▸6"},
		{[]string{"6", "/", "las"}, []string{"las", "the last line"}, "▸6"},
		{[]string{"4", "&", "lin"}, []string{"&lin", "the last line"}, "▸4"},
	} {
		for _, size := range [][2]int{{40, 10}, {55, 12}, {120, 10}, {200, 11}} {
			t.Run(fmt.Sprintf("%s on %d×%d", strings.Join(c.keys, ""), size[0], size[1]), func(t *testing.T) {
				play(t, setup{w: size[0], h: size[1], snap: busyForks, rings: lines}, func(s *stage) {
					time.Sleep(20 * time.Second) // the toasts have ended
					s.press(c.keys[0])
					s.sees(c.after)
					s.press(c.keys[1])
					s.types(c.keys[2])
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
		s.asks("a1", "Run this command? rm x")
		s.sees("permission", "Run this command? rm x", "y allow", "left")
		s.press("esc")
		s.sees(" 1  Budget", "▸5", "rm x", "y allow", "n deny")
		s.asks("a2", "Run this command? rm y")
		s.sees(" 1  Budget")
		time.Sleep(time.Second)
		s.press("y")
		s.sees("Run this command? rm y", "permission") // another one
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

func TestAStripSaysWhatOpensAPane(t *testing.T) {
	for _, p := range action.Panes {
		play(t, setup{w: 40, h: 10}, func(s *stage) {
			s.press(strconv.Itoa(slices.Index(action.Panes, p) + 1))
			s.clickOn("z open")
			s.sees("zoomed")
			s.misses("z open")
		})
	}
}

func TestTheTooSmallScreenSaysTheNumberAndTheWayOut(t *testing.T) {
	for _, size := range [][2]int{{39, 9}, {20, 5}, {12, 3}, {10, 3}, {8, 3}, {100, 2}, {14, 1}} {
		lines := Frame(still{snap: busyDay(day)}, FrameOptions{Width: size[0], Height: size[1]})
		all := strings.Join(lines, "\n")
		if !strings.HasPrefix(all, "40×10") || !strings.Contains(all, "q quits") {
			t.Errorf("%v says %q", size, all)
		}
	}
}

// Stories of the page that says that the screen is too small: it does nothing
// that it does not show.

func busyForks(at time.Time) core.Snapshot { return withForks(busyDay(at)) }

func TestTheTooSmallPageQuitsAtOnceWhereNothingIsLost(t *testing.T) {
	for _, k := range []string{"q", "ctrl+c"} {
		play(t, setup{w: 30, h: 8}, func(s *stage) {
			s.sees("the bot keeps running", "q quits it")
			s.press(k)
			s.quits()
		})
	}
}

func TestTheTooSmallPageAsksInSightBeforeRunsAreStopped(t *testing.T) {
	for _, k := range []string{"q", "ctrl+c"} {
		for _, size := range [][2]int{{30, 8}, {12, 3}} {
			play(t, setup{w: size[0], h: size[1], snap: busyForks}, func(s *stage) {
				s.send("y")
				s.stays()
				s.press(k, "y") // typed ahead
				s.stays()
				s.press("n", k)
				if all := strings.Join(strings.Fields(s.screen()), " "); !strings.Contains(all, "y quit") || size[0] == 30 && !strings.Contains(all, "1 fork still running") {
					t.Errorf("it asks nothing:\n%s", s.screen())
				}
				time.Sleep(time.Second)
				s.press("x", "n", "y") // it was taken back
				s.stays()
				s.misses("y quit")
				s.press(k)
				time.Sleep(time.Second)
				s.press("y")
				s.quits()
			})
		}
	}
}

func TestTheTooSmallPageKeepsWhatIsWrittenAndWhatWasOpen(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "i")
		s.types("half a thought")
		s.resize(30, 8)
		s.types("xyz")
		s.send("\x1b[200~a paste\x1b[201~")
		s.wheelDown(2)
		s.press("q")
		s.stays()
		s.sees("Your draft", "y quit")
		s.press("n")
		s.resize(120, 40)
		s.sees("▸ half a thought ")
		s.misses("y quit")
	})
	play(t, setup{snap: dayAhead}, func(s *stage) {
		s.press("2", "n")
		s.types("0 9 * * 1")
		s.resize(30, 8)
		s.press("esc", "esc", "ctrl+p", "enter", "7", "q")
		s.stays()
		s.sees("y quit")
		s.press("n")
		s.resize(120, 40)
		s.sees("A new routine or reminder", "0 9 * * 1 ")
		s.misses("╭─ Actions")
		s.did()
	})
}

func TestTheTooSmallPageInterruptsAnAnswerAndTakesNoLateInterrupt(t *testing.T) {
	play(t, setup{w: 30, h: 8, change: func(s *core.Snapshot) { s.Busy = true }}, func(s *stage) {
		s.press("ctrl+c")
		s.stays()
		s.did(command.Interrupt{})
		s.bot.change(func(c *core.Snapshot) { c.Busy = false })
		time.Sleep(time.Second)
		s.press("ctrl+c")
		s.stays()
		time.Sleep(3 * time.Second)
		s.press("ctrl+c")
		s.quits()
	})
}

func TestTheTooSmallPageTakesTheUsersKeyForQuitting(t *testing.T) {
	dir := config(t, "keys.yaml", "app.quit: f10\n")
	play(t, setup{w: 30, h: 8, options: Options{Config: dir}}, func(s *stage) {
		s.sees("f10 quits it")
		s.press("q")
		s.stays()
		s.send("\x1b[21~")
		s.quits()
	})
}

// foreign is what others write: wide and joined signs, right-to-left text, tabs
// and escapes, as it is after cleaning or, worse, before.
const foreign = "世界 👩‍👩‍👧 שלום 👍🏽 naïve é \tx \u202eabc"

// foreignDay is fullDay with foreign words in every field that others write.
func foreignDay() core.Snapshot {
	s := talkDay()
	s.Updates = []updates.Update{{Key: "u", At: day, Message: foreign}}
	s.Schedule.Entries = append(s.Schedule.Entries, schedule.Entry{ID: "x", FireTime: day, Label: foreign, Description: foreign, FilePath: foreign})
	s.Forks = append([]fork.View{{ID: "z", Title: foreign, State: fork.Running, Started: day, Activity: foreign}}, s.Forks...)
	s.Chat = append(s.Chat, transcript.Entry{ID: "z", At: day, Role: transcript.Ping, Source: foreign, Text: foreign})
	s.Engine.State, s.Surface.State = foreign, foreign
	return s
}

func TestAStormOfSizesTearsNothing(t *testing.T) {
	dice := rand.New(rand.NewPCG(6, 200))
	r := newRoot(context.Background(), still{snap: foreignDay(), read: func(id string, from tail.Cursor) tail.Page {
		p := fullTail(id, from)
		p.Lines = append(p.Lines, tail.Line{At: day, Kind: tail.Text, Text: foreign})
		return p
	}}, Options{Env: []string{"TERM=xterm-256color", "COLORTERM=truecolor", "TTY_FORCE=1", "LANG=C.UTF-8"}})
	r.refresh()
	for i := range 200 {
		r.w, r.h = 1+dice.IntN(220), 1+dice.IntN(70)
		r.setFocus(action.Panes[dice.IntN(len(action.Panes))])
		r.zoom = dice.IntN(4) == 0
		preset := layout.Presets[dice.IntN(len(layout.Presets))]
		size := layout.Size{Columns: dice.IntN(120) - 60, Rows: map[action.Pane]int{r.focus: dice.IntN(40) - 20}}
		r.prefs.chosen = settings.Dashboard{"layout": preset}.With(settings.Values(size, preset))
		r.dialogs = nil
		switch dice.IntN(4) {
		case 0:
			r.open(dialog.OpenPalette(r.context(r.focus), r.focus, r.view().Off, nil).Open)
		case 1:
			r.open(dialog.NewHelp(r.focus))
		case 2:
			r.open(dialog.NewWelcome(r.context(r.focus), "", dialog.Offers{Demo: true, SetUp: true}))
		}
		lines := view.Frame(r.view())
		if len(lines) != r.h {
			t.Fatalf("storm %d: %d lines on %d×%d", i, len(lines), r.w, r.h)
		}
		for y, l := range lines {
			if n := ansi.StringWidth(l); n != r.w {
				t.Fatalf("storm %d, %d×%d, line %d is %d cells: %q", i, r.w, r.h, y, n, ansi.Strip(l))
			}
		}
		whole(t, r, lines)
	}
}

// whole expects the corners of every box where the plan has them.
func whole(t *testing.T, r *root, lines []string) {
	t.Helper()
	plan := r.view().Plan()
	if len(r.dialogs) > 0 || plan.Mode == layout.TooSmall {
		return
	}
	for _, c := range plan.Columns {
		for _, b := range c.Boxes {
			for y := b.Y; y < b.Y+b.H; y++ {
				for _, x := range []int{b.X - 1, b.X + b.W} {
					cell := ansi.Strip(ansi.Cut(lines[y], x, x+1))
					if !strings.ContainsAny(cell, "│├┤") && len(r.toasts.Showing(time.Now())) == 0 {
						t.Fatalf("the border of %s is torn at %d,%d on %d×%d: %q", b.Pane, x, y, r.w, r.h, ansi.Strip(lines[y]))
					}
				}
			}
		}
	}
}

func TestARealStormOfSizesEndsWithTheRightScreen(t *testing.T) {
	dice := rand.New(rand.NewPCG(6, 6))
	play(t, setup{}, func(s *stage) {
		for range 40 {
			s.resize(1+dice.IntN(200), 1+dice.IntN(60))
			s.press("tab")
		}
		s.resize(100, 30)
		s.press("4")
		s.sees("▸ 4 Runs", "1 Ping budget", ": command")
	})
}
