package visible

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// textLeft stands between the head and the tail of an excerpt.
const textLeft = "%d characters are not shown here"

// Excerpt returns the head and the tail of a picture, in at most n UTF-16 units, with a mark between them
// that says how much is missing. n must leave room for the mark, about 50. cut is false if the whole
// picture fits.
func Excerpt(picture string, n int) (short string, cut bool) {
	all := units(picture)
	if all <= n {
		return picture, false
	}
	n -= units(Note(fmt.Sprintf(textLeft, all)))
	head := beforeMark(picture[:first(picture, n-n/3)])
	tail := afterMark(picture[first(picture, all-n/3+1):])
	left := utf8.RuneCountInString(picture) - utf8.RuneCountInString(head) - utf8.RuneCountInString(tail)
	return head + Note(fmt.Sprintf(textLeft, left)) + tail, true
}

// Fenced returns a picture for a block between lines of three backticks: three in it would end the block,
// so the third is a mark.
func Fenced(picture string) string {
	return strings.ReplaceAll(picture, "```", "``"+Open+"U+0060"+Close)
}

// units returns the length of a text in UTF-16 units.
func units(s string) (n int) {
	for _, r := range s {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

// first returns the length in bytes of the characters that begin within the first n units and fit.
func first(s string, n int) int {
	for at, r := range s {
		if n -= units(string(r)); n < 0 {
			return at
		}
	}
	return len(s)
}

// beforeMark returns the beginning of a picture without a mark that was cut.
func beforeMark(s string) string {
	if at := strings.LastIndex(s, Open); at > strings.LastIndex(s, Close) {
		return s[:at]
	}
	return s
}

// afterMark returns the end of a picture without a mark that was cut.
func afterMark(s string) string {
	end, begin := strings.Index(s, Close), strings.Index(s, Open)
	if end >= 0 && (begin < 0 || end < begin) {
		return s[end+len(Close):]
	}
	return s
}
