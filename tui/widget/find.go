package widget

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/theme"
)

// find is a search in a Scroll. It leaves the context where it is and only
// marks what it found.
type find struct {
	prompt
	matcher Matcher
	hits    []uint64 // items that match, in order
	next    uint64   // the first item that was not looked at yet
	origin  uint64   // where the search began
	follow  bool     // the view followed when it began
}

func (f *find) open() bool { return f.typing || f.matcher.Active() }

// Finding reports whether the search takes every key now.
func (s *Scroll) Finding() bool { return s.find.typing }

// Searching reports whether the search has a line of the screen.
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

// EndFind takes the search away. A view that followed when the search began
// follows again. It reports whether there was one.
func (s *Scroll) EndFind() bool {
	if !s.find.open() {
		return false
	}
	if s.find.follow {
		s.Follow()
	}
	s.find = find{}
	return true
}

// Type gives a key or a paste to the search line.
func (s *Scroll) Type(msg tea.Msg) {
	f := &s.find
	switch changed, verb := f.take(msg); {
	case verb == "esc", verb == "enter" && !f.matcher.Active():
		s.EndFind()
	case verb == "up":
		s.hit("prev")
	case verb == "down":
		s.hit("next")
	case changed:
		f.matcher = newMatcher(f.field.Text())
		s.Refind()
		s.nearest()
	}
}

// Refind searches everything again, for a Source whose items have changed.
func (s *Scroll) Refind() {
	s.find.hits, s.find.next = nil, 0
	s.findMore()
}

// findMore looks at the items that have come since the last look, and forgets
// those that have gone.
func (s *Scroll) findMore() {
	f := &s.find
	if !f.matcher.Active() {
		return
	}
	first, end := s.Source.Bounds()
	if i, _ := slices.BinarySearch(f.hits, first); i > 0 {
		f.hits = f.hits[i:]
	}
	for i := max(f.next, first); i < end; i++ {
		if !s.leftOut(i) && f.matcher.In(s.Source.Text(i)) {
			f.hits = append(f.hits, i)
		}
	}
	f.next = end
}

// hit goes to the next match, or the previous one, around the ends.
func (s *Scroll) hit(verb string) {
	hits := s.find.hits
	n := len(hits)
	if n == 0 {
		return
	}
	i, on := slices.BinarySearch(hits, s.mark)
	switch {
	case verb == "prev":
		i--
	case on:
		i++
	}
	s.jump(hits[(i+n)%n])
}

// nearest goes to the match at or before where the search began, else to the first one
// behind it.
func (s *Scroll) nearest() {
	hits := s.find.hits
	if len(hits) == 0 {
		return
	}
	i, on := slices.BinarySearch(hits, s.find.origin)
	if !on {
		i = max(0, i-1)
	}
	s.jump(hits[i])
}

// jump marks an item and brings it into view.
func (s *Scroll) jump(item uint64) {
	s.pause()
	s.mark, s.reveal = item, true
}

// findBar is the search line: what is searched, how much was found, and, where there is
// room for them, the keys of a search that is done.
func (s *Scroll) findBar(b Brush, w int) string {
	f := &s.find
	if !f.matcher.Active() {
		return f.line(b, w, " /")
	}
	i, on := slices.BinarySearch(f.hits, s.mark)
	at, role := 0, theme.Accent
	if on {
		at = i + 1
	}
	if len(f.hits) == 0 {
		role = theme.Warn
	}
	found := []Span{{role, textHits(at, len(f.hits)) + " "}}
	if keys := (Span{theme.Dim, textFindKeys(s.Names) + "   "}); !f.typing && w >= 2*(Width(found)+Cells(keys.Text)) {
		found = append([]Span{keys}, found...)
	}
	return f.line(b, w, " /", found...)
}

// Hint is what the keys do while a search is being written.
func (s *Scroll) Hint() []key.Binding { return findKeys }

var findKeys = []key.Binding{bound("enter", textKeeps), bound("esc", textEnds), bound("↑/↓", textOtherHits)}
