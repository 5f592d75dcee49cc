package table

import (
	"slices"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// heading is the place of the first column's head, relative to the first row; those of
// the other columns count down from it.
const heading widget.Place = -100

const (
	gutter = 2 // cells before the first column
	// leastNote is the minimum number of cells for a note that is cut.
	leastNote = 14
	// leastHeads is the height up to which heads are omitted in favour of rows.
	leastHeads = 2
)

// Blank is an empty cell.
func Blank() widget.Span { return widget.Span{Role: theme.Dim, Text: "·"} }

// span is the position of a column.
type span struct{ column, from, cells int }

// fit divides w cells among the columns. It drops columns from the right, essential ones
// last, until the wide column has its minimum width. It never drops the wide column itself,
// and never the one that the rows are sorted by: otherwise their order would look random.
func (t *Table[T]) fit(w int) (out []span) {
	n, wide := len(t.Columns), max(0, slices.IndexFunc(t.Columns, func(c Column[T]) bool { return c.Cells == 0 && !c.Hidden }))
	keep := make([]bool, n)
	room := w - gutter - t.Columns[wide].Least
	for i, c := range t.Columns {
		keep[i] = !c.Hidden || t.by == i+1
		if i != wide && keep[i] {
			room -= c.Cells + 1
		}
	}
	for i := 2*n - 1; i >= 0 && room < 0; i-- {
		if c := t.Columns[i%n]; i%n != wide && i%n != t.by-1 && keep[i%n] && c.Essential == (i < n) {
			keep[i%n] = false
			room += c.Cells + 1
		}
	}
	x := gutter
	for i, c := range t.Columns {
		if !keep[i] {
			continue
		}
		if i == wide {
			c.Cells = max(1, c.Least+room)
		}
		out = append(out, span{i, x, c.Cells})
		x += c.Cells + 1
	}
	return out
}

// Lines is the height of the whole table: heads, rows, rule and filter.
func (t *Table[T]) Lines() int {
	n := t.Shown() + len(t.rules)
	for _, one := range []bool{!t.NoHeads, len(t.above) > 0 && len(t.below) > 0, t.Query.Shown()} {
		if one {
			n++
		}
	}
	return n
}

// line is the line of a row below the pinned ones, and first that of the rule right above
// it, if there is one.
func (t *Table[T]) line(i int) (first, line int) {
	over, ruled := slices.BinarySearchFunc(t.rules, i, func(r division, i int) int { return r.above - i })
	if ruled {
		return i + over, i + over + 1
	}
	return i + over, i + over
}

// Draw renders exactly h rows of exactly w cells: the heads, the pinned rows, which other rows
// never scroll away, the rows around the selected one, and the filter. The selected row is
// highlighted if the table is focused. The place of a row is First plus its number.
func (t *Table[T]) Draw(th *theme.Theme, w, h int, focused bool) []widget.Row {
	b := widget.Brush{Theme: th}
	spans := t.fit(w)
	rows := make([]widget.Row, 0, max(h, 0))
	if h > leastHeads && !t.NoHeads {
		rows = append(rows, t.heads(b, spans, w))
	}
	lines := h - len(rows)
	if t.Query.Shown() && lines > 1 {
		lines--
	}
	above, rule, below := t.share(lines)
	at, pins, pin := t.list.At, len(t.above), 0
	if at < pins {
		pin = at
	}
	first := t.pinned.Window(pin, pin, pins, above)
	total := len(t.below) + len(t.rules)
	from, at := t.line(max(0, at-pins))
	if t.Height = max(1, below); from < at && t.Height < 3 {
		from = at
	}
	if t.Third && !t.Chosen {
		t.list.Begin(at - t.Height/3)
	}
	top := t.list.Window(from, at, total, below)
	i, _ := slices.BinarySearchFunc(t.rules, top, func(r division, top int) int {
		_, line := t.line(r.above)
		return line - 1 - top
	})
	i = top - i
	t.names = max(t.longest(spans, first, min(pins, first+above)), t.longest(spans, pins+i, min(t.Shown(), pins+i+below)))
	for pin = first; pin < min(pins, first+above); pin++ {
		rows = append(rows, t.row(b, spans, line{pin, w, focused}))
	}
	if rule > 0 {
		rows = append(rows, widget.Row{Text: b.Rule(w, nil, nil), Place: widget.Ruled})
	}
	for y := top; y < min(total, top+below); y++ {
		if over, own := t.line(i); over == y && own > y {
			if y < top+below-1 { // a rule on the last line would separate nothing
				rows = append(rows, t.ruled(b, w, i))
			}
			continue
		}
		rows = append(rows, t.row(b, spans, line{pins + i, w, focused}))
		i++
	}
	if t.Query.Shown() && h > len(rows) && h > 1 {
		if t.Shown() == 0 {
			rows = append(rows, widget.Rows(widget.Nowhere, b.Empty(w, lines, widget.TextNoMatch(t.Len(), t.Noun)...)...)...)
		}
		return append(widget.FillRows(rows, w, h-1), t.Foot(b, w))
	}
	return widget.FillRows(rows, w, h)
}

// ruled draws the rule above a visible row.
func (t *Table[T]) ruled(b widget.Brush, w, i int) widget.Row {
	var name []widget.Span
	if n := slices.IndexFunc(t.rules, func(r division) bool { return r.above == i }); t.rules[n].name.Text != "" {
		name = append(name, t.rules[n].name)
	}
	return widget.Row{Text: b.Rule(w, name, nil), Place: widget.Ruled}
}

// heads draws the column heads, with a mark on the one that the rows are sorted by.
func (t *Table[T]) heads(b widget.Brush, spans []span, w int) widget.Row {
	line := []widget.Span{{Text: widget.Blank(gutter)}}
	row := widget.Row{Place: widget.Nowhere}
	for _, s := range spans {
		c := t.Columns[s.column]
		head, role := c.Head, theme.Dim
		if t.by == s.column+1 {
			mark := theme.Up
			if c.Descending != t.reversed {
				mark = theme.Down
			}
			head, role = head+b.Theme.Glyph(mark), theme.Accent
		}
		line = append(line, widget.Span{Role: role, Text: align(head, s.cells, c.Right)}, widget.Span{Text: " "})
		row.Spots = append(row.Spots, widget.Spot{From: s.from, To: s.from + s.cells, Place: heading - t.First - widget.Place(s.column)})
	}
	row.Text = b.Line(w, line...)
	return row
}

// share divides lines among the pinned rows, the rule and the other rows, of which one stays
// visible. On a single line only the selected row is visible.
func (t *Table[T]) share(lines int) (above, rule, below int) {
	switch {
	case len(t.above) == 0:
		return 0, 0, lines
	case len(t.below) == 0 || lines == 1 && t.list.At < len(t.above):
		return lines, 0, 0
	case lines == 1:
		return 0, 0, lines
	}
	above = min(len(t.above), lines-1)
	if lines-above > 1 { // a rule on the last line would separate nothing
		rule = 1
	}
	return above, rule, lines - above - rule
}

// line says which of the shown rows to draw, in w cells.
type line struct {
	i, w    int
	focused bool
}

func (t *Table[T]) row(b widget.Brush, spans []span, l line) widget.Row {
	row, place := t.Nth(l.i)
	mark := "  "
	if l.i == t.list.At && !t.Bare {
		mark = b.Theme.Glyph(theme.Pointer) + " "
		if l.focused {
			b.Back = theme.Select
		}
	}
	out := make([]widget.Span, 1, 2*len(spans)+4)
	out[0] = widget.Span{Role: theme.Accent, Text: mark}
	cells := make([]widget.Span, len(spans))
	for i, s := range spans {
		if cell := t.Columns[s.column].Cell; cell != nil {
			cells[i] = cell(row)
		}
	}
	for i := 0; i < len(spans); i++ {
		s, cell := spans[i], cells[i]
		for widget.Cells(cell.Text) > s.cells && i+1 < len(spans) && cells[i+1].Text == "" { // a blank cell can spare its room
			i++
			s.cells = spans[i].from + spans[i].cells - s.from
		}
		switch c := t.Columns[s.column]; {
		case c.Spans != nil:
			out = append(out, c.Spans(row)...)
		case c.Cells == 0:
			out = append(out, t.noted(row, cell, s.cells)...)
		default:
			out = append(out, widget.Span{Role: cell.Role, Text: align(cell.Text, s.cells, c.Right)})
		}
		out = append(out, widget.Span{Text: " "})
	}
	return widget.Row{Text: b.Line(l.w, out...), Place: place}
}

// longest is the width of the longest text of the wide column among some of the shown rows.
func (t *Table[T]) longest(spans []span, from, to int) (cells int) {
	for i := from; i < to && t.Aligned; i++ {
		row, _ := t.Nth(i)
		for _, s := range spans {
			if c := t.Columns[s.column]; c.Cells == 0 {
				cells = max(cells, widget.Cells(c.Cell(row).Text))
			}
		}
	}
	return cells
}

// noted is the wide column of w cells: its text and, where there is room, the note of the row
// after it. A note covers no other column. An aligned one begins after the longest text on the
// screen, but no later than in the middle, unless the text needs cells that the note can spare.
func (t *Table[T]) noted(row T, cell widget.Span, w int) []widget.Span {
	var note widget.Span
	if t.Note != nil {
		note = t.Note(row)
	}
	n := widget.Cells(note.Text)
	name := widget.Cells(cell.Text)
	if t.Aligned {
		name = max(min(t.names, w/2), min(name, max(leastNote, w-2-n)))
	}
	if n == 0 || w-2-name < min(leastNote, n) {
		return t.Query.Mark(cell.Role, widget.Fit(cell.Text, w))
	}
	out := t.Query.Mark(cell.Role, widget.Fit(cell.Text, name))
	return append(out, widget.Span{Role: note.Role, Text: "  " + widget.Fit(note.Text, w-2-name)})
}

// align makes a text exactly w cells wide.
func align(s string, w int, right bool) string {
	if n := widget.Cells(s); right && n < w {
		return widget.Blank(w-n) + s
	}
	return widget.Fit(s, w)
}
