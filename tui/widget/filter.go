package widget

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core/tail"
	"ollimbot/core/words"
	"ollimbot/tui/action"
	"ollimbot/tui/theme"
)

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
