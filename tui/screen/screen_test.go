package screen

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// glass is a terminal emulator that counts what is written.
type glass struct {
	*vt.Emulator
	writes, bytes int
}

// rows are the lines on the glass, without the blanks at their ends.
func (g *glass) rows() string { return trimmed(g.String()) }

func trimmed(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n")
}

func newGlass(w, h int) *glass { return &glass{Emulator: vt.NewEmulator(w, h)} }

func (g *glass) Write(p []byte) (int, error) {
	g.writes++
	g.bytes += len(p)
	return g.Emulator.Write(p)
}

// tester is a test, or a check of rapid's.
type tester interface {
	Helper()
	Fatal(args ...any)
}

func opened(t tester, g *glass) *Screen {
	t.Helper()
	s := New(context.Background(), g, nil)
	testkit.Must(t, s.Open())
	return s
}

// Whatever was there before, a frame looks as it does alone, and its text is that of its lines.
func TestTheTerminalShowsExactlyTheLines(t *testing.T) {
	char := rapid.SampledFrom([]string{"a", "b", "Z", " ", "─", "│", "█", "é", "ß", "…"})
	odd := rapid.SampledFrom([]string{"世", "界", "é", "👍🏽"})
	colour := rapid.SampledFrom([]string{
		"", "", "", "", "\x1b[0m", "\x1b[m", "\x1b[1;38;2;1;2;3m", "\x1b[22;39m", "\x1b[48;5;4m", "\x1b[38;5;1m", "\x1b[49m", "\x1b[39;49m", "\x1b[7m", "\x1b[27m",
		"\x1b[3;4m", "\x1b[23;24m", "\x1b[2m", "\x1b[91m", "\x1b[4:3;58;5;9m",
	})
	testkit.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 24).Draw(t, "w"), rapid.IntRange(1, 4).Draw(t, "h")
		line := func(like string) string {
			head := ansi.Truncate(like, rapid.IntRange(0, w).Draw(t, "as before"), "")
			for n := ansi.StringWidth(head); n < w; n = ansi.StringWidth(head) {
				piece := char.Draw(t, "character")
				if rapid.IntRange(0, 30).Draw(t, "odd") == 0 {
					piece = odd.Draw(t, "character")
				}
				if n+ansi.StringWidth(piece) > w {
					piece = "x"
				}
				head += colour.Draw(t, "colour") + piece
			}
			return head
		}
		g, frame := newGlass(w, h), make([]string, h)
		s := opened(t, g)
		for range rapid.IntRange(1, 5).Draw(t, "frames") {
			for i := range frame {
				if frame[i] == "" || rapid.Bool().Draw(t, "changed") {
					frame[i] = line(frame[i])
				}
			}
			if rapid.IntRange(0, 5).Draw(t, "forget") == 0 {
				s.Forget()
			}
			testkit.Must(t, s.Paint(frame))
			alone := newGlass(w, h)
			testkit.Must(t, opened(t, alone).Paint(frame))
			if got, want := g.Render(), alone.Render(); got != want {
				t.Fatalf("%q looks like %q, alone like %q", frame, got, want)
			}
			if got, want := g.rows(), trimmed(ansi.Strip(strings.Join(frame, "\n"))); got != want {
				t.Fatalf("%q is shown for %q", got, want)
			}
		}
	})
}

