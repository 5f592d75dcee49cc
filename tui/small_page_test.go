package tui

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core"
)

// Stories of the page that says that the screen is too small: it does nothing
// that it does not show.

func busyForks(at time.Time) core.Snapshot { return withForks(busyDay(at)) }

func TestTheTooSmallPageQuitsAtOnceWhereNothingIsLost(t *testing.T) {
	for _, k := range []string{"q", "ctrl+c"} {
		play(t, setup{w: 30, h: 8}, func(s *stage) {
			s.sees("the bot runs on", "q quits it")
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
				s.press(k)
				if all := strings.Join(strings.Fields(s.screen()), " "); !strings.Contains(all, "y quits") || size[0] == 30 && !strings.Contains(all, "2 runs would stop: y quits") {
					t.Errorf("it asks nothing:\n%s", s.screen())
				}
				time.Sleep(time.Second)
				s.press("x", "y") // any other key goes on
				s.stays()
				s.misses("would stop")
				s.press(k)
				time.Sleep(time.Second)
				s.press("y")
				s.quits()
			})
		}
	}
}

func TestTheTooSmallPageAsksNothingOnceTheRunsHaveEnded(t *testing.T) {
	play(t, setup{w: 30, h: 8, snap: busyForks}, func(s *stage) {
		s.press("q")
		s.sees("would stop")
		s.bot.change(func(c *core.Snapshot) { c.Forks = nil })
		time.Sleep(time.Second)
		s.misses("would stop")
		s.press("y")
		s.stays()
		s.press("q")
		s.quits()
	})
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
		s.sees("is not sent", "y quits")
		s.resize(120, 40)
		s.sees("▸ half a thought ")
		s.misses("y quits")
	})
	play(t, setup{snap: dayAhead}, func(s *stage) {
		s.press("2", "n")
		s.types("0 9 * * 1")
		s.resize(30, 8)
		s.press("esc", "esc", "ctrl+p", "enter", "7", "q")
		s.stays()
		s.sees("y quits")
		s.resize(120, 40)
		s.sees("A new routine or reminder", "0 9 * * 1 ")
		s.misses("╭─ Actions")
		s.did()
	})
}

func TestTheTooSmallPageCountsAnAnswerAndTakesNoLateInterrupt(t *testing.T) {
	play(t, setup{w: 30, h: 8, snap: func(at time.Time) core.Snapshot {
		s := busyDay(at)
		s.Busy = true
		return s
	}}, func(s *stage) {
		s.press("ctrl+c")
		s.stays()
		s.sees("an answer would stop", "y quits")
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
