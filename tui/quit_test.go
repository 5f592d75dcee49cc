package tui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

func TestCtrlCAsksBeforeItDropsWhatIsWritten(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "i")
		s.types("half a thought")
		s.press("ctrl+c")
		s.stays()
		s.sees("was not sent. Quitting discards")
		s.press("ctrl+c") // it was on its way
		s.stays()
		s.press("n", "ctrl+c")
		time.Sleep(time.Second)
		s.press("ctrl+c")
		s.quits()
	})
}

func TestADraftIsNamedBesideTheRunsThatWouldStop(t *testing.T) {
	play(t, setup{snap: busyForks}, func(s *stage) {
		s.press("5", "i")
		s.types("half a thought")
		s.press("ctrl+c")
		s.sees("still running", "was not sent. Quitting discards")
	})
}

func TestQuittingOverADraftAsksAndStayingIsTheDefault(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("5", "i")
		s.types("half a thought")
		s.press("esc", "q")
		s.sees("was not sent. Quitting discards", "quit and discard it")
		time.Sleep(time.Second)
		s.press("enter")
		s.stays()
		s.press("q")
		time.Sleep(time.Second)
		s.press("y")
		s.quits()
	})
}

func TestCtrlCNeverDropsAHalfWrittenTask(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("2", "n")
		s.types("0 9")
		s.press("ctrl+c")
		s.sees("A new routine or reminder", "Esc again discards")
		s.press("ctrl+c")
		s.misses("A new routine or reminder")
		s.stays()
	})
}

func TestAWindowKeepsItsTitleWhereThatWasChosen(t *testing.T) {
	dir := config(t)
	testkit.Must(t, os.MkdirAll(dir, 0o700))
	testkit.Must(t, os.WriteFile(filepath.Join(dir, "dashboard.yaml"), []byte("title: false\n"), 0o600))
	for want, o := range map[bool]Options{false: {Config: dir}, true: {}} {
		play(t, setup{options: o}, func(s *stage) {
			if got := strings.Contains(s.written(), "\x1b]2;"); got != want {
				t.Errorf("the window is named: %v, want %v", got, want)
			}
		})
	}
}
