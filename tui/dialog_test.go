package tui

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/talk/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/view"
)

func TestExactNumbersShowTheirConsequenceBeforeTheyAreSet(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("1", "e")
		s.sees("Ping budget, exactly", "Capacity      5", "Refill (min)", "90", "enter set")
		s.press("8", "tab", "4", "5")
		preview := s.bot.Snapshot().Budget.State.Preview(time.Now(), 8, 45)
		s.sees("Capacity      8 ", "Refill (min)  45 ")
		if first := strings.Fields(preview); len(first) > 1 {
			s.sees(first[0] + " " + first[1])
		}
		s.press("enter")
		s.sees("3.2 / 8")
		s.misses("Ping budget, exactly")
		c := s.bot.done()[0].(command.SetBudget)
		if *c.Capacity != 8 || *c.RefillMinutes != 45 {
			t.Errorf("set %d and %d", *c.Capacity, *c.RefillMinutes)
		}
	})
}

func TestQuittingWhileForksRunAsksAndStayingIsTheDefault(t *testing.T) {
	play(t, setup{snap: busyForks}, func(s *stage) {
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
	play(t, setup{snap: busyForks}, func(s *stage) {
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

func TestThePaletteFindsAnActionAndRunsItInItsPane(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("6", "ctrl+p")
		s.sees("Logs: Find in text", "Show all keys")
		s.types("undo")
		s.sees("Undo last change", "nothing to undo")
		s.press("ctrl+u")
		s.types("raise cap")
		s.sees("Raise the capacity")
		s.press("enter")
		s.sees("▸ 1 Ping budget", "3.2 / 6")
	})
}

func TestHelpListsEveryKeyAndFinds(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "?")
		s.sees("Keys", "Fire task now", "Everywhere")
		s.press("/")
		s.types("stop selected")
		s.sees("/stop selected", "Stop selected run")
		s.press("enter")
		s.sees("1 action")
		s.misses("Fire task now")
		s.press("esc", "esc")
		s.misses("Everywhere")
	})
}

func TestAFailedCommandIsAToastThatSaysWhatToDo(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("3", "x")
		s.sees("write budget: the disk is full; free some space and try", "again") // on two lines
		time.Sleep(9 * time.Second)
		s.misses("the disk is full")
		s.press("!")
		s.sees("Notices, newest first", "error", "the disk is full")
	})
}

func TestACommandThatPanicsIsAnErrorToo(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "f")
		s.sees("internal fault in command.FireNow: a command that panics")
		s.stays()
	})
}

func TestANoticeOfTheBotIsAToastOnce(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.change(func(s *core.Snapshot) {
			s.Notices = append(s.Notices, notice.Notice{Seq: 1, At: time.Now(), Level: notice.Warn, Text: "routines/a.md:3:7: day 8 does not exist"})
		})
		s.sees("routines/a.md:3:7: day 8 does not exist")
		time.Sleep(10 * time.Second)
		s.misses("day 8 does not exist")
		s.change(func(*core.Snapshot) {})
		s.misses("day 8 does not exist")
	})
}

func TestAPromptIsPreviewedOnAPage(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "p")
		s.sees("You are about to fire.", "Second line of the prompt.", "esc close")
		s.press("q")
		s.misses("esc close")
		s.stays()
	})
}

func TestTheNoticeOfTheStartIsShown(t *testing.T) {
	play(t, setup{options: Options{Notice: "no Discord token: the chat pane is the surface"}}, func(s *stage) {
		s.sees("no Discord token: the chat pane is the", "surface")
		s.press("esc")
		s.misses("no Discord token")
	})
}

func TestAToastThatWasReadGoesWithTheNextKey(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("1", "+")
		s.sees("u undoes")
		s.press("+")
		s.sees("capacity 6")
		time.Sleep(2 * time.Second)
		s.press("2")
		s.misses("u undoes")
		s.press("!")
		s.sees("capacity 6 → 7")
	})
}

func TestExactNumbersThatAreRefusedStayToBeMended(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("1", "e")
		s.types("999999")
		s.sees("capacity 999999 is out of range: choose 0 to 1000")
		s.misses("full at")
		s.press("enter")
		s.sees("Ping budget, exactly", "999999")
		s.did()
		s.press("backspace", "backspace", "backspace", "enter")
		s.misses("Ping budget, exactly")
		s.sees("/ 999")
	})
}

