package widget

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/tail"
	"ollimbot/tui/theme"
)

// filter leaves lines of a TailView out. While it is on, the view's items are
// numbered by the lines that are shown: the kth line that was ever shown has
// the number k.
type filter struct {
	typing bool
	field  Input
	query  Matcher
	not    bool // lines that hold the query are left out, not kept
	level  int  // the index of levels below which lines are left out

	shown []uint64 // numbers of the lines that are shown, in order
	base  uint64   // lines that were shown and have gone: the number of shown[0]
	next  uint64   // the first line that was not looked at yet

	// anchor is where the reader stood when the filter was begun, so that each
	// letter of it looks from there.
	anchor anchor
}

// anchor is a place in the lines themselves, whatever is left out.
type anchor struct {
	line uint64 // the marked one
	y    int    // the screen line it is on
}

// levels are the choices of what a log shows: the kinds that stay away, and
// the words for the rest and for them.
var levels = []struct {
	word   string
	hidden string
	away   []tail.Kind
}{
	{textAllLevels, "", nil},
	{textFromInfo, textDebug, []tail.Kind{tail.Debug}},
	{textFromWarn, textDebugInfo, []tail.Kind{tail.Debug, tail.Info}},
	{textErrors, textNoErrors, []tail.Kind{tail.Debug, tail.Info, tail.Warn}},
}

// on reports that lines may be left out.
func (f *filter) on() bool { return f.query.Active() || f.level > 0 }

// open reports that the filter has a line of the screen.
func (f *filter) open() bool { return f.typing || f.query.Active() }

// keeps reports whether a line is shown: by its level, and by the words that it
// holds or the kind that it is.
func (f *filter) keeps(l tail.Line) bool {
	if slices.Contains(levels[f.level].away, l.Kind) {
		return false
	}
	if !f.query.Active() {
		return true
	}
	return f.not != (f.query.In(l.Text) || f.query.query == string(l.Kind))
}

// filterMore looks at the lines that have come since the last look, and
// forgets those that have gone.
func (v *TailView) filterMore() {
	f := &v.filter
	if !f.on() {
		return
	}
	if n, _ := slices.BinarySearch(f.shown, v.first); n > 0 {
		f.shown, f.base = f.shown[n:], f.base+uint64(n)
	}
	end := v.first + uint64(len(v.lines))
	for i := max(f.next, v.first); i < end; i++ {
		if f.keeps(v.lines[i-v.first]) {
			f.shown = append(f.shown, i)
		}
	}
	f.next = end
}

// line is the number of the line that item i is; behind the last item it is
// the end of the lines.
func (v *TailView) line(i uint64) uint64 {
	f := &v.filter
	if !f.on() {
		return i
	}
	if k := i - min(i, f.base); k < uint64(len(f.shown)) {
		return f.shown[k]
	}
	return v.first + uint64(len(v.lines))
}

// item is the item that a line is, or the next one that is shown.
func (v *TailView) item(line uint64) uint64 {
	f := &v.filter
	if !f.on() {
		return line
	}
	k, _ := slices.BinarySearch(f.shown, line)
	return f.base + uint64(k)
}

// here is where the reader stands.
func (v *TailView) here() anchor {
	a := anchor{line: v.line(v.mark)}
	if !v.paused {
		return a
	}
	if a.y = v.lineOf(v.mark); a.y < 0 {
		a.line, a.y = v.line(v.top.item), 0
	}
	return a
}

// sift changes what is shown and puts the reader back to where they were: the
// marked line keeps its place on the screen, or the one that stands nearest.
func (v *TailView) sift(at anchor, change func(f *filter)) {
	change(&v.filter)
	v.filter.shown, v.filter.base, v.filter.next = nil, 0, 0
	v.filterMore()
	first, end := v.Bounds()
	v.mark = max(first, min(v.item(at.line), max(end, 1)-1))
	v.find.origin = v.mark
	if v.paused {
		v.top = v.above(position{item: v.mark}, at.y)
	}
	v.Refind()
}

// toggleTimes shows or hides the column of times. Wrapped lines get another
// height by that; the marked one keeps its place.
func (v *TailView) toggleTimes() {
	at := v.here()
	v.timeless = !v.timeless
	if v.paused {
		v.top = v.above(position{item: v.item(at.line)}, at.y)
	}
}

// Filter opens the line on which it is written what the view shows.
func (v *TailView) Filter() {
	if !v.filter.open() {
		v.filter.anchor = v.here()
	}
	v.filter.typing = true
}

// endFilter shows every line again, but for the level. It reports whether there
// was a filter.
func (v *TailView) endFilter() bool {
	if !v.filter.open() {
		return false
	}
	v.sift(v.here(), func(f *filter) { *f = filter{level: f.level} })
	return true
}

// EndFind takes away the search, else the filter: one at a time. It reports
// whether there was one of them.
func (v *TailView) EndFind() bool { return v.Scroll.EndFind() || v.endFilter() }

// Finding reports whether the search or the filter takes every key now.
func (v *TailView) Finding() bool { return v.filter.typing || v.Scroll.Finding() }

// Filtered reports that the reader has chosen which lines they see.
func (v *TailView) Filtered() bool { return v.filter.open() }

// nextLevel leaves out more of a log, and at last nothing again.
func (v *TailView) nextLevel() (toast string) {
	v.sift(v.here(), func(f *filter) { f.level = (f.level + 1) % len(levels) })
	return levels[v.filter.level].word
}

