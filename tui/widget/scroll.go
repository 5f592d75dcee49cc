package widget

import (
	"fmt"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/base/words"
	"ollimbot/tui/action"
	"ollimbot/tui/theme"
)

// Scroll shows the end of a Source and follows it. When the reader scrolls up
// it pauses: the screen stays unchanged, however much arrives, until the reader
// returns to the end.
//
// One item is marked while the view is paused: "copy" copies it and a search
// continues from it. Scrolling pushes the mark along at the edge.
type Scroll struct {
	viewport
	Wrap bool
	// Names are the names of the keys where it is shown.
	Names action.Names
	// Still means that nothing ever arrives: nothing is called new.
	Still bool

	paused bool
	top    position
	mark   uint64
	// seen is the number after the newest item that was on the screen, or that
	// existed when the reader left the end.
	seen uint64
	// behind counts items that exist but are not in the Source yet.
	behind uint64
	left   int
	find   search
	reveal bool // bring the mark into view at the next drawing
	// Of the last drawing: its width, the position of each line, and the cells of the
	// longest item that takes one line.
	w       int
	drawn   []position
	longest int
}

// Following reports whether new items are shown as they arrive.
func (s *Scroll) Following() bool { return !s.paused }

// New is how many items have arrived that the reader has not seen. Items that
// are left out do not count; showing them again does not make them new.
func (s *Scroll) New() uint64 {
	n := s.behind
	if !s.paused || s.Still {
		return n
	}
	first, end := s.Source.Bounds()
	for i := max(s.seen, first); i < end; i++ { // items that are gone cannot be seen
		if !s.leftOut(i) {
			n++
		}
	}
	return n
}

// sawAll makes no item new.
func (s *Scroll) sawAll() { _, s.seen = s.Source.Bounds() }

// State is "following" or "paused".
func (s *Scroll) State() string {
	if !s.paused {
		return "following"
	}
	return "paused"
}

// Follow returns to the end.
func (s *Scroll) Follow() { s.paused, s.reveal, s.left = false, false, 0 }

// up scrolls to older rows.
func (s *Scroll) up(rows int) {
	s.pause()
	if s.top == s.start() {
		s.mark = s.step(s.mark, -rows)
		return
	}
	s.top = s.above(s.top, rows)
	s.clampMark()
}

// down scrolls to newer rows, and follows once the end is reached. If everything
// fits on the screen, only the mark moves.
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

// anchor is an item and its line of the screen.
type anchor struct {
	item uint64
	y    int
}

// here is the marked item, or the first one on the screen if the mark is not on it.
func (s *Scroll) here() anchor {
	at := anchor{s.mark, s.lineOf(s.mark, s.top)}
	if s.paused && at.y < 0 {
		at = anchor{s.top.item, 0}
	}
	return at
}

// put brings an item, or the next one that is shown, back to its line of the screen.
func (s *Scroll) put(at anchor) {
	first, end := s.bounds()
	for at.item = max(at.item, first); at.item+1 < end && s.leftOut(at.item); {
		at.item++
	}
	if s.paused {
		s.top = s.above(position{item: min(at.item, max(end, 1)-1)}, at.y)
	}
}

// toggleWrap wraps or cuts long items.
func (s *Scroll) toggleWrap() {
	at := s.here()
	s.Wrap, s.left = !s.Wrap, 0
	s.look.Wrap, s.look.Left = s.Wrap, 0
	s.put(at)
}

// sideStep is by how many cells lines that are not wrapped scroll sideways.
const sideStep = 20

// sideways scrolls lines that are not wrapped, to the right up to the end of the longest
// line on the screen. Lines above it do not count: a single endless one would move
// everything else away.
func (s *Scroll) sideways(verb string) {
	if verb == "left" {
		s.left = max(0, s.left-sideStep)
		return
	}
	s.left = max(s.left, min(s.left+sideStep, s.longest-s.w))
}

// Rebase adapts the view to a Source that has renumbered its items. now returns the new
// number of an old item.
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

// clampMark keeps the mark among the items on the screen.
func (s *Scroll) clampMark() {
	_, end := s.bounds()
	last := s.below(s.top, max(1, s.h)-1).item
	s.mark = min(max(s.mark, s.top.item), last, max(end, 1)-1)
}

