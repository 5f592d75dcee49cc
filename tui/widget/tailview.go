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

// maxTail is how many lines a TailView keeps.
const maxTail = 10_000

// tailLines are the newest lines of a tail that was read by cursor. Lines are numbered
// from 1; the number before the oldest one is a note that counts those that are gone.
type tailLines struct {
	lines []numbered
	first uint64 // the number of lines[0]
	next  tail.Cursor
	keep  int // the most lines that are kept
}

// numbered is a line and its place in the tail: for a note about lost lines, that of the
// first of them.
type numbered struct {
	tail.Line
	at tail.Cursor
}

// read adds the lines of a page.
func (t *tailLines) read(page tail.Page) {
	if page.Lost > 0 && len(t.lines) > 0 {
		t.lines = append(t.lines, numbered{tail.Line{Kind: tail.Note, Text: words.Grouped(page.Lost, "line") + " arrived too fast to keep"}, t.next})
	}
	for i, l := range page.Lines {
		t.lines = append(t.lines, numbered{l, page.Next - tail.Cursor(len(page.Lines)-i)})
	}
	t.next = page.Next
}

// trim forgets the oldest lines beyond those that are kept, at most as many as may go, and
// returns how many.
func (t *tailLines) trim(mayGo int) int {
	n := min(max(0, len(t.lines)-t.keep), mayGo)
	t.lines, t.first = t.lines[n:], t.first+uint64(n)
	return n
}

// gone is how many lines came before the oldest one that is kept.
func (t *tailLines) gone() uint64 {
	if len(t.lines) == 0 {
		return uint64(t.next)
	}
	return uint64(t.lines[0].at)
}

// Bounds are the numbers of the first line or the note above it, and after the last line.
func (t *tailLines) Bounds() (first, end uint64) {
	return t.first - min(1, t.gone()), t.first + uint64(len(t.lines))
}

// at is the line with a number.
func (t *tailLines) at(i uint64) tail.Line {
	if i < t.first {
		return tail.Line{Kind: tail.Note, Text: words.Grouped(t.gone(), "earlier line") + " no longer kept"}
	}
	return t.lines[i-t.first].Line
}

// Text is a line without its columns. That of the note is empty, so that no search finds it.
func (t *tailLines) Text(i uint64) string {
	if i < t.first {
		return ""
	}
	return t.at(i).Text
}

// Len is the number of lines kept.
func (t *tailLines) Len() int { return len(t.lines) }

// kindWidth fits the longest kind and a space.
const kindWidth = 7

// kinds are the roles of the column and the text of each kind.
var kinds = map[tail.Kind]struct{ word, text theme.Role }{
	tail.Text:   {theme.Strong, theme.Text},
	tail.Think:  {theme.Think, theme.Think},
	tail.Tool:   {theme.Tool, theme.Text},
	tail.Result: {theme.Dim, theme.Dim},
	tail.Ping:   {theme.Ping, theme.Text},
	tail.Refuse: {theme.Warn, theme.Text},
	tail.Report: {theme.Report, theme.Text},
	tail.Note:   {theme.Accent, theme.Dim},
	tail.Error:  {theme.Bad, theme.Text},
	tail.Debug:  {theme.Dim, theme.Dim},
	tail.Info:   {theme.Good, theme.Text},
	tail.Warn:   {theme.Warn, theme.Text},
}

// columns are how the times of lines are shown.
type columns struct {
	zone     *time.Location
	timeless bool // without the column of times
	// Twelve means that times of day have twelve hours.
	Twelve bool
}

// before are the columns before the text of a line: the pointer, its time, its kind. Time
// and kind are left out if they would take more than half of the line.
func (c *columns) before(look Look, l tail.Line) []Span {
	head := []Span{{theme.Accent, " "}}
	if look.Marked {
		head[0].Text = look.Theme.Glyph(theme.Pointer)
	}
	if look.W >= 30 && !c.timeless {
		layout, at := time.TimeOnly, ""
		if look.W < 44 {
			layout = "15:04"
		}
		if layout = words.ClockLayout(layout, c.Twelve); !l.At.IsZero() {
			at = l.At.In(c.zone).Format(layout)
		}
		cells := len(layout)
		if c.Twelve {
			cells++ // some hours have two digits
		}
		head = append(head, Span{theme.Dim, fmt.Sprintf("%*s ", cells, at)})
	}
	if look.W >= 2*(kindWidth+1) {
		head = append(head, Span{kinds[l.Kind].word, Fit(string(l.Kind), kindWidth)})
	}
	return head
}

// rows draws a line with its columns.
func (c *columns) rows(l tail.Line, look Look) [][]Span {
	front := c.before(look, l)
	if l.Kind == tail.Error && !look.Wrap {
		look.Wrap, l.Text = true, Cut(l.Text, maxError*(look.W-Width(front)-1))
	}
	return body(front, kinds[l.Kind].text, l.Text, look)
}

// maxError is about how many rows an error takes if lines are cut: its cause is at the end.
const maxError = 4

// maxShown is the most bytes of a line that are drawn.
const maxShown = 16 << 10

// body puts text after the columns of its first row: cut at the edge, or
// wrapped below its start, with a blank cell at the right.
func body(head []Span, role theme.Role, text string, look Look) [][]Span {
	if len(text) > maxShown {
		text = text[:maxShown]
	}
	text = Tidy(text)
	hits := look.Matcher.pieces(text)
	if !look.Wrap {
		mark, from := scrolled(text, look)
		return [][]Span{append(append(head, mark...), marked(role, text, piece{from, len(text)}, hits)...)}
	}
	indent := Width(head)
	var rows [][]Span
	for i, p := range breaks(text, max(1, look.W-indent-1)) {
		if i > 0 {
			head = []Span{{Text: Blank(indent)}}
		}
		rows = append(rows, append(head, marked(role, text, p, hits)...))
	}
	return rows
}

// scrolled is a text without its first cells. A mark shows that some are hidden, so
// that an empty pane never looks like an empty log.
func scrolled(text string, look Look) (mark []Span, from int) {
	if look.Left <= 0 || text == "" {
		return nil, 0
	}
	from, over := skip(text, look.Left+1)
	return []Span{{theme.Dim, textBefore + Blank(over)}}, from
}

// skip is the byte after the first n cells, and by how many cells the last
// character exceeds them.
func skip(s string, n int) (i, over int) {
	for n > 0 && i < len(s) {
		size, cells := character(s[i:])
		i += size
		n -= cells
	}
	return i, max(0, -n)
}

// text is a line with its columns, for the clipboard.
func (c *columns) text(l tail.Line) string {
	row := Fit(string(l.Kind), kindWidth) + l.Text + "\n"
	if l.At.IsZero() {
		return row
	}
	return l.At.In(c.zone).Format(words.ClockLayout(time.TimeOnly, c.Twelve)) + " " + row
}