// Type gives a key or a paste to the search or the filter.
func (v *TailView) Type(msg tea.Msg) {
	f := &v.filter
	if !f.typing {
		v.Scroll.Type(msg)
		return
	}
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch key.Keystroke() {
		case "esc":
			v.endFilter()
			return
		case "enter":
			if f.typing = false; !f.query.Active() {
				v.endFilter()
			}
			return
		case "up":
			v.up(1)
			f.anchor = v.here()
			return
		case "down":
			v.down(1)
			f.anchor = v.here()
			return
		}
	}
	before := f.field.Text()
	if f.field.Take(msg) && f.field.Text() != before {
		v.sift(f.anchor, func(f *filter) {
			words, not := strings.CutPrefix(f.field.Text(), "!")
			f.query, f.not = newMatcher(words), not
		})
	}
}

// Lines draws exactly h lines of exactly w cells; the filter, where there is
// one, has the last of them.
func (v *TailView) Lines(t *theme.Theme, w, h int, focused bool) []string {
	if !v.filter.open() || h < 2 {
		return v.hidden(v.Scroll.Lines(t, w, h, focused))
	}
	lines := v.hidden(v.Scroll.Lines(t, w, h-1, focused))
	return append(lines, v.filterBar(Brush{Theme: t}, max(0, w)))
}

// hidden puts in the place of the text, where every line is left out, why that is
// and what shows them: a view with nothing in it looks like a tail without lines.
func (v *TailView) hidden(lines []string) []string {
	f := &v.filter
	if !f.on() || len(f.shown) > 0 || len(v.lines) == 0 {
		return lines
	}
	words := ""
	if f.query.Active() {
		words = textWithout
		if f.not {
			words = textWith
		}
		words += Cut(Tidy(f.query.query), maxQuoted) + "”"
	}
	why := textHidden(len(v.lines), levels[f.level].hidden, words)
	empty := Brush{Theme: v.look.Theme}.Empty(v.w, v.h, why, textShowAgain(v.Names, f.query.Active(), (len(levels)-f.level)%len(levels)))
	return append(empty, lines[v.h:]...)
}

// maxQuoted is how many cells of a filter are named.
const maxQuoted = 40

// filterBar is the filter, and how many lines it shows.
func (v *TailView) filterBar(b Brush, w int) string {
	f := &v.filter
	right := []Span{{theme.Accent, textShown(len(f.shown), len(v.lines)) + " "}}
	if f.query.Active() && len(f.shown) == 0 {
		right[0] = Span{theme.Warn, textNoLine + " "}
	}
	if !f.query.Active() {
		right[0] = Span{theme.Dim, textFilterHelp + " "}
	}
	if w < 2*Width(right) {
		right = nil
	}
	left := []Span{{theme.Key, " &"}}
	if !f.typing {
		return b.Spread(w, append(left, Span{theme.Strong, f.field.Text()}), right)
	}
	room := w - 2
	if right != nil {
		room -= Width(right) + 1
	}
	if room < 1 {
		return b.Line(w, left...)
	}
	return b.Line(2, left...) + f.field.Line(b, room, true) + b.Line(w-2-room, append([]Span{{Text: " "}}, right...)...)
}

// Matcher finds a word in texts. A query without capital letters finds both
// cases. The zero Matcher finds nothing.
type Matcher struct {
	query string
	fold  bool
}

// newMatcher returns a Matcher for the query.
func newMatcher(query string) Matcher {
	fold := true
	for _, r := range query {
		fold = fold && !unicode.IsUpper(r)
	}
	return Matcher{query: query, fold: fold}
}

// Active reports whether there is something to find.
func (m Matcher) Active() bool { return m.query != "" }

// In reports whether s holds the query.
func (m Matcher) In(s string) bool {
	if m.query == "" {
		return false
	}
	from, _ := m.next(s, 0)
	return from >= 0
}

// pieces are the places of the query in s, which do not overlap.
func (m Matcher) pieces(s string) []piece {
	if m.query == "" {
		return nil
	}
	var out []piece
	for at := 0; ; {
		from, to := m.next(s, at)
		if from < 0 {
			return out
		}
		out = append(out, piece{from, to})
		at = to
	}
}

// next is the first place of the query in s from byte at on, or -1.
func (m Matcher) next(s string, at int) (from, to int) {
	if !m.fold {
		i := strings.Index(s[at:], m.query)
		if i < 0 {
			return -1, 0
		}
		return at + i, at + i + len(m.query)
	}
	first, _ := utf8.DecodeRuneInString(m.query)
	upper := unicode.ToUpper(first)
	for i := at; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		if r == first || r == upper || unicode.ToLower(r) == first {
			if k := foldPrefix(s[i:], m.query); k > 0 {
				return i, i + k
			}
		}
		i += n
	}
	return -1, 0
}

// foldPrefix is how many bytes of s the lower-case query covers, or 0.
func foldPrefix(s, query string) int {
	i := 0
	for _, q := range query {
		if i >= len(s) {
			return 0
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if unicode.ToLower(r) != q {
			return 0
		}
		i += n
	}
	return i
}

// Mark splits text into spans of the role, with what the Matcher finds painted
// as a match.
func (m Matcher) Mark(role theme.Role, text string) []Span {
	return marked(role, text, piece{0, len(text)}, m.pieces(text))
}

// marked are the spans of one part of a text whose matches are known, so that
// a match goes on behind a line break.
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
