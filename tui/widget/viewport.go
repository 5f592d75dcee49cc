package widget

import "ollimbot/tui/theme"

// Source is what a Scroll shows: items that are numbered without gaps, newest
// last. Its methods are called while drawing and must not block.
type Source interface {
	// Bounds are the number of the first item and the one after the last.
	Bounds() (first, end uint64)
	// Text is what is searched and copied.
	Text(i uint64) string
	// Rows draws an item as one or more lines, made for look.W cells. Longer
	// lines are cut, shorter ones are filled up.
	Rows(i uint64, look Look) [][]Span
}

// Look is how an item is drawn.
type Look struct {
	W       int
	Wrap    bool
	Left    int     // cells that are scrolled away to the left, without Wrap
	Matcher Matcher // what is searched for
	Theme   *theme.Theme
	Marked  bool // the item is marked: a pointer precedes it
}

// viewport does the arithmetic of the rows of a Source on a screen of h lines.
type viewport struct {
	Source Source
	// hidden, when set, says which items are left out.
	hidden func(i uint64) bool

	h    int
	look Look // of the last drawing; without a theme before it
}

// position is a row of an item.
type position struct {
	item uint64
	row  int
}

func (p position) before(q position) bool {
	return p.item < q.item || p.item == q.item && p.row < q.row
}

// leftOut reports whether an item has no row.
func (v *viewport) leftOut(i uint64) bool { return v.hidden != nil && v.hidden(i) }

// bounds are the numbers of the first item that is shown and the one after the last.
func (v *viewport) bounds() (first, end uint64) {
	first, end = v.Source.Bounds()
	for first < end && v.leftOut(first) {
		first++
	}
	for first < end && v.leftOut(end-1) {
		end--
	}
	return first, end
}

// step moves n shown items onward from item i, or backward for negative n, as far as there are any.
func (v *viewport) step(i uint64, n int) uint64 {
	first, end := v.bounds()
	for ; n < 0 && i > first; i-- {
		if !v.leftOut(i - 1) {
			n++
		}
	}
	for ; n > 0 && i+1 < end; i++ {
		if !v.leftOut(i + 1) {
			n--
		}
	}
	return i
}

// height is the number of rows of an item; 1 before the first drawing, as there is no
// width yet.
func (v *viewport) height(i uint64) int {
	switch {
	case v.leftOut(i):
		return 0
	case v.look.Theme == nil:
		return 1
	}
	return max(1, len(v.Source.Rows(i, v.look)))
}

// start is the first row of all.
func (v *viewport) start() position {
	first, _ := v.bounds()
	return position{item: first}
}

// bottom is the first row on the screen when the last row of all is at its end.
func (v *viewport) bottom() position {
	_, end := v.bounds()
	return v.above(position{item: end}, max(1, v.h))
}

// above is the position n rows before p.
func (v *viewport) above(p position, n int) position {
	first, _ := v.bounds()
	if n <= p.row {
		return position{p.item, p.row - n}
	}
	n -= p.row
	for n > 0 && p.item > first {
		p.item--
		h := v.height(p.item)
		if h >= n {
			return position{p.item, h - n}
		}
		n -= h
	}
	return position{item: max(p.item, first)}
}

// below is the position n rows after p, at most the last row of all.
func (v *viewport) below(p position, n int) position {
	_, end := v.bounds()
	for p.item < end {
		left := v.height(p.item) - 1 - p.row
		if n <= left {
			return position{p.item, p.row + n}
		}
		if p.item+1 >= end {
			return position{p.item, p.row + max(0, left)}
		}
		n -= left + 1
		p = position{item: p.item + 1}
	}
	return p
}

// lineOf is the line of a screen from top on which an item starts, or -1.
func (v *viewport) lineOf(item uint64, top position) int {
	y := 0
	_, end := v.bounds()
	for y < max(1, v.h) && top.item < end {
		if top.item == item && top.row == 0 {
			return y
		}
		y += v.height(top.item) - top.row
		top = position{item: top.item + 1}
	}
	return -1
}
