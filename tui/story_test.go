package tui

import (
	"image/color"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/google/go-cmp/cmp"

	"ollimbot/core"
)

func TestTheDashboardOpensWithEveryPane(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }}, func(s *stage) {
		s.sees("ollim-bot", "chat pane up", "script sonnet ready", "12 routines · 4 reminders",
			"1 Ping budget", "3.2 / 5", "2 Schedule", "Email sweep", "3 Updates", "4 Forks", "5 Chat", "6 Logs",
			"? keys", "ctrl+p actions")
	})
}

func TestTheClockIsInTheConfiguredZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	play(t, setup{snap: func(at time.Time) core.Snapshot {
		s := busyDay(at)
		s.Zone = berlin
		return s
	}}, func(s *stage) {
		s.sees("01:00 CET") // the bubble begins at midnight UTC
		time.Sleep(61 * time.Second)
		s.sees("01:01 CET")
	})
}

func TestAKeyChangesTheBudgetAndTheHelpLineShowsTheEffect(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("1")
		s.sees("▸ 1 Ping budget", "+/- capacity 5→6", "[/] refill 90→85")
		s.press("+")
		s.sees("3.2 / 6", "capacity 5 → 6 · u undoes", "+/- capacity 6→7", "u undo")
	})
}

func TestUndoTakesTheLastChangesBackNewestFirst(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("1", "+", "+")
		s.sees("3.2 / 7")
		s.press("u")
		s.sees("3.2 / 6", "undone: capacity back to 6")
		s.press("u")
		s.sees("3.2 / 5")
		s.press("u")
		s.sees("nothing to undo")
	})
}

func TestUndoReachesFiftyChangesBack(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("1")
		for range 55 {
			s.press("+")
		}
		s.sees("3.2 / 60")
		for range 55 {
			s.press("u")
		}
		s.sees("3.2 / 10", "nothing to undo")
	})
}

func TestExactNumbersShowTheirConsequenceBeforeTheyAreSet(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("1", "e")
		s.sees("Ping budget, exactly", "Capacity", "5_", "Refill every", "90", "enter set")
		s.press("8", "tab", "4", "5")
		preview := s.bot.Snapshot().Budget.State.Preview(time.Now(), 8, 45)
		s.sees("8 ", "45_")
		if first := strings.Fields(preview); len(first) > 1 {
			s.sees(first[0] + " " + first[1])
		}
		s.press("enter")
		s.sees("3.2 / 8")
		s.misses("Ping budget, exactly")
		c := s.bot.done()[0].(core.SetBudget)
		if *c.Capacity != 8 || *c.RefillMinutes != 45 {
			t.Errorf("set %d and %d", *c.Capacity, *c.RefillMinutes)
		}
	})
}

func TestExactNumbersThatCannotBeAreRefusedInWords(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("1", "e", "tab", "0", "enter")
		s.sees("at least 1", "Ping budget, exactly")
		s.press("esc")
		s.misses("Ping budget, exactly")
		if n := len(s.bot.done()); n != 0 {
			t.Errorf("%d commands", n)
		}
	})
}

func TestQuittingWithoutForksAsksNothing(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("q")
		s.quits()
	})
}

func TestQuittingWhileForksRunAsksAndStayingIsTheDefault(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }}, func(s *stage) {
		s.press("q")
		s.sees("1 fork still running, 1 waiting", "▸ n stay")
		s.press("enter")
		s.misses("still running, 1 waiting")
		s.stays()
		s.press("q")
		time.Sleep(time.Second)
		s.press("y")
		s.quits()
	})
}

func TestAKeyTypedAheadNeverConfirms(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }}, func(s *stage) {
		s.send("qy")
		s.stays()
		s.sees("still running")
		time.Sleep(time.Second)
		s.press("down")
		s.sees("▸ y quit and stop them")
		s.press("enter")
		s.quits()
	})
}

