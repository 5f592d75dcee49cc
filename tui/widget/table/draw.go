package table

import (
	"ollimbot/core/words"
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
	// leastNote is into how many free cells a note may go.
	leastNote = 14
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
	n, wide := len(t.Columns), 0
	for i, c := range t.Columns {
		if c.Cells == 0 && !c.Hidden {
			wide = i
		}
	}
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
	if !t.Bare {
		n++
	}
	if t.ruled() {
		n++
	}
	if t.Query.Shown() {
		n++
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
	t.h = max(1, lines)
	top := t.list.Window(at, at, total, t.h)
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
		return append(rows, widget.Row{Text: t.Query.Line(b, w, found), Place: widget.Nowhere})
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
	number := t.number(l.i)
	row := t.nth(number)
	mark := "  "
	if l.i == t.list.At {
		mark = b.Theme.Glyph(theme.Pointer) + " "
		if l.focused {
			b.Back = theme.Select
		}
	}
	out := make([]widget.Span, 1, 2*len(spans)+4)
	out[0] = widget.Span{Role: theme.Accent, Text: mark}
	cells := make([]widget.Span, len(spans))
	for i, s := range spans {
		cells[i] = t.Columns[s.column].Cell(row)
	}
	from, to, note := t.note(row, spans, cells, l.rest)
	for i, s := range spans {
		switch {
		case i == from:
			room := spans[to-1].from + spans[to-1].cells - s.from
			if t.Columns[s.column].Cells == 0 { // behind its own words
				out = append(append(out, t.Query.Mark(cells[i].Role, cells[i].Text)...), widget.Span{Text: "  "})
				room -= widget.Cells(cells[i].Text) + 2
			}
			out = append(out, widget.Span{Role: note.Role, Text: widget.Fit(note.Text, room)}, widget.Span{Text: " "})
			continue
		case i > from && i < to:
			continue
		}
		c := t.Columns[s.column]
		text := align(cells[i].Text, s.cells, c.Right)
		if c.Cells == 0 && t.Query.On() {
			out = append(out, t.Query.Mark(cells[i].Role, text)...)
		} else {
			out = append(out, widget.Span{Role: cells[i].Role, Text: text})
		}
		out = append(out, widget.Span{Text: " "})
	}
	if from < 0 && note.Text != "" {
		out = append(out, widget.Span{Text: " "}, note)
	}
	return widget.Row{Text: b.Line(l.w, out...), Place: t.First + widget.Place(number)}
}

// note is where a row's note goes: behind the last column, with from below 0, or in
// the place of the columns from one up to another that say nothing, where these are
// the widest; the wide column counts with what it leaves free.
func (t *Table[T]) note(row T, spans []span, cells []widget.Span, rest int) (from, to int, note widget.Span) {
	if t.Note == nil {
		return -1, -1, note
	}
	note = t.Note(row)
	if note.Text == "" {
		return -1, -1, note
	}
	best, width := -1, leastNote-1
	if rest >= leastNote { // the others have to be much wider than the room behind the columns
		width = 3 * rest
	}
	free := func(i int) bool { return cells[i].Text == "" || cells[i].Text == nothing }
	for i, s := range spans {
		begin := s.from
		if t.Columns[s.column].Cells == 0 {
			begin += widget.Cells(cells[i].Text) + 2
		} else if !free(i) {
			continue
		}
		end := i + 1
		for end < len(spans) && free(end) {
			end++
		}
		if n := spans[end-1].from + spans[end-1].cells - begin; n > width {
			best, to, width = i, end, n
		}
	}
	if best < 0 && rest < leastNote {
		note = widget.Span{}
	}
	return best, to, note
}

// align makes a word exactly w cells wide.
func align(s string, w int, right bool) string {
	if n := widget.Cells(s); right && n < w {
		return widget.Blank(w-n) + s
	}
	return widget.Fit(s, w)
}
