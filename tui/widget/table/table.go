// Package table is a list with columns: as many of them as the width allows, sorted
// by one, filtered by words, with rows that stand above a rule whatever the order of
// the others is. It draws what is in view and nothing else, so that ten thousand rows
// cost what ten do. It must not know what its rows are: a Source says that.
package table

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/widget"
)

// Column is a column of a table.
type Column struct {
	Head string
	// Cells is its width, with a cell for the mark of the order behind its head.
	// Where it is 0 the column takes what is left, from Least to Most cells; a Most of
	// 0 is no limit. A table shows one such column.
	Cells, Least, Most int
	Right              bool // its words stand at the right end, as numbers do
	Hidden             bool // it is left out, whatever the width
	Stays              bool // it goes only behind those that do not, where there is less room
	Falls              bool // the greatest stands first where it orders the rows
}

// Source is what a table shows. Rows are numbered from 0, as they come.
type Source struct {
	Len int
	// Above is how many of the rows, the first ones, stand above the rule and are
	// never sorted.
	Above int
	// Version tells whether the rows below the rule are those of before, and Look
	// whether all rows look as they did.
	Version, Look uint64
	// Cell is what a row says in a column; Text is all that a filter finds it by.
	Cell func(row, column int) widget.Span
	Text func(row int) string
	// Compare orders two rows by a column, the least first; nil leaves them as they
	// come.
	Compare func(column, a, b int) int
	// Note is what a row says in cells that are free; nil says nothing.
	Note func(row int) widget.Span
}

// Table is a table as it stands: order, filter, selection. Set Columns, then Fill.
type Table struct {
	Columns []Column
	Query   widget.Query

	source Source
	by     int  // the column that orders the rows, from 1; 0 leaves them as they come
	turned bool // the other way round
	list   widget.List
	above  []int32 // the rows that are shown above the rule
	below  below
	h      int // lines of rows when drawn last
	drawn  widget.Cache[drawing]
}

// below is what the order of the rows below the rule came from.
type below struct {
	version uint64
	rows    int
	by      int
	turned  bool
	query   string
	order   []int32
}

// Fill shows the rows of a source. The selection stays at its place among those that
// are shown; whoever knows better selects a row behind it.
func (t *Table) Fill(s Source) {
	t.source = s
	t.sift()
}

// sift finds out what is shown, and in which order.
func (t *Table) sift() {
	s := &t.source
	key := below{version: s.Version, rows: s.Len - s.Above, by: t.by, turned: t.turned, query: t.Query.Text()}
	was := t.below
	if was.order == nil || was.version != key.version || was.rows != key.rows || was.by != key.by || was.turned != key.turned || was.query != key.query {
		key.order = t.order(was.order[:0])
		t.below = key
	}
	t.above = t.above[:0]
	for i := range s.Above {
		if t.keeps(i) {
			t.above = append(t.above, int32(i))
		}
	}
	t.list.Clamp(t.Shown())
}

func (t *Table) keeps(row int) bool {
	return !t.Query.On() || t.Query.Keeps(t.source.Text(row))
}

// order is the rows below the rule that are shown, counted from the rule on.
func (t *Table) order(out []int32) []int32 {
	s := &t.source
	for i := s.Above; i < s.Len; i++ {
		if t.keeps(i) {
			out = append(out, int32(i-s.Above))
		}
	}
	if t.by == 0 || s.Compare == nil {
		return out
	}
	sign := 1
	if t.Columns[t.by-1].Falls != t.turned {
		sign = -1
	}
	slices.SortStableFunc(out, func(a, b int32) int {
		return cmp.Or(sign*s.Compare(t.by-1, int(a)+s.Above, int(b)+s.Above), cmp.Compare(a, b))
	})
	return out
}

// Shown is how many rows are shown.
func (t *Table) Shown() int { return len(t.above) + len(t.below.order) }

// nth is the row that stands in a place among those that are shown.
func (t *Table) nth(i int) int {
	if i < len(t.above) {
		return int(t.above[i])
	}
	return int(t.below.order[i-len(t.above)]) + t.source.Above
}

// Row is the selected row, or -1.
func (t *Table) Row() int {
	if t.list.At >= t.Shown() {
		return -1
	}
	return t.nth(t.list.At)
}

// At is where the selected row stands among those that are shown, from 0.
func (t *Table) At() int { return t.list.At }

// Select selects a row and reports whether it is shown.
func (t *Table) Select(row int) bool {
	if t.Row() == row {
		return true
	}
	for i := range t.Shown() {
		if t.nth(i) == row {
			t.list.At = i
			return true
		}
	}
	return false
}

// Move carries out a verb of moving, as widget.List does.
func (t *Table) Move(verb string) bool { return t.list.Move(verb, t.Shown(), t.h) }

// Do carries out a verb of a list: of moving, of sorting, of its filter. It reports
// whether it knows it.
func (t *Table) Do(verb string) bool {
	switch verb {
	case "find":
		t.Query.Open()
	case "sort":
		t.Next()
	case "turn":
		t.Turn()
	default:
		return t.Move(verb)
	}
	return true
}

// Near reports that the last row that is shown is less than two screens away from
// the selection: whoever reads rows as they are looked at should read on.
func (t *Table) Near() bool { return t.list.At+2*max(t.h, 1) >= t.Shown() }

// Whole reports that every row has to be known for what is shown: they are filtered
// or sorted.
func (t *Table) Whole() bool { return t.by > 0 || t.Query.On() }

// Sort orders the rows by a column; once more turns the order round, and a third time
// leaves the rows as they come. The selection stays with its row.
func (t *Table) Sort(column int) {
	row := t.Row()
	switch {
	case column < 0 || column >= len(t.Columns):
	case t.by != column+1:
		t.by, t.turned = column+1, false
	case !t.turned:
		t.turned = true
	default:
		t.by, t.turned = 0, false
	}
	t.sift()
	t.Select(row)
}

// Press sorts by the column whose head was pressed; ok is false for another place.
func (t *Table) Press(at widget.Place) (ok bool) {
	column, ok := Heading(at)
	if ok {
		t.Sort(column)
	}
	return ok
}

// Next orders the rows by the next column, and behind the last one as they come.
func (t *Table) Next() {
	t.by, t.turned = (t.by+1)%(len(t.Columns)+1), false
	row := t.Row()
	t.sift()
	t.Select(row)
}

// Turn turns the order round.
func (t *Table) Turn() {
	if t.by == 0 {
		t.by = 1
	}
	t.turned = !t.turned
	row := t.Row()
	t.sift()
	t.Select(row)
}

// Order is the head of the column that orders the rows, "" for none.
func (t *Table) Order() (head string, turned bool) {
	if t.by == 0 {
		return "", false
	}
	return t.Columns[t.by-1].Head, t.turned
}

// Type gives a key or a paste to the filter while it is written. The selection stays
// with its row as long as that is shown.
func (t *Table) Type(msg tea.Msg) {
	row := t.Row()
	changed, verb := t.Query.Type(msg)
	if verb != "" {
		t.Move(verb)
	}
	if changed {
		t.sift()
		if !t.Select(row) {
			t.list.At = 0
		}
	}
}

// EndQuery takes the filter away and reports whether there was one.
func (t *Table) EndQuery() bool {
	row := t.Row()
	if !t.Query.End() {
		return false
	}
	t.sift()
	t.Select(row)
	return true
}
