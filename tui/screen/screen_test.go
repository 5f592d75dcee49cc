package screen

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// glass is a terminal emulator that counts writes.
type glass struct {
	mu     sync.Mutex
	vt     *vt.Emulator
	writes int
	bytes  int
}

func newGlass(w, h int) *glass { return &glass{vt: vt.NewEmulator(w, h)} }

func (g *glass) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writes++
	g.bytes += len(p)
	return g.vt.Write(p)
}

// rows are the lines on the glass, without the spaces at their ends.
func (g *glass) rows() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]string, g.vt.Height())
	for y := range out {
		var b strings.Builder
		for x := 0; x < g.vt.Width(); {
			c := g.vt.CellAt(x, y)
			if c == nil || c.Width == 0 {
				b.WriteByte(' ')
				x++
				continue
			}
			b.WriteString(c.Content)
			x += c.Width
		}
		out[y] = strings.TrimRight(b.String(), " ")
	}
	return out
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

// line draws a line of exactly w cells, some of it coloured.
func line(t *rapid.T, w int) string {
	var b strings.Builder
	for n := 0; n < w; {
		piece := rapid.SampledFrom([]string{"a", "Z", " ", "─", "│", "█", "é", "世", "界", "ß", "…"}).Draw(t, "character")
		if n+ansi.StringWidth(piece) > w {
			piece = "x"
		}
		n += ansi.StringWidth(piece)
		if rapid.IntRange(0, 9).Draw(t, "colour") == 0 {
			piece = "\x1b[1;31m" + piece
		}
		b.WriteString(piece)
	}
	return b.String()
}

func TestTheTerminalShowsExactlyTheLines(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 24).Draw(t, "w"), rapid.IntRange(1, 6).Draw(t, "h")
		g := newGlass(w, h)
		s := opened(t, g)
		lines := make([]string, h)
		for range rapid.IntRange(1, 5).Draw(t, "frames") {
			for i := range lines {
				if lines[i] == "" || rapid.Bool().Draw(t, "changed") {
					lines[i] = line(t, w)
				}
			}
			if rapid.IntRange(0, 5).Draw(t, "forget") == 0 {
				s.Forget()
			}
			if err := s.Paint(lines); err != nil {
				t.Fatal(err)
			}
			want := make([]string, h)
			for i, l := range lines {
				want[i] = strings.TrimRight(ansi.Strip(l), " ")
			}
			if d := cmp.Diff(want, g.rows()); d != "" {
				t.Fatalf("screen (-want +got):\n%s", d)
			}
		}
	})
}

func TestAFrameWithoutAChangeWritesNothing(t *testing.T) {
	g := newGlass(10, 3)
	s := opened(t, g)
	lines := []string{"aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"}
	testkit.Must(t, s.Paint(lines))
	before := g.writes
	for range 3 {
		testkit.Must(t, s.Paint(lines))
	}
	if g.writes != before {
		t.Errorf("%d writes for frames that were there already", g.writes-before)
	}
}

func TestAChangedLineIsWrittenAloneAndInOnePiece(t *testing.T) {
	g := newGlass(10, 3)
	s := opened(t, g)
	lines := []string{"aaaaaaaaaa", "bbbbbbbbbb", "cccccccccc"}
	testkit.Must(t, s.Paint(lines))
	writes, size := g.writes, g.bytes
	lines[1] = "BBBBBBBBBB"
	testkit.Must(t, s.Paint(lines))
	if got := g.writes - writes; got != 1 {
		t.Errorf("%d writes", got)
	}
	if got := g.bytes - size; got > 10+40 {
		t.Errorf("%d bytes for a line of 10", got)
	}
}

func TestThePainterKeepsNoHoldOnTheCallersLines(t *testing.T) {
	g := newGlass(2, 1)
	s := opened(t, g)
	lines := []string{"aa"}
	testkit.Must(t, s.Paint(lines))
	lines[0] = "bb"
	testkit.Must(t, s.Paint(lines))
	if got := g.rows()[0]; got != "bb" {
		t.Errorf("the screen shows %q", got)
	}
}

func TestATitleNeverReachesTheScreen(t *testing.T) {
	g := newGlass(20, 1)
	s := opened(t, g)
	testkit.Must(t, s.Paint([]string{strings.Repeat("a", 20)}))
	testkit.Must(t, s.Paint([]string{"b" + strings.Repeat("a", 19)}))
	testkit.Must(t, s.SetTitle("ollim-bot · ✗ 1 failed"))
	if got := g.rows()[0]; got != "b"+strings.Repeat("a", 19) {
		t.Errorf("the screen shows %q", got)
	}
}

func TestLinesThatAreGoneAreErased(t *testing.T) {
	g := newGlass(4, 3)
	s := opened(t, g)
	for _, lines := range [][]string{{"aaaa", "bbbb", "cccc"}, {"aaaa"}} {
		testkit.Must(t, s.Paint(lines))
	}
	if d := cmp.Diff([]string{"aaaa", "", ""}, g.rows()); d != "" {
		t.Error(d)
	}
}

func TestALineThatIsTooWideForTheTerminalDoesNotPushTheOthersDown(t *testing.T) {
	g := newGlass(4, 3)
	s := opened(t, g)
	testkit.Must(t, s.Paint([]string{"one", "much too wide", "two"}))
	rows := g.rows()
	if rows[0] != "one" || rows[2] != "two" {
		t.Errorf("screen: %q", rows)
	}
}

