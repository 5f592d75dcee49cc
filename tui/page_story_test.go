package tui

import (
	"testing"
	"time"

	"ollimbot/core/command"
	"ollimbot/tui/action"
)

func TestTheNextPaneOfAPageIsTheOneBesideWhereItWasOpened(t *testing.T) {
	r := plainRoot(t, fullDay())
	r.setFocus(action.Schedule)
	r.setFocus(action.Costs)
	r.setFocus(r.beside(+1))
	if r.focus != action.Updates || len(r.trail) > 0 {
		t.Errorf("tab goes to %s, and %v is behind it", r.focus, r.trail)
	}
}

func TestTheTaskOfTheSelectedRunIsOneKeyAway(t *testing.T) {
	r := plainRoot(t, fullDay())
	r.setFocus(action.Forks)
	a, _ := action.Get(action.Everywhere, action.Task.Go())
	r.act(a)
	if path := r.panes[action.Task].State(r.context(r.focus)); r.focus != action.Task || path != "routines/email-sweep.md" {
		t.Errorf("the focus is on %s, which shows %q", r.focus, path)
	}
	r.back()
	if r.focus != action.Forks {
		t.Errorf("esc goes to %s", r.focus)
	}
}

func TestTheFormOfATaskOpensFromTheScheduleAndFromThePalette(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "e")
		s.sees("2 Schedule", "More options…", "enter save the file")
		s.press("esc", "esc", "3", "ctrl+p")
		s.types("edit email")
		s.sees("opens its form")
		s.press("enter")
		s.sees("2 Schedule", "More options…", "enter save the file")
	})
}

// The page of a task reads its past, then its prompt, and both again as time goes by.
func TestAPageReadsOneThingAfterTheOther(t *testing.T) {
	play(t, setup{rings: func(b *bot) { b.takes = func(command.Value) time.Duration { return time.Second } }}, func(s *stage) {
		s.press("2", "enter")
		s.misses("You are about to fire.")
		time.Sleep(2500 * time.Millisecond)
		s.sees("You are about to fire.", "the last 20 of 120 runs")
	})
}

func TestTheWeekBeforeIsAKeyAway(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("W")
		s.sees("This week: ", "pings")
		s.press("left")
		s.sees("Last week: ")
		s.press("left", "right", "right", "right")
		s.sees("This week: ")
		s.press("esc")
		s.misses("This week: ")
	})
}

// A form, a prompt: what is typed while a dialog's command reads is meant for it.
func TestKeysThatAreTypedAheadGoIntoWhatIsBeingRead(t *testing.T) {
	slow := setup{rings: func(b *bot) { b.takes = func(command.Value) time.Duration { return time.Second } }}
	play(t, slow, func(s *stage) {
		s.send("2e\t")
		s.types("Sweep")
		s.sees("loading…")
		time.Sleep(2 * time.Second)
		s.sees("▸ Title          Sweep")
	})
	play(t, slow, func(s *stage) {
		s.send("2p/second")
		s.press("enter")
		time.Sleep(2 * time.Second)
		s.sees("/second", "1 found")
	})
	play(t, slow, func(s *stage) { // it can be left meanwhile
		s.press("2", "p", "esc", "3")
		time.Sleep(2 * time.Second)
		s.misses("loading…", "Second line of the prompt.")
		s.sees("▸ 3 Updates")
	})
}
