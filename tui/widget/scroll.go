package widget

import (
	"ollimbot/tui/action"
	"ollimbot/tui/theme"
)

// Source is what a Scroll shows: items that are numbered without gaps, newest
// last. Its methods are called while drawing and must not block.
type Source interface {
	// Bounds are the numbers of the first item and behind the last one.
	Bounds() (first, end uint64)
	// Text is what is searched in, and what is copied.
	Text(i uint64) string
	// Rows draws an item as one or more lines, made for look.W cells. What is
	// longer is cut, what is shorter filled up.
	Rows(i uint64, look Look) [][]Span
}

// Look is how an item is to be drawn.
type Look struct {
	W       int
	Wrap    bool
	Left    int     // cells that are scrolled away to the left, without Wrap
	Matcher Matcher // what is searched for
	Theme   *theme.Theme
	Marked  bool // the item is the reader's: a pointer stands before it
}

// Scroll shows the end of a Source and follows it. When the reader scrolls up
// it pauses: what is on the screen stays there, however much arrives, until
// the reader returns to the end.
//
// One item is marked while the view is paused: it is what "copy" copies and
// where a search goes on. Scrolling pushes the mark along at the edge.
type Scroll struct {
	Source Source
	Wrap   bool
	// Names names the keys of whoever shows it.
	Names action.Names
	// Head, when set, draws what stands above the first item and is none: it
	// cannot be marked, found or copied.
	Head func(look Look) [][]Span

	// Still says that nothing ever comes: nothing is called new.
	Still bool

	// numbers, when set, gives items numbers that stay theirs when items between
	// them are left out.
	numbers numbers

	paused bool
	top    position
	mark   uint64
	// seen is the number behind the newest item that was on the screen, or that
	// was there when the reader left the end.
	seen uint64
	// behind counts items that exist but are not in the Source yet.
	behind uint64
	left   int
	find   find
	reveal bool       // bring the mark into view when drawing next
	w, h   int        // of the text when it was drawn last
	drawn  []position // what stands in the lines of it
	look   Look
}

// numbers are for a Source that can leave items out: what was seen is remembered
// by them, so that it is the same with more or fewer items.
type numbers interface {
	// line is the number of an item; behind the last item that of all there is.
	line(item uint64) uint64
	// item is the item with a number, or the next one that is not left out.
	item(line uint64) uint64
}

// position is a row of an item. The rows of the head are before the first item's:
// they have numbers below zero.
type position struct {
	item uint64
	row  int
}

func (p position) before(q position) bool {
	return p.item < q.item || p.item == q.item && p.row < q.row
}

// Following reports whether the newest items are shown as they come.
func (s *Scroll) Following() bool { return !s.paused }

// New is how many items have arrived that the reader has not seen. Items that
// are left out do not count, and neither leaving them out nor showing them again
// makes one new.
func (s *Scroll) New() uint64 {
	first, end := s.Source.Bounds()
	seen := s.seen
	if s.numbers != nil {
		seen = s.numbers.item(seen)
	}
	seen = max(seen, first) // what has gone cannot be seen any more
	if !s.paused || seen > end {
		return s.behind
	}
	return end - seen + s.behind
}

// sawAll notes that nothing of what there is now is new.
func (s *Scroll) sawAll() {
	_, s.seen = s.Source.Bounds()
	if s.numbers != nil {
		s.seen = s.numbers.line(s.seen)
	}
}

// saw notes that an item is on the screen.
func (s *Scroll) saw(item uint64) {
	if s.numbers != nil {
		item = s.numbers.line(item)
	}
	s.seen = max(s.seen, item+1)
}

// State says in a word or two where the reader stands.
func (s *Scroll) State() string {
	if !s.paused {
		return textFollowing
	}
	return textPaused
}

// Follow returns to the end.
func (s *Scroll) Follow() { s.paused, s.reveal, s.left = false, false, 0 }

// up scrolls towards older rows.
func (s *Scroll) up(rows int) {
	s.pause()
	first, _ := s.Source.Bounds()
	if s.top == s.start() {
		s.mark -= min(s.mark-first, uint64(rows))
		return
	}
	s.top = s.above(s.top, rows)
	s.clampMark()
}

