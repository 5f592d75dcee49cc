// Package table is a list with columns: as many of them as the width allows, sorted
// by one, filtered by words, with rows that stand above a rule whatever the order of
// the others is. It draws what is in view and nothing else, so that ten thousand rows
// cost what ten do. It must not know what its rows are: its columns say that.
package table

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/base/words"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Column is a column of a table of rows of T.
type Column[T any] struct {
	Head string
	// Cells is its width, with a cell for the mark of the order behind its head.
	// Where it is 0 the column takes what is left, from Least to Most cells; a Most of
	// 0 is no limit. A table shows one such column.
	Cells, Least, Most int
	Right              bool // its words stand at the right end, as numbers do
	Hidden             bool // it is left out, whatever the width
	Stays              bool // it goes only behind those that do not, where there is less room
	Falls              bool // the greatest stands first where it orders the rows
	// Cell is what a row says here.
	Cell func(row T) widget.Span
	// Compare orders two rows, the least first; nil orders them by their words.
	Compare func(a, b T) int
}

// Number is a column of numbers, which says nothing of 0.
func Number[T any, N cmp.Ordered](head string, cells int, role theme.Role, value func(row T) N, text func(n N) string) Column[T] {
	var zero N
	return Column[T]{
		Head: head, Cells: cells, Right: true, Falls: true,
		Cell: func(row T) widget.Span {
			if n := value(row); n > zero {
				return widget.Span{Role: role, Text: text(n)}
			}
			return Blank()
		},
		Compare: func(a, b T) int { return cmp.Compare(value(a), value(b)) },
	}
}

// Words is a column of words.
func Words[T any](head string, cells int, role theme.Role, text func(row T) string) Column[T] {
	return Column[T]{Head: head, Cells: cells, Cell: func(row T) widget.Span { return widget.Span{Role: role, Text: text(row)} }}
}

// Table is the state of a table: rows, order, filter, selection.
type Table[T any] struct {
	Columns []Column[T]
	// Noun is what a row is called, in the singular; More says that there are more rows
	// than those which the table has.
	Noun string
	More bool
	Bare bool // it has no heads
	// Text is all that a filter finds a row by.
	Text func(row T) string
	// Note is what a row says in cells that are free; nil says nothing.
	Note func(row T) widget.Span
	// Same says that a row is another one's newer state; nil for rows that are themselves
	// what they were.
	Same func(was, row T) bool
	// Chosen says that the user has selected the row: other rows leave the selection with
	// the one that is the same. Until then it stays at the top.
	Chosen bool
	// First is the place of the first row, so that two tables can stand on one page.
	First widget.Place
	Query widget.Query
	// Height is how many rows a page has; Draw sets it.
	Height int

	rows   []T // the pins first
	pins   int
	above  []int32 // the pins that are shown, and of the rows behind them those below, in their order
	below  []int32
	by     int  // the column that orders the rows, from 1; 0 leaves them as they come
	turned bool // the other way round
	list   widget.List
}

// Fill shows other rows. The selection keeps its position among the visible rows; the
// caller may select another row afterwards.
func (t *Table[T]) Fill(rows []T) {
	was, had := t.Row()
	t.rows = slices.Concat(t.rows[:t.pins], rows)
	t.sift()
	switch {
	case t.Same == nil:
	case !t.Chosen:
		t.list.At = 0
	case had:
		t.Select(func(row T) bool { return t.Same(was, row) })
	}
}

// Pin shows other rows above the rule, which are never sorted.
func (t *Table[T]) Pin(rows []T) {
	t.rows, t.pins = slices.Replace(t.rows, 0, t.pins, rows...), len(rows)
	t.above = t.kept(t.above[:0], rows)
	t.list.Clamp(t.Shown())
}

// sift finds out what is shown, and in which order.
func (t *Table[T]) sift() {
	rows := t.rows[t.pins:]
	t.below = t.kept(t.below[:0], rows)
	if t.by > 0 {
		sign := 1
		if t.Columns[t.by-1].Falls != t.turned {
			sign = -1
		}
		slices.SortStableFunc(t.below, func(a, b int32) int { return sign * t.compare(rows[a], rows[b]) })
	}
	t.Pin(t.rows[:t.pins])
}

// kept are the numbers of the rows that the filter keeps.
func (t *Table[T]) kept(out []int32, rows []T) []int32 {
	for i, row := range rows {
		if !t.Query.On() || t.Query.Keeps(t.Text(row)) {
			out = append(out, int32(i))
		}
	}
	return out
}

func (t *Table[T]) compare(a, b T) int {
	c := t.Columns[t.by-1]
	if c.Compare != nil {
		return c.Compare(a, b)
	}
	return strings.Compare(strings.ToLower(c.Cell(a).Text), strings.ToLower(c.Cell(b).Text))
}

// reorder does something to the order or the filter; the selection stays with its row
// as long as that is shown.
func (t *Table[T]) reorder(change func()) {
	row := t.number(t.list.At)
	change()
	t.sift()
	if !t.choose(row) {
		t.list.At = 0
	}
}

