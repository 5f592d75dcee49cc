// Package table is a list with as many columns as fit, sorted by one of them and filtered
// by words, with pinned rows above a rule. It draws only the visible rows, so that ten
// thousand rows cost as much as ten. It must not know what its rows are; the columns do.
package table

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/base/words"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/query"
)

// Column is a column of a table of rows of T.
type Column[T any] struct {
	Head string
	// Cells is the width, including a cell for the sort mark after the head. If it is 0,
	// the column takes the remaining width, at least Least cells. A table has one such
	// visible column. Rows are not sorted by a column without a head.
	Cells, Least int
	Right        bool // aligned to the right, as numbers are
	Hidden       bool // not shown, whatever the width, unless the rows are sorted by it
	Essential    bool // dropped only after all other columns, if there is no room
	Descending   bool // sorted with the greatest first
	// Cell is a row's value in this column. Spans, when set, are drawn in its place: exactly Cells cells.
	Cell  func(row T) widget.Span
	Spans func(row T) []widget.Span
	// Compare orders two rows, the least first; nil compares their text without case.
	Compare func(a, b T) int
}

// Number is a column of numbers. Values up to 0 are blank.
func Number[T any, N cmp.Ordered](head string, cells int, role theme.Role, value func(row T) N, text func(n N) string) Column[T] {
	var zero N
	return Column[T]{
		Head: head, Cells: cells, Right: true, Descending: true,
		Cell: func(row T) widget.Span {
			if n := value(row); n > zero {
				return widget.Span{Role: role, Text: text(n)}
			}
			return Blank()
		},
		Compare: func(a, b T) int { return cmp.Compare(value(a), value(b)) },
	}
}

// Words is a column of text.
func Words[T any](head string, cells int, role theme.Role, text func(row T) string) Column[T] {
	return Column[T]{Head: head, Cells: cells, Cell: func(row T) widget.Span { return widget.Span{Role: role, Text: text(row)} }}
}

// Table is the state of a table: rows, order, filter, selection.
type Table[T any] struct {
	Columns []Column[T]
	// Noun is the name of a row, in the singular. More means that there are rows that the
	// table does not have.
	Noun    string
	More    bool
	NoHeads bool // the columns have no heads
	Bare    bool // no row is marked as selected
	// Facts are what the filter finds a row by.
	Facts func(row T) query.Facts
	// Note is a text after that of the wide column; nil means none. If Aligned, notes
	// begin below each other.
	Note    func(row T) widget.Span
	Aligned bool
	// Same reports whether a row is the newer state of another. If it is nil, Fill keeps
	// the selection's position instead.
	Same func(was, row T) bool
	// Chosen means that the user has selected a row, which Fill then keeps selected.
	// Before that, the selection stays at the top.
	Chosen bool
	// Group is the name of the group of a row, which is on a rule above its first row; nil
	// means that there are none. A sorted table has none either.
	Group func(row T) widget.Span
	// Third means that the selected row stands a third from the top until the user selects one.
	Third bool
	// First is the place of the first row, so that a page can have two tables.
	First widget.Place
	Query widget.Query
	// Height is the number of rows on a page; Draw sets it.
	Height int

	rows     []T // the pinned rows first
	pins     int
	above    []int32 // the visible pinned rows, in order
	below    []int32 // the other visible rows, in order, counted after the pinned ones
	by       int     // the column to sort by, counted from 1; 0 keeps the given order
	reversed bool
	list     widget.List
	pinned   widget.List // which of the pinned rows are visible, if not all are
	rules    []division  // between the rows below the pinned ones, in order
	names    int         // cells of the longest text of the wide column on the screen, if notes are aligned
}

// division is a rule above a row.
type division struct {
	above int
	name  widget.Span
}

// Fill replaces the rows. Without Same, the selection keeps its position among the visible
// rows; the caller may select another row afterwards.
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

// Pin replaces the pinned rows, which are above the rule and never sorted.
func (t *Table[T]) Pin(rows []T) {
	t.rows, t.pins = slices.Replace(t.rows, 0, t.pins, rows...), len(rows)
	t.above = t.kept(t.above[:0], rows)
	t.list.Clamp(t.Shown())
	t.divide()
}

// divide places the rules between groups.
func (t *Table[T]) divide() {
	t.rules = t.rules[:0]
	if t.Group == nil || t.by > 0 {
		return
	}
	was := widget.Span{}
	for i := range t.below {
		row, _ := t.Nth(len(t.above) + i)
		if name := t.Group(row); name != was {
			t.rules, was = append(t.rules, division{i, name}), name
		}
	}
}

// sift filters and sorts the rows.
func (t *Table[T]) sift() {
	rows := t.rows[t.pins:]
	t.below = t.kept(t.below[:0], rows)
	if t.by > 0 {
		sign := 1
		if t.Columns[t.by-1].Descending != t.reversed {
			sign = -1
		}
		slices.SortStableFunc(t.below, func(a, b int32) int { return sign * t.compare(rows[a], rows[b]) })
	}
	t.Pin(t.rows[:t.pins])
}

