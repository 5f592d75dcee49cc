package tui

import (
	"io"
	"strings"
	"testing"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/settings"
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

func TestASettingIsFoundByAValueThatItDoesNotHave(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("ctrl+p")
		s.types("12 hour")
		s.sees("Clock: ", "setting")
	})
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

func TestThePaletteFindsAnIDAndAKey(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("ctrl+p")
		s.types("view.zo")
		s.sees("Zoom or unzoom pane", "in keys.yaml: view.zoom")
		s.press("ctrl+u")
		s.types("ctrl+l")
		s.sees("Redraw the screen", "view.redraw")
	})
}

func TestAnOpenDialogTakesTheKeysOfAFileThatIsSaved(t *testing.T) {
	for _, c := range []struct {
		open []string
		was  string
		is   string
	}{
		{[]string{"ctrl+p", "z", "o", "o", "m"}, "z │", "f3 │"},
		{[]string{"?", "/", "u", "n", "z", "o", "o", "m", "enter"}, " z       ", " f3      "},
	} {
		dir := config(t)
		play(t, setup{options: Options{Config: dir}}, func(s *stage) {
			s.press(c.open...)
			s.sees(c.was)
			saveFile(t, dir, settings.KeysFile, "view.zoom: f3")
			time.Sleep(2 * time.Minute) // no key is pressed: the clock looks
			s.sees(c.is, "Zoom or unzoom pane")
			s.misses(c.was)
		})
	}
}

func TestTwoQuickEscapesAreAnEscape(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		for _, open := range []string{"?", "ctrl+p", "!", "e"} {
			s.press("1", open)
			before := s.screen()
			s.send("\x1b\x1b")
			time.Sleep(150 * time.Millisecond)
			if after := s.screen(); after == before || strings.Contains(after, "esc close") {
				t.Errorf("two escapes leave %s open:\n%s", open, after)
			}
		}
		s.press("z")
		s.sees("zoomed")
		s.send("\x1b\x1b")
		time.Sleep(150 * time.Millisecond)
		s.misses("zoomed")
	})
}

func TestWhatNoActionIsCalledRunsNothing(t *testing.T) {
	play(t, setup{}, func(s *stage) {
		s.press("1", "ctrl+p")
		s.types("meto")
		s.sees("no action has that name")
		s.press("enter")
		s.sees("no action has that name") // nothing was run
		s.press("esc", "ctrl+p")
		s.types("runs failed 1 jan 1999")
		s.sees("no run matches")
	})
}
