package table

import (
	"slices"

	"ollimbot/core/base/words"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// heading is the place of the first column's head, where the first row has 0; those of
// the others follow below.
const heading widget.Place = -100

// nothing is what an empty cell says. It is free for the note of its row.
const nothing = "·"

const (
	gutter = 2 // cells before the first column
	// leastNote is into how many free cells a note may go, leastFar from how many on
	// it stands behind the last column, not behind the words of the wide one.
	leastNote, leastFar = 14, 28
	// leastHeads is up to how many lines rows are worth more than the heads.
	leastHeads = 2
)

// Blank is a cell that says nothing.
func Blank() widget.Span { return widget.Span{Role: theme.Dim, Text: nothing} }

// span is where a column stands.
type span struct{ column, from, cells int }

// fit divides w cells: the columns go from the right on, those that stay last, until the
// wide one has its least, never that one itself. rest is what is left at the right end.
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
		if c := t.Columns[i%n]; i%n != wide && keep[i%n] && c.Stays == (i < n) {
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

// Lines is how many lines the whole table takes: its heads, its rows, the rule and
// the filter.
func (t *Table[T]) Lines() int {
	n := t.Shown()
	for _, one := range []bool{!t.Bare, t.ruled(), t.Query.Shown()} {
		if one {
			n++
		}
	}
	return n
}

// ruled reports that there are rows on both sides of the rule.
func (t *Table[T]) ruled() bool { return len(t.above) > 0 && len(t.below) > 0 }

// Draw renders exactly h rows of exactly w cells: the heads, the rows around the
// selected one, which is marked where focused says that keys go here, and the filter.
// The place of a row is its number.
func (t *Table[T]) Draw(th *theme.Theme, w, h int, focused bool) []widget.Row {
	b := widget.Brush{Theme: th}
	spans, rest := t.fit(w)
	rows := make([]widget.Row, 0, max(h, 0))
	if h > leastHeads && !t.Bare {
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
				if y < top+lines-1 { // below the last line there is nothing to set apart
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

// heads names the columns; the one that orders the rows bears the mark of it.
func (t *Table[T]) heads(b widget.Brush, spans []span, w int) widget.Row {
	line := []widget.Span{{Text: widget.Blank(gutter)}}
	row := widget.Row{Place: widget.Nowhere}
	for _, s := range spans {
		c := t.Columns[s.column]
		head, role := c.Head, theme.Dim
		if t.by == s.column+1 {
			mark := theme.Up
			if c.Falls != t.turned {
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

// line is a row that is drawn: which of those that are shown, and how wide.
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

// free reports a cell that says nothing: the words to its left may go on there.
func free(cell widget.Span) bool { return cell.Text == "" || cell.Text == nothing }

// align makes a word exactly w cells wide.
func align(s string, w int, right bool) string {
	if n := widget.Cells(s); right && n < w {
		return widget.Blank(w-n) + s
	}
	return widget.Fit(s, w)
}
