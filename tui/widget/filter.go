package widget

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/tail"
	"ollimbot/tui/theme"
)

// filter leaves lines of a TailView out.
type filter struct {
	prompt
	query Matcher
	not   bool // lines that hold the query are left out, not kept
	level int  // the index of levels below which lines are left out
	// from is where the reader stood when the filter was begun, so that each
	// letter of it looks from there.
	from anchor
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

// filterMore looks at the lines that have come since the last look.
func (v *TailView) filterMore() {
	v.hidden = nil
	if !v.filter.on() {
		v.out = nil
		return
	}
	for _, l := range v.lines[len(v.out):] {
		v.out = append(v.out, !v.filter.keeps(l))
	}
	v.hidden = func(i uint64) bool { return v.out[i-v.first] }
}

// sift changes what is shown and puts the reader back to where they were: the
// marked line keeps its place on the screen, or the one that stands nearest.
func (v *TailView) sift(at anchor, change func(f *filter)) {
	change(&v.filter)
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
	if !v.filter.open() {
		v.filter.from = v.here()
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
	switch changed, verb := f.take(msg); {
	case verb == "esc", verb == "enter" && !f.query.Active():
		v.endFilter()
	case verb != "enter" && verb != "":
		v.Do(verb)
		f.from = v.here()
	case changed:
		v.sift(f.from, func(f *filter) {
			words, not := strings.CutPrefix(f.field.Text(), "!")
			f.query, f.not = newMatcher(words), not
		})
	}
}

// Lines draws exactly h lines of exactly w cells; the filter, where there is
// one, has the last of them.
func (v *TailView) Lines(t *theme.Theme, w, h int, focused bool) []string {
	if !v.filter.open() || h < 2 {
		return v.explained(v.Scroll.Lines(t, w, h, focused))
	}
	lines := v.explained(v.Scroll.Lines(t, w, h-1, focused))
	return append(lines, v.filterBar(Brush{Theme: t}, max(0, w)))
}

// explained puts in the place of the text, where every line is left out, why that is
// and what shows them: a view with nothing in it looks like a tail without lines.
func (v *TailView) explained(lines []string) []string {
	f := &v.filter
	if first, end := v.bounds(); first < end || len(v.lines) == 0 {
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
	shown := 0
	for _, out := range v.out {
		if !out {
			shown++
		}
	}
	right := Span{theme.Accent, textShown(shown, len(v.lines)) + " "}
	switch {
	case !v.filter.query.Active():
		right = Span{theme.Dim, textFilterHelp + " "}
	case shown == 0:
		right = Span{theme.Warn, textNoLine + " "}
	}
	return v.filter.line(b, w, " &", right)
}
