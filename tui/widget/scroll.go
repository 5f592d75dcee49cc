package widget

import (
	"fmt"

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
	// Still says that nothing ever comes: nothing is called new.
	Still bool

	// hidden, when set, says which items are left out.
	hidden func(i uint64) bool

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
	reveal bool // bring the mark into view when drawing next
	// When it was drawn last: the size of the text, what stands in its lines, the cells of
	// the longest item that takes one of them.
	w, h    int
	drawn   []position
	longest int
	look    Look
}

// position is a row of an item.
type position struct {
	item uint64
	row  int
}

func (p position) before(q position) bool {
	return p.item < q.item || p.item == q.item && p.row < q.row
}

// Following reports whether the newest items are shown as they come.
func (s *Scroll) Following() bool { return !s.paused }

// leftOut reports an item that has no row.
func (s *Scroll) leftOut(i uint64) bool { return s.hidden != nil && s.hidden(i) }

// bounds are the numbers of the first item that is shown and behind the last one.
func (s *Scroll) bounds() (first, end uint64) {
	first, end = s.Source.Bounds()
	for first < end && s.leftOut(first) {
		first++
	}
	for first < end && s.leftOut(end-1) {
		end--
	}
	return first, end
}

// step is n items that are shown behind one, or before it for n below zero, as far as
// there are any.
func (s *Scroll) step(i uint64, n int) uint64 {
	first, end := s.bounds()
	for ; n < 0 && i > first; i-- {
		if !s.leftOut(i - 1) {
			n++
		}
	}
	for ; n > 0 && i+1 < end; i++ {
		if !s.leftOut(i + 1) {
			n--
		}
	}
	return i
}

// New is how many items have arrived that the reader has not seen. Items that
// are left out do not count, and neither leaving them out nor showing them again
// makes one new.
func (s *Scroll) New() uint64 {
	n := s.behind
	if !s.paused || s.Still {
		return n
	}
	first, end := s.Source.Bounds()
	for i := max(s.seen, first); i < end; i++ { // what has gone cannot be seen any more
		if !s.leftOut(i) {
			n++
		}
	}
	return n
}

// sawAll notes that nothing of what there is now is new.
func (s *Scroll) sawAll() { _, s.seen = s.Source.Bounds() }

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
	if s.top == s.start() {
		s.mark = s.step(s.mark, -rows)
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
	_, end := s.bounds()
	last := s.bottom()
	if to := s.step(s.mark, rows); last == s.start() && to+1 < end {
		s.mark = to
		return
	}
	s.top = s.below(s.top, rows)
	if !s.top.before(last) {
		s.Follow()
		return
	}
	s.clampMark()
}

// home goes to the oldest item.
func (s *Scroll) home() {
	s.pause()
	s.top = s.start()
	s.mark = s.top.item
}

// anchor is an item and the line of the screen that it is on.
type anchor struct {
	item uint64
	y    int
}

// here is where the reader stands: the marked item, or the first one of a view whose mark
// is not on the screen.
func (s *Scroll) here() anchor {
	at := anchor{s.mark, s.lineOf(s.mark)}
	if s.paused && at.y < 0 {
		at = anchor{s.top.item, 0}
	}
	return at
}

// put brings an item back to its line of the screen, or the one behind it that is shown.
func (s *Scroll) put(at anchor) {
	first, end := s.bounds()
	for at.item = max(at.item, first); at.item+1 < end && s.leftOut(at.item); {
		at.item++
	}
	if s.paused {
		s.top = s.above(position{item: min(at.item, max(end, 1)-1)}, at.y)
	}
}

// toggleWrap wraps long items or cuts them.
func (s *Scroll) toggleWrap() {
	at := s.here()
	s.Wrap, s.left = !s.Wrap, 0
	s.look.Wrap, s.look.Left = s.Wrap, 0
	s.put(at)
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
	_, end := s.bounds()
	s.top, s.mark = s.bottom(), max(end, 1)-1
	s.sawAll()
	s.paused = true
}

// height is the number of rows of an item; before the first drawing one, as
// there is no width yet.
func (s *Scroll) height(i uint64) int {
	switch {
	case s.leftOut(i):
		return 0
	case s.look.Theme == nil:
		return 1
	}
	return max(1, len(s.Source.Rows(i, s.look)))
}

// start is the first row of all.
func (s *Scroll) start() position {
	first, _ := s.bounds()
	return position{item: first}
}

// bottom is the first row on the screen when the last one is at its end.
func (s *Scroll) bottom() position {
	_, end := s.bounds()
	return s.above(position{item: end}, max(1, s.h))
}

// above is the position n rows before p.
func (s *Scroll) above(p position, n int) position {
	first, _ := s.bounds()
	if n <= p.row {
		return position{p.item, p.row - n}
	}
	n -= p.row
	for n > 0 && p.item > first {
		p.item--
		h := s.height(p.item)
		if h >= n {
			return position{p.item, h - n}
		}
		n -= h
	}
	return position{item: max(p.item, first)}
}

// below is the position n rows after p, at most the last row of all.
func (s *Scroll) below(p position, n int) position {
	_, end := s.bounds()
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
	_, end := s.bounds()
	for y < max(1, s.h) && at.item < end {
		if at.item == item && at.row == 0 {
			return y
		}
		y += s.height(at.item) - at.row
		at = position{item: at.item + 1}
	}
	return -1
}

// clampMark keeps the mark among the items on the screen.
func (s *Scroll) clampMark() {
	_, end := s.bounds()
	last := s.below(s.top, max(1, s.h)-1).item
	s.mark = min(max(s.mark, s.top.item), last, max(end, 1)-1)
}

// Mark is the number of the marked item.
func (s *Scroll) Mark() uint64 { return s.mark }

// Reply is what came of an action: text for the clipboard, and what to say.
type Reply struct{ Copy, Toast string }

// Do carries out an action by its verb, the part of its id behind the dot. It
// reports whether it knows the verb; copying is the pane's.
func (s *Scroll) Do(verb string) (Reply, bool) {
	page := max(1, s.h-1) // less a line to hold on to
	switch verb {
	case "up":
		s.up(1)
	case "down":
		s.down(1)
	case "pgup":
		s.up(page)
	case "pgdn":
		s.down(page)
	case "home", "top":
		s.home()
	case "follow", "end", "bottom":
		s.Follow()
	case "left", "right":
		if s.Wrap {
			return Reply{Toast: fmt.Sprintf(textNoSideways, s.Names.Name(action.TailWrap))}, true
		}
		s.sideways(verb)
	case "find":
		s.Find()
	case "next", "prev":
		if !s.find.matcher.Active() {
			return Reply{Toast: fmt.Sprintf(textNoFind, s.Names.Name(action.TailFind))}, true
		}
		s.hit(verb)
	case "wrap":
		s.toggleWrap()
		if s.Wrap {
			return Reply{Toast: textWrapped}, true
		}
		return Reply{Toast: fmt.Sprintf(textNotWrapped, s.Names.Name(action.TailRight))}, true
	default:
		return Reply{}, false
	}
	return Reply{}, true
}
