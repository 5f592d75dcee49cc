package widget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"

	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/tui/theme"
)

// maxTail is how many lines a TailView keeps.
const maxTail = 10_000

// maxCopy is the most bytes that go to the clipboard: terminals take about
// 75 kB of base64 in one OSC 52 sequence.
const maxCopy = 54 << 10

// TailView shows one tail: the log, or what a run says. It reads by cursor and
// follows until its reader scrolls. Use NewTailView.
type TailView struct {
	Scroll
	id    string
	zone  *time.Location
	next  tail.Cursor
	total uint64 // as it was when the tail was last read
	read  bool
	lines []numbered
	first uint64 // the number of lines[0]; the one before is for the count of those that are gone
	keep  int    // the most lines that are kept

	filter   filter
	out      []bool // the lines that the filter leaves out; empty without one
	timeless bool   // without the column of times
	// Twelve says that times of day have twelve hours.
	Twelve bool
}

// numbered is a line and its place in the tail: of a note about lines that came too
// fast that of the first of them.
type numbered struct {
	tail.Line
	at tail.Cursor
}

// NewTailView returns a view of the tail with the id.
func NewTailView(id string, wrap bool) *TailView {
	v := &TailView{id: id, first: 1, keep: maxTail}
	v.Source, v.Wrap = v, wrap
	return v
}

// Sync reads what has come since the last time. total is the number of lines
// ever written, as the snapshot has it: while it stays the same, nothing is
// read. Times are shown in zone.
//
// A paused view never gives up what its reader looks at: once it is full, the
// rest waits in the ring until the reader moves on.
func (v *TailView) Sync(read func(id string, from tail.Cursor) tail.Page, total uint64, zone *time.Location) {
	v.zone = cmp.Or(zone, time.UTC)
	if v.read && total == v.total && v.behind == 0 {
		return
	}
	// Nothing more can be read without taking the reader's lines.
	if v.paused && len(v.lines) >= v.keep && v.top.item <= v.first {
		v.behind, v.total = total-min(total, uint64(v.next)), total
		return
	}
	page := read(v.id, v.next)
	if page.Lost > 0 && len(v.lines) > 0 {
		v.lines = append(v.lines, numbered{tail.Line{Kind: tail.Note, Text: textGap(page.Lost)}, v.next})
	}
	for i, l := range page.Lines {
		v.lines = append(v.lines, numbered{l, page.Next - tail.Cursor(len(page.Lines)-i)})
	}
	v.next, v.total, v.read, v.behind = page.Next, total, true, 0
	v.trim()
	v.filterMore()
	v.findMore()
}

// trim forgets the oldest lines beyond those that are kept, but none that a
// paused reader has on the screen.
func (v *TailView) trim() {
	n := max(0, len(v.lines)-v.keep)
	if v.paused {
		n = min(n, int(v.top.item-min(v.top.item, v.first)))
	}
	v.lines, v.first = v.lines[n:], v.first+uint64(n)
	v.out = v.out[min(n, len(v.out)):]
}

// gone is how many lines came before the oldest one that is kept.
func (v *TailView) gone() uint64 {
	if len(v.lines) == 0 {
		return uint64(v.next)
	}
	return uint64(v.lines[0].at)
}

// Bounds are the numbers of the lines that are kept, and of the note above them that
// counts those that are not: with Text and Rows they make the view a Source.
func (v *TailView) Bounds() (first, end uint64) {
	return v.first - min(1, v.gone()), v.first + uint64(len(v.lines))
}

// at is the line with a number.
func (v *TailView) at(i uint64) tail.Line {
	if i < v.first {
		return tail.Line{Kind: tail.Note, Text: textGone(v.gone())}
	}
	return v.lines[i-v.first].Line
}

// Text is a line without its columns; of the note none, so that it is never found.
func (v *TailView) Text(i uint64) string {
	if i < v.first {
		return ""
	}
	return v.at(i).Text
}

// Len is the number of lines kept.
func (v *TailView) Len() int { return len(v.lines) }

