package widget

import (
	"slices"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget/query"
)

// prompt is the line below a list or a text on which a search or a filter is written.
type prompt struct {
	typing bool
	field  Input
}

// take gives it a key or a paste. changed means that the text is different now; verb is
// what else a key does: "esc", "enter", or how it moves the selection.
func (p *prompt) take(msg tea.Msg) (changed bool, verb string) {
	if k, ok := msg.(tea.KeyPressMsg); ok {
		switch s := k.Keystroke(); s {
		case "enter":
			p.typing = false
			return false, s
		case "esc", "up", "down", "pgup":
			return false, s
		case "pgdown":
			return false, "pgdn"
		}
	}
	before := p.field.Text()
	p.field.Update(msg)
	return p.field.Text() != before, ""
}

// line draws it in exactly w cells after its sign, with the number of matches at the right
// edge if that leaves half of the line.
func (p *prompt) line(b Brush, w int, sign string, found ...Span) string {
	if w < 2*Width(found) {
		found = nil
	}
	left := Span{theme.Key, sign}
	if !p.typing {
		return b.Spread(w, []Span{left, {theme.Strong, p.field.Text()}}, found)
	}
	room := w - 2
	if found != nil {
		room -= Width(found) + 1
	}
	if room < 1 {
		return b.Line(w, left)
	}
	return b.Line(2, left) + p.field.Line(b, room, true) + b.Line(w-2-room, append([]Span{{Text: " "}}, found...)...)
}

// bound is a key of the help line.
func bound(k, word string) key.Binding { return key.NewBinding(key.WithKeys(k), key.WithHelp(k, word)) }

// Query filters a list or a tail by what is written on a line below it, in the language of
// package query. The zero Query keeps every row.
type Query struct {
	prompt
	query.Query
	words []Matcher
}

// Open starts editing.
func (q *Query) Open() { q.typing = true }

// Typing reports whether it takes every key now.
func (q *Query) Typing() bool { return q.typing }

// Shown reports whether it takes a line of the screen.
func (q *Query) Shown() bool { return q.typing || q.On() }

// Text is what has been written.
func (q *Query) Text() string { return q.field.Text() }

// End removes it and reports whether there was one.
func (q *Query) End() bool {
	was := q.Shown()
	*q = Query{}
	return was
}

// Type gives it a key or a paste. changed means that it keeps other rows now; verb is
// how a key moves the selection of the list, mostly empty.
func (q *Query) Type(msg tea.Msg) (changed bool, verb string) {
	changed, verb = q.take(msg)
	switch {
	case verb == "esc":
		changed = q.On()
		q.End()
		return changed, ""
	case verb == "enter":
		return false, ""
	case changed:
		q.Set(q.Text())
	}
	return changed, verb
}

// Set replaces its text.
func (q *Query) Set(text string) {
	if q.words = nil; text != q.Text() {
		q.field.Set(text)
	}
	q.Query = query.Parse(text)
	for _, w := range q.Words() {
		q.words = append(q.words, newMatcher(w))
	}
}

// Mark splits a text into spans of the role, with the words of the query painted as
// matches.
func (q *Query) Mark(role theme.Role, text string) []Span {
	var hits []piece
	for _, w := range q.words {
		hits = append(hits, w.pieces(text)...)
	}
	slices.SortFunc(hits, func(a, b piece) int { return a.from - b.from })
	return marked(role, text, piece{0, len(text)}, hits)
}

// Line is the query in exactly w cells, with the number of rows that it keeps: "3 of 41
// runs". With states, it says which ones there are behind "is:", and as long as nothing is
// written what can be.
func (q *Query) Line(b Brush, w int, found string, states func() []string) string {
	right := Span{theme.Accent, found + " "}
	switch {
	case states == nil:
	case q.typing && query.Asks(q.Text()):
		right = Span{theme.Dim, Cut(textStates(states()), w/2-1) + " "}
	case !q.On():
		i := slices.IndexFunc(textQueryHelp, func(help string) bool { return 2*Cells(help)+2 <= w })
		right = Span{theme.Dim, textQueryHelp[max(0, i)] + " "}
	}
	return q.line(b, w, " /", right)
}

// Hint is the help for the keys while the query is edited.
func (q *Query) Hint() []key.Binding {
	return []key.Binding{bound("enter", "keep the filter"), bound("esc", "show all rows")}
}
