package widget

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/theme"
)

// Query is what a list is filtered by: words on a line below it, each of which a
// row has to hold. The zero Query keeps every row.
type Query struct {
	typing bool
	field  Input
	words  []Matcher
}

// Open begins to write it.
func (q *Query) Open() { q.typing = true }

// Typing reports whether it takes every key now.
func (q *Query) Typing() bool { return q.typing }

// On reports that rows may be left out.
func (q *Query) On() bool { return len(q.words) > 0 }

// Shown reports that it has a line of the screen.
func (q *Query) Shown() bool { return q.typing || q.On() }

// Text is what has been written.
func (q *Query) Text() string { return q.field.Text() }

// Keeps reports whether a row is shown, by all that can be read in it.
func (q *Query) Keeps(text string) bool {
	for _, m := range q.words {
		if !m.In(text) {
			return false
		}
	}
	return true
}

// End takes it away and reports whether there was one.
func (q *Query) End() bool {
	was := q.Shown()
	*q = Query{}
	return was
}

// Type gives it a key or a paste. changed says that it keeps other rows now; verb is
// where a key moves the selection of the list meanwhile, mostly nowhere.
func (q *Query) Type(msg tea.Msg) (changed bool, verb string) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch s := k.Keystroke(); s {
		case "esc":
			on := q.On()
			q.End()
			return on, ""
		case "enter":
			q.typing = false
			return false, ""
		case "up", "down", "pgup":
			return false, s
		case "pgdown":
			return false, "pgdn"
		}
	}
	before := q.field.Text()
	if !q.field.Take(msg) || q.field.Text() == before {
		return false, ""
	}
	q.words = nil
	for _, w := range strings.Fields(q.field.Text()) {
		q.words = append(q.words, newMatcher(w))
	}
	return true, ""
}

// Mark splits a text into spans of the role, with the words of the query painted as
// matches.
func (q *Query) Mark(role theme.Role, text string) []Span {
	if !q.On() {
		return []Span{{role, text}}
	}
	var hits []piece
	for _, m := range q.words {
		hits = append(hits, m.pieces(text)...)
	}
	slices.SortFunc(hits, func(a, b piece) int { return a.from - b.from })
	return marked(role, text, piece{0, len(text)}, hits)
}

// Line is the query in exactly w cells, and how many rows it keeps: "3 of 41 runs".
func (q *Query) Line(b Brush, w int, found string) string {
	if w < 4 {
		return b.Line(w, Span{theme.Key, " /"})
	}
	right := []Span{{theme.Accent, found + " "}}
	if !q.On() {
		right[0] = Span{theme.Dim, textQueryHelp + " "}
	}
	if w < 2*Width(right) {
		right = nil
	}
	left := []Span{{theme.Key, " /"}}
	if !q.typing {
		return b.Spread(w, append(left, Span{theme.Strong, q.field.Text()}), right)
	}
	room := w - 2
	if right != nil {
		room -= Width(right) + 1
	}
	return b.Line(2, left...) + q.field.Line(b, room, true) + b.Line(w-2-room, append([]Span{{Text: " "}}, right...)...)
}

// Hint is the help line while the query takes every key.
func (q *Query) Hint() []key.Binding {
	bind := func(k, word string) key.Binding { return key.NewBinding(key.WithKeys(k), key.WithHelp(k, word)) }
	return []key.Binding{bind("enter", textKeepsQuery), bind("esc", textAllRows)}
}
