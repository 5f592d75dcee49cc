package widget

import (
	"slices"
	"strings"

	"ollimbot/core/base/tail"
)

// filter leaves out lines of a tail: by words, and below a level.
type filter struct {
	Query
	level int    // the index of levels below which lines are left out
	out   []bool // which lines are left out; empty if all are shown
}

// levels are what a log can show: the kinds that are left out, and the name of that.
var levels = []struct {
	word string
	away []tail.Kind
}{
	{textAllLevels, nil},
	{textFromInfo, []tail.Kind{tail.Debug}},
	{textFromWarn, []tail.Kind{tail.Debug, tail.Info}},
	{textErrors, []tail.Kind{tail.Debug, tail.Info, tail.Warn}},
}

// on reports whether lines may be left out.
func (f *filter) on() bool { return f.On() || f.level > 0 }

// keeps reports whether a line is shown, by its level, its text and its kind.
func (f *filter) keeps(l tail.Line) bool {
	return !slices.Contains(levels[f.level].away, l.Kind) && f.Keeps(l.Text, string(l.Kind))
}

// more looks at the lines that were added since the last look.
func (f *filter) more(lines []numbered) {
	if !f.on() {
		f.out = nil
		return
	}
	for _, l := range lines[len(f.out):] {
		f.out = append(f.out, !f.keeps(l.Line))
	}
}

// forget drops the first n lines.
func (f *filter) forget(n int) { f.out = f.out[min(n, len(f.out)):] }

// leavesOut reports whether a line is left out, by its index.
func (f *filter) leavesOut(i int) bool { return len(f.out) > 0 && f.out[i] }

// shown is how many of n lines are shown.
func (f *filter) shown(n int) int {
	for _, out := range f.out {
		if out {
			n--
		}
	}
	return n
}

// summary is a word or two about what is left out; empty if nothing is.
func (f *filter) summary() string {
	var out []string
	if f.level > 0 {
		out = append(out, levels[f.level].word)
	}
	if f.On() {
		out = append(out, textFiltered)
	}
	return strings.Join(out, " · ")
}
