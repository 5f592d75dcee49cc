package chart

import (
	"strings"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// layer is the kind of a cell's content. Content covers that of the same or a lower layer.
type layer uint8

const (
	nothing layer = iota
	bar
	sign // a word, an axis
	rest // covered by a word that starts to the left
)

// cell is one cell of a picture, or where a text starts.
type cell struct {
	layer layer
	role  theme.Role
	text  string
}

// grid is a picture of w×h cells, with room for the axes on the left and below.
// Coordinates start at the upper left of the picture, without the axes.
type grid struct {
	theme  *theme.Theme
	w, h   int
	gutter int      // cells at the left
	rows   [][]cell // with the axes
}

// at is the cell in a column and a row, or nil outside of the grid.
func (g *grid) at(x, y int) *cell {
	if x += g.gutter; x < 0 || y < 0 || y >= len(g.rows) || x >= len(g.rows[y]) {
		return nil
	}
	return &g.rows[y][x]
}

// put draws a character of one cell, unless a higher layer covers the cell.
func (g *grid) put(x, y int, l layer, role theme.Role, text string) {
	if c := g.at(x, y); c != nil && c.layer <= l {
		*c = cell{layer: l, role: role, text: text}
	}
}

// write draws a text from a column on. It returns false and draws nothing if there is no
// room, or if a cell of the text or next to it is above the layer.
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

// line renders a row, joining adjacent cells of one colour.
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
		case c.layer != rest:
			run.WriteByte(' ')
		}
	}
	b.WriteString(g.theme.Paint(role, run.String()))
	return b.String()
}
