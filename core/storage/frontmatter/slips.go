package frontmatter

import (
	"fmt"
	"strings"
)

// The YAML library reports where it gave up, and reads some mistakes as values. This file finds
// the common mistakes where they are, with the cure. It looks at keys in the first column, at their
// values and at the items of their lists, and leaves the rest to the library.

// below is what the lines below a key may be.
type below int

const (
	whatever below = iota // a block of text, a map, the rest of a value
	items                 // items of a list, or a map
	words                 // more words of the text above
	nothing               // the value above is complete
)

// line is a line of the file. Offsets are in bytes.
type line struct {
	text string
	no   int
}

func (l line) slip(at int, format string, args ...any) error {
	return &SyntaxError{Line: l.no, Column: column(l.text, at), Message: fmt.Sprintf(format, args...)}
}

// slip returns the first mistake that it knows.
func slip(f fences) error {
	may, dash := whatever, -1 // dash is the offset of the items of a list
	var open error            // of a quote or bracket that is not closed on its line, and may be on indented ones
	for i, text := range f.lines {
		l, start := line{text, f.firstLine + i}, strings.TrimLeft(text, " ")
		at := len(text) - len(start)
		if blank(start) || start[0] == '#' {
			continue
		}
		indented := at > 0 || start[0] == '\t'
		if open != nil && !indented {
			return open
		}
		open = nil
		if strings.Contains(text, "\t") {
			return nil // YAML readers treat tabs differently
		}
		var err error
		switch item, dashed := strings.CutPrefix(start, "- "); {
		case dashed && may == items && (dash < 0 || dash == at):
			dash = at
			_, _, err = l.value(len(text)-len(strings.TrimLeft(item, " ")), "")
		case indented:
			if n := keyLen(start); may == nothing || may == words && isColon(start, n) {
				err = l.slip(at, msgIndented)
			}
			may = whatever
		default:
			dash = -1
			may, open, err = l.field()
		}
		if err != nil {
			return err
		}
	}
	return open
}

// keyLen returns the length of the plain key at the start of a text.
func keyLen(text string) int {
	for i := 0; i < len(text); i++ {
		c := text[i]
		if !isKeyByte(c) && (i == 0 || c != '-') || i == 0 && c >= '0' && c <= '9' {
			return i
		}
	}
	return len(text)
}

// isColon reports whether a colon that ends a key is at the offset, which is not 0.
func isColon(text string, at int) bool {
	return at > 0 && at < len(text) && text[at] == ':' && (at+1 == len(text) || text[at+1] == ' ')
}

// field checks a line that begins with a key.
func (l line) field() (may below, open, err error) {
	n := keyLen(l.text)
	switch {
	case isColon(l.text, n):
	case n == 0 || strings.Contains(l.text, ": ") || strings.HasSuffix(l.text, ":"):
		return whatever, nil, nil
	case n < len(l.text) && l.text[n] == ':':
		return whatever, nil, l.slip(n, msgNoSpace, l.text[:n])
	default:
		return whatever, nil, l.slip(0, msgNoColon)
	}
	rest := strings.TrimLeft(l.text[n+1:], " ")
	if rest == "" || rest[0] == '#' {
		return items, nil, nil
	}
	return l.value(len(l.text)-len(rest), l.text[:n])
}

// value checks the value at an offset. key is empty for an item, which may be a map or a list.
func (l line) value(at int, key string) (may below, open, err error) {
	text := l.text[at:]
	if text == "" {
		return whatever, nil, nil
	}
	switch c := text[0]; c {
	case '"', '\'':
		end := quoteEnd(l.text, at)
		if end < 0 && key != "" {
			return whatever, l.slip(at, msgQuoteOpen, string(c)), nil
		}
		if end < 0 {
			return whatever, nil, nil
		}
		tail := strings.TrimLeft(l.text[end:], " ")
		if tail != "" && tail[0] != '#' && (key != "" || tail[0] != ':') {
			return whatever, nil, l.slip(len(l.text)-len(tail), msgAfterQuote)
		}
		return nothing, nil, nil
	case '[':
		if key == "" || strings.ContainsAny(text[1:], "[{") {
			return whatever, nil, nil
		}
		if flowEnd(l.text, at) < 0 {
			return whatever, l.slip(at, msgListOpen), nil
		}
		return words, nil, nil
	case '*', '%', '@', '`', ',', ']', '}', '!':
		if strings.HasPrefix(text, "!!") {
			return whatever, nil, nil
		}
		return whatever, nil, l.slip(at, msgFirstChar, string(c), string(c))
	case '&':
		return whatever, nil, l.slip(at, msgAlias)
	case '|', '>', '{', '#':
		return whatever, nil, nil
	case '-', '?', ':':
		if len(text) > 1 && text[1] != ' ' {
			break
		}
		if c == '-' && key != "" {
			return whatever, nil, l.slip(at, msgInlineDash)
		}
		return whatever, nil, nil
	}
	if key == "" {
		return whatever, nil, nil
	}
	text, _, _ = strings.Cut(text, " #")
	text = strings.TrimRight(text, " ")
	i := strings.Index(text, ": ")
	if i < 0 && strings.HasSuffix(text, ":") {
		i = len(text) - 1
	}
	if i >= 0 {
		return whatever, nil, l.slip(at+i, msgColonInside, key)
	}
	return words, nil, nil
}

// quoteEnd returns the offset after a quoted text that begins at an offset, or -1 if it does not
// end on the line.
func quoteEnd(text string, at int) int {
	q := text[at]
	for i := at + 1; i < len(text); i++ {
		switch {
		case q == '"' && text[i] == '\\', q == '\'' && strings.HasPrefix(text[i:], "''"):
			i++
		case text[i] == q:
			return i + 1
		}
	}
	return -1
}

// flowEnd returns the offset after a flow list that begins at an offset, or -1 if it does not end on the line. Of a list
// with a quote that is not closed it is the end of the line, as the library knows better.
func flowEnd(text string, at int) int {
	item := true // one begins here
	for i := at + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == ']':
			return i + 1
		case item && (c == '"' || c == '\''):
			end := quoteEnd(text, i)
			if end < 0 {
				return len(text)
			}
			i = end - 1
			item = false
		default:
			item = c == ',' || item && c == ' '
		}
	}
	return -1
}