// Mark is the number of the marked item.
func (s *Scroll) Mark() uint64 { return s.mark }

// Finding reports whether the search takes every key now.
func (s *Scroll) Finding() bool { return s.find.typing }

// Searching reports whether the search takes a line of the screen.
func (s *Scroll) Searching() bool { return s.find.open() }

// Find opens the search line.
func (s *Scroll) Find() {
	_, end := s.Source.Bounds()
	f := &s.find
	if !f.open() {
		f.follow, f.origin = !s.paused, s.mark
		if !s.paused {
			f.origin = max(end, 1) - 1
		}
	}
	f.typing = true
}

// EndFind ends the search. A view that was following when the search began
// follows again. It reports whether there was a search.
func (s *Scroll) EndFind() bool {
	if !s.find.open() {
		return false
	}
	if s.find.follow {
		s.Follow()
	}
	s.find = search{}
	return true
}

// Type gives a key or a paste to the search line.
func (s *Scroll) Type(msg tea.Msg) {
	f := &s.find
	switch changed, verb := f.take(msg); {
	case verb == "esc", verb == "enter" && !f.matcher.Active():
		s.EndFind()
	case verb == "up", verb == "down":
		s.nextHit(verb == "up")
	case changed:
		f.matcher = newMatcher(f.field.Text())
		s.Refind()
		if hit, ok := f.nearest(); ok {
			s.jump(hit)
		}
	}
}

// Refind searches everything again, after the items of the Source have changed.
func (s *Scroll) Refind() {
	s.find.hits, s.find.next = nil, 0
	s.find.more(&s.viewport)
}

// nextHit goes to the next match, or the previous one, around the ends.
func (s *Scroll) nextHit(back bool) {
	if hit, ok := s.find.after(s.mark, back); ok {
		s.jump(hit)
	}
}

// jump marks an item and brings it into view.
func (s *Scroll) jump(item uint64) {
	s.pause()
	s.mark, s.reveal = item, true
}

// Hint is the help for the keys while a search is written.
func (s *Scroll) Hint() []key.Binding { return searchKeys }

// Reply is the outcome of an action: text for the clipboard, and a toast.
type Reply struct{ Copy, Toast string }