func TestARefusalOfTheCoreComesBackIntoTheEntry(t *testing.T) {
	r := rekeyed(t, action.Keys{}, busyDay(day))
	r.open(dialog.NewBudget(r.context(r.focus)))
	run(t, r, r.key(press("enter")))
	if n := len(r.dialogs); n != 1 {
		t.Fatalf("%d dialogs", n)
	}
	screen := strings.Join(view.Frame(r.view()), "\n")
	if n := strings.Count(screen, "nothing can be done in a picture"); n != 1 {
		t.Errorf("the refusal stands there %d times:\n%s", n, screen)
	}
	r.key(press("6"))
	if strings.Contains(strings.Join(view.Frame(r.view()), "\n"), "nothing can be done in a picture") {
		t.Error("the refusal stays with other numbers")
	}
}

// run carries out a command, and everything that it leads to.
func run(t *testing.T, r *root, cmd tea.Cmd) {
	t.Helper()
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			run(t, r, c)
		}
	case doneMsg:
		next, _ := r.receive(msg)
		run(t, r, next)
	}
}

func TestTheExactEntryFitsOnASmallScreen(t *testing.T) {
	play(t, setup{w: 40, h: 10}, func(s *stage) {
		s.press("1", "e")
		s.types("999999")
		s.sees("▸ Capacity", "Refill (min)", "range: choose 0 to 1000", "critical pings)")
		s.clickOn("Refill (min)")
		s.sees("▸ Refill (min)")
	})
}

func TestANewRoutineIsWrittenInAFormThatReadsItsCron(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "n")
		s.sees("A new routine or reminder", "routine", "every weekday at 9, daily 8:15, or cron: 0 9 * * 1-5")
		s.sees("esc cancel")
		s.types("0 9 * * 1-5")
		s.sees("esc leave")
		s.misses("cancel")
		s.sees("9:00, Monday to Friday; next")
		s.press("tab")
		s.types("Stand-up")
		s.press("tab")
		s.types("Ask what I plan.")
		s.press("tab", " ", "enter")
		want := command.AddTask{Cron: "0 9 * * 1-5", Description: "Stand-up", Message: "Ask what I plan.", Silent: true}
		s.did(want)
		// The small core refuses it: the form stays, with what was typed.
		s.sees("A new routine or reminder", "Ask what I plan.", "✗ write budget: the disk is full")
	})
}

func TestWhatWasJustMadeIsSelected(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.bot.adds = true
		s.press("2", "n")
		s.types("0 9 * * 1-5")
		s.press("tab")
		s.types("Stand-up")
		s.press("tab")
		s.types("Ask what I plan.")
		s.press("enter", "tab", "tab", "enter")
		s.sees("▸ 09:00   Stand-up")
	})
}

func TestAReminderOfTheFormIsATime(t *testing.T) {
	for spaces, kind := range map[string][]string{" ": {"fires once", "18:30, tonight, next monday 9am"}, "  ": {"reminder until it is done", "repeats until you press Done"}} {
		play(t, setup{}, func(s *stage) {
			s.press("2", "n", "up")
			s.types(spaces)
			s.press("down")
			s.sees(kind...)
			s.types("2h30m")
			s.sees("(in 2h30)")
			s.press("enter") // the message is missing
			s.types("Look into the oven")
			s.press("enter")
			at := time.Now().Add(150 * time.Minute)
			s.did(command.AddTask{At: at.UTC(), Message: "Look into the oven", UntilDone: spaces == "  "})
		})
	}
}

func TestWhatIsWrongStandsBelowItsField(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "n", "enter")
		s.sees("! needed: every weekday at 9, daily 8:15, or cron", "! needed: what the bot should do")
		s.types("61 9 * * *")
		s.sees("! minute 61 does not exist")
		s.press("enter")
		s.sees("! minute 61 does not exist")
		s.did()
	})
}

func TestOneKeyNeverLosesWhatWasTyped(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "n")
		s.types("0 9")
		s.press("esc")
		s.sees("Esc again discards", "0 9")
		s.types(" *")
		s.misses("Esc again discards")
		s.press("esc", "esc")
		s.misses("A new routine or reminder")
	})
}

func TestARefusalStandsInTheFormOnASmallScreen(t *testing.T) {
	play(t, setup{w: 40, h: 10}, func(s *stage) {
		s.press("2", "n")
		s.types("0 9 * * *")
		s.clickOn("Title")
		s.press("tab")
		s.types("Ask.")
		s.press("enter")
		time.Sleep(time.Minute) // the toast has ended
		s.sees("✗ write budget: the disk is", "full; free some space and try", "again", "▸ Prompt         Ask.")
		s.types("!")
		s.misses("the disk is")
	})
}

func TestWhatIsWrongWithACronLineIsSaidWhole(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "n")
		s.types("0 0 9 * * 1-5")
		c := pane.Context{Snap: &core.Snapshot{At: day}}
		text, ok := dialog.CheckCron(c, "0 0 9 * * 1-5")
		if ok || len(text) < 80 {
			t.Fatalf("not the case: %q", text)
		}
		s.sees("! a cron expression has five fields", "delete the extra field")
	})
}