// Len is how many rows there are.
func (t *Table[T]) Len() int { return len(t.rows) }

// Shown is how many rows are shown.
func (t *Table[T]) Shown() int { return len(t.above) + len(t.below) }

// number is the index of the row at a position among the visible rows, pins counted
// first; -1 for none.
func (t *Table[T]) number(i int) int {
	switch {
	case i < len(t.above):
		return int(t.above[i])
	case i < t.Shown():
		return int(t.below[i-len(t.above)]) + t.pins
	}
	return -1
}

// Nth is the row in a place among those that are shown, and its place on the screen.
func (t *Table[T]) Nth(i int) (row T, at widget.Place) {
	n := t.number(i)
	return t.rows[n], t.First + widget.Place(n)
}

// Row is the selected row; not ok where none is shown.
func (t *Table[T]) Row() (row T, ok bool) {
	n := t.number(t.list.At)
	if n < 0 {
		return row, false
	}
	return t.rows[n], true
}

// At is where the selected row stands among those that are shown, from 0.
func (t *Table[T]) At() int { return t.list.At }

// Select selects the first row that is meant, and reports whether it is shown.
func (t *Table[T]) Select(means func(row T) bool) bool {
	if row, ok := t.Row(); ok && means(row) {
		return true
	}
	return t.choose(slices.IndexFunc(t.rows, means))
}

// choose selects the row of a number and reports whether it is shown.
func (t *Table[T]) choose(number int) bool {
	for i := range t.Shown() {
		if t.number(i) == number {
			t.list.At = i
			return true
		}
	}
	return false
}

// Do carries out a verb of a list: of moving, of sorting, of its filter. It reports
// whether it knows it.
func (t *Table[T]) Do(verb string) bool {
	switch verb {
	case "find":
		t.Query.Open()
	case "sort":
		t.reorder(func() { t.by, t.turned = (t.by+1)%(len(t.Columns)+1), false })
	case "turn":
		t.reorder(func() { t.by, t.turned = min(max(1, t.by), len(t.Columns)), !t.turned })
	default:
		moved := t.list.Move(verb, t.Shown(), t.Height)
		t.Chosen = t.Chosen || moved
		return moved
	}
	return true
}

// Near reports that the last row that is shown is less than two screens away from
// the selection: whoever reads rows as they are looked at should read on.
func (t *Table[T]) Near() bool { return t.list.At+2*max(t.Height, 1) >= t.Shown() }

// Whole reports that every row has to be known for what is shown: they are filtered
// or sorted.
func (t *Table[T]) Whole() bool { return t.by > 0 || t.Query.On() }

// Sort orders the rows by a column; once more turns the order round, and a third time
// leaves the rows as they come.
func (t *Table[T]) Sort(column int) {
	t.reorder(func() {
		switch {
		case t.by != column+1:
			t.by, t.turned = column+1, false
		case !t.turned:
			t.turned = true
		default:
			t.by, t.turned = 0, false
		}
	})
}

// head is the column whose head a place is, if it is one.
func (t *Table[T]) head(at widget.Place) (column int, ok bool) {
	column = int(heading - t.First - at)
	return column, column >= 0 && column < len(t.Columns)
}

// Has reports that a place is a head of the table or one of its rows.
func (t *Table[T]) Has(at widget.Place) bool {
	_, head := t.head(at)
	return head || at >= t.First && int(at-t.First) < t.Len()
}

// Press answers a press: a head sorts by its column, a row is selected. again says that
// it was selected already.
func (t *Table[T]) Press(at widget.Place) (again bool) {
	if column, ok := t.head(at); ok {
		t.Sort(column)
	} else if t.Has(at) {
		n := int(at - t.First)
		again, t.Chosen = n == t.number(t.list.At), true
		t.choose(n)
	}
	return again
}

// Order says which column orders the rows: "by TIME, turned", or nothing.
func (t *Table[T]) Order() (words []string) {
	switch {
	case t.by > 0 && t.turned:
		return []string{"by " + t.Columns[t.by-1].Head + ", turned"}
	case t.by > 0:
		return []string{"by " + t.Columns[t.by-1].Head}
	}
	return nil
}

// Type gives a key or a paste to the filter while it is written.
func (t *Table[T]) Type(msg tea.Msg) {
	changed, verb := t.Query.Type(msg)
	t.Chosen = true
	t.list.Move(verb, t.Shown(), t.Height)
	if changed {
		t.reorder(func() {})
	}
}

// Filter writes the filter.
func (t *Table[T]) Filter(text string) { t.reorder(func() { t.Query.Set(text) }) }

// EndQuery takes the filter away and reports whether there was one.
func (t *Table[T]) EndQuery() (was bool) {
	t.reorder(func() { was = t.Query.End() })
	return was
}

// All is how many rows there are in words: "41 runs so far".
func (t *Table[T]) All() string {
	all := words.Grouped(uint64(t.Len()), t.Noun)
	if t.More {
		all += " so far"
	}
	return all
}
