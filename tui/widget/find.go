package widget

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/action"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget/query"
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
	begun, ok := q.begun(states)
	switch {
	case states == nil:
	case ok:
		right = Span{theme.Dim, Cut(textStates(begun), w/2-1) + " "}
	case !q.On():
		i := slices.IndexFunc(textQueryHelp, func(help string) bool { return 2*Cells(help)+2 <= w })
		right = Span{theme.Dim, textQueryHelp[max(0, i)] + " "}
	}
	return q.line(b, w, " /", right)
}

// begun are the states that the word behind "is:" can become while it is written; ok is
// false if there are others only.
func (q *Query) begun(states func() []string) (begun []string, ok bool) {
	word, asks := query.Asks(q.Text())
	if states == nil || !q.typing || !asks {
		return nil, false
	}
	all := states()
	begun = slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !strings.HasPrefix(s, word) })
	return begun, len(begun) > 0 || len(all) == 0
}

// Hint is the help for the keys while the query is edited.
func (q *Query) Hint() []key.Binding {
	return []key.Binding{bound("enter", "keep the filter"), bound("esc", "show all rows")}
}

// Matcher finds a query in texts. A query without capital letters ignores case. The zero
// Matcher finds nothing.
type Matcher struct {
	query string
	fold  bool
	found *regexp.Regexp
}

// newMatcher returns a Matcher for the query.
func newMatcher(query string) Matcher {
	if query == "" {
		return Matcher{}
	}
	expr, fold := regexp.QuoteMeta(query), strings.ToLower(query) == query
	if fold {
		expr = "(?i)" + expr
	}
	return Matcher{query, fold, regexp.MustCompile(expr)}
}

// Active reports whether the query is not empty.
func (m Matcher) Active() bool { return m.query != "" }

// In reports whether s contains the query.
func (m Matcher) In(s string) bool {
	if m.fold {
		s = strings.ToLower(s)
	}
	return m.Active() && strings.Contains(s, m.query)
}

// pieces are the matches in s. They do not overlap.
func (m Matcher) pieces(s string) (out []piece) {
	if m.Active() {
		for _, at := range m.found.FindAllStringIndex(s, -1) {
			out = append(out, piece{at[0], at[1]})
		}
	}
	return out
}

// Mark splits text into spans of the role, with the matches as theme.Match.
func (m Matcher) Mark(role theme.Role, text string) []Span {
	return marked(role, text, piece{0, len(text)}, m.pieces(text))
}

// marked are the spans of one piece of a text. The matches are those of the whole text,
// so that a match can continue after a line break.
func marked(role theme.Role, text string, part piece, hits []piece) []Span {
	var out []Span
	at := part.from
	for _, h := range hits {
		from, to := max(h.from, at), min(h.to, part.to)
		if from >= to {
			continue
		}
		if from > at {
			out = append(out, Span{role, text[at:from]})
		}
		out = append(out, Span{theme.Match, text[from:to]})
		at = to
	}
	if at < part.to {
		out = append(out, Span{role, text[at:part.to]})
	}
	return out
}

// MarkSpans returns a row of spans with the matches as theme.Match. A match can cross
// spans.
func (m Matcher) MarkSpans(row []Span) []Span {
	if !m.Active() {
		return row
	}
	row, text := tidied(row)
	hits := m.pieces(text)
	if len(hits) == 0 {
		return row
	}
	var out []Span
	at := 0
	for _, h := range hits {
		out = append(out, within(row, piece{at, h.from})...)
		out = append(out, Span{theme.Match, text[h.from:h.to]})
		at = h.to
	}
	return append(out, within(row, piece{at, len(text)})...)
}
