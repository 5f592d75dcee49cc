package tui

import (
	"strings"
	"testing"
	"time"

	"ollimbot/core/command"
)

// L3, L4: over a slow line a paste reaches its field whole and no rest of an answer, a key or a mouse report is typed,
// at this machine and from a viewer.
func TestOverASlowLineNothingIsTypedThatWasNot(t *testing.T) {
	for name, setup := range map[string]setup{"here": {}, "attached": remotely(Options{})} {
		t.Run(name, func(t *testing.T) {
			play(t, setup, func(s *stage) {
				slowly := func(sequence string) {
					for cut := 2; cut < len(sequence); cut++ {
						for _, pause := range []time.Duration{60 * time.Millisecond, 2 * time.Second} {
							s.send(sequence[:cut])
							time.Sleep(pause)
							s.send(sequence[cut:])
						}
					}
				}
				s.press("2") // where "f" fires the selected task
				slowly("\x1b]11;rgb:ffff/ffff/ffff\a")
				slowly("\x1b[?2026;2$y")
				slowly("\x1bP>|fff(1.2)\x1b\\")
				slowly("\x1b[<64;200;200M")
				if done := s.bot.done(); len(done) > 0 {
					s.t.Fatalf("%d commands were sent, the first is %#v", len(done), done[0])
				}
				s.press("5", "i")
				s.send("\x1b[200~hello \x1b[20")
				time.Sleep(60 * time.Millisecond)
				s.send("1~")
				s.types("you")
				s.press("enter")
				s.did(command.Say{Text: "hello you"})
			})
		})
	}
}

// Where the terminal distinguishes ESC from the start of a sequence, a cut after ESC does not close the field.
func TestAnArrowCutAfterItsEscLeavesTheField(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		if !strings.Contains(s.written(), "\x1b[?u") {
			t.Error("the dashboard does not ask whether keys are unambiguous")
		}
		s.send("\x1b[?1u")
		s.press("5", "i")
		s.types("hello")
		s.send("\x1b")
		time.Sleep(time.Second)
		s.send("[D")
		s.types("x")
		s.press("enter")
		s.did(command.Say{Text: "hellxo"})
	})
}
