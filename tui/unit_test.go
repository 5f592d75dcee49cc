package tui

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/base/testkit"
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/screen"
	"ollimbot/tui/theme"
	"ollimbot/tui/undo"
	"ollimbot/tui/view"
)

func TestTheEnvironmentSaysHowToDraw(t *testing.T) {
	none, ascii := theme.Options{Dark: true, Profile: colorprofile.NoTTY}, theme.Options{Dark: true, Profile: colorprofile.NoTTY, ASCII: true}
	for _, c := range []struct {
		name string
		env  []string
		want environment
	}{
		{"true colour", []string{"TTY_FORCE=1", "TERM=xterm-256color", "COLORTERM=truecolor"}, environment{look: theme.Options{Dark: true, Profile: colorprofile.TrueColor}, w: 80, h: 24}},
		{"256 colours", []string{"TTY_FORCE=1", "TERM=xterm-256color"}, environment{look: theme.Options{Dark: true, Profile: colorprofile.ANSI256}, w: 80, h: 24}},
		{"any NO_COLOR counts", []string{"TTY_FORCE=1", "TERM=xterm-256color", "NO_COLOR=please"}, environment{look: theme.Options{Dark: true, Profile: colorprofile.ANSI256, NoColor: true}, w: 80, h: 24}},
		{"an empty NO_COLOR does not", []string{"TTY_FORCE=1", "TERM=xterm-256color", "NO_COLOR="}, environment{look: theme.Options{Dark: true, Profile: colorprofile.ANSI256}, w: 80, h: 24}},
		{"nothing known", nil, environment{look: none, w: 80, h: 24}},
		{"a C locale", []string{"LANG=en_US.UTF-8", "LC_ALL=C"}, environment{look: ascii, w: 80, h: 24}},
		{"an UTF-8 locale", []string{"LANG=C", "LC_CTYPE=de_DE.utf8"}, environment{look: none, w: 80, h: 24}},
		{"the console", []string{"TERM=linux"}, environment{look: ascii, w: 80, h: 24}},
		{"a light background", []string{"COLORFGBG=0;default;15"}, environment{look: theme.Options{Profile: colorprofile.NoTTY}, w: 80, h: 24}},
		{"a dark background", []string{"COLORFGBG=15;0"}, environment{look: none, w: 80, h: 24}},
		{"a size", []string{"COLUMNS=100", "LINES=30", "NO_MOTION=1"}, environment{look: none, still: true, w: 100, h: 30}},
		{"a size that is none", []string{"COLUMNS=-4", "LINES=x"}, environment{look: none, w: 80, h: 24}},
		{"the last value counts", []string{"COLUMNS=1", "COLUMNS=90"}, environment{look: none, w: 90, h: 24}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := detect(Options{Output: &bytes.Buffer{}, Env: c.env})
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(environment{})); d != "" {
				t.Errorf("environment (-want +got):\n%s", d)
			}
		})
	}
}

// keysOfAll are the keys of every action, and some that mean nothing.
func keysOfAll() []string {
	keys := []string{"a", "ä", "世", "backspace", "enter", "left", "right", "ctrl+u", "ctrl+x", "f5", "space", "0"}
	for _, a := range (action.Keys{}).All() {
		keys = append(keys, a.Keys...)
	}
	return keys
}

// TestNoSequenceOfKeysAndSizesBreaksTheFrame drives the model alone.
func TestNoSequenceOfKeysAndSizesBreaksTheFrame(t *testing.T) {
	keys := keysOfAll()
	testkit.Check(t, func(t *rapid.T) {
		snap := busyDay(day)
		if rapid.Bool().Draw(t, "forks") {
			snap = withForks(snap)
		}
		if rapid.Bool().Draw(t, "nothing") {
			snap = core.Snapshot{}
		}
		b := newBot(snap)
		b.talk("f1f1f1f1", rapid.IntRange(0, 300).Draw(t, "lines"))
		r := newRoot(t.Context(), b, Options{
			Output: &bytes.Buffer{}, ASCII: rapid.Bool().Draw(t, "ascii"), ReadOnly: rapid.Bool().Draw(t, "read-only"),
		})
		r.terminal.screen = screen.New(t.Context(), &bytes.Buffer{}, nil)
		r.Init()
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			if rapid.IntRange(0, 4).Draw(t, "resize") == 0 {
				r.Update(tea.WindowSizeMsg{Width: rapid.IntRange(1, 200).Draw(t, "w"), Height: rapid.IntRange(1, 60).Draw(t, "h")})
			}
			k := rapid.SampledFrom(keys).Draw(t, "key")
			r.Update(press(k))
			fits(t, r, k)
		}
	})
}