// down scrolls towards newer rows, and follows once the end is reached. Where
// everything fits on the screen, only the mark moves.
func (s *Scroll) down(rows int) {
	if !s.paused {
		return
	}
	_, end := s.Source.Bounds()
	last := s.bottom()
	if last == s.start() && s.mark+uint64(rows)+1 < end {
		s.mark += uint64(rows)
		return
	}
	s.top = s.below(s.top, rows)
	if !s.top.before(last) {
		s.Follow()
		return
	}
	s.clampMark()
}

// Page scrolls by the height of the view, less a line to hold on to.
func (s *Scroll) Page(by int) {
	n := max(1, s.h-1)
	if by < 0 {
		s.up(n)
		return
	}
	s.down(n)
}

// home goes to the oldest item.
func (s *Scroll) home() {
	s.pause()
	first, _ := s.Source.Bounds()
	s.top, s.mark = s.start(), first
}

// toggleWrap wraps long items or cuts them. The marked item, or the first one
// of a view whose mark is not on the screen, keeps its place.
func (s *Scroll) toggleWrap() {
	item, y := s.mark, -1
	if s.paused {
		y = s.lineOf(s.mark)
		if y < 0 {
			item, y = s.top.item, 0
		}
	}
	s.Wrap, s.left = !s.Wrap, 0
	s.look.Wrap, s.look.Left = s.Wrap, 0
	if s.paused {
		s.top = s.above(position{item: item}, y)
	}
}

// Rebase moves what the view remembers when the Source has numbered its items
// anew. now gives the new number of an old item.
func (s *Scroll) Rebase(now func(old uint64) uint64) {
	s.mark, s.top.item = now(s.mark), now(s.top.item)
	if s.seen > 0 {
		s.seen = now(s.seen-1) + 1
	}
}

// pause fixes what is on the screen.
func (s *Scroll) pause() {
	if s.paused {
		return
	}
	_, end := s.Source.Bounds()
	s.top, s.mark = s.bottom(), max(end, 1)-1
	s.sawAll()
	s.paused = true
}

// height is the number of rows of an item; before the first drawing one, as
// there is no width yet.
func (s *Scroll) height(i uint64) int {
	if s.look.Theme == nil {
		return 1
	}
	return max(1, len(s.Source.Rows(i, s.look)))
}

// head are the rows above the first item; before the first drawing there are none.
func (s *Scroll) head() [][]Span {
	if s.Head == nil || s.look.Theme == nil {
		return nil
	}
	return s.Head(s.look)
}

// start is the first row of all.
func (s *Scroll) start() position {
	first, _ := s.Source.Bounds()
	return position{first, -len(s.head())}
}

// bottom is the first row on the screen when the last one is at its end.
func (s *Scroll) bottom() position {
	_, end := s.Source.Bounds()
	return s.above(position{item: end}, max(1, s.h))
}

// above is the position n rows before p.
func (s *Scroll) above(p position, n int) position {
	first, _ := s.Source.Bounds()
	if n <= p.row {
		return position{p.item, p.row - n}
	}
	n -= p.row // of a row of the head, back to the first item
	p.row = 0
	for n > 0 && p.item > first {
		p.item--
		h := s.height(p.item)
		if h >= n {
			return position{p.item, h - n}
		}
		n -= h
	}
	return position{max(p.item, first), -min(n, len(s.head()))}
}

// below is the position n rows after p, at most the last row of all.
func (s *Scroll) below(p position, n int) position {
	_, end := s.Source.Bounds()
	for p.item < end {
		left := s.height(p.item) - 1 - p.row
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

// lineOf is the screen line on which an item begins, or -1.
func (s *Scroll) lineOf(item uint64) int {
	y, at := 0, s.top
	_, end := s.Source.Bounds()
	for y < max(1, s.h) && at.item < end {
		if at.item == item && at.row <= 0 {
			return y - at.row
		}
		y += s.height(at.item) - at.row
		at = position{item: at.item + 1}
	}
	return -1
}

// clampMark keeps the mark among the items on the screen.
func (s *Scroll) clampMark() {
	_, end := s.Source.Bounds()
	last := s.below(s.top, max(1, s.h)-1).item
	s.mark = min(max(s.mark, s.top.item), last, max(end, 1)-1)
}

// Mark is the number of the marked item.
func (s *Scroll) Mark() uint64 { return s.mark }
