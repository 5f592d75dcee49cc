package widget

import (
	"ollimbot/core/tail"
	"ollimbot/tui/theme"
)

// Sideways scrolls lines that are not wrapped, as far as the longest line on the
// screen goes: what is out of sight above has its end where the reader gets to
// it, and one endless line there would move everything else away. Lines that
// all fit do not move.
func (s *Scroll) Sideways(cells int) {
	if s.Wrap {
		return
	}
	left := s.left + cells
	if cells > 0 {
		left = max(s.left, min(left, s.overhang()))
	}
	s.left = max(0, left)
}

// overhang is how many cells the longest line on the screen is longer than the
// screen. An item that takes several rows is wrapped and does not move.
func (s *Scroll) overhang() int {
	if s.look.Theme == nil {
		return 0 // nothing is on the screen yet
	}
	look := s.look
	look.Left = 0
	longest, rows := 0, 0
	_, end := s.Source.Bounds()
	for at := s.top; rows < max(1, s.h) && at.item < end; at = (position{item: at.item + 1}) {
		drawn := s.Source.Rows(at.item, look)
		if len(drawn) == 1 {
			longest = max(longest, Width(drawn[0]))
		}
		rows += len(drawn) - at.row
	}
	return longest - look.W
}

// scrolled is a text without its first cells. Where any are hidden a mark stands
// in front, so that an empty pane never looks like an empty log.
func scrolled(text string, look Look) (mark []Span, from int) {
	if look.Left <= 0 || text == "" {
		return nil, 0
	}
	from, over := skip(text, look.Left+1)
	return []Span{{theme.Dim, textBefore + Blank(over)}}, from
}

// skip is the byte behind the first n cells, and by how many cells the last
// character stands out behind them.
func skip(s string, n int) (i, over int) {
	for n > 0 && i < len(s) {
		size, cells := character(s[i:])
		i += size
		n -= cells
	}
	return i, max(0, -n)
}

// headRoom is about what stands before the text of a line: its time and kind.
const headRoom = 20

// aside scrolls sideways until what was found in the marked item is in sight,
// where long lines are cut.
func (s *Scroll) aside() {
	if first, end := s.Source.Bounds(); s.Wrap || s.mark < first || s.mark >= end {
		return
	}
	text := Tidy(s.Source.Text(s.mark))
	from, to := s.find.matcher.next(text, 0)
	if !s.find.matcher.Active() || from < 0 {
		return
	}
	begin, stop := Cells(text[:from]), Cells(text[:to])
	// The first cell of a line that has moved is the mark's.
	if s.left > 0 && begin <= s.left || stop > s.left+max(1, s.w-headRoom) {
		s.left = 0
		if stop > max(1, s.w-headRoom) {
			s.left = max(0, begin-s.w/3)
		}
		s.look.Left = s.left
	}
}

// gone counts the lines of a tail that a TailView does not have: those before the
// first one that it keeps, and gaps further on, each with a line of its own that
// stands for it.
type gone struct {
	before uint64
	gaps   map[uint64]uint64 // how many lines, by the number of the line that stands for them
}

// take is for how many lines of the tail the n lines from a number on stand. They
// leave the view, so that their gaps are forgotten.
func (g *gone) take(from uint64, n int) uint64 {
	sum := uint64(n)
	for i, lost := range g.gaps {
		if i >= from && i-from < uint64(n) {
			sum += lost - 1
			delete(g.gaps, i)
		}
	}
	return sum
}

// lose notes that the tail has forgotten lines before the view could read them.
func (v *TailView) lose(n uint64) {
	switch {
	case n == 0:
	case len(v.lines) == 0:
		v.gone.before += n
	default:
		if v.gone.gaps == nil {
			v.gone.gaps = map[uint64]uint64{}
		}
		v.gone.gaps[v.first+uint64(len(v.lines))] = n
		v.lines = append(v.lines, tail.Line{Kind: tail.Note, Text: textGap(n)})
	}
}

// head is the note above the oldest line. It counts what came before, and is no
// line of the tail itself. A filter that was written shows its own lines alone.
func (v *TailView) head(look Look) [][]Span {
	if v.gone.before == 0 || v.filter.query.Active() {
		return nil
	}
	head := []Span{{theme.Accent, " "}}
	clock, kind := v.columns(look.W)
	if clock != "" && !v.timeless {
		head = append(head, Span{Text: Blank(clockCells(clock) + 1)})
	}
	if kind {
		head = append(head, Span{theme.Accent, Fit(string(tail.Note), kindWidth)})
	}
	return [][]Span{append(head, Span{theme.Dim, textGone(v.gone.before)})}
}