func TestCtrlCInterruptsATurnAndWithoutOneQuits(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot {
		s := busyDay(at)
		s.Busy, s.BusySince = true, at
		return s
	}}, func(s *stage) {
		s.press("ctrl+c")
		s.stays()
		if d := cmp.Diff([]core.Command{core.Interrupt{}}, s.bot.done()); d != "" {
			t.Error(d)
		}
		s.bot.change(func(s *core.Snapshot) { s.Busy = false })
		time.Sleep(time.Second)
		s.press("ctrl+c")
		s.quits()
	})
}

func TestTheEndOfTheContextEndsTheDashboardWithoutAnError(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.stop()
		s.quits()
		if s.glass.vt.IsAltScreen() {
			t.Error("the alternate screen is left on")
		}
	})
}

func TestTheScreenShrinksStepByStep(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }}, func(s *stage) {
		s.press("1")
		s.resize(80, 24)
		s.sees("▸1 Ping budget", "2 Schedule", "6 Logs", "3.2 / 5")
		s.press("2")
		s.sees("▸2 Schedule", "Move a little")
		s.resize(40, 10)
		s.sees("▸2 ", "Email sweep")
		s.misses("╭")
		s.press("z")
		s.sees("╭", "zoomed")
		s.press("esc")
		s.resize(30, 5)
		s.sees("the screen has 30×5", "at least 40×10")
		s.resize(120, 40)
		s.sees("▸ 2 Schedule", "1 Ping budget", "5 Chat")
	})
}

func TestEveryFrameIsExactlyAsLargeAsTheScreen(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }}, func(s *stage) {
		for _, size := range [][2]int{{80, 24}, {133, 41}, {96, 26}, {56, 14}, {40, 10}, {20, 4}, {3, 2}, {120, 40}} {
			s.resize(size[0], size[1])
			lines := Frame(s.bot.Snapshot(), FrameOptions{Width: size[0], Height: size[1], Tail: s.bot.Tail})
			if len(lines) != size[1] {
				t.Errorf("%v: %d lines", size, len(lines))
			}
			// The toasts and the caret apart, the screen is what Frame draws.
			if d := cmp.Diff(lines[:1], s.rows()[:1]); d != "" {
				t.Errorf("%v:\n%s", size, d)
			}
			for i, l := range lines {
				if n := cells(l); n != size[0] {
					t.Errorf("%v: line %d is %d cells wide: %q", size, i, n, l)
				}
			}
		}
	})
}

func TestZoomGivesAPaneTheScreenAndEscTakesItBack(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "z")
		s.sees("▸ 2 Schedule", "zoomed")
		s.misses("Ping budget", "5 Chat")
		s.press("tab")
		s.sees("▸ 3 Updates", "zoomed")
		s.press("esc")
		s.sees("Ping budget", "5 Chat")
	})
}

func TestTheFocusGoesByNumberAndByTab(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("6")
		s.sees("▸6 Logs", "5 Chat")
		s.press("1")
		s.sees("▸ 1 Ping budget", "[6 Logs]") // the logs stay in sight
		s.press("shift+tab")
		s.sees("▸6 Logs")
		s.press("tab", "tab")
		s.sees("▸ 2 Schedule")
	})
}

func TestThePaletteFindsAnActionAndRunsItInItsPane(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("6", "ctrl+p")
		s.sees("Logs: Find in the text", "Show every key")
		s.press(strings.Split("undo", "")...)
		s.sees("Undo the last change", "nothing to undo")
		s.press("ctrl+u")
		s.press(strings.Split("raise cap", "")...)
		s.sees("Raise the capacity by one")
		s.press("enter")
		s.sees("▸ 1 Ping budget", "3.2 / 6")
	})
}

func TestThePaletteSaysWhyAnActionIsOff(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot { return core.Snapshot{At: at, Zone: time.UTC} }}, func(s *stage) {
		s.press("ctrl+p")
		s.press(strings.Split("discard", "")...)
		s.sees("there is no pending update")
		s.press("enter")
		s.sees("Discard the selected update: there is no pending update")
		s.press("ctrl+p")
		s.press(strings.Split("zzzzqqq", "")...)
		s.sees("no action has that name")
	})
}

