package widget

import (
	"ollimbot/core/base/words"
	"ollimbot/tui/theme"
)

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
