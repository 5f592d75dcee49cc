package widget

import (
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// Wrap breaks s into lines of at most w cells: at its own line breaks, between
// words, and inside a word only where the word alone is too wide. It gives at
// least one line, which may be empty.
func Wrap(s string, w int) []string {
	return WrapN(s, w, -1, "")
}

// WrapN is Wrap that stops after n lines (n below zero: never). Where text is
// left, the last line ends in the mark, which is one cell wide.
func WrapN(s string, w, n int, mark string) []string {
	w = max(1, w)
	var out []string
	for part := range strings.SplitSeq(s, "\n") {
		part = Tidy(part)
		for _, c := range breaks(part, w) {
			if n >= 0 && len(out) == n {
				if n > 0 {
					out[n-1] = elide(out[n-1], w, mark)
				}
				return out
			}
			out = append(out, part[c.from:c.to])
		}
	}
	return out
}

// elide ends a line with the mark, within w cells.
func elide(s string, w int, mark string) string {
	if Cells(s) < w {
		return s + mark
	}
	short, _ := cut(s+" ", w, mark)
	return short
}

// piece is a part of a text, in bytes.
type piece struct{ from, to int }

// breaks finds where tidy text of one line is broken into lines of w cells. The
// spaces at a break belong to neither line; those at the start of the text are
// kept, as they indent it. A character wider than w stands alone.
func breaks(s string, w int) []piece {
	if len(s) <= w { // cells are never more than bytes
		return []piece{{0, len(s)}}
	}
	var out []piece
	for at := 0; at < len(s) || at == 0; {
		end, next := lineEnd(s[at:], w)
		out = append(out, piece{at, at + end})
		at += next
	}
	return out
}

// lineEnd is where the first line of s ends and where the next one begins.
func lineEnd(s string, w int) (end, next int) {
	used, i := 0, 0
	word := false // a word has been seen, so that a space may end the line
	for i < len(s) {
		if s[i] == ' ' && word {
			after := i + 1
			for after < len(s) && s[after] == ' ' {
				after++
			}
			if after == len(s) || used+after-i >= w {
				return i, after
			}
			end, next = i, after
			used, i = used+after-i, after
			continue
		}
		n, cells := character(s[i:])
		if used+cells > w && i > 0 {
			if next > 0 {
				return end, next
			}
			i = inWord(s, i)
			return i, i
		}
		word = word || s[i] != ' '
		used += cells
		i += n
	}
	return len(s), len(s)
}

// inWord is where a word is broken that has to be broken at i or before: a path
// behind a slash of its second half, and nothing before a colon, which would leave
// the line number of a place alone.
func inWord(s string, i int) int {
	if slash := strings.LastIndexByte(s[:i], '/') + 1; slash > i/2 {
		return slash
	}
	if s[i] != ':' {
		return i
	}
	last := 0 // the beginning of the last character before the colon
	for at := 0; at < i; {
		n, _ := character(s[at:])
		last, at = at, at+n
	}
	if last == 0 {
		return i
	}
	return last
}

// character gives the bytes and cells of the first character of tidy text.
func character(s string) (n, cells int) {
	if s[0] < 0x80 && (len(s) == 1 || s[1] < 0x80) {
		return 1, 1
	}
	g := displaywidth.StringGraphemes(s)
	if !g.Next() {
		return len(s), 0
	}
	return len(g.Value()), g.Width()
}
