package widget

import "ollimbot/tui/theme"

// atATime is how many cells lines that are not wrapped move.
const atATime = 20

// sideways scrolls lines that are not wrapped, to the right as far as the longest line
// on the screen goes: what is out of sight above has its end where the reader gets to
// it, and one endless line there would move everything else away. Lines that
// all fit do not move.
func (s *Scroll) sideways(verb string) {
	if verb == "left" {
		s.left = max(0, s.left-atATime)
		return
	}
	s.left = max(s.left, min(s.left+atATime, s.longest-s.w))
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
	if first, end := s.bounds(); s.Wrap || s.mark < first || s.mark >= end {
		return
	}
	text := Tidy(s.Source.Text(s.mark))
	hits := s.find.matcher.pieces(text)
	if len(hits) == 0 {
		return
	}
	begin, stop := Cells(text[:hits[0].from]), Cells(text[:hits[0].to])
	// The first cell of a line that has moved is the mark's.
	if s.left > 0 && begin <= s.left || stop > s.left+max(1, s.w-headRoom) {
		s.left = 0
		if stop > max(1, s.w-headRoom) {
			s.left = max(0, begin-s.w/3)
		}
		s.look.Left = s.left
	}
}
