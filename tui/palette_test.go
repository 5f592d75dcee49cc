package tui

import (
	"io"
	"strings"
	"testing"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/theme"
)

// plainRoot is a dashboard on no terminal, drawn without colours.
func plainRoot(t *testing.T, snap core.Snapshot) *root {
	t.Helper()
	r := newRoot(t.Context(), still{snap: snap, read: fullTail}, Options{Output: io.Discard})
	r.prefs.theme, r.w, r.h = theme.New(theme.Options{Plain: true}), 100, 30
	r.refresh()
	return r
}

func TestThePaletteFillsASmallScreen(t *testing.T) {
	play(t, setup{w: 40, h: 10, snap: busyForks}, func(s *stage) {
		s.press("4", "ctrl+p")
		rows := 0
		for _, l := range s.rows() {
			if strings.Contains(l, "Runs: ") {
				rows++
			}
		}
		if rows != 4 {
			t.Errorf("%d rows:\n%s", rows, s.screen())
		}
		s.sees("forks.tail")
		s.press("up") // what is disabled is last
		s.sees("off: ")
	})
}

func TestACommandCanBelongToNoPane(t *testing.T) {
	r := plainRoot(t, busyDay(day))
	made := false
	cmd := r.act(action.Action{ID: "app.nap", Title: "Take a nap", Make: func(core.Snapshot) command.Value {
		made = true
		return command.MuteUntil{}
	}})
	if !made || cmd == nil {
		t.Errorf("made its command: %v; sent it: %v", made, cmd != nil)
	}
}