func TestClosingGivesEverythingBack(t *testing.T) {
	var out bytes.Buffer
	s := New(context.Background(), &out, nil)
	testkit.Must(t, s.Open())
	testkit.Must(t, s.SetMouse(true))
	taken := out.String()
	out.Reset()
	testkit.Must(t, s.Close())
	for mode, back := range map[string]string{
		"\x1b[?1049h": "\x1b[?1049l", "\x1b[?25l": "\x1b[?25h", "\x1b[?7l": "\x1b[?7h",
		"\x1b[?2004h": "\x1b[?2004l", "\x1b[?1004h": "\x1b[?1004l", "\x1b[?1000h": "\x1b[?1000l",
		"\x1b[?1006h": "\x1b[?1006l", "\x1b[?2031h": "\x1b[?2031l", "\x1b[>1u": "\x1b[<1u", "\x1b[>4;1m": "\x1b[>4m", "\x1b[22;2t": "\x1b[23;2t",
	} {
		if !strings.Contains(taken, mode) {
			t.Errorf("%q was not taken", mode)
		}
		if !strings.Contains(out.String(), back) {
			t.Errorf("%q was not given back", mode)
		}
	}
	out.Reset()
	if err := s.Close(); err != nil || out.Len() != 0 {
		t.Errorf("a second close wrote %q, error %v", out.String(), err)
	}
}

func TestAClosedScreenIsSilent(t *testing.T) {
	var out bytes.Buffer
	s := New(context.Background(), &out, nil)
	for _, err := range []error{s.Paint([]string{"x"}), s.SetMouse(true), s.Copy("x"), s.AskBackground(), s.Close()} {
		if err != nil {
			t.Error(err)
		}
	}
	if out.Len() != 0 {
		t.Errorf("wrote %q", out.String())
	}
}

// broken is a terminal that went away.
type broken struct{ left int }

var errGone = errors.New("input/output error")

func (b *broken) Write(p []byte) (int, error) {
	if b.left--; b.left < 0 {
		return 0, errGone
	}
	return len(p), nil
}

func TestATerminalThatWentAwayIsAnError(t *testing.T) {
	s := New(context.Background(), &broken{left: 1}, nil)
	testkit.Must(t, s.Open())
	if err := s.Paint([]string{"x"}); !errors.Is(err, errGone) {
		t.Errorf("error %v", err)
	}
}

func TestAFrameThatWasNotWrittenIsWrittenAgain(t *testing.T) {
	var out bytes.Buffer
	w := &flaky{out: &out, fail: 2}
	s := New(context.Background(), w, nil)
	testkit.Must(t, s.Open())
	if err := s.Paint([]string{"x"}); err == nil {
		t.Fatal("the write must fail")
	}
	out.Reset()
	if err := s.Paint([]string{"x"}); err != nil || !strings.Contains(out.String(), "x") {
		t.Errorf("wrote %q, error %v", out.String(), err)
	}
}

// flaky fails its nth write.
type flaky struct {
	out  *bytes.Buffer
	fail int
}

func (f *flaky) Write(p []byte) (int, error) {
	if f.fail--; f.fail == 0 {
		return 0, errGone
	}
	return f.out.Write(p)
}

func TestCopyHandsTheTextToTheTerminal(t *testing.T) {
	g := newGlass(10, 1)
	s := opened(t, g)
	var out bytes.Buffer
	s.out = NewOutput(t.Context(), &out)
	testkit.Must(t, s.Copy("two\nlines"))
	if got, want := out.String(), "\x1b]52;c;dHdvCmxpbmVz\x07"; got != want {
		t.Errorf("wrote %q, want %q", got, want)
	}
}

func TestAnOutputThatIsNoTerminalHasNoSize(t *testing.T) {
	if _, _, ok := New(context.Background(), &bytes.Buffer{}, nil).Size(); ok {
		t.Error("a buffer has a size")
	}
}

func TestARealTerminalIsRawWhileTheScreenIsOpenAndTheScreenKnowsItsSize(t *testing.T) {
	testkit.Alone(t)
	master, tty, err := pty.Open()
	testkit.Must(t, err)
	defer master.Close()
	defer tty.Close()
	testkit.Must(t, pty.Setsize(tty, &pty.Winsize{Cols: 123, Rows: 45}))
	drained := drain(master)
	before := modes(t, tty)
	s := New(context.Background(), tty, tty)
	testkit.Must(t, s.Open())
	if w, h, ok := s.Size(); w != 123 || h != 45 || !ok {
		t.Errorf("size %d×%d %v", w, h, ok)
	}
	if modes(t, tty) == before {
		t.Error("the terminal still echoes")
	}
	testkit.Must(t, errors.Join(s.Close(), s.Open()))
	if modes(t, tty) == before {
		t.Error("after it was reopened the terminal still echoes")
	}
	testkit.Must(t, s.Close())
	if got := modes(t, tty); got != before {
		t.Errorf("the terminal is left as %s, was %s", got, before)
	}
	testkit.Must(t, tty.Close())
	<-drained
}

// S30: an editor that died in raw mode left its mode to the user's shell, and to the next editor.
func TestTheTerminalIsAsTheFirstOpeningFoundItWhateverWasLeftInBetween(t *testing.T) {
	testkit.Alone(t)
	master, tty, err := pty.Open()
	testkit.Must(t, err)
	defer master.Close()
	drained := drain(master)
	before := modes(t, tty)
	s := New(t.Context(), tty, tty)
	testkit.Must(t, s.Open())
	for range 2 {
		testkit.Must(t, s.Close())
		if got := modes(t, tty); got != before {
			t.Errorf("the terminal is left as %s, was %s", got, before)
		}
		if _, err := term.MakeRaw(tty.Fd()); err != nil {
			t.Fatal(err)
		}
		testkit.Must(t, s.Open())
	}
	testkit.Must(t, errors.Join(s.Close(), tty.Close()))
	<-drained
}

// drain reads what the terminal is sent, so that writes do not block.
func drain(master *os.File) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			if _, err := master.Read(buf); err != nil {
				return
			}
		}
	}()
	return done
}
