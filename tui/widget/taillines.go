package widget

import (
	"ollimbot/core/base/tail"
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
		t.lines = append(t.lines, numbered{tail.Line{Kind: tail.Note, Text: textGap(page.Lost)}, t.next})
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
		return tail.Line{Kind: tail.Note, Text: textGone(t.gone())}
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
