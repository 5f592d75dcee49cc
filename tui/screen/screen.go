// Package screen owns the terminal while the dashboard is open: raw input
// mode, the alternate screen, and its contents. It receives whole
// frames, line by line, and writes the lines that changed in one piece. It
// must not know what the lines mean.
//
// # Why not Bubble Tea's renderer
//
// It works on a fixed frame ticker: between 0.4 and 1.2 % of a core while idle, and 14 ms from
// key to screen at 60 frames per second. This painter writes the lines that changed, in one
// write inside a synchronized update, when they changed. An idle dashboard is silent. For the
// same reason panes render exact lines of exact width, and nothing measures them again.
package screen

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/clipperhouse/displaywidth"
)

// Screen is the terminal. Its methods are called from one goroutine; each writes at
// most once. Use New.
type Screen struct {
	out    *Output
	in     io.Reader
	open   bool
	shown  []string // the lines on the screen; nil if they are unknown
	buffer []byte   // reused between frames
	differ differ
	title  string // of the window; empty leaves its own
	mouse  bool
	raw    bool        // the input is in raw mode
	before *term.State // how the first Open found the input; nil where it is no terminal
	// signals is where Watch gives the terminal's signals, or nil.
	signals chan os.Signal
}

// New returns a screen that is not open yet. Out is the terminal, or anything that takes its
// bytes; in is put into raw mode where it is a terminal, and may be nil. Once ctx has ended, a
// terminal that no longer reads is not waited for: that is ErrUnread.
func New(ctx context.Context, out io.Writer, in io.Reader) *Screen {
	return &Screen{out: NewOutput(ctx, out), in: in}
}