// Each row paints frames, and has what is on the screen then and the most that the last one may write.
func TestFramesAreShownAndCostWhatHasChanged(t *testing.T) {
	a, b := strings.Repeat("a", 20), strings.Repeat("b", 20)
	// S33: a change of focus, which colours the borders, wrote each row from its border on.
	borders := func(left, right string) []string {
		row := "\x1b[" + left + "m│\x1b[39m" + strings.Repeat("a", 58) + "\x1b[" + left + "m│\x1b[" + right + "m│\x1b[39m" + strings.Repeat("b", 58) + "\x1b[" + right + "m│\x1b[39m"
		return slices.Repeat([]string{row}, 40)
	}
	for _, c := range []struct {
		name          string
		w, h          int
		frames        [][]string
		begins, ends  string // of the screen
		writes, bytes int
	}{
		{"a frame without a change writes nothing", 20, 2, [][]string{{a, b}, {a, b}}, a + "\n", b, 0, 0},
		{"a changed line is written alone and in one piece", 20, 3, [][]string{{a, a, a}, {a, b, a}}, a + "\n" + b + "\n", a, 1, 60},
		{"lines that are gone are erased", 4, 3, [][]string{{"aaaa", "bbbb", "cccc"}, {"aaaa"}}, "aaaa\n", "\n", 1, 60},
		{"a line that is too wide does not push the others down", 4, 3, [][]string{{"one", "much too wide", "two"}}, "one\n", "\ntwo", 1, 100},
		{"a border that changes its colour costs the border", 120, 40, [][]string{borders("38;5;1", "38;5;2"), borders("38;5;2", "38;5;1")}, "│", "│", 1, 40 * 75},
	} {
		g := newGlass(c.w, c.h)
		s := opened(t, g)
		lines := make([]string, 0, c.h) // the caller's, which change under the painter
		for _, f := range c.frames {
			g.writes, g.bytes = 0, 0
			lines = append(lines[:0], f...)
			testkit.Must(t, s.Paint(lines))
		}
		got := g.rows()
		if g.writes > c.writes || g.bytes > c.bytes || !strings.HasPrefix(got, c.begins) || !strings.HasSuffix(got, c.ends) {
			t.Errorf("%s: %d writes of %d bytes, and it shows\n%s", c.name, g.writes, g.bytes, got)
		}
		writes := g.writes
		for range 2 {
			testkit.Must(t, s.SetTitle("ollim-bot · ✗ 1 failed"))
		}
		if again := g.rows(); again != got || g.writes != writes+1 {
			t.Errorf("%s: a title is written %d times, or is on the screen:\n%s", c.name, g.writes-writes, again)
		}
	}
}

func TestAChangeIsWrittenFromItsFirstCellToItsLast(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct{ was, now, want string }{
		{"abc", "abc", ""},
		{"abc", "aXc", "\x1b[1;2HX"},
		{"a" + x(15) + "b", "A" + x(15) + "B", "\x1b[HA" + x(15) + "B"},
		{"a" + x(16) + "b", "A" + x(16) + "B", "\x1b[HA" + x(16) + "B"},
		{"a" + x(17) + "b", "A" + x(17) + "B", "\x1b[HA\x1b[1;19HB"},
		{"\x1b[1mab\x1b[22mc", "\x1b[1maB\x1b[22mc", "\x1b[1;2H\x1b[1mB\x1b[0m"},
		{"abc", "\x1b[31mabc\x1b[39m", "\x1b[H\x1b[31mabc\x1b[0m"},
		{"abc", "abcd", "\x1b[H\x1b[Kabcd\x1b[0m"},
		{"世", "世", ""},
		{"世a", "世b", "\x1b[H\x1b[K世b\x1b[0m"},
		{"a", "\x1b[2Gb", "\x1b[H\x1b[K\x1b[2Gb\x1b[0m"},
		{"é", "e", "\x1b[He"},
	} {
		var out bytes.Buffer
		s := New(context.Background(), &out, nil)
		testkit.Must(t, errors.Join(s.Open(), s.Paint([]string{c.was})))
		out.Reset()
		testkit.Must(t, s.Paint([]string{c.now}))
		if got := strings.TrimSuffix(strings.TrimPrefix(out.String(), frameStart), frameEnd); got != c.want {
			t.Errorf("%q over %q is written as %q, want %q", c.now, c.was, got, c.want)
		}
	}
}

