package widget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/tui/action"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget/query"
)

// MaxCopy is the most bytes that go to the clipboard: terminals accept about
// 75 kB of base64 in one OSC 52 sequence.
const MaxCopy = 54 << 10

// TailView shows one tail: the log, or the output of a run. It reads by cursor and
// follows until the reader scrolls. Use NewTailView.
type TailView struct {
	Scroll
	tailLines
	columns
	id string
	// Now is the moment that "today" of a filter means.
	Now    time.Time
	total  uint64 // of lines, when the tail was last read
	loaded bool
	filter filter
	// from is where the reader was when the filter was opened, so that each
	// letter of it starts from there.
	from anchor
}

// NewTailView returns a view of the tail with the ID.
func NewTailView(id string, wrap bool) *TailView {
	v := &TailView{id: id, tailLines: tailLines{first: 1, keep: maxTail}}
	v.Source, v.Wrap, v.find.sign = v, wrap, "&"
	return v
}

// Sync reads the new lines. total is the number of lines ever written, as the
// snapshot has it: while it is unchanged, nothing is read. Times are shown in zone.
//
// A paused view never drops the lines on the screen: once it is full, new lines
// stay in the ring until the reader moves on.
func (v *TailView) Sync(read func(id string, from tail.Cursor) tail.Page, total uint64, zone *time.Location) {
	v.zone = cmp.Or(zone, time.UTC)
	if v.loaded && total == v.total && v.behind == 0 {
		return
	}
	if v.paused && len(v.lines) >= v.keep && v.top.item <= v.first { // only lines on the screen could go
		v.behind, v.total = total-min(total, uint64(v.next)), total
		return
	}
	v.read(read(v.id, v.next))
	v.total, v.loaded, v.behind = total, true, 0
	mayGo := len(v.lines)
	if v.paused {
		mayGo = int(v.top.item - min(v.top.item, v.first))
	}
	v.filter.out = v.filter.out[min(v.trim(mayGo), len(v.filter.out)):]
	v.sift()
	v.find.more(&v.viewport)
}

// Rows formats a line. With Bounds and Text, it makes the view its own Source.
func (v *TailView) Rows(i uint64, look Look) [][]Span { return v.rows(v.at(i), look) }

// sift applies the filter to the lines that were added.
func (v *TailView) sift() {
	v.filter.more(v.lines, v.Now.In(cmp.Or(v.zone, time.UTC)))
	v.hidden = nil
	if v.filter.on() {
		v.hidden = func(i uint64) bool { return i < v.first || v.filter.leavesOut(int(i-v.first)) }
	}
}

// refilter applies a filter that has changed to all lines. The marked line, or the nearest
// one that is shown, keeps its place on the screen.
func (v *TailView) refilter(at anchor) {
	v.filter.out = nil
	v.sift()
	v.put(at)
	first, end := v.bounds()
	v.mark = max(first, min(at.item, max(end, 1)-1))
	if v.mark < end && v.leftOut(v.mark) {
		v.mark = v.step(v.mark, 1)
	}
	v.find.origin = v.mark
	v.Refind()
}

// Filter opens the line on which the filter is written.
func (v *TailView) Filter() {
	if !v.filter.Shown() {
		v.from = v.here()
	}
	v.filter.Open()
}

// EndFind ends the search, or else the filter without its level. It reports whether
// there was one of them.
func (v *TailView) EndFind() bool {
	if v.Scroll.EndFind() {
		return true
	}
	at := v.here()
	was := v.filter.End()
	if was {
		v.refilter(at)
	}
	return was
}

// Finding reports whether the search or the filter takes every key now.
func (v *TailView) Finding() bool { return v.filter.Typing() || v.Scroll.Finding() }

// Filtered reports whether the reader has chosen which lines are shown.
func (v *TailView) Filtered() bool { return v.filter.Shown() }

// nextLevel leaves out more of a log, and after the last level nothing.
func (v *TailView) nextLevel() (toast string) {
	at := v.here()
	v.filter.level = (v.filter.level + 1) % len(levels)
	v.refilter(at)
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
		v.from = v.here()
	case changed && f.Typing():
		v.refilter(v.from)
	case changed: // esc has removed it
		v.refilter(at)
	}
}

