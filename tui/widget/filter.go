package widget

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/tui/action"
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

// filter leaves lines of a TailView out: by words, and below a level.
type filter struct {
	Query
	level int // the index of levels below which lines are left out
	// from is where the reader stood when the filter was begun, so that each
	// letter of it looks from there.
	from anchor
}

// levels are the choices of what a log shows: the kinds that stay away, and
// the words for the rest.
var levels = []struct {
	word string
	away []tail.Kind
}{
	{textAllLevels, nil},
	{textFromInfo, []tail.Kind{tail.Debug}},
	{textFromWarn, []tail.Kind{tail.Debug, tail.Info}},
	{textErrors, []tail.Kind{tail.Debug, tail.Info, tail.Warn}},
}

// on reports that lines may be left out.
func (f *filter) on() bool { return f.On() || f.level > 0 }

// keeps reports whether a line is shown: by its level, and by the words that it
// holds or the kind that it is.
func (f *filter) keeps(l tail.Line) bool {
	return !slices.Contains(levels[f.level].away, l.Kind) && f.Keeps(l.Text, string(l.Kind))
}

// filterMore looks at the lines that have come since the last look.
func (v *TailView) filterMore() {
	v.hidden = nil
	if !v.filter.on() {
		v.out = nil
		return
	}
	for _, l := range v.lines[len(v.out):] {
		v.out = append(v.out, !v.filter.keeps(l.Line))
	}
	v.hidden = func(i uint64) bool { return i < v.first || v.out[i-v.first] }
}

// sift looks at every line anew after the filter has changed, and puts the reader back
// to where they were: the marked line keeps its place on the screen, or the one that
// stands nearest.
func (v *TailView) sift(at anchor) {
	v.out = nil
	v.filterMore()
	v.put(at)
	first, end := v.bounds()
	v.mark = max(first, min(at.item, max(end, 1)-1))
	if v.mark < end && v.leftOut(v.mark) {
		v.mark = v.step(v.mark, 1)
	}
	v.find.origin = v.mark
	v.Refind()
}

// Filter opens the line on which it is written what the view shows.
func (v *TailView) Filter() {
	if !v.filter.Shown() {
		v.filter.from = v.here()
	}
	v.filter.Open()
}

// EndFind takes away the search, else the filter, but for the level: one at a time. It
// reports whether there was one of them.
func (v *TailView) EndFind() bool {
	if v.Scroll.EndFind() {
		return true
	}
	at := v.here()
	was := v.filter.End()
	if was {
		v.sift(at)
	}
	return was
}

// Finding reports whether the search or the filter takes every key now.
func (v *TailView) Finding() bool { return v.filter.Typing() || v.Scroll.Finding() }

// Filtered reports that the reader has chosen which lines they see.
func (v *TailView) Filtered() bool { return v.filter.Shown() }

// nextLevel leaves out more of a log, and at last nothing again.
func (v *TailView) nextLevel() (toast string) {
	at := v.here()
	v.filter.level = (v.filter.level + 1) % len(levels)
	v.sift(at)
	return levels[v.filter.level].word
}

// Type gives a key or a paste to the search or the filter.
func (v *TailView) Type(msg tea.Msg) {
	f, at := &v.filter, v.here()
	if !f.Typing() {
		v.Scroll.Type(msg)
		return
	}
	switch changed, verb := f.Type(msg); {
	case verb != "":
		v.Do(verb)
		f.from = v.here()
	case changed && f.Typing():
		v.sift(f.from)
	case changed: // it has gone
		v.sift(at)
	}
}

// Lines draws exactly h lines of exactly w cells; the filter, where there is
// one, has the last of them.
func (v *TailView) Lines(t *theme.Theme, w, h int, focused bool) []string {
	if !v.filter.Shown() || h < 2 {
		return v.explained(v.Scroll.Lines(t, w, h, focused))
	}
	shown := 0
	for _, out := range v.out {
		if !out {
			shown++
		}
	}
	lines := v.explained(v.Scroll.Lines(t, w, h-1, focused))
	return append(lines, v.filter.Line(Brush{Theme: t}, max(0, w), "&", textShown(shown, len(v.lines))))
}

// explained puts in the place of the text, where every line is left out, what shows
// them: a view with nothing in it looks like a tail without lines.
func (v *TailView) explained(lines []string) []string {
	if first, end := v.bounds(); first < end || len(v.lines) == 0 {
		return lines
	}
	sentences := []string{words.Grouped(uint64(len(v.lines)), "line") + " hidden."}
	if v.filter.On() {
		sentences = append(sentences, textEndsFilter)
	}
	if v.filter.level > 0 {
		sentences = append(sentences, v.Names.Opening(action.TailLevel)+textNextLevel)
	}
	return append(Brush{Theme: v.look.Theme}.Empty(v.w, v.h, sentences...), lines[v.h:]...)
}
