package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/command"
)

func (s *stage) types(text string) { s.t.Helper(); s.press(strings.Split(text, "")...) }

func TestANewRoutineIsWrittenInAFormThatReadsItsCron(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "n")
		s.sees("A new routine or reminder", "routine", "minute hour day month weekday")
		s.sees("esc leave as it is")
		s.types("0 9 * * 1-5")
		s.sees("esc leave")
		s.misses("leave as it is")
		s.sees("9:00, Monday to Friday; next")
		s.press("tab")
		s.types("Stand-up")
		s.press("tab")
		s.types("Ask what I plan.")
		s.press("tab", "tab", " ", "enter")
		want := command.AddTask{Cron: "0 9 * * 1-5", Description: "Stand-up", Message: "Ask what I plan.", Silent: true}
		if d := cmp.Diff([]command.Value{want}, s.bot.done()); d != "" {
			t.Errorf("(-want +got):\n%s", d)
		}
		// The small core refuses it: the form stays, with what was typed.
		s.sees("A new routine or reminder", "Ask what I plan.", "✗ write budget: the disk is full")
	})
}

func TestAReminderOfTheFormIsATime(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "n", "up", " ", "down")
		s.sees("reminder", "fires once", "18:30, tomorrow 9:00")
		s.types("2h30m")
		s.sees("(in 2h30)")
		s.press("enter") // the message is missing
		s.types("Look into the oven")
		s.press("enter")
		c, ok := s.bot.done()[0].(command.AddTask)
		if !ok || c.Cron != "" || c.Message != "Look into the oven" || time.Until(c.At) != 150*time.Minute {
			t.Errorf("did %#v", s.bot.done())
		}
	})
}

func TestWhatIsWrongStandsBelowItsField(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "n", "enter")
		s.sees("! needed: minute hour day month weekday", "! needed: what the agent shall do")
		s.types("61 9 * * *")
		s.sees("! column 1:")
		s.press("enter")
		s.sees("! column 1:")
		if n := len(s.bot.done()); n != 0 {
			t.Errorf("%d commands", n)
		}
	})
}

func TestOneKeyNeverLosesWhatWasTyped(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "n")
		s.types("0 9")
		s.press("esc")
		s.sees("esc once more drops what you wrote", "0 9")
		s.types(" *")
		s.misses("esc once more")
		s.press("esc", "esc")
		s.misses("A new routine or reminder")
	})
}

func TestMomentsOfAReminderAreReadOrRefused(t *testing.T) {
	now := time.Date(2026, 3, 10, 14, 2, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"18:30": "today at 18:30 (in 4h28)", "tomorrow 9:00": "Wednesday 11 March at 09:00 (in 18h)", "Tomorrow 15:00": "Wednesday 11 March at 15:00 (in 24h)",
		"in 45m": "today at 14:47 (in 45m)", "2026-03-12 08:00": "Thursday 12 March at 08:00 (in 41h)",
		"2026-03-09 08:00": textPastMoment, "-1h": textPastMoment, "9999h": textFarMoment, "soon": textBadMoment, "2026-02-30 08:00": textBadMoment,
	} {
		if _, got, _ := readMoment(text, now); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if _, got, ok := readCron("0 0 30 2 *", now); ok || got != textNeverFires {
		t.Errorf("30 February: %q", got)
	}
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
		s.sees("✗ write budget: the disk is", "full; free some space and try", "again", "▸ Message     Ask.")
		s.types("!")
		s.misses("the disk is")
	})
}

func TestWhatIsWrongWithACronLineIsSaidWhole(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "n")
		s.types("0 0 9 * * 1-5")
		_, text, ok := readCron("0 0 9 * * 1-5", day)
		if ok || len(text) < 80 {
			t.Fatalf("not the case: %q", text)
		}
		words := strings.Fields(text)
		s.sees("! column", words[len(words)-1])
		s.misses("…  ")
	})
}
