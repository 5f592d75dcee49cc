package table

import (
	"slices"

	"ollimbot/core/base/words"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// heading is the place of the first column's head, relative to the first row; those of
// the other columns count down from it.
const heading widget.Place = -100

// nothing is the text of an empty cell. The note of a row may cover it.
const nothing = "·"

const (
	gutter = 2 // cells before the first column
	// leastNote is the minimum number of free cells for a note. From leastFar on, the note
	// is after the last column instead of after the text of the wide column.
	leastNote, leastFar = 14, 28
	// leastHeads is the height up to which heads are omitted in favour of rows.
	leastHeads = 2
)

// Blank is an empty cell.
func Blank() widget.Span { return widget.Span{Role: theme.Dim, Text: nothing} }

// span is the position of a column.
type span struct{ column, from, cells int }

// fit divides w cells among the columns. It drops columns from the right, essential ones
// last, until the wide column has its minimum width; the wide column itself is never
// dropped. rest is the number of free cells at the right end.
func (t *Table[T]) fit(w int) (out []span, rest int) {
	n, wide := len(t.Columns), max(0, slices.IndexFunc(t.Columns, func(c Column[T]) bool { return c.Cells == 0 && !c.Hidden }))
	keep := make([]bool, n)
	room := w - gutter - t.Columns[wide].Least
	for i, c := range t.Columns {
		keep[i] = !c.Hidden
		if i != wide && keep[i] {
			room -= c.Cells + 1
		}
	}
	for i := 2*n - 1; i >= 0 && room < 0; i-- {
		if c := t.Columns[i%n]; i%n != wide && keep[i%n] && c.Essential == (i < n) {
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
			c.Cells = max(1, min(c.Least, w-gutter)+max(0, room))
			if c.Most > 0 {
				c.Cells = min(c.Cells, c.Most)
			}
		}
		out = append(out, span{i, x, c.Cells})
		x += c.Cells + 1
	}
	return out, max(0, w-x)
}

// Lines is the height of the whole table: heads, rows, rule and filter.
func (t *Table[T]) Lines() int {
	n := t.Shown()
	for _, one := range []bool{!t.NoHeads, t.ruled(), t.Query.Shown()} {
		if one {
			n++
		}
	}
	return n
}

// ruled reports whether there are rows on both sides of the rule.
func (t *Table[T]) ruled() bool { return len(t.above) > 0 && len(t.below) > 0 }

// Draw renders exactly h rows of exactly w cells: the heads, the rows around the selected
// one, and the filter. The selected row is highlighted if the table is focused. The place
// of a row is First plus its number.
func (t *Table[T]) Draw(th *theme.Theme, w, h int, focused bool) []widget.Row {
	b := widget.Brush{Theme: th}
	spans, rest := t.fit(w)
	rows := make([]widget.Row, 0, max(h, 0))
	if h > leastHeads && !t.NoHeads {
		rows = append(rows, t.heads(b, spans, w))
	}
	lines := h - len(rows)
	if t.Query.Shown() && lines > 1 {
		lines--
	}
	total, at := t.Shown(), t.list.At
	if t.ruled() {
		total++
		if at >= len(t.above) {
			at++
		}
	}
	t.Height = max(1, lines)
	top := t.list.Window(at, at, total, t.Height)
	for y := top; y < min(total, top+lines); y++ {
		i := y
		if t.ruled() && y >= len(t.above) {
			if y == len(t.above) {
				if y < top+lines-1 { // a rule on the last line would separate nothing
					rows = append(rows, widget.Row{Text: b.Rule(w, nil, nil), Place: widget.Ruled})
				}
				continue
			}
			i--
		}
		rows = append(rows, t.row(b, spans, line{i, w, rest, focused}))
	}
	if t.Query.Shown() && h > len(rows) && h > 1 {
		rows = widget.FillRows(rows, w, h-1)
		found := words.Thousands(uint64(t.Shown())) + " of " + t.All()
		return append(rows, widget.Row{Text: t.Query.Line(b, w, "/", found), Place: widget.Nowhere})
	}
	return widget.FillRows(rows, w, h)
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

// line says which of the shown rows to draw, in w cells, and how many of them rest leaves
// free after the last column.
type line struct {
	i, w, rest int
	focused    bool
}

func (t *Table[T]) row(b widget.Brush, spans []span, l line) widget.Row {
	row, place := t.Nth(l.i)
	mark := "  "
	if l.i == t.list.At {
		mark = b.Theme.Glyph(theme.Pointer) + " "
		if l.focused {
			b.Back = theme.Select
		}
	}
	cells := make([]widget.Span, len(spans))
	for i, s := range spans {
		cells[i] = t.Columns[s.column].Cell(row)
	}
	out := make([]widget.Span, 1, 2*len(spans)+4)
	out[0] = widget.Span{Role: theme.Accent, Text: mark}
	var note widget.Span
	if t.Note != nil {
		note = t.Note(row)
	}
	for i := 0; i < len(spans); {
		s, c, words := spans[i], t.Columns[spans[i].column], cells[i].Text
		next, room := i+1, s.cells
		noted := c.Cells == 0 && note.Text != "" && l.rest < leastFar
		for (noted || widget.Cells(words) > room) && next < len(spans) && free(cells[next]) {
			room = spans[next].from + spans[next].cells - s.from
			next++
		}
		if left := room - widget.Cells(words) - 2; noted && left >= leastNote {
			out = append(append(out, t.Query.Mark(cells[i].Role, words)...), widget.Span{Role: note.Role, Text: "  " + widget.Fit(note.Text, left)})
			note.Text = ""
		} else if words = align(words, room, c.Right); c.Cells == 0 && t.Query.On() {
			out = append(out, t.Query.Mark(cells[i].Role, words)...)
		} else {
			out = append(out, widget.Span{Role: cells[i].Role, Text: words})
		}
		out = append(out, widget.Span{Text: " "})
		i = next
	}
	if l.rest >= leastNote {
		out = append(out, widget.Span{Text: " "}, note)
	}
	return widget.Row{Text: b.Line(l.w, out...), Place: place}
}

// free reports whether a cell is empty, so that the text on its left may extend into it.
func free(cell widget.Span) bool { return cell.Text == "" || cell.Text == nothing }

// align makes a text exactly w cells wide.
func align(s string, w int, right bool) string {
	if n := widget.Cells(s); right && n < w {
		return widget.Blank(w-n) + s
	}
	return widget.Fit(s, w)
}
