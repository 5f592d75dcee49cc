package widget

import (
	"fmt"
	"time"

	"ollimbot/core/base/tail"
	"ollimbot/core/base/words"
	"ollimbot/tui/theme"
)

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