// Control sequences. Lines never wrap on this screen: a line that a terminal
// takes for wider than it is must not push the others down.
const (
	// Mode 2031 has a terminal say when it turns dark or light; keysOn has it distinguish
	// shift+enter from enter, in the two ways that terminals know for that, and askKeys has it
	// say whether the second, with which esc is no start of another key, is in use.
	enter = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h\x1b[?1004h\x1b[?2031h" + keysOn + askKeys + "\x1b[0m\x1b[2J"
	leave = keysOff + "\x1b[0m\x1b[?2031l\x1b[?1004l\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l"

	keysOn, keysOff = "\x1b[>4;1m\x1b[>1u", "\x1b[<1u\x1b[>4m"
	askKeys         = "\x1b[?u"

	// The title is pushed before and popped after, where the terminal can.
	pushTitle, popTitle = "\x1b[22;2t", "\x1b[23;2t"

	mouseOn  = "\x1b[?1000h\x1b[?1006h"
	mouseOff = "\x1b[?1006l\x1b[?1000l"

	frameStart = "\x1b[?2026h"
	frameEnd   = "\x1b[?2026l"
)

// Restore is what gives a terminal back after a program that could not close its
// Screen.
const Restore = mouseOff + leave + popTitle

// Open takes the terminal. Close gives it back, also after Open has failed
// halfway. What counts as before is what the first Open found: a program that had the
// terminal in between may have left it raw.
func (s *Screen) Open() error {
	if s.open {
		return nil
	}
	if f, ok := s.in.(term.File); ok && term.IsTerminal(f.Fd()) {
		state, err := term.MakeRaw(f.Fd())
		if err != nil {
			return fmt.Errorf("switch the terminal to raw input: %w", err)
		}
		s.raw = true
		if s.before == nil {
			s.before = state
		}
	}
	s.open, s.shown = true, nil
	s.listen()
	out := pushTitle
	if s.title != "" {
		out += titled(s.title)
	}
	out += enter
	if s.mouse {
		out += mouseOn
	}
	return s.send(out)
}

// Close gives the terminal back as it was. It is idempotent.
func (s *Screen) Close() error {
	if !s.open {
		return nil
	}
	out := leave + popTitle
	if s.mouse {
		out = mouseOff + out
	}
	err := s.out.Last(out)
	s.open, s.shown = false, nil
	if f, ok := s.in.(term.File); ok && s.raw {
		if e := term.Restore(f.Fd(), s.before); e != nil && err == nil {
			err = fmt.Errorf("switch the terminal back: %w", e)
		}
		s.raw = false
	}
	return err
}

// Forget makes the next Paint write every line: after a resize, or when
// something else has written to the terminal.
func (s *Screen) Forget() { s.shown = nil }

// Paint shows the lines from the top of the screen. Each must be exactly as
// wide as the screen and may hold SGR and cursor-column sequences, no others.
// Lines that are there already cost nothing; without a change nothing is
// written.
func (s *Screen) Paint(lines []string) error {
	if !s.open {
		return nil
	}
	b := append(s.buffer[:0], frameStart...)
	if s.shown == nil {
		b = append(b, "\x1b[0m\x1b[2J"...)
	}
	for i, line := range lines {
		if i < len(s.shown) {
			if s.shown[i] == line {
				continue
			}
			var done bool
			if b, done = s.differ.appendChanges(b, i, s.shown[i], line); done {
				continue
			}
		}
		b = appendLine(s.differ.reset(b), i, line)
	}
	b = s.differ.reset(b)
	for i := len(lines); i < len(s.shown); i++ {
		b = appendLine(b, i, "")
	}
	s.shown = append(s.shown[:0], lines...)
	s.buffer = b
	if len(b) == len(frameStart) {
		return nil
	}
	_, err := s.out.Write(append(b, frameEnd...))
	if err != nil { // a write that was given up may still read the buffer
		s.shown, s.buffer = nil, nil
	}
	return err
}

// appendLine writes a whole row. The row is erased first, not after: after a full line the
// cursor is on its last cell, which an erase would take.
func appendLine(b []byte, row int, line string) []byte {
	b = append(b, ansi.CursorPosition(1, row+1)...)
	b = append(b, "\x1b[K"...)
	b = append(b, line...)
	return append(b, "\x1b[0m"...)
}

// SetMouse takes the mouse or gives it back to the terminal; a screen that is opened
// again has it as before.
func (s *Screen) SetMouse(on bool) error {
	if !s.open || s.mouse == on {
		return nil
	}
	s.mouse = on
	if on {
		return s.send(mouseOn)
	}
	return s.send(mouseOff)
}

// Mouse reports whether the screen has the mouse.
func (s *Screen) Mouse() bool { return s.mouse }

// SetTitle names the window; it must be free of control characters. A title that
// it has already costs nothing.
func (s *Screen) SetTitle(title string) error {
	if s.title == title {
		return nil
	}
	s.title = title
	return s.send(titled(title))
}

// titled replaces the characters that hold the byte 0x9c, as ✗ does: it ends a title for a
// terminal that does not decode UTF-8 first, which would print the rest over the screen.
func titled(title string) string {
	title = strings.Map(func(r rune) rune {
		if strings.IndexByte(string(r), 0x9c) >= 0 {
			return '!'
		}
		return r
	}, title)
	return "\x1b]2;" + title + "\x07"
}

// Bell rings once; what that means is the terminal's to choose.
func (s *Screen) Bell() error { return s.send("\x07") }

// Notify asks the terminal for a notification of the desktop (OSC 9), once; one that
// knows none does nothing. The text must be free of control characters.
func (s *Screen) Notify(text string) error { return s.send(ansi.Notify(text)) }

// Copy puts text on the clipboard of the terminal's user (OSC 52),
// over SSH as well. The terminal does not say whether it allows that.
func (s *Screen) Copy(text string) error { return s.send(ansi.SetSystemClipboard(text)) }

// AskBackground asks the terminal for its background colour. The answer, where
// there is one, arrives as input.
func (s *Screen) AskBackground() error { return s.send(ansi.RequestBackgroundColor) }

// maxWidth and maxHeight limit what is drawn, in cells: a frame costs memory, and a terminal may claim any size.
const maxWidth, maxHeight = 640, 200

// Size is the terminal's size in cells; ok is false where Output is none.
func (s *Screen) Size() (w, h int, ok bool) {
	f, isFile := s.out.to.(term.File)
	if !isFile || !term.IsTerminal(f.Fd()) {
		return 0, 0, false
	}
	w, h, err := term.GetSize(f.Fd())
	return min(w, maxWidth), min(h, maxHeight), err == nil && w > 0 && h > 0
}

// send writes to an open terminal; one that is closed is left alone.
func (s *Screen) send(text string) error {
	if !s.open {
		return nil
	}
	_, err := s.out.Write([]byte(text))
	return err
}

// Watch gives the terminal's signals: a new size, the wish that the process
// stops, and that it continues. Stop ends it. Where the output is no terminal the
// channel stays silent.
func (s *Screen) Watch() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 4)
	if _, _, ok := s.Size(); !ok {
		return c, func() {}
	}
	s.signals = c
	s.listen()
	return c, func() { signal.Stop(c) }
}

// listen asks for the signals, again if one was reset.
func (s *Screen) listen() {
	if s.signals != nil {
		signal.Notify(s.signals, syscall.SIGWINCH, syscall.SIGCONT, syscall.SIGTSTP)
	}
}

// Suspend gives the terminal back and stops the program's group until its shell
// resumes it; then it takes the terminal again. Note is the line that it leaves for the
// meantime. Without a terminal, and where no shell could do that, nothing is stopped and
// stopped is false.
func (s *Screen) Suspend(note string) (stopped bool, err error) {
	if !s.open || !s.raw || !HasShell() {
		return false, nil
	}
	if err := s.Close(); err != nil {
		return false, err
	}
	if _, err := s.out.Write([]byte(note + "\n")); err != nil {
		return false, err
	}
	err = Pause()
	return err == nil, errors.Join(err, s.Open())
}

// differ finds the cells of a row that have changed. It keeps its memory between rows.
type differ struct {
	pens     []uv.Style // of this row
	was, now []cell
	on       uv.Style // what the terminal writes with
}

// cell is a character of width 1.
type cell struct {
	char rune
	pen  int // in differ.pens
	at   int // its first byte in the line
}

func (c cell) end() int { return c.at + utf8.RuneLen(c.char) }

// cheaper is how many unchanged bytes are written again instead of
// moving the cursor behind them.
const cheaper = 16

// appendChanges writes the changed cells of a row. It reports false, and writes nothing,
// where the lines do not have as many cells or hold anything but characters of width 1 and
// colours: about those, terminals do not agree.
func (d *differ) appendChanges(b []byte, row int, was, now string) ([]byte, bool) {
	d.pens = append(d.pens[:0], uv.Style{})
	var simple, alike bool
	d.now, simple = d.cells(d.now[:0], now)
	if simple {
		d.was, alike = d.cells(d.was[:0], was)
	}
	if !alike || len(d.was) != len(d.now) {
		return b, false
	}
	changed := func(i int) bool { return d.was[i].char != d.now[i].char || d.was[i].pen != d.now[i].pen }
	for i := 0; i < len(d.now); i++ {
		if !changed(i) {
			continue
		}
		last := i
		for j := i + 1; j < len(d.now) && d.now[j].at-d.now[last].end() <= cheaper; j++ {
			if changed(j) {
				last = j
			}
		}
		b = append(b, ansi.CursorPosition(i+1, row+1)...)
		b = append(b, d.pens[d.now[i].pen].Diff(&d.on)...)
		b = append(b, now[d.now[i].at:d.now[last].end()]...)
		d.on = d.pens[d.now[last].pen]
		i = last
	}
	return b, true
}

// reset takes the pen's colours away.
func (d *differ) reset(b []byte) []byte {
	if d.on.IsZero() {
		return b
	}
	d.on = uv.Style{}
	return append(b, "\x1b[0m"...)
}

// cells reads a line, if it is simple.
func (d *differ) cells(out []cell, line string) (cells []cell, simple bool) {
	p := ansi.GetParser()
	defer ansi.PutParser(p)
	var style uv.Style
	pen := 0
	for i := 0; i < len(line); {
		if line[i] == 0x1b {
			_, _, size, _ := ansi.DecodeSequence(line[i:], ansi.NormalState, p)
			if p.Command() != 'm' {
				return out, false
			}
			uv.ReadStyle(p.Params(), &style)
			pen = d.penOf(&style)
			i += size
			continue
		}
		r, size := rune(line[i]), 1
		if !fresh(line[i]) {
			if r, size = utf8.DecodeRuneInString(line[i:]); r == utf8.RuneError || displaywidth.Rune(r) != 1 {
				return out, false
			}
		}
		out = append(out, cell{r, pen, i})
		i += size
	}
	return out, true
}

// penOf is the place of a style in pens.
func (d *differ) penOf(style *uv.Style) int {
	for i := range d.pens {
		if d.pens[i].Equal(style) {
			return i
		}
	}
	d.pens = append(d.pens, *style)
	return len(d.pens) - 1
}

// fresh reports whether a byte is a character of its own, with which nothing
// before it can join.
func fresh(b byte) bool { return b >= 0x20 && b < 0x7f }
