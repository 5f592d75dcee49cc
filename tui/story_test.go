package tui

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/vt"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
)

func TestTheDashboardOpensWithEveryPane(t *testing.T) {
	play(t, setup{snap: busyForks}, func(s *stage) {
		s.sees("1 run under way, 1 waiting.", "12 routines",
			"1 Ping budget", "3.2 / 5", "2 Schedule", "Email sweep", "3 Updates", "4 Runs", "5 Chat", "6 Logs",
			"? keys", ": command")
	})
}

func TestTheClockIsInTheConfiguredZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	testkit.Must(t, err)
	play(t, setup{change: func(s *core.Snapshot) { s.Zone = berlin }}, func(s *stage) {
		s.sees("01:00 CET") // the bubble begins at midnight UTC
		time.Sleep(61 * time.Second)
		s.sees("01:01 CET")
	})
}

func TestAKeyChangesTheBudgetAndTheHelpLineShowsTheEffect(t *testing.T) {
	play(t, setup{w: 200, h: 40}, func(s *stage) {
		s.press("1")
		s.sees("▸ 1 Ping budget", "+/- capacity 5→6", "[/] refill 90→85")
		s.press("+")
		s.sees("3.2 / 6", "capacity 5 → 6 · u undoes", "+/- capacity 6→7", "u undo capacity 5→6", "{/} by 1")
		s.press("2")
		s.misses("u undo ")
		s.press("u")
		s.sees("3.2", "undone: capacity 5 → 6")
	})
}

func TestUndoTakesTheLastChangesBackNewestFirst(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("1", "+", "+")
		s.sees("3.2 / 7")
		s.press("u")
		s.sees("3.2 / 6", "undone: capacity 6 → 7")
		s.press("u")
		s.sees("3.2 / 5")
		s.press("u")
		s.sees("nothing to undo")
	})
}

func TestCtrlCInterruptsATurnAndWithoutOneQuits(t *testing.T) {
	play(t, setup{change: func(s *core.Snapshot) { s.Busy, s.BusySince = true, s.At }}, func(s *stage) {
		s.press("ctrl+c")
		s.stays()
		s.did(command.Interrupt{})
		s.sees("the answer was interrupted")
		s.bot.change(func(s *core.Snapshot) { s.Busy = false })
		time.Sleep(time.Second)
		s.press("ctrl+c")
		s.stays() // it was meant for the answer
		s.sees("the answer has just ended")
		time.Sleep(2 * time.Second)
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

func TestZoomGivesAPaneTheScreenAndEscTakesItBack(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "z")
		s.sees("▸ 2 Schedule", "zoomed")
		s.misses("5 Chat")
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

func TestReadOnlyChangesNothing(t *testing.T) {
	play(t, setup{options: Options{ReadOnly: true}}, func(s *stage) {
		s.sees("read-only")
		s.press("1", "+", "e", "3", "x", "2", "f")
		s.sees("the dashboard is read-only")
		s.press("p")
		s.sees("You are about to fire.")
		for _, c := range s.bot.done() {
			t.Errorf("carried out %#v", c)
		}
	})
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
				s.send("\x1b[<0;" + strconv.Itoa(len([]rune(row[:x]))+2) + ";" + strconv.Itoa(y+1) + "M")
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
	play(t, setup{snap: busyForks}, func(s *stage) {
		s.bot.talk("f1f1f1f1", 200)
		s.change(func(s *core.Snapshot) { s.Forks[0].Lines = 200 })
		s.press("5")
		s.sees("line 199 of the tail")
		s.send("\x1b[<64;80;14M")
		time.Sleep(100 * time.Millisecond)
		s.sees("▸5 Chat")
		s.misses("line 199 of the tail")
	})
}

func TestAPasteIsNeverReadAsKeys(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("1")
		s.send("\x1b[200~+q+\x1b[201~")
		s.stays()
		s.sees("you can paste into a message", "3.2 / 5")
	})
}

func TestAMessageIsWrittenAndSent(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "i")
		s.types("quit? +1") // letters that are keys elsewhere
		s.stays()
		s.sees("quit? +1")
		s.press("enter")
		s.did(command.Say{Text: "quit? +1"})
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

func TestTheHelpLineSaysWhatKeysDoWhileOneWrites(t *testing.T) {
	play(t, setup{snap: busyForks}, func(s *stage) {
		s.press("5", "i")
		s.sees("enter send", "alt+enter new line", "esc keep for later", "ctrl+c quit")
		s.change(func(s *core.Snapshot) { s.Busy = true })
		s.sees("ctrl+c interrupt")
		s.press("esc", "/")
		s.sees("enter keep the search", "esc end it")
	})
}

func TestAPasteOfSeveralLinesIsOneMessage(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "i")
		s.send("\x1b[200~buy:\r\n- milk\x1b[31m\r\n- bread\x1b[201~")
		s.sees("▸ buy:", "  - milk", "  - bread")
		s.press("up", "!", "enter")
		s.did(command.Say{Text: "buy:\n- milk!\n- bread"})
	})
}

func TestWordsThatCouldNotBeSentComeBack(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "i", "h", "i", "enter") // this bot refuses to be spoken to
		s.sees("the disk is full", "▸ hi")
	})
}

func TestTheCoreHearsThatSomebodyLooksWhileSomebodyMay(t *testing.T) {
	play(t, setup{}, func(st *stage) {
		looks := func(least, most int) {
			t.Helper()
			st.bot.mu.Lock()
			defer st.bot.mu.Unlock()
			if n := st.bot.looks; n < least || n > most {
				t.Errorf("looked %d times", n)
			}
			st.bot.looks = 0
		}
		looks(1, 1)
		time.Sleep(10 * time.Minute)
		looks(9, 12)
		st.send("\x1b[O") // the focus goes elsewhere, and the dashboard may still be in sight
		time.Sleep(59 * time.Minute)
		looks(55, 60)
		time.Sleep(2 * time.Minute)
		looks(0, 2)
		time.Sleep(10 * time.Hour)
		looks(0, 0)
		st.send("\x1b[I")
		looks(1, 1)
		st.send("\x1b[O")
		time.Sleep(10 * time.Hour)
		looks(55, 61)
		st.press("2") // a terminal that does not tell of the focus
		looks(1, 1)
	})
}
