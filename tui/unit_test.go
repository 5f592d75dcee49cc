package tui

import (
	"bytes"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/talk/notice"
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/screen"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

func TestTheEnvironmentSaysHowToDraw(t *testing.T) {
	none, ascii := theme.Options{Dark: true, Profile: colorprofile.NoTTY}, theme.Options{Dark: true, Profile: colorprofile.NoTTY, ASCII: true}
	for _, c := range []struct {
		name string
		env  []string
		want terminal
	}{
		{"true colour", []string{"TTY_FORCE=1", "TERM=xterm-256color", "COLORTERM=truecolor"}, terminal{look: theme.Options{Dark: true, Profile: colorprofile.TrueColor}, w: 80, h: 24}},
		{"256 colours", []string{"TTY_FORCE=1", "TERM=xterm-256color"}, terminal{look: theme.Options{Dark: true, Profile: colorprofile.ANSI256}, w: 80, h: 24}},
		{"any NO_COLOR counts", []string{"TTY_FORCE=1", "TERM=xterm-256color", "NO_COLOR=please"}, terminal{look: theme.Options{Dark: true, Profile: colorprofile.ANSI256, NoColor: true}, w: 80, h: 24}},
		{"an empty NO_COLOR does not", []string{"TTY_FORCE=1", "TERM=xterm-256color", "NO_COLOR="}, terminal{look: theme.Options{Dark: true, Profile: colorprofile.ANSI256}, w: 80, h: 24}},
		{"nothing known", nil, terminal{look: none, w: 80, h: 24}},
		{"a C locale", []string{"LANG=en_US.UTF-8", "LC_ALL=C"}, terminal{look: ascii, w: 80, h: 24}},
		{"an UTF-8 locale", []string{"LANG=C", "LC_CTYPE=de_DE.utf8"}, terminal{look: none, w: 80, h: 24}},
		{"the console", []string{"TERM=linux"}, terminal{look: ascii, w: 80, h: 24}},
		{"a light background", []string{"COLORFGBG=0;default;15"}, terminal{look: theme.Options{Profile: colorprofile.NoTTY}, w: 80, h: 24}},
		{"a dark background", []string{"COLORFGBG=15;0"}, terminal{look: none, w: 80, h: 24}},
		{"a size", []string{"COLUMNS=100", "LINES=30", "NO_MOTION=1"}, terminal{look: none, still: true, w: 100, h: 30}},
		{"a size that is none", []string{"COLUMNS=-4", "LINES=x"}, terminal{look: none, w: 80, h: 24}},
		{"the last value counts", []string{"COLUMNS=1", "COLUMNS=90"}, terminal{look: none, w: 90, h: 24}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := detect(Options{Output: &bytes.Buffer{}, Env: c.env})
			if d := cmp.Diff(c.want, got, cmp.AllowUnexported(terminal{})); d != "" {
				t.Errorf("terminal (-want +got):\n%s", d)
			}
		})
	}
}

func TestWhatLiesOverALineLeavesTheRestInItsPlace(t *testing.T) {
	th := theme.New(theme.Options{Dark: true, Profile: colorprofile.TrueColor})
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.IntRange(4, 60).Draw(t, "w")
		text := widget.Fit(rapid.StringMatching(`[a-z世界█│ ]{0,60}`).Draw(t, "line"), w)
		x := rapid.IntRange(0, w-2).Draw(t, "x")
		n := rapid.IntRange(1, w-x).Draw(t, "n")
		over := strings.Repeat("#", n)
		line := text
		if rapid.Bool().Draw(t, "coloured") {
			line = th.Paint(theme.Accent, text)
			over = th.Paint(theme.Bad, over)
		}
		screen := []string{"above", line, "below"}
		lay(screen, w, x, 1, over)
		if screen[0] != "above" || screen[2] != "below" {
			t.Fatalf("rows that are not covered have changed: %q", screen)
		}
		got := screen[1]
		if ansi.StringWidth(got) != w {
			t.Fatalf("%d cells, want %d: %q", ansi.StringWidth(got), w, got)
		}
		bare := ansi.Strip(got)
		if at := ansi.StringWidth(bare[:strings.IndexByte(bare, '#')]); at != x {
			t.Fatalf("the piece begins in cell %d, want %d: %q", at, x, bare)
		}
		// Cells that are not covered, and are no half of a wide character, stay.
		for i := range w {
			was := ansi.Cut(text, i, i+1)
			if i >= x && i < x+n || was == "" || ansi.StringWidth(was) != 1 {
				continue
			}
			if now := ansi.Cut(bare, i, i+1); now != was {
				t.Fatalf("cell %d was %q and is %q", i, was, now)
			}
		}
	})
}