// fits expects that the frame has the lines and cells of the screen, with nothing that moves the cursor.
func fits(t rapid.TB, r *root, after any) []string {
	t.Helper()
	if r.err != nil {
		t.Fatalf("after %v: %v", after, r.err)
	}
	lines := view.Frame(r.view())
	if len(lines) != r.h {
		t.Fatalf("after %v: %d lines of %d", after, len(lines), r.h)
	}
	for y, l := range lines {
		if n := ansi.StringWidth(l); n != r.w || strings.ContainsAny(ansi.Strip(l), "\n\r\x1b\u202e") {
			t.Fatalf("after %v on %d×%d line %d has %d cells: %q", after, r.w, r.h, y, n, l)
		}
	}
	return lines
}

// press makes the message of a key by its name.
func press(k string) tea.KeyPressMsg {
	named := map[string]rune{
		"enter": tea.KeyEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape, "backspace": tea.KeyBackspace,
		"up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome,
		"end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "space": tea.KeySpace, "f5": tea.KeyF5,
	}
	var mod tea.KeyMod
	if rest, ok := strings.CutPrefix(k, "ctrl+"); ok {
		k, mod = rest, tea.ModCtrl
	}
	if rest, ok := strings.CutPrefix(k, "shift+"); ok {
		k, mod = rest, tea.ModShift
	}
	if code, ok := named[k]; ok {
		return tea.KeyPressMsg{Code: code, Mod: mod}
	}
	msg := tea.KeyPressMsg{Code: []rune(k)[0], Mod: mod}
	if mod == 0 {
		msg.Text = k
	}
	return msg
}

func TestEveryActionOfTheFrameDoesSomething(t *testing.T) {
	for _, a := range (action.Keys{}).Of(action.Everywhere) {
		b := newBot(withForks(busyDay(day)))
		r := newRoot(t.Context(), b, Options{Output: &bytes.Buffer{}})
		var out bytes.Buffer
		r.terminal.screen = screen.New(t.Context(), &out, nil)
		testkit.Must(t, r.terminal.screen.Open())
		r.Init()
		r.setFocus(action.Schedule)
		switch a.ID {
		case action.Schedule.Go():
			r.setFocus(action.Budget)
		case action.Back:
			r.zoom = true
		case action.Undo:
			r.changes.Add(undo.Change{Step: command.RestoreBudget{Capacity: 3}})
		case action.Redo:
			r.changes.Put(undo.Forward, undo.Change{Step: command.RestoreBudget{Capacity: 3}})
		}
		r.show(atOnce)
		before := out.Len()
		cmd := r.act(a)
		r.show(atOnce)
		if cmd == nil && out.Len() == before {
			t.Errorf("%s changed nothing", a.ID)
		}
	}
}

// S33: while a window is dragged, each of its sizes was painted: 8 MB in 5 seconds.
func TestSizesThatFollowOneAnotherAreNotPaintedEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoot(t.Context(), newBot(busyDay(day)), Options{Output: &bytes.Buffer{}})
		var out bytes.Buffer
		r.terminal.screen = screen.New(t.Context(), &out, nil)
		testkit.Must(t, r.terminal.screen.Open())
		r.Init()
		out.Reset()
		const sizes = 200
		for i := range sizes {
			r.Update(signalMsg{syscall.SIGWINCH})
			r.Update(tea.WindowSizeMsg{Width: 100 + i%2, Height: 30}) // where the terminal says it itself
			time.Sleep(frameGap / 10)
		}
		time.Sleep(frameGap)
		r.Update(paintMsg{})
		if got, most := strings.Count(out.String(), "\x1b[2J"), sizes/10+1; got == 0 || got > most {
			t.Errorf("%d frames for %d sizes, not at most %d", got, sizes, most)
		}
	})
}