func TestHelpListsEveryKeyAndFinds(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "?")
		s.sees("Keys", "Fire the selected task now", "Everywhere")
		s.misses("Stop the selected run")
		s.press("/")
		s.press(strings.Split("stop the SELECTED", "")...)
		s.sees("find: stop the SELECTED_", "Stop the selected run")
		s.press("enter")
		s.sees("1 of 1")
		s.press("esc", "esc")
		s.misses("Everywhere")
	})
}

func TestAFailedCommandIsAToastThatSaysWhatToDo(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("3", "x")
		s.sees("write budget: the disk is full; free some space")
		time.Sleep(9 * time.Second)
		s.misses("the disk is full")
		s.press("!")
		s.sees("Notices, newest first", "error", "the disk is full")
	})
}

func TestACommandThatPanicsIsAnErrorToo(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "f")
		s.sees("panic in core.FireNow: a command that panics")
		s.stays()
	})
}

func TestANoticeOfTheBotIsAToastOnce(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.bot.change(func(s *core.Snapshot) {
			s.Notices = append(s.Notices, core.Notice{Seq: 1, At: time.Now(), Level: core.Warn, Text: "routines/a.md:3:7: day 8 does not exist"})
		})
		time.Sleep(100 * time.Millisecond)
		s.sees("routines/a.md:3:7: day 8 does not exist")
		time.Sleep(10 * time.Second)
		s.misses("day 8 does not exist")
		s.bot.change(func(*core.Snapshot) {})
		time.Sleep(100 * time.Millisecond)
		s.misses("day 8 does not exist")
	})
}

func TestAPromptIsPreviewedOnAPage(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "p")
		s.sees("You are about to fire.", "Second line of the prompt.", "esc close")
		s.press("q")
		s.misses("Second line of the prompt.")
		s.stays()
	})
}

func TestReadOnlyChangesNothing(t *testing.T) {
	play(t, setup{options: Options{ReadOnly: true}}, func(s *stage) {
		s.sees("read-only")
		s.press("1", "+", "e", "3", "x", "2", "f", "u")
		s.sees("the dashboard is read-only")
		s.press("p")
		s.sees("You are about to fire.")
		for _, c := range s.bot.done() {
			if _, ok := c.(core.Preview); !ok {
				t.Errorf("carried out %#v", c)
			}
		}
	})
}

func TestWithoutColoursNoColourIsSent(t *testing.T) {
	for name, o := range map[string]setup{
		"NO_COLOR":         {env: []string{"NO_COLOR=yes"}},
		"option":           {options: Options{NoColor: true}},
		"a simple one":     {env: []string{"TERM=dumb", "COLORTERM="}},
		"NO_COLOR is on=1": {env: []string{"NO_COLOR=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			o.snap = func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }
			play(t, o, func(s *stage) {
				s.press("1", "+", "2", "?", "esc", "ctrl+p", "esc", "!", "esc", "q")
				if got := colourSGR.FindString(s.written()); got != "" {
					t.Errorf("%q was sent", got)
				}
				s.sees("still running")
			})
		})
	}
}

func TestWithASCIINothingElseIsDrawn(t *testing.T) {
	for name, o := range map[string]setup{
		"option":  {options: Options{ASCII: true}},
		"locale":  {env: []string{"LC_ALL=C"}},
		"console": {env: []string{"TERM=linux"}},
	} {
		t.Run(name, func(t *testing.T) {
			o.snap = func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }
			play(t, o, func(s *stage) {
				check := func() {
					t.Helper()
					for i, row := range s.rows() {
						for _, r := range row {
							if r > 0x7e {
								t.Errorf("row %d holds %q: %s", i, r, row)
								return
							}
						}
					}
				}
				check()
				for _, keys := range [][]string{{"1", "+"}, {"e"}, {"esc", "2", "?"}, {"esc", "ctrl+p"}, {"esc", "!"}, {"esc", "4"}, {"5"}, {"6", "q"}} {
					s.press(keys...)
					check()
				}
				s.resize(80, 24)
				check()
				s.resize(40, 10)
				check()
			})
		})
	}
}

