package tui

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
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
		s.sees("Welcome", "setup was cancelled")
		if *restarts != 0 {
			t.Errorf("%d restarts", *restarts)
		}
	})
}

func TestEveryKeyOfTheWelcomeDoesSomething(t *testing.T) {
	play(t, setup{options: Options{Config: config(t), Welcome: true}}, func(s *stage) {
		s.misses("see it live", "set it up") // neither is offered here
		s.press("d", "?")
		s.sees("Keys", "Everywhere")
		s.press("esc")
		s.misses("Everywhere")
		s.sees("Welcome") // the way back
		s.press("esc")
		s.misses("Welcome")
	})
}

func TestThePaletteLeadsToTheDemoAndToTheSetUp(t *testing.T) {
	for query, marked := range map[string]string{"demo": "Watch the demo", "set up": "Set the bot up", "init": "Set the bot up"} {
		left, restarts := 0, 0
		o := Options{
			Config: config(t), Welcome: true, Demo: func() { left++ }, Restart: func() { restarts++ },
			Init: []string{editor(t, "exit 0"), "init"},
		}
		play(t, setup{options: o, env: []string{"PATH=/bin:/usr/bin"}}, func(s *stage) {
			s.press("esc", "ctrl+p")
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
		s.sees("not sent", "n stay", "y quit and discard it")
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
		{Options{}, "demo", "off: not available here; run ollim-bot demo in a shell"},
		{Options{}, "setup", "off: not available here; run ollim-bot init in a shell"},
		{Options{InDemo: true}, "demo", "off: this is the demo"},
		{Options{InDemo: true}, "setup", "off: not available here; run ollim-bot init in a shell"},
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

// N5: where there is little room the blank lines go, then the last answers, and what is
// left is whole.
func TestTheWelcomeFitsOnASmallScreen(t *testing.T) {
	most := []string{"write your first routine", "install starter routines", "connect a model", "set it up", "see it live", "every key"}
	for _, c := range []struct{ w, h, answers int }{{40, 10, 4}, {60, 12, 6}, {60, 18, 6}, {80, 24, 6}, {120, 40, 6}} {
		o := Options{Config: config(t), Welcome: true, Notice: "no model", Demo: func() {}, Init: []string{"x"}, Restart: func() {}}
		play(t, setup{w: c.w, h: c.h, options: o}, func(s *stage) {
			s.sees(slices.Concat([]string{"Welcome", "assistant that reaches out", "look around", "╭", "╯"}, most[:c.answers])...)
			s.misses(most[c.answers:]...)
			for _, l := range s.rows() {
				left, right := strings.Index(l, "│  "), strings.LastIndex(l, "  │")
				if left >= 0 && right > left && strings.Contains(l[left:right], "…") {
					t.Errorf("cut: %q", l)
				}
			}
			for range c.answers {
				s.press("down")
			}
			s.sees("▸ esc look around")
			s.press("down")
			s.sees("▸ n   write your first routine")
		})
	}
}

func TestTheNoticeOfAFirstStartStandsInTheWelcomeAndNotOverIt(t *testing.T) {
	play(t, setup{w: 80, h: 24, options: Options{Config: config(t), Welcome: true, Notice: "no model: a script plays it"}}, func(s *stage) {
		if n := strings.Count(s.screen(), "no model: a script plays it"); n != 1 {
			t.Errorf("said %d times:\n%s", n, s.screen())
		}
		s.press("esc")
		s.misses("no model")
		s.press("!")
		s.sees("no model: a script plays it")
	})
}

// N4 and N5: the welcome begins with what to do first, and comes back until it was dismissed.
func TestTheWelcomeOpensAtEachStartUntilItWasDismissed(t *testing.T) {
	o := Options{Config: config(t), Welcome: true}
	play(t, setup{options: o}, func(s *stage) {
		s.sees("write your first routine", "install starter routines", "connect a model: Claude or an API key; and Discord")
		s.press("c")
		s.sees("Connect a model", "npm install -g @anthropic-ai/claude-code", "ANTHROPIC_API_KEY", "ollim-bot init")
		s.press("esc")
		s.sees("Welcome")
	})
	play(t, setup{options: o}, func(s *stage) {
		s.sees("Welcome")
		s.press("esc")
	})
	play(t, setup{options: o}, func(s *stage) {
		s.misses("Welcome")
		s.press("ctrl+p")
		s.types("welcome")
		s.press("enter")
		s.sees("write your first routine")
	})
}

// S15: q is the key that quits, but in the welcome it closes only that.
func TestQClosesTheWelcomeAndNotTheDashboard(t *testing.T) {
	play(t, setup{options: Options{Config: config(t), Welcome: true}}, func(s *stage) {
		s.sees("write your first routine")
		s.press("q")
		s.misses("write your first routine", "Quit")
		s.sees("Ping budget")
	})
}

func TestTheFirstRoutineIsFilledInAndSavedWithOneKey(t *testing.T) {
	play(t, setup{options: Options{Config: config(t), Welcome: true}}, func(s *stage) {
		s.press("n")
		s.sees("Your first routine", "Plan the day", "at 09:00")
		s.press("enter")
		if len(s.bot.done()) != 1 {
			t.Fatalf("commands: %v", s.bot.done())
		}
		task, ok := s.bot.done()[0].(command.AddTask)
		if !ok || task.Cron != "0 9 * * mon-fri" || task.Description != "Plan the day" || task.Message == "" {
			t.Errorf("adds %+v", s.bot.done()[0])
		}
		s.misses("Welcome")
		s.sees("▸ 2 Schedule")
	})
}

func TestTheStarterRoutinesAreShownBeforeTheyAreInstalled(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		play(t, setup{w: size[0], h: size[1], options: Options{Config: config(t), Welcome: true}}, func(s *stage) {
			s.press("s")
			s.sees("Starter routines", "Morning plan", "Weekly review", "Good night", "install them", "not now")
			time.Sleep(time.Second)
			s.press("y")
			if got := s.bot.done(); len(got) != 1 || got[0] != (command.AddStarters{}) {
				t.Errorf("commands: %v", got)
			}
		})
	}
}

// N2: the top line says that no model is connected, and leads to the cure.
func TestTheTopLineSaysThatNoModelIsConnected(t *testing.T) {
	for w, words := range map[int]string{120: "No model is connected", 46: "No model is conn"} {
		play(t, setup{w: w, h: 24}, func(s *stage) {
			s.misses("No model")
			s.bot.change(func(snap *core.Snapshot) { snap.Engine.Offline = true })
			time.Sleep(time.Second)
			synctest.Wait()
			if top := s.rows()[0]; !strings.Contains(top, words) {
				t.Errorf("%d cells: %q", w, top)
			}
		})
	}
}

// N1: the message line opens from every pane, and what is typed next goes there.
func TestTheMessageLineOpensFromEveryPane(t *testing.T) {
	for _, p := range []string{"1", "2", "3", "4", "5", "6", "$", ",", "0", "A"} {
		play(t, setup{}, func(s *stage) {
			s.press(p, "i", "x", "q", "D")
			s.sees("xqD")
			if got := s.bot.done(); len(got) > 0 {
				t.Errorf("from %s: %v", p, got)
			}
		})
	}
}