// kept are the indexes of the rows that the filter keeps.
func (t *Table[T]) kept(out []int32, rows []T) []int32 {
	for i, row := range rows {
		if !t.Query.On() || t.Query.Keeps(t.Facts(row)) {
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

// reorder changes the order or the filter. The selected row stays selected if it is still
// visible; otherwise the selection moves to the top.
func (t *Table[T]) reorder(change func()) {
	row := t.number(t.list.At)
	change()
	t.sift()
	if !t.choose(row) {
		t.list.At = 0
	}
}

// Len is the number of rows.
func (t *Table[T]) Len() int { return len(t.rows) }

// Shown is the number of rows that the filter keeps.
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

// Nth is the row at an index among the shown rows, and its place on the screen.
func (t *Table[T]) Nth(i int) (row T, at widget.Place) {
	n := t.number(i)
	return t.rows[n], t.First + widget.Place(n)
}

// Row is the selected row. ok is false if no row is shown.
func (t *Table[T]) Row() (row T, ok bool) {
	n := t.number(t.list.At)
	if n < 0 {
		return row, false
	}
	return t.rows[n], true
}

// At is the index of the selected row among the shown rows, from 0.
func (t *Table[T]) At() int { return t.list.At }

// Select selects the first row for which means is true, and reports whether it is shown.
func (t *Table[T]) Select(means func(row T) bool) bool {
	if row, ok := t.Row(); ok && means(row) {
		return true
	}
	return t.choose(slices.IndexFunc(t.rows, means))
}

// choose selects the row with a number, and reports whether it is shown.
func (t *Table[T]) choose(number int) bool {
	for i := range t.Shown() {
		if t.number(i) == number {
			t.list.At = i
			return true
		}
	}
	return false
}

// Do carries out a verb of moving, sorting or filtering, and reports whether it knows the
// verb.
func (t *Table[T]) Do(verb string) bool {
	switch verb {
	case "find":
		t.Query.Open()
	case "sort":
		t.reorder(func() { t.by, t.reversed = t.next(t.by), false })
	case "turn":
		t.reorder(func() { t.by, t.reversed = cmp.Or(t.by, t.next(0)), !t.reversed })
	default:
		moved := t.list.Move(verb, t.Shown(), t.Height)
		t.Chosen = t.Chosen || moved
		return moved
	}
	return true
}

// next is the column to sort by after another one; 0 after the last.
func (t *Table[T]) next(by int) int {
	for i, c := range t.Columns[by:] {
		if c.Head != "" && !c.Hidden {
			return by + i + 1
		}
	}
	return 0
}

// NearEnd reports whether the selection is at most two pages from the end: a caller that
// loads rows on demand should load more.
func (t *Table[T]) NearEnd() bool {
	return max(0, t.list.At-len(t.above))+2*max(t.Height, 1) >= len(t.below)
}

// NeedsAll reports whether the table is sorted or filtered, so that it needs all rows.
func (t *Table[T]) NeedsAll() bool { return t.by > 0 || t.Query.On() }

// Sort sorts by a column. The second call for a column reverses the order, and the third
// restores the given order.
func (t *Table[T]) Sort(column int) {
	t.reorder(func() {
		switch {
		case t.by != column+1:
			t.by, t.reversed = column+1, false
		case !t.reversed:
			t.reversed = true
		default:
			t.by, t.reversed = 0, false
		}
	})
}

// head is the column whose head is at a place; ok is false if there is none.
func (t *Table[T]) head(at widget.Place) (column int, ok bool) {
	column = int(heading - t.First - at)
	return column, column >= 0 && column < len(t.Columns)
}

// Has reports whether a place is a head or a row of the table.
func (t *Table[T]) Has(at widget.Place) bool {
	_, head := t.head(at)
	return head || at >= t.First && int(at-t.First) < t.Len()
}

// Press handles a click: on a head it sorts by that column, on a row it selects the row.
// again reports whether the row was selected already.
func (t *Table[T]) Press(at widget.Place) (again bool) {
	if column, ok := t.head(at); ok && t.Columns[column].Head != "" {
		t.Sort(column)
	} else if t.Has(at) {
		n := int(at - t.First)
		again, t.Chosen = n == t.number(t.list.At), true
		t.choose(n)
	}
	return again
}

// Order describes the order: "by TIME, reversed", or nothing if the rows are not sorted.
func (t *Table[T]) Order() (words []string) {
	switch {
	case t.by > 0 && t.reversed:
		return []string{"by " + t.Columns[t.by-1].Head + ", reversed"}
	case t.by > 0:
		return []string{"by " + t.Columns[t.by-1].Head}
	}
	return nil
}

// Type passes a key or a paste to the filter while it is edited.
func (t *Table[T]) Type(msg tea.Msg) {
	changed, verb := t.Query.Type(msg)
	t.Chosen = true
	t.list.Move(verb, t.Shown(), t.Height)
	if changed {
		t.reorder(func() {})
	}
}

// states are those of the rows, the most frequent first.
func (t *Table[T]) states() []string {
	n := map[string]int{}
	for _, row := range t.rows {
		for _, state := range t.Facts(row).Is {
			n[state]++
		}
	}
	return slices.SortedFunc(maps.Keys(n), func(a, b string) int { return cmp.Or(n[b]-n[a], cmp.Compare(a, b)) })
}

// Foot is the line of the filter in exactly w cells.
func (t *Table[T]) Foot(b widget.Brush, w int) widget.Row {
	found := words.Thousands(uint64(t.Shown())) + " of " + t.All()
	return widget.Row{Text: t.Query.Line(b, w, found, t.states), Place: widget.Nowhere}
}

// Filter sets the filter.
func (t *Table[T]) Filter(text string) { t.reorder(func() { t.Query.Set(text) }) }

// EndQuery removes the filter and reports whether there was one.
func (t *Table[T]) EndQuery() (was bool) {
	t.reorder(func() { was = t.Query.End() })
	return was
}

// All is the number of rows in words: "41 runs", or "the newest 255 runs" if there are more.
func (t *Table[T]) All() string {
	all := words.Grouped(uint64(t.Len()), t.Noun)
	if t.More {
		all = "the newest " + all
	}
	return all
}