func TestColoursFollowTheTerminalsBackground(t *testing.T) {
	const darkFocus, lightFocus = "38;2;130;182;255", "38;2;11;87;164"
	play(t, setup{}, func(s *stage) {
		if out := s.written(); !strings.Contains(out, darkFocus) || strings.Contains(out, lightFocus) {
			t.Error("a dark terminal must get the dark colours")
		}
	})
	play(t, setup{paper: color.White}, func(s *stage) {
		s.press("1")
		s.written()
		s.press("2")
		if out := s.written(); !strings.Contains(out, lightFocus) || strings.Contains(out, darkFocus) {
			t.Error("a light terminal must get the light colours")
		}
	})
	play(t, setup{paper: color.White, options: Options{Theme: "dark"}}, func(s *stage) {
		if out := s.written(); strings.Contains(out, lightFocus) || strings.Contains(out, "\x1b]11;?") {
			t.Error("a chosen theme is not asked about")
		}
	})
}

func TestAThemeThatIsSwitchedIsFollowedWhenTheWindowComesBack(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.glass.mu.Lock()
		s.glass.vt.SetDefaultBackgroundColor(color.White)
		s.glass.mu.Unlock()
		s.written()
		s.send("\x1b[I")
		time.Sleep(100 * time.Millisecond)
		if out := s.written(); !strings.Contains(out, "38;2;11;87;164") {
			t.Error("the colours are still the dark ones")
		}
	})
}

func TestIdleIsSilent(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot {
		return core.Snapshot{At: at, Zone: time.UTC, Engine: core.EngineStatus{Name: "script", OK: true}}
	}}, func(s *stage) {
		time.Sleep(time.Second)
		writes := s.writes()
		s.bot.mu.Lock()
		reads := s.bot.reads
		s.bot.mu.Unlock()
		time.Sleep(10 * time.Minute)
		s.bot.mu.Lock()
		reads = s.bot.reads - reads
		s.bot.mu.Unlock()
		if reads != 10 {
			t.Errorf("%d snapshots in ten idle minutes, want one a minute", reads)
		}
		if got := s.writes() - writes; got > 10 {
			t.Errorf("%d writes in ten idle minutes", got)
		}
	})
}

func TestABusyCoreIsPaintedThirtyTimesASecondAtMost(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }}, func(s *stage) {
		writes := s.writes()
		const seconds = 3
		for i := range seconds * 1000 {
			s.bot.change(func(s *core.Snapshot) { s.Forks[0].Tools = i })
			time.Sleep(time.Millisecond)
		}
		got := s.writes() - writes
		if got < seconds*20 || got > seconds*31 {
			t.Errorf("%d paints in %d s of a thousand changes a second", got, seconds)
		}
	})
}

func TestAKeyIsPaintedAtOnceEvenWhileThingsStream(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }}, func(s *stage) {
		s.bot.change(func(s *core.Snapshot) { s.Forks[0].Tools++ })
		synctest.Wait()
		s.bot.change(func(s *core.Snapshot) { s.Forks[0].Tools++ })
		synctest.Wait()
		writes, now := s.writes(), time.Now()
		s.press("1")
		if s.writes() == writes {
			t.Error("nothing was painted")
		}
		if d := time.Since(now); d != 0 {
			t.Errorf("painted after %v", d)
		}
		s.sees("▸ 1 Ping budget")
	})
}

