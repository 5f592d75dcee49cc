package widget

import (
	"cmp"
	"slices"

	"charm.land/bubbles/v2/key"

	"ollimbot/tui/action"
	"ollimbot/tui/theme"
)

// search marks what it finds in the items of a Scroll, and hides nothing.
type search struct {
	prompt
	sign    string // the key that opens it, if that is not "/"
	matcher Matcher
	hits    []uint64 // items that match, in order
	next    uint64   // the first item that was not searched yet
	origin  uint64   // where the search began
	follow  bool     // the view was following when it began
}

func (s *search) open() bool { return s.typing || s.matcher.Active() }

// restart searches everything again.
func (s *search) restart(v *viewport) {
	s.hits, s.next = nil, 0
	s.more(v)
}

// more searches the items that have arrived, and forgets those that are gone.
func (s *search) more(v *viewport) {
	if !s.matcher.Active() {
		return
	}
	first, end := v.Source.Bounds()
	if i, _ := slices.BinarySearch(s.hits, first); i > 0 {
		s.hits = s.hits[i:]
	}
	for i := max(s.next, first); i < end; i++ {
		if !v.leftOut(i) && s.matcher.In(v.Source.Text(i)) {
			s.hits = append(s.hits, i)
		}
	}
	s.next = end
}

// after is the match after an item, or before it if back, around the ends.
func (s *search) after(item uint64, back bool) (hit uint64, ok bool) {
	n := len(s.hits)
	if n == 0 {
		return 0, false
	}
	i, on := slices.BinarySearch(s.hits, item)
	switch {
	case back:
		i--
	case on:
		i++
	}
	return s.hits[(i+n)%n], true
}

// nearest is the match at or before the origin, else the first one after it.
func (s *search) nearest() (hit uint64, ok bool) {
	if len(s.hits) == 0 {
		return 0, false
	}
	i, on := slices.BinarySearch(s.hits, s.origin)
	if !on {
		i = max(0, i-1)
	}
	return s.hits[i], true
}

// bar is the search line: the query, which match is marked of how many, and, if there is
// room, the keys.
func (s *search) bar(b Brush, w int, mark uint64, names action.Names) string {
	sign := " " + cmp.Or(s.sign, "/")
	if !s.matcher.Active() {
		return s.line(b, w, sign)
	}
	i, on := slices.BinarySearch(s.hits, mark)
	at, role := 0, theme.Accent
	if on {
		at = i + 1
	}
	if len(s.hits) == 0 {
		role = theme.Warn
	}
	found := []Span{{role, textHits(at, len(s.hits)) + " "}}
	if keys := (Span{theme.Dim, textSearchKeys(names) + "   "}); !s.typing && w >= 2*(Width(found)+Cells(keys.Text)) {
		found = append([]Span{keys}, found...)
	}
	return s.line(b, w, sign, found...)
}

var searchKeys = []key.Binding{bound("enter", "keep the search"), bound("esc", "end it"), bound("↑/↓", textOtherHits)}