// Do carries out an action by its verb, the part of its ID after the dot. It
// reports whether it knows the verb; copying is up to the pane.
func (s *Scroll) Do(verb string) (Reply, bool) {
	page := max(1, s.h-1) // keeps a line of context
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
		s.nextHit(verb == "prev")
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

// Lines draws exactly h lines of exactly w cells.
func (s *Scroll) Lines(t *theme.Theme, w, h int, focused bool) []string {
	w, h = max(0, w), max(0, h)
	bar := s.find.open() && h > 1
	if bar {
		h--
	}
	s.w, s.h = w, h
	s.look = Look{W: w, Wrap: s.Wrap, Left: s.left, Matcher: s.find.matcher, Theme: t}
	s.settle()
	lines := Fill(s.draw(h, focused), w, h)
	if bar {
		lines = append(lines, s.find.bar(Brush{Theme: t}, w, s.mark, s.Names))
	}
	return lines
}

// settle makes the position fit the current items and size.
func (s *Scroll) settle() {
	first, end := s.bounds()
	s.mark = max(s.mark, first)
	if !s.paused {
		s.top, s.mark = s.bottom(), max(end, first+1)-1
		s.sawAll()
		return
	}
	if s.top.item < first || s.top.item >= end {
		s.top = position{item: max(first, min(s.top.item, max(end, 1)-1))}
	} else {
		s.top.row = max(0, min(s.top.row, s.height(s.top.item)-1))
	}
	if s.reveal {
		s.reveal = false
		s.revealHit()
		if s.lineOf(s.mark, s.top) < 0 {
			// with a third of the screen as context above it
			s.top = s.above(position{item: s.mark}, s.h/3)
		}
	}
	if last := s.bottom(); last.before(s.top) {
		s.top = last
	}
}

// draw renders the items from the top of the view on. The end of the last line
// counts what has arrived below.
func (s *Scroll) draw(h int, focused bool) []string {
	_, end := s.bounds()
	lines := make([]string, 0, h+1)
	s.drawn, s.longest = s.drawn[:0], 0
	for at := s.top; len(lines) < h && at.item < end; at = (position{item: at.item + 1}) {
		if s.leftOut(at.item) {
			continue
		}
		look, b := s.look, Brush{Theme: s.look.Theme}
		if focused && s.paused && at.item == s.mark {
			look.Marked, b.Back = true, theme.Select
		}
		s.seen = max(s.seen, at.item+1)
		rows := s.Source.Rows(at.item, look)
		if len(rows) == 1 && !s.Wrap {
			s.longest = max(s.longest, s.left+Width(rows[0]))
		}
		for y := at.row; y < len(rows) && len(lines) < h; y++ {
			badge := ""
			if len(lines) == h-1 {
				badge = s.badge()
			}
			lines = append(lines, b.Line(look.W-Cells(badge), rows[y]...)+look.Theme.Paint(theme.Match, badge))
			s.drawn = append(s.drawn, position{at.item, y})
		}
	}
	return lines
}

// At is the row of an item that is on line y of the last drawing.
func (s *Scroll) At(y int) (item uint64, row int, ok bool) {
	if y >= len(s.drawn) {
		return 0, 0, false
	}
	return s.drawn[y].item, s.drawn[y].row, true
}

// badge counts new items; empty without any, or without room for it.
func (s *Scroll) badge() string {
	n := s.New()
	if n == 0 {
		return ""
	}
	text := " " + s.look.Theme.Glyph(theme.Down) + " " + words.Thousands(n) + " new "
	if Cells(text)+8 > s.look.W {
		return ""
	}
	return text
}

// headRoom is about the width of the columns before the text of a line.
const headRoom = 20

// revealHit scrolls sideways until the match in the marked item is visible, if long
// lines are cut.
func (s *Scroll) revealHit() {
	if first, end := s.bounds(); s.Wrap || s.mark < first || s.mark >= end {
		return
	}
	text := Tidy(s.Source.Text(s.mark))
	hits := s.find.matcher.pieces(text)
	if len(hits) == 0 {
		return
	}
	begin, stop := Cells(text[:hits[0].from]), Cells(text[:hits[0].to])
	// The first cell of a scrolled line holds the mark.
	if s.left > 0 && begin <= s.left || stop > s.left+max(1, s.w-headRoom) {
		s.left = 0
		if stop > max(1, s.w-headRoom) {
			s.left = max(0, begin-s.w/3)
		}
		s.look.Left = s.left
	}
}

// Reader is a Scroll over a text that is read from its beginning. Use NewReader.
type Reader struct {
	Scroll
	lines [][]Span
}

// NewReader returns a reader without a text.
func NewReader(names action.Names) *Reader {
	r := &Reader{}
	r.Source, r.Wrap, r.Still, r.Names = r, true, true, names
	r.home()
	return r
}

// Show replaces the text, which is in lines of the width of the drawing.
func (r *Reader) Show(lines [][]Span) {
	r.lines = lines
	r.Refind()
}

// Len is the number of lines.
func (r *Reader) Len() int { return len(r.lines) }

// Where says which lines the last drawing has shown: "1-20 of 43"; empty if it has shown all of them.
func (r *Reader) Where() string {
	if len(r.lines) <= r.h {
		return ""
	}
	return fmt.Sprintf("%d-%d of %d", r.top.item+1, min(len(r.lines), int(r.top.item)+r.h), len(r.lines))
}

// Bounds are the numbers of the lines: with Text and Rows they make the reader its own Source.
func (r *Reader) Bounds() (first, end uint64) { return 0, uint64(len(r.lines)) }

// Text is a line without colours.
func (r *Reader) Text(i uint64) (text string) {
	for _, s := range r.lines[i] {
		text += s.Text
	}
	return text
}

// Rows draws a line.
func (r *Reader) Rows(i uint64, look Look) [][]Span {
	return [][]Span{append([]Span{{Text: " "}}, look.Matcher.MarkSpans(r.lines[i])...)}
}
