package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestTheDemoIsAKeyAwayFromTheWelcome(t *testing.T) {
	left := 0
	o := Options{Config: config(t), Welcome: true, Demo: func() { left++ }}
	play(t, setup{options: o}, func(s *stage) {
		s.sees("Welcome", "see it live")
		s.press("d")
		s.quits()
		if s.glass.vt.IsAltScreen() {
			t.Error("the terminal is not given back")
		}
	})
	if left != 1 {
		t.Errorf("left %d times", left)
	}
}

// setUp is a welcome whose set-up is a program of the shell.
func setUp(t *testing.T, script string, story func(s *stage, restarts *int)) {
	t.Helper()
	restarts := 0
	o := Options{
		Config: config(t), Welcome: true, Restart: func() { restarts++ },
		Init: []string{editor(t, script), "init"},
	}
	play(t, setup{options: o, env: []string{"PATH=/bin:/usr/bin"}}, func(s *stage) {
		s.sees("set it up: four questions")
		s.press("i")
		time.Sleep(time.Second)
		synctest.Wait()
		story(s, &restarts)
	})
}

func TestTheSetUpRunsOnTheTerminalAndTheBotBeginsAnew(t *testing.T) {
	file := filepath.Join(t.TempDir(), "names")
	setUp(t, "echo $1 > "+file, func(_ *stage, restarts *int) {
		if got, err := os.ReadFile(file); err != nil || string(got) != "init\n" {
			t.Errorf("asked %q, %v", got, err)
		}
		if *restarts != 1 {
			t.Errorf("%d restarts", *restarts)
		}
	})
}

func TestASetUpThatWasLeftChangesNothing(t *testing.T) {
	setUp(t, "exit 3", func(s *stage, restarts *int) {
		s.sees("Welcome", "the set-up has not come to its end")
		if *restarts != 0 {
			t.Errorf("%d restarts", *restarts)
		}
	})
}

func TestEveryKeyOfTheWelcomeDoesSomething(t *testing.T) {
	play(t, setup{options: Options{Config: config(t), Welcome: true}}, func(s *stage) {
		s.press("?")
		s.sees("Keys", "Everywhere")
		s.press("esc")
		s.misses("Everywhere")
		s.sees("Welcome") // the way back
		s.press("enter")
		s.misses("Welcome")
	})
}

func TestThePaletteLeadsToTheDemoAndToTheSetUp(t *testing.T) {
	for query, marked := range map[string]string{"demo": "See the demo", "set up": "Set the bot up", "init": "Set the bot up"} {
		left, restarts := 0, 0
		o := Options{
			Config: config(t), Welcome: true, Demo: func() { left++ }, Restart: func() { restarts++ },
			Init: []string{editor(t, "exit 0"), "init"},
		}
		play(t, setup{options: o, env: []string{"PATH=/bin:/usr/bin"}}, func(s *stage) {
			s.press("enter", "ctrl+p")
			s.types(query)
			s.sees("▸ " + marked)
			s.press("enter")
			time.Sleep(time.Second)
			if synctest.Wait(); left+restarts != 1 || (left == 1) != (query == "demo") {
				t.Errorf("%q leads to the demo %d times, to a new start %d times", query, left, restarts)
			}
		})
	}
}

func TestWhatIsWrittenIsNotDroppedForTheDemo(t *testing.T) {
	left := 0
	play(t, setup{options: Options{Demo: func() { left++ }}}, func(s *stage) {
		s.press("5", "i", "x", "esc", "ctrl+p")
		s.types("demo")
		s.press("enter")
		s.sees("not sent", "n stay", "y quit and drop it")
		s.press("ctrl+c") // back, not out
		s.stays()
		s.press("ctrl+p")
		s.types("demo")
		s.press("enter")
		time.Sleep(time.Second)
		s.press("y")
		s.quits()
	})
	if left != 1 {
		t.Errorf("left %d times", left)
	}
}

func TestWhereTheDemoIsNotOfferedThePaletteSaysWhy(t *testing.T) {
	for _, c := range []struct {
		o     Options
		query string
		why   string
	}{
		{Options{}, "demo", "off: not offered here; in a shell, ollim-bot demo"},
		{Options{}, "setup", "off: not offered here; in a shell, ollim-bot init"},
		{Options{Try: true}, "demo", "off: this is the demo"},
		{Options{Try: true}, "setup", "off: not offered here; in a shell, ollim-bot init"},
		{Options{ReadOnly: true}, "setup", "off: the dashboard is read-only"},
	} {
		play(t, setup{options: c.o}, func(s *stage) {
			s.press("ctrl+p")
			s.types(c.query)
			s.sees(c.why)
			s.press("enter")
			s.stays()
		})
	}
}

func TestOnlyWhatIsOfferedIsAKeyOfTheWelcome(t *testing.T) {
	o := Options{
		Config: config(t), Welcome: true, ReadOnly: true, Demo: func() {},
		Init: []string{"/bin/true"}, Restart: func() { t.Error("restarts a bot that may not be changed") },
	}
	play(t, setup{options: o}, func(s *stage) {
		s.misses("set it up")
		s.press("i")
		time.Sleep(time.Second)
		s.sees("Welcome")
	})
}

func TestTheWelcomeFitsOnASmallScreen(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {60, 12}, {80, 24}, {120, 40}} {
		o := Options{Config: config(t), Welcome: true, Notice: "no model", Demo: func() {}, Init: []string{"x"}, Restart: func() {}}
		play(t, setup{w: size[0], h: size[1], options: o}, func(s *stage) {
			s.sees("Welcome", "assistant that reaches out", "see it live", "set it up", "every key", "look around", "╭", "╯")
			for _, l := range s.rows() {
				left, right := strings.Index(l, "│  "), strings.LastIndex(l, "  │")
				if left >= 0 && right > left && strings.Contains(l[left:right], "…") {
					t.Errorf("cut: %q", l)
				}
			}
		})
	}
}

func TestTheNoticeOfAFirstStartStandsInTheWelcomeAndNotOverIt(t *testing.T) {
	play(t, setup{w: 80, h: 24, options: Options{Config: config(t), Welcome: true, Notice: "no model: a script plays it"}}, func(s *stage) {
		if n := strings.Count(s.screen(), "no model: a script plays it"); n != 1 {
			t.Errorf("said %d times:\n%s", n, s.screen())
		}
		s.press("enter")
		s.misses("no model")
		s.press("!")
		s.sees("no model: a script plays it")
	})
}