// copyLine is the marked line, or the newest one while following.
func (v *TailView) copyLine() Reply {
	l, ok := v.Last()
	if !ok {
		return Reply{Toast: textNothing}
	}
	if first, end := v.bounds(); v.paused && v.mark >= first && v.mark < end {
		l = v.at(max(v.mark, v.first))
	}
	return Reply{l.Text, textOneCopied}
}

// copyAll is every line that is shown with its columns, as far as a clipboard
// takes them: the newest ones.
func (v *TailView) copyAll() Reply {
	var rows []string
	size, shown := 0, 0
	for i := range v.lines {
		i = len(v.lines) - 1 - i
		if l := v.lines[i]; len(v.out) == 0 || !v.out[i] {
			row := Fit(string(l.Kind), kindWidth) + l.Text + "\n"
			if !l.At.IsZero() {
				row = l.At.In(v.zone).Format(words.ClockLayout(time.TimeOnly, v.Twelve)) + " " + row
			}
			if size += len(row); size <= maxCopy {
				rows = append(rows, row)
			}
			shown++
		}
	}
	if shown == 0 {
		return Reply{Toast: textNothing}
	}
	slices.Reverse(rows)
	return Reply{strings.Join(rows, ""), textCopied(len(rows), shown)}
}

// kindWidth fits the longest kind and a space.
const kindWidth = 7

// kinds says how the lines of a kind look: its column and its text.
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

// front is what stands before the text of a line: the pointer, its time, its kind. The
// time and the kind go where they would take more than half of the line.
func (v *TailView) front(look Look, l tail.Line) []Span {
	head := []Span{{theme.Accent, " "}}
	if look.Marked {
		head[0].Text = look.Theme.Glyph(theme.Pointer)
	}
	if look.W >= 30 && !v.timeless {
		layout, at := time.TimeOnly, ""
		if look.W < 44 {
			layout = "15:04"
		}
		if layout = words.ClockLayout(layout, v.Twelve); !l.At.IsZero() {
			at = l.At.In(v.zone).Format(layout)
		}
		cells := len(layout)
		if v.Twelve {
			cells++ // some hours have two digits
		}
		head = append(head, Span{theme.Dim, fmt.Sprintf("%*s ", cells, at)})
	}
	if look.W >= 2*(kindWidth+1) {
		head = append(head, Span{kinds[l.Kind].word, Fit(string(l.Kind), kindWidth)})
	}
	return head
}

// Rows draws a line with its time and its kind.
func (v *TailView) Rows(i uint64, look Look) [][]Span {
	l := v.at(i)
	front := v.front(look, l)
	if l.Kind == tail.Error && !look.Wrap {
		look.Wrap, l.Text = true, Cut(l.Text, maxError*(look.W-Width(front)-1))
	}
	return body(front, kinds[l.Kind].text, l.Text, look)
}

// maxError is about how many rows an error takes where lines are cut: what went wrong
// stands first, and why at the end.
const maxError = 4

// maxShown is the most bytes of a line that are drawn.
const maxShown = 16 << 10

// body puts text behind the columns of its first row: cut at the edge, or
// wrapped under its own beginning, with a cell of air at the right.
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

// State says in a few words what is left out and where the reader stands: what
// is left out first, as a narrow title shows no more than that.
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

// LeftOut says in a word or two what is not shown; empty when all is.
func (v *TailView) LeftOut() string {
	var out []string
	if v.filter.level > 0 {
		out = append(out, levels[v.filter.level].word)
	}
	if v.filter.On() {
		out = append(out, textFiltered)
	}
	return strings.Join(out, " · ")
}

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
	case "time": // of wrapped lines the height changes
		at := v.here()
		v.timeless = !v.timeless
		v.put(at)
		return Reply{}, true
	case "level":
		return Reply{Toast: v.nextLevel()}, true
	}
	return v.Scroll.Do(verb)
}

// Hint is what the keys do while a search or a filter is being written.
func (v *TailView) Hint() []key.Binding {
	if v.filter.Typing() {
		return v.filter.Hint()
	}
	return v.Scroll.Hint()
}
