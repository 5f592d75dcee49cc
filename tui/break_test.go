package tui

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ollimbot/core/command"
)

// Terminals that know how tell shift+enter from enter in one of two ways; the
// others have alt+enter.
func TestALineIsBrokenByShiftEnterAndByAltEnter(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "i", "a")
		s.send("\x1b[27;2;13~") // modifyOtherKeys
		s.press("b")
		s.send("\x1b[13;2u") // the protocol of kitty
		s.press("c")
		s.send("\x1b\r")                   // alt+enter, everywhere
		time.Sleep(200 * time.Millisecond) // an escape may have been meant by itself
		s.press("d", "enter")
		if d := cmp.Diff([]command.Value{command.Say{Text: "a\nb\nc\nd"}}, s.bot.done()); d != "" {
			t.Error(d)
		}
	})
}

// The keys that a terminal then sends in long form mean what they did.
func TestKeysInLongFormAreTheSameKeys(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.send("\x1b[112;5u") // ctrl+p
		s.sees("Actions")
		s.send("\x1b[27u") // esc
		s.misses("Actions")
		s.send("\x1b[27;5;112~")
		s.sees("Actions")
		s.send("\x1b[99;5u") // ctrl+c
		s.stays()
		s.misses("Actions")
	})
}
