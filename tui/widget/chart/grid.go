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
	sign // a mark, a word, an axis
	rest // of what a word before it covers
)

// cell is one cell of a picture: dots, or a text that begins here.
type cell struct {
	layer layer
	dots  uint8
	role  theme.Role
	text  string
}

// grid is a picture of w×h cells, which are counted from its upper left, and around it
// the cells at its left and below it for the axes.
type grid struct {
	theme  *theme.Theme
	pen    pen
	w, h   int
	gutter int      // cells at the left
	rows   [][]cell // with the axes
}

// at is the cell of a column and a row; nil outside.
func (g *grid) at(x, y int) *cell {
	if x += g.gutter; x < 0 || y < 0 || y >= len(g.rows) || x >= len(g.rows[y]) {
		return nil
	}
	return &g.rows[y][x]
}

// put lays a sign of one cell over what lies lower.
func (g *grid) put(x, y int, l layer, role theme.Role, text string) {
	if c := g.at(x, y); c != nil && c.layer <= l {
		*c = cell{layer: l, role: role, text: text}
	}
}

// column lays a sign over what lies lower in a column.
func (g *grid) column(x int, l layer, role theme.Role, text string) {
	for y := range g.h {
		g.put(x, y, l, role, text)
	}
}

// dot sets a dot, counted in dots from the upper left. Of curves that share a cell the
// later one gives its colour; where a cell is one dot, it gives its sign.
func (g *grid) dot(x, y int, c Curve) {
	across, down := len(g.pen.bits), len(g.pen.bits[0])
	at := g.at(x/across, y/down)
	if at == nil || at.layer > curve {
		return
	}
	if at.layer < curve {
		*at = cell{layer: curve}
	}
	at.role, at.dots, at.text = c.Role, at.dots|g.pen.bits[x%across][y%down], ""
	if g.theme.ASCII() && c.Dashed {
		at.text = "."
	}
}

// write lays a word from a column on, if there is room and nothing above a layer lies
// there or beside it.
func (g *grid) write(x, y int, over layer, role theme.Role, text string) bool {
	n := widget.Cells(text)
	for i := range n + 2 {
		c, within := g.at(x+i-1, y), i > 0 && i <= n
		if c == nil && within || c != nil && c.layer > over {
			return false
		}
	}
	for i := range n {
		*g.at(x+i, y) = cell{layer: rest}
	}
	if n > 0 {
		*g.at(x, y) = cell{layer: sign, role: role, text: widget.Brush{Theme: g.theme}.Line(n, widget.Span{Text: text})}
	}
	return true
}

// line joins cells of one colour.
func (g *grid) line(row []cell) string {
	var b, run strings.Builder
	role := theme.Text
	for _, c := range row {
		if c.role != role && c.layer != rest {
			b.WriteString(g.theme.Paint(role, run.String()))
			run.Reset()
			role = c.role
		}
		switch {
		case c.text != "":
			run.WriteString(c.text)
		case c.layer == curve:
			run.WriteRune(g.pen.sign(c.dots))
		case c.layer != rest:
			run.WriteByte(' ')
		}
	}
	b.WriteString(g.theme.Paint(role, run.String()))
	return b.String()
}