func TestOldNoticesAreListedAndAreNoToasts(t *testing.T) {
	now := time.Now()
	var s speech
	s.hear([]notice.Notice{{Seq: 1, At: now.Add(-time.Hour), Level: notice.Info, Text: "old"}, {Seq: 2, At: now, Level: notice.Info, Text: "new"}}, now)
	s.hear([]notice.Notice{{Seq: 1, At: now.Add(-time.Hour), Level: notice.Info, Text: "old"}, {Seq: 2, At: now, Level: notice.Info, Text: "new"}}, now)
	if got := s.toasts(time.Now()); len(got) != 1 || got[0].text != "new" {
		t.Errorf("toasts %+v", got)
	}
	if n := len(s.said); n != 2 {
		t.Errorf("%d in the list", n)
	}
	r := plainRoot(t, core.Snapshot{})
	if body := strings.Join(inside(r, s.page(&core.Snapshot{Zone: time.UTC})), ""); strings.Index(body, "new") > strings.Index(body, "old") {
		t.Errorf("the list is not newest first:\n%s", body)
	}
}

func TestTheListOfNoticesDoesNotGrowForever(t *testing.T) {
	var s speech
	for range 3 * maxSayings {
		s.add(saying{level: notice.Info, text: "again"})
	}
	if n := len(s.said); n != maxSayings {
		t.Errorf("%d kept", n)
	}
}

// keysOfAll are the keys of every action, and some that mean nothing.
func keysOfAll() []string {
	keys := []string{"a", "ä", "世", "backspace", "enter", "left", "right", "ctrl+u", "ctrl+x", "f5", "space", "0"}
	for _, a := range action.All() {
		keys = append(keys, a.Keys...)
	}
	return keys
}

// TestNoSequenceOfKeysAndSizesBreaksTheFrame drives the model alone.
func TestNoSequenceOfKeysAndSizesBreaksTheFrame(t *testing.T) {
	keys := keysOfAll()
	rapid.Check(t, func(t *rapid.T) {
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
		r.screen = screen.New(&bytes.Buffer{}, nil)
		r.Init()
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			if rapid.IntRange(0, 4).Draw(t, "resize") == 0 {
				r.Update(tea.WindowSizeMsg{Width: rapid.IntRange(1, 200).Draw(t, "w"), Height: rapid.IntRange(1, 60).Draw(t, "h")})
			}
			k := rapid.SampledFrom(keys).Draw(t, "key")
			r.Update(press(k))
			if r.err != nil {
				t.Fatalf("after %q: %v", k, r.err)
			}
			lines := r.frame()
			if len(lines) != r.h {
				t.Fatalf("%d lines of %d", len(lines), r.h)
			}
			for y, l := range lines {
				if n := ansi.StringWidth(l); n != r.w {
					t.Fatalf("after %q line %d has %d cells of %d: %q", k, y, n, r.w, l)
				}
			}
		}
	})
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
	for _, a := range action.Of(action.Everywhere) {
		b := newBot(withForks(busyDay(day)))
		r := newRoot(t.Context(), b, Options{Output: &bytes.Buffer{}})
		var out bytes.Buffer
		r.screen = screen.New(&out, nil)
		if err := r.screen.Open(); err != nil {
			t.Fatal(err)
		}
		r.Init()
		r.setFocus(action.Schedule)
		switch a.ID {
		case action.Schedule.Go():
			r.setFocus(action.Budget)
		case action.Back:
			r.zoom = true
		case action.Undo:
			r.undo = []command.Value{command.RestoreBudget{Capacity: 3}}
		}
		r.paint()
		before := out.Len()
		cmd := r.act(a)
		r.paint()
		if cmd == nil && out.Len() == before {
			t.Errorf("%s changed nothing", a.ID)
		}
	}
}

func TestATabIsFoundUnderItsLabel(t *testing.T) {
	r := newRoot(t.Context(), newBot(busyDay(day)), Options{Output: &bytes.Buffer{}})
	for _, w := range []int{56, 80, 120} {
		r.w, r.h = w, 24
		if r.plan().Mode != layout.Tabs {
			t.Fatalf("%d wide is no screen of tabs", w)
		}
		for _, p := range action.Panes {
			r.setFocus(action.Forks)
			b := r.plan().Columns[0].Boxes[0]
			row := ansi.Strip(r.border(b, true, false))
			x := ansi.StringWidth(row[:strings.Index(row, r.goKey(p))])
			r.click(tea.Mouse{X: b.X - 1 + x, Y: b.Y - 1, Button: tea.MouseLeft})
			if r.focus != p {
				t.Errorf("%d wide, column %d of %q is %q, want %s", w, x, row, r.focus, p)
			}
		}
	}
}