// Lines draws exactly h lines of exactly w cells. The filter, if there is one, is the
// last of them.
func (v *TailView) Lines(t *theme.Theme, w, h int, focused bool) []string {
	if !v.filter.Shown() || h < 2 {
		return v.explained(v.Scroll.Lines(t, w, h, focused))
	}
	lines := v.explained(v.Scroll.Lines(t, w, h-1, focused))
	found := fmt.Sprintf("%s of %s", words.Thousands(uint64(v.filter.shown(len(v.lines)))), words.Grouped(uint64(len(v.lines)), "line"))
	return append(lines, v.filter.Line(Brush{Theme: t}, max(0, w), found, v.states))
}

// states are the kinds of the lines.
func (v *TailView) states() (out []string) {
	for _, l := range v.lines {
		if !slices.Contains(out, string(l.Kind)) {
			out = append(out, string(l.Kind))
		}
	}
	return out
}

// explained says how to show lines if the filter leaves out all of them: the view
// would look like an empty tail.
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

// copyLine is the marked line, or the newest one while following.
func (v *TailView) copyLine() Reply {
	l, ok := v.Last()
	if !ok {
		return Reply{Toast: textNothing}
	}
	if first, end := v.bounds(); v.paused && v.mark >= first && v.mark < end {
		l = v.at(max(v.mark, v.first))
	}
	return Reply{l.Text, "copied the line"}
}

// copyAll is every line that is shown, with its columns: the newest ones, as far as they
// fit into a clipboard.
func (v *TailView) copyAll() Reply {
	var rows []string
	size, shown := 0, 0
	for i, l := range slices.Backward(v.lines) {
		if v.filter.leavesOut(i) {
			continue
		}
		row := v.text(l.Line)
		if size += len(row); size <= MaxCopy {
			rows = append(rows, row)
		}
		shown++
	}
	if shown == 0 {
		return Reply{Toast: textNothing}
	}
	slices.Reverse(rows)
	return Reply{strings.Join(rows, ""), textCopied(len(rows), shown)}
}

// State is what is left out, and whether the view follows. What is left out is first,
// because a narrow title shows no more than that.
func (v *TailView) State() string {
	if out := v.LeftOut(); out != "" {
		return out + " · " + v.Scroll.State()
	}
	return v.Scroll.State()
}

// Last is the newest line that is shown, if there is one.
func (v *TailView) Last() (tail.Line, bool) {
	first, end := v.bounds()
	if first == end {
		return tail.Line{}, false
	}
	return v.at(end - 1), true
}

// LeftOut is a word or two about what is not shown; empty if everything is.
func (v *TailView) LeftOut() string { return v.filter.summary() }

// Do carries out an action by its verb, copying too.
func (v *TailView) Do(verb string) (Reply, bool) {
	switch verb {
	case "copy-line":
		return v.copyLine(), true
	case "copy-all":
		return v.copyAll(), true
	case "filter":
		v.Filter()
		return Reply{}, true
	case "time": // changes the height of wrapped lines
		at := v.here()
		v.timeless = !v.timeless
		v.put(at)
		return Reply{}, true
	case "level":
		return Reply{Toast: v.nextLevel()}, true
	}
	return v.Scroll.Do(verb)
}

// Hint is the help for the keys while a search or a filter is written.
func (v *TailView) Hint() []key.Binding {
	if v.filter.Typing() {
		return v.filter.Hint()
	}
	return v.Scroll.Hint()
}

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
	{"all levels", nil},
	{"debug hidden", []tail.Kind{tail.Debug}},
	{textFromWarn, []tail.Kind{tail.Debug, tail.Info}},
	{"errors only", []tail.Kind{tail.Debug, tail.Info, tail.Warn}},
}

// on reports whether lines may be left out.
func (f *filter) on() bool { return f.On() || f.level > 0 }

// keeps reports whether a line is shown, by its level, its text and its kind.
func (f *filter) keeps(l tail.Line, now time.Time) bool {
	return !slices.Contains(levels[f.level].away, l.Kind) &&
		f.Keeps(query.Facts{Text: l.Text, Is: []string{string(l.Kind)}, At: l.At.In(now.Location()), Now: now})
}

// more looks at the lines that were added since the last look.
func (f *filter) more(lines []numbered, now time.Time) {
	if !f.on() {
		f.out = nil
		return
	}
	for _, l := range lines[len(f.out):] {
		f.out = append(f.out, !f.keeps(l.Line, now))
	}
}

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
		out = append(out, "filtered")
	}
	return strings.Join(out, " · ")
}