func TestClosingGivesEverythingBack(t *testing.T) {
	var out bytes.Buffer
	s := New(context.Background(), &out, nil)
	closed := func(when string) {
		t.Helper()
		for _, err := range []error{s.Paint([]string{"x"}), s.SetMouse(true), s.Copy("x"), s.AskBackground(), s.Close()} {
			testkit.Must(t, err)
		}
		if out.Len() != 0 {
			t.Errorf("%s it wrote %q", when, out.String())
		}
	}
	if _, _, ok := s.Size(); ok {
		t.Error("a buffer has a size")
	}
	closed("before it was opened")
	testkit.Must(t, s.Open())
	testkit.Must(t, s.SetMouse(true))
	taken := out.String()
	out.Reset()
	testkit.Must(t, errors.Join(s.Copy("two\nlines"), s.SetTitle("1 ✗ failed"), s.Bell()))
	if got, want := out.String(), "\x1b]52;c;dHdvCmxpbmVz\x07"+"\x1b]2;1 ! failed\x07"+"\x07"; got != want {
		t.Errorf("copying, a title and the bell wrote %q, want %q", got, want)
	}
	const taking = "\x1b[22;2t" + "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h\x1b[?1004h\x1b[?2031h\x1b[>4;1m\x1b[>1u\x1b[?u\x1b[0m\x1b[2J" + "\x1b[?1000h\x1b[?1006h"
	if taken != taking {
		t.Errorf("opening wrote %q, want %q", taken, taking)
	}
	for what, does := range map[string]func() error{
		"": s.Open, "\x1b[?1006l\x1b[?1000l": func() error { return errors.Join(s.SetMouse(true), s.SetMouse(false), s.SetMouse(false)) },
		"\x1b]9;2 runs failed\x07": func() error { return s.Notify("2 runs failed") }, "\x1b]11;?\x07": s.AskBackground,
	} {
		out.Reset()
		if testkit.Must(t, does()); out.String() != what {
			t.Errorf("wrote %q, want %q", out.String(), what)
		}
	}
	testkit.Must(t, s.SetMouse(true))
	if !s.Mouse() {
		t.Error("the mouse is the terminal's")
	}
	out.Reset()
	testkit.Must(t, s.Close())
	const back = "\x1b[?1006l\x1b[?1000l" + "\x1b[<1u\x1b[>4m\x1b[0m\x1b[?2031l\x1b[?1004l\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l" + "\x1b[23;2t"
	if out.String() != back || Restore != back {
		t.Errorf("closing wrote %q, want %q", out.String(), back)
	}
	out.Reset()
	closed("after it was closed")
	testkit.Must(t, s.Open())
	testkit.Must(t, s.Paint([]string{"x"}))
	testkit.Must(t, s.Close())
	out.Reset()
	testkit.Must(t, s.Open())
	testkit.Must(t, s.Paint([]string{"x"}))
	if want := pushTitle + "\x1b]2;1 ! failed\x07" + enter + mouseOn + "\x1b[?2026h\x1b[0m\x1b[2J\x1b[H\x1b[Kx\x1b[0m\x1b[?2026l"; out.String() != want {
		t.Errorf("a screen that was opened again is not painted: %q, want %q", out.String(), want)
	}
}

var errGone = errors.New("input/output error")

// flaky fails its nth write.
type flaky struct {
	bytes.Buffer
	fail int
}

func (f *flaky) Write(p []byte) (int, error) {
	if f.fail--; f.fail == 0 {
		return 0, errGone
	}
	return f.Buffer.Write(p)
}

func TestAFrameThatWasNotWrittenIsAnErrorAndIsWrittenAgain(t *testing.T) {
	out := &flaky{fail: 2}
	s := New(context.Background(), out, nil)
	testkit.Must(t, s.Open())
	if err := s.Paint([]string{"x"}); !errors.Is(err, errGone) {
		t.Errorf("the write that failed gives %v", err)
	}
	out.Reset()
	if err := s.Paint([]string{"x"}); err != nil || !strings.Contains(out.String(), "x") {
		t.Errorf("wrote %q, error %v", out.String(), err)
	}
}

