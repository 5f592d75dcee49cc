package widget

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/theme"
)

// prompt is a line below a list or a text, on which words are written that something in
// it is searched by.
type prompt struct {
	typing bool
	field  Input
}

// take gives it a key or a paste. changed says that other words stand there now; verb is
// what else a key wants: "esc", "enter", or where it moves a selection meanwhile.
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
	p.field.Take(msg)
	return p.field.Text() != before, ""
}

// line draws it in exactly w cells behind its sign, with what was found at the right edge
// where that leaves half of the line.
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

// Query is what a list or a tail is filtered by: words on a line below it, each of
// which a row has to hold, or must not with "!" in front. The zero Query keeps every row.
type Query struct {
	prompt
	words []term
}

type term struct {
	Matcher
	not bool
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

// Keeps reports whether a row is shown, by all that can be read in it and the names of
// what it is.
func (q *Query) Keeps(text string, names ...string) bool {
	return !slices.ContainsFunc(q.words, func(t term) bool { return t.not == (t.In(text) || slices.Contains(names, t.query)) })
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

// Set writes it.
func (q *Query) Set(text string) {
	if q.words = nil; text != q.Text() {
		q.field.Set(text)
	}
	for w := range strings.FieldsSeq(text) {
		if word, not := strings.CutPrefix(w, "!"); word != "" {
			q.words = append(q.words, term{newMatcher(word), not})
		}
	}
}

// Mark splits a text into spans of the role, with the words of the query painted as
// matches.
func (q *Query) Mark(role theme.Role, text string) []Span {
	var hits []piece
	for _, t := range q.words {
		if !t.not {
			hits = append(hits, t.pieces(text)...)
		}
	}
	slices.SortFunc(hits, func(a, b piece) int { return a.from - b.from })
	return marked(role, text, piece{0, len(text)}, hits)
}

// Line is the query in exactly w cells behind its sign, and how many rows it keeps:
// "3 of 41 runs".
func (q *Query) Line(b Brush, w int, sign, found string) string {
	right := Span{theme.Accent, found + " "}
	if !q.On() {
		right = Span{theme.Dim, textQueryHelp + " "}
	}
	return q.line(b, w, " "+sign, right)
}

// Hint is the help line while the query takes every key.
func (q *Query) Hint() []key.Binding {
	return []key.Binding{bound("enter", textKeepsQuery), bound("esc", textAllRows)}
}

// bound is a key of the help line.
func bound(k, word string) key.Binding { return key.NewBinding(key.WithKeys(k), key.WithHelp(k, word)) }
