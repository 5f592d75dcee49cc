package tui

import (
	"testing"
	"time"

	"ollimbot/core"
)

func TestAClickInTheTailGivesItTheKeysAndOneInTheListTakesThem(t *testing.T) {
	play(t, setup{snap: func(at time.Time) core.Snapshot { return withForks(busyDay(at)) }}, func(s *stage) {
		s.bot.talk("f1f1f1f1", 200)
		s.bot.change(func(s *core.Snapshot) { s.Forks[0].Lines = 200 })
		time.Sleep(100 * time.Millisecond)
		s.clickOn("line 199 of the tail")
		s.press("up")
		s.sees("paused", "▸● running  Email sweep") // the tail has moved, not the selection
		s.press("end")
		s.sees("following")
		s.clickOn("Medication")
		s.sees("tail: Medication")
		s.clickOn("Email sweep")
		s.sees("tail: Email sweep", "following") // where it was left
		s.press("down")
		s.sees("tail: Weekly review")
	})
}
