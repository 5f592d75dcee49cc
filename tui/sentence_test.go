package tui

import (
	"testing"
	"time"

	"ollimbot/core/command"
)

// Behind "/" and ":", a line that stops something asks, and one that is no command as a whole can be sent to the agent.
func TestALineAsksOrIsForTheAgent(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "i")
		s.types("/stop email")
		s.press("enter")
		s.sees("/stop email: Stop a run", "carry it out")
		time.Sleep(time.Second) // an earlier key is no answer
		s.press("n")
		s.types("/stop email")
		s.press("enter")
		s.sees("carry it out")
		time.Sleep(time.Second)
		s.press("y")
		stop := command.Say{Text: "/stop email"}
		s.did(stop, stop, command.Sure(stop))
	})
	play(t, setup{}, func(s *stage) {
		s.press("5", "i")
		s.types("/pause for a walk")
		s.press("enter")
		s.sees("no task is called", "y send it")
		time.Sleep(time.Second)
		s.press("y")
		s.did(command.Say{Text: "/pause for a walk"}, command.Say{Text: "pause for a walk"})
	})
	play(t, setup{}, func(s *stage) {
		s.press(":")
		s.types("pause for a walk")
		s.sees("Send to the agent: pause for a walk")
	})
}
