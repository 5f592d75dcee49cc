package render

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// marks are the styles that a cut can interrupt, and spoilers. A longer mark is listed before its prefix.
var marks = []string{"**", "__", "~~", "||", "*", "_"}

const (
	markBytes = "*_~|"
	// mostSpan limits how far before a cut inline code, a link or an address may begin to be kept whole, in bytes.
	mostSpan = 500
	// lookBack limits how far before a cut a style may begin, in bytes.
	lookBack = 8 << 10
)

// outside moves a cut to the beginning of the inline code, the link or the address that it would split. Like styled, it
// uses only the text before the cut and the next byte.
func outside(text string, from, cut int) int {
	if cut >= len(text) {
		return cut
	}
	line := max(from, cut-lookBack, strings.LastIndexByte(text[:cut], '\n')+1)
	start := cut
	if i := span(text, line, cut); i >= 0 {
		start = i
	} else if word := strings.LastIndexAny(text[line:cut], " \t") + 1 + line; text[cut] != ' ' && text[cut] != '\n' && strings.Contains(text[word:cut], "://") {
		start = word
	}
	if cut-start > mostSpan {
		return cut
	}
	return start
}

// span returns where inline code or a link begins that is not over at the end of a line's beginning, or -1.
func span(text string, from, end int) int {
	for i := from; i < end; i++ {
		switch text[i] {
		case '\\':
			i++
		case '`':
			n := ticks(text[:end], i) - i
			k := strings.Index(text[i+n:end], text[i:i+n])
			if k < 0 {
				return i
			}
			i += n + k + n - 1
		case '[':
			k := strings.IndexByte(text[i:end], ']')
			if k < 0 {
				return i
			}
			if next := i + k + 1; next <= end && text[next] == '(' {
				k := strings.IndexByte(text[next:end], ')')
				if k < 0 {
					return i
				}
				i = next + k
			}
		}
	}
	return -1
}

// styled moves a cut of a paragraph out of a mark, and returns the marks open there, in the order in which they
// opened. It uses only the text before the cut and the next few bytes, so that a growing text is always cut in the
// same way.
func styled(text string, from, cut int) (int, []string) {
	if cut < len(text) && strings.IndexByte(markBytes, text[cut-1]) >= 0 {
		run := len(strings.TrimRight(text[:cut], markBytes))
		_, size := utf8.DecodeLastRuneInString(text[:run])
		if moved := betweenCharacters(text, run-size); moved > from {
			cut = moved
		}
	}
	if startsBlock(text[cut:]) && strings.HasSuffix(text[:cut], "\n") {
		return cut, nil
	}
	from = max(from, cut-lookBack)
	return cut, open(text, from, cut)
}

// startsBlock reports whether a style cannot extend across the start of this line.
func startsBlock(line string) bool {
	for _, begin := range []string{"\n", "- ", "* ", "#", "> ", "-# ", fence} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}

// open returns the marks of a text that are open at its end. Code is skipped.
func open(text string, from, end int) (stack []string) {
	for i := from; i < end; {
		switch {
		case text[i] == '\n' && startsBlock(text[i+1:]):
			stack = nil
			i++
		case text[i] == '\\':
			i += 2
		case text[i] == '`':
			n := ticks(text, i) - i
			if k := strings.Index(text[i+n:end], text[i:i+n]); k >= 0 {
				i += n + k
			}
			i += n
		default:
			var size int
			stack, size = mark(stack, text, i)
			i += size
		}
	}
	return stack
}

// mark reads a mark that closes the last open one, a mark that opens, or a byte of text.
func mark(stack []string, text string, i int) ([]string, int) {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	if n := len(stack); n > 0 && strings.HasPrefix(text[i:], stack[n-1]) && !unicode.IsSpace(before) {
		return stack[:n-1], len(stack[n-1])
	}
	for _, m := range marks {
		if !strings.HasPrefix(text[i:], m) {
			continue
		}
		after, _ := utf8.DecodeRuneInString(text[i+len(m):])
		inWord := i > 0 && (unicode.IsLetter(before) || unicode.IsDigit(before))
		if i+len(m) < len(text) && !unicode.IsSpace(after) && !inWord {
			stack = append(stack, m)
		}
		return stack, len(m)
	}
	return stack, 1
}

// reversed joins the marks in the order in which they close.
func reversed(stack []string) string {
	var b strings.Builder
	for i := len(stack) - 1; i >= 0; i-- {
		b.WriteString(stack[i])
	}
	return b.String()
}
