package screen

import (
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"
)

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
