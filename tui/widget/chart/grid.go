package chart

import (
	"strings"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// pen is what curves are drawn with: a cell is across × down dots, each of them a bit,
// and a set of dots has a sign.
type pen struct {
	bits [][]uint8 // of the dot in a column and a row
	sign func(dots uint8) rune
}

var (
	brailleBits = [][]uint8{{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}
	quarterBits = [][]uint8{{1, 4}, {2, 8}}
	quarters    = []rune(" ▘▝▀▖▌▞▛▗▚▐▜▄▙▟█")
	wholeBit    = [][]uint8{{1}}
)

// penOf is the finest pen that the terminal of a theme can show.
func penOf(t *theme.Theme) pen {
	switch {
	case t.ASCII():
		return pen{wholeBit, func(uint8) rune { return '*' }}
	case t.Options().Blocks:
		return pen{quarterBits, func(dots uint8) rune { return quarters[dots] }}
	}
	return pen{brailleBits, func(dots uint8) rune { return 0x2800 + rune(dots) }}
}

// layer is what a cell shows; what is drawn later covers what lies lower.
type layer uint8

const (
	nothing layer = iota
	shade
	rule
	bar
	curve
	sign // a mark, a word
	rest // of what a wide sign before it covers
)

// cell is one cell of a picture: dots, or a text that begins here.
type cell struct {
	layer layer
	dots  uint8
	role  theme.Role
	text  string
}

// grid is a picture of w×h cells.
type grid struct {
	pen   pen
	ascii bool
	w, h  int
	cells []cell
}

func newGrid(t *theme.Theme, w, h int) *grid {
	return &grid{pen: penOf(t), ascii: t.ASCII(), w: w, h: h, cells: make([]cell, w*h)}
}

// at is the cell of a column and a row; nil outside.
func (g *grid) at(x, y int) *cell {
	if x < 0 || y < 0 || x >= g.w || y >= g.h {
		return nil
	}
	return &g.cells[y*g.w+x]
}

// put lays a sign of one cell over what lies lower.
func (g *grid) put(x, y int, l layer, role theme.Role, text string) {
	if c := g.at(x, y); c != nil && c.layer <= l {
		*c = cell{layer: l, role: role, text: text}
	}
}

// dot sets a dot, counted in dots from the upper left. Of curves that share a cell the
// later one gives its colour; where a cell is one dot, it gives its sign.
func (g *grid) dot(x, y int, c Curve) {
	across, down := len(g.pen.bits), len(g.pen.bits[0])
	if x < 0 || y < 0 {
		return
	}
	at := g.at(x/across, y/down)
	if at == nil || at.layer > curve {
		return
	}
	if at.layer < curve {
		*at = cell{layer: curve}
	}
	at.role, at.dots = c.Role, at.dots|g.pen.bits[x%across][y%down]
	if g.ascii && c.Dashed {
		at.text = "."
	} else {
		at.text = ""
	}
}

// free reports that nothing but shade and rules lies in n cells, with one beside them.
func (g *grid) free(x, y, n int) bool {
	if x < 0 || x+n > g.w {
		return false
	}
	for i := max(0, x-1); i < min(g.w, x+n+1); i++ {
		if c := g.at(i, y); c == nil || c.layer > rule {
			return false
		}
	}
	return true
}

// write lays a word of n cells, over whatever there is. Of a word that it touches
// nothing stays.
func (g *grid) write(x, y, n int, role theme.Role, text string) {
	from := x
	for g.at(from, y) != nil && g.at(from, y).layer == rest {
		from--
	}
	for i := from; i < x; i++ {
		*g.at(i, y) = cell{}
	}
	for i := x + n; g.at(i, y) != nil && g.at(i, y).layer == rest; i++ {
		*g.at(i, y) = cell{}
	}
	for i := range n {
		if c := g.at(x+i, y); c != nil {
			*c = cell{layer: rest}
		}
	}
	if c := g.at(x, y); c != nil {
		*c = cell{layer: sign, role: role, text: text}
	}
}

// lines are the rows of the picture, each of exactly w cells.
func (g *grid) lines(t *theme.Theme) []string {
	out := make([]string, g.h)
	for y := range out {
		out[y] = g.line(t, y)
	}
	return out
}

// line joins cells of one colour.
func (g *grid) line(t *theme.Theme, y int) string {
	var b, run strings.Builder
	role := theme.Text
	for x := range g.w {
		c := &g.cells[y*g.w+x]
		if c.layer == rest {
			continue
		}
		if c.role != role {
			b.WriteString(t.Paint(role, run.String()))
			run.Reset()
			role = c.role
		}
		switch {
		case c.text != "":
			run.WriteString(c.text)
		case c.layer == curve:
			run.WriteRune(g.pen.sign(c.dots))
		default:
			run.WriteByte(' ')
		}
	}
	b.WriteString(t.Paint(role, run.String()))
	return b.String()
}

// word is a text as a picture may hold it, at most w cells, and its cells.
func word(t *theme.Theme, text string, w int) (string, int) {
	text = widget.Cut(text, w)
	n := widget.Cells(text)
	return widget.Brush{Theme: t}.Line(n, widget.Span{Text: text}), n
}
