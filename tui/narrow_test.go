package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/talk/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/view"
)

// Stories of toasts and dialogs where there is little room.

func TestWhereNoOtherRowIsLeftAToastStandsInTheHelpLine(t *testing.T) {
	r := newRoot(t.Context(), still{snap: busyForks(day), read: fullTail}, Options{})
	r.w, r.h = 40, 11 // below the strip stands a box of one row: the newest line
	r.refresh()
	r.setFocus(action.Logs)
	r.toasts.Report(time.Now(), notice.Warn, "the disk is full")
	lines := view.Frame(r.view())
	if last := lines[len(lines)-1]; !strings.Contains(last, "the disk is full") {
		t.Errorf("the help line is %q in\n%s", last, strings.Join(lines, "\n"))
	}
	r.click(tea.Mouse{X: 3, Y: r.h - 1, Button: tea.MouseLeft})
	if lines := view.Frame(r.view()); strings.Contains(strings.Join(lines, ""), "the disk is full") || len(r.dialogs) > 0 || r.zoom {
		t.Error("a click on the toast is one on the hints below it")
	}
}

func TestDialogsNameWhatShowsATextOnlyWhereThatKeyDoesIt(t *testing.T) {
	for _, keys := range [][]string{{"1", "e"}, {"1", "m"}, {"?"}, {"5", "i"}} {
		play(t, setup{w: 44, h: 30}, func(s *stage) {
			s.press(keys...)
			s.hears(notice.Alert, strings.Repeat("a long reason ", 30))
			s.sees("a long reason")
			s.misses("shows all")
		})
	}
}

func TestTheHelpLineOfADialogHasWholeWordsAndTheWayOut(t *testing.T) {
	for name, sc := range helpScenes() {
		for _, w := range []int{40, 46, 56, 64, 80} {
			play(t, setup{w: w, h: 24, snap: everything, change: func(s *core.Snapshot) {
				if sc.change != nil {
					*s = sc.change(*s)
				}
			}}, func(s *stage) {
				s.press(sc.keys...)
				line := s.rows()[23]
				if strings.Contains(line, "…") {
					t.Errorf("%s at %d: %q", name, w, line)
				}
			})
		}
	}
}

func TestAnActionThatWouldMoveNothingIsOff(t *testing.T) {
	play(t, setup{w: 80, h: 24}, func(s *stage) {
		s.press("2", "ctrl+p")
		s.types("wider")
		s.sees("off: panes can be resized only")
	})
	play(t, setup{}, func(s *stage) {
		s.press("ctrl+p")
		s.types("wider")
		s.misses("off: ")
		s.press("esc", "ctrl+p")
		s.types("send what")
		s.sees("off: the message is empty")
		s.press("esc", "5", "i")
		s.types("half a thought")
		s.press("esc", "ctrl+p")
		s.types("send what")
		s.misses("off: ")
	})
}

func TestASecondClickOnAChoiceTakesIt(t *testing.T) {
	play(t, setup{snap: dayAhead}, func(s *stage) {
		s.press("1", "m")
		time.Sleep(time.Second)
		s.clickOn("1 hour")
		s.did()
		s.sees("▸ 1 hour")
		s.clickOn("1 hour")
		if n := len(s.bot.done()); n != 1 {
			t.Errorf("%d commands", n)
		}
	})
	play(t, setup{snap: dayAhead}, func(s *stage) {
		s.press("1", "m")
		s.clickOn("30 minutes") // half of a double click that opened it
		s.did()
	})
	play(t, setup{snap: dayAhead}, func(s *stage) {
		s.press("2", "n")
		s.clickOn("Runs")
		s.sees("in the background")
		s.clickOn("Runs")
		s.sees("in the main conversation")
		s.clickOn("Kind")
		s.sees("▸ Kind", "routine")
		s.clickOn("Kind")
		s.sees("reminder  ")
		s.clickOn("When")
		s.clickOn("When")
		s.did()
	})
}

func TestAClickMarksTheDangerousAnswerFirst(t *testing.T) {
	play(t, setup{snap: busyForks}, func(s *stage) {
		s.press("q")
		time.Sleep(time.Second)
		s.clickOn("quit and stop them")
		s.stays()
		s.sees("▸ y quit and stop them")
		s.clickOn("n stay")
		s.sees("▸ n stay")
		s.clickOn("quit and stop them")
		x, y := s.find("quit and stop them")
		s.send(fmt.Sprintf("\x1b[<0;%d;%dM", x+1, y+1)) // nobody reads the release
		s.quits()
	})
}

func TestTheQuestionOfASmallScreenKeepsItsConsequence(t *testing.T) {
	play(t, setup{w: 40, h: 10, snap: busyForks}, func(s *stage) {
		s.press("q")
		s.sees("1 fork still running, 1", "waiting: stopped at once", "n stay", "y quit and stop them")
	})
}

func TestTheQuestionCountsWhileItStands(t *testing.T) {
	play(t, setup{snap: busyForks}, func(s *stage) {
		s.press("q")
		s.sees("1 fork still running, 1 waiting")
		s.bot.change(func(c *core.Snapshot) { c.Forks = c.Forks[:1] })
		time.Sleep(time.Second)
		s.sees("1 fork still running: ")
		s.misses("1 waiting")
		s.bot.change(func(c *core.Snapshot) { c.Forks = nil })
		time.Sleep(time.Second)
		s.sees("have ended", "n stay", "y quit")
		s.misses("stop them")
	})
}

func TestWhatIsWrongWithATimeIsSaidWholeOnASmallScreen(t *testing.T) {
	play(t, setup{w: 40, h: 10, snap: dayAhead}, func(s *stage) {
		s.press("1", "m")
		s.types("99")
		s.sees("there is no 99; a day goes", "from 0:00 to 23:59", "at a time     99")
	})
}

func TestADotInANumberIsRefused(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("1", "e")
		s.types("1.5")
		s.sees("Capacity      1.5", "whole number")
		s.press("enter")
		s.did()
		s.press("backspace", "backspace", "enter")
		c := s.bot.done()[0].(command.SetBudget)
		if *c.Capacity != 1 {
			t.Errorf("set %d", *c.Capacity)
		}
	})
}