func TestSecondsAreCountedOnlyWhileAForkRuns(t *testing.T) {
	counted := func(env ...string) int {
		var reads int
		play(t, setup{env: env, snap: func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }}, func(s *stage) {
			time.Sleep(500 * time.Millisecond)
			s.bot.mu.Lock()
			reads = s.bot.reads
			s.bot.mu.Unlock()
			time.Sleep(20 * time.Second)
			s.bot.mu.Lock()
			reads = s.bot.reads - reads
			s.bot.mu.Unlock()
		})
		return reads
	}
	if got := counted(); got != 20 {
		t.Errorf("%d looks in 20 s of a running fork", got)
	}
	if got := counted("NO_MOTION=1"); got != 0 {
		t.Errorf("%d looks in 20 s with NO_MOTION", got)
	}
}

func TestTheMouseFocusesAndIsReleasedByM(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		if !strings.Contains(s.written(), "\x1b[?1000h") {
			t.Error("the mouse is not taken")
		}
		s.send("\x1b[<0;10;12M\x1b[<0;10;12m")
		s.sees("▸ 2 Schedule")
		rows := s.rows()
		for y, row := range rows {
			if x := strings.Index(row, "6 Logs"); x >= 0 {
				s.send("\x1b[<0;" + itoa(len([]rune(row[:x]))+2) + ";" + itoa(y+1) + "M")
			}
		}
		s.sees("▸6 Logs")
		s.press("M")
		s.sees("the mouse is released")
		if !strings.Contains(s.written(), "\x1b[?1000l") {
			t.Error("the mouse is not released")
		}
	})
}

func TestTheWheelScrollsThePaneUnderThePointerAndNotTheFocusedOne(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }}, func(s *stage) {
		s.bot.talk("f1f1f1f1", 200)
		s.bot.change(func(s *core.Snapshot) { s.Forks[0].Lines = 200 })
		time.Sleep(100 * time.Millisecond)
		s.press("1")
		s.sees("line 199 of the tail")
		s.send("\x1b[<64;80;10M")
		time.Sleep(100 * time.Millisecond)
		s.sees("▸ 1 Ping budget")
		s.misses("line 199 of the tail")
	})
}

func TestAPasteIsNeverReadAsKeys(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("1")
		s.send("\x1b[200~+q+\x1b[201~")
		s.stays()
		s.sees("a paste goes into a message", "3.2 / 5")
	})
}

func TestAMessageIsWrittenAndSent(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "i")
		s.press(strings.Split("quit? +1", "")...) // letters that are keys elsewhere
		s.stays()
		s.sees("quit? +1")
		s.press("enter")
		if d := cmp.Diff([]core.Command{core.Say{Text: "quit? +1"}}, s.bot.done()); d != "" {
			t.Error(d)
		}
	})
}

func TestRedrawPaintsWhatSomethingElseHasOverwritten(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		before := s.screen()
		s.glass.mu.Lock()
		_, _ = s.glass.vt.WriteString("\x1b[5;5Hbroadcast message from root")
		s.glass.mu.Unlock()
		s.sees("broadcast")
		s.press("ctrl+l")
		if d := cmp.Diff(before, s.screen()); d != "" {
			t.Error(d)
		}
	})
}

func TestTheNoticeOfTheStartIsShown(t *testing.T) {
	play(t, setup{options: Options{Notice: "no Discord token: the chat pane is the surface"}}, func(s *stage) {
		s.sees("no Discord token: the chat pane is the surface")
		s.press("esc")
		s.misses("no Discord token")
	})
}

func TestAPanicInTheDashboardIsAnErrorAndTheTerminalIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBot(busyDay(time.Now().UTC()))
		g := &glass{vt: vt.NewEmulator(80, 24)}
		err := Run(t.Context(), &explosive{bot: b}, Options{Output: g, Env: []string{"TERM=dumb"}, Theme: "dark"})
		if err == nil || !strings.Contains(err.Error(), "the snapshot is broken") {
			t.Errorf("error %v", err)
		}
		if g.vt.IsAltScreen() {
			t.Error("the alternate screen is left on")
		}
	})
}

// explosive panics at the second look.
type explosive struct {
	*bot
	looks int
}

func (e *explosive) Snapshot() core.Snapshot {
	if e.looks++; e.looks > 1 {
		panic("the snapshot is broken")
	}
	return e.bot.Snapshot()
}