func TestWhatCouldNotBeWrittenIsAnError(t *testing.T) {
	for what, does := range map[string]func(s *Screen) error{
		"the mouse": func(s *Screen) error { return s.SetMouse(true) }, "a title": func(s *Screen) error { return s.SetTitle("x") }, "the bell": (*Screen).Bell,
		"a notification": func(s *Screen) error { return s.Notify("x") }, "a copy": func(s *Screen) error { return s.Copy("x") },
		"the background": (*Screen).AskBackground, "the end": (*Screen).Close,
	} {
		s := New(context.Background(), &flaky{fail: 2}, nil)
		testkit.Must(t, s.Open())
		if err := does(s); !errors.Is(err, errGone) || err.Error() != "write to the terminal: input/output error" {
			t.Errorf("%s gives %v", what, err)
		}
	}
	s := New(context.Background(), &flaky{fail: 3}, nil)
	testkit.Must(t, errors.Join(s.Open(), s.SetMouse(true)))
	if err := s.SetMouse(false); !errors.Is(err, errGone) {
		t.Errorf("giving the mouse back gives %v", err)
	}
}

// modes describes the settings of a terminal.
func modes(t *testing.T, f *os.File) string {
	t.Helper()
	s, err := term.GetState(f.Fd())
	testkit.Must(t, err)
	return fmt.Sprintf("%+v", *s)
}

// S30: an editor that died in raw mode left its mode to the user's shell, and to the next editor.
func TestARealTerminalIsRawWhileTheScreenIsOpenAndAsTheFirstOpeningFoundItAfterwards(t *testing.T) {
	testkit.Alone(t)
	master, tty, err := pty.Open()
	testkit.Must(t, err)
	defer master.Close()
	testkit.Must(t, pty.Setsize(tty, &pty.Winsize{Cols: 123, Rows: 45}))
	drained := make(chan struct{}) // so that writes do not block
	go func() {
		defer close(drained)
		for buf := make([]byte, 4096); ; {
			if _, err := master.Read(buf); err != nil {
				return
			}
		}
	}()
	before := modes(t, tty)
	s := New(context.Background(), tty, tty)
	for range 3 {
		testkit.Must(t, s.Open())
		if w, h, ok := s.Size(); w != 123 || h != 45 || !ok {
			t.Errorf("size %d×%d %v", w, h, ok)
		}
		if modes(t, tty) == before {
			t.Error("the terminal still echoes")
		}
		testkit.Must(t, s.Close())
		if got := modes(t, tty); got != before {
			t.Errorf("the terminal is left as %s, was %s", got, before)
		}
		_, err := term.MakeRaw(tty.Fd()) // as such an editor does
		testkit.Must(t, err)
	}
	testkit.Must(t, tty.Close())
	<-drained
}

func TestAProgramWithoutATerminalGetsItsInputAndItsEnvironment(t *testing.T) {
	testkit.Alone(t)
	path := filepath.Join(t.TempDir(), "in")
	testkit.Must(t, os.WriteFile(path, []byte("typed"), 0o600))
	file, err := os.Open(path)
	testkit.Must(t, err)
	defer func() { _ = file.Close() }()
	for want, in := range map[string]io.Reader{"b|typed|": file, "b||": strings.NewReader("typed")} {
		var out bytes.Buffer
		err := Program(t.Context(), []string{"/bin/sh", "-c", `printf '%s|' "$A" "$(cat)"; echo bad >&2; exit 3`}, []string{"A=b", "PATH=" + os.Getenv("PATH")}, in, &out)
		if out.String() != want+"bad\n" || err == nil || err.Error() != "exit status 3" {
			t.Errorf("it wrote %q, want %q, and ended with %v", out.String(), want, err)
		}
	}
	if c, stop := New(context.Background(), &bytes.Buffer{}, nil).Watch(); len(c) > 0 {
		t.Error("a buffer has signals")
	} else {
		stop()
	}
	if stopped, err := New(context.Background(), &bytes.Buffer{}, nil).Suspend("later"); stopped || err != nil {
		t.Errorf("without a terminal it stopped: %t, %v", stopped, err)
	}
}
