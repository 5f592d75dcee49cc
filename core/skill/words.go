package skill

import (
	"errors"
	"strings"
)

var (
	errQuote     = errors.New("a quote is not closed")
	errBackslash = errors.New("nothing follows the last backslash")
	errNUL       = errors.New("a command cannot hold a zero byte")
)

// split takes a command line apart as a shell would, without doing anything
// else that a shell does: no variables, patterns, pipes or comments. Words are
// parted by white space. '…' is taken as it stands; in "…" a backslash escapes
// a quote and itself; elsewhere it escapes whatever follows.
func split(line string) ([]string, error) {
	if strings.IndexByte(line, 0) >= 0 {
		return nil, errNUL
	}
	var words []string
	var word strings.Builder
	open := false // a word has begun, perhaps with empty quotes
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case ' ', '\t', '\n', '\r':
			if open {
				words = append(words, word.String())
				word.Reset()
				open = false
			}
		case '\\':
			if i++; i == len(line) {
				return nil, errBackslash
			}
			word.WriteByte(line[i])
			open = true
		case '\'', '"':
			n := quoted(&word, line[i:])
			if n == 0 {
				return nil, errQuote
			}
			i += n - 1
			open = true
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words, nil
}

// quoted adds the quoted text that s begins with, and returns the length of it
// with its quotes; 0 where the quote is not closed.
func quoted(word *strings.Builder, s string) int {
	quote := s[0]
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == quote:
			return i + 1
		case quote == '"' && s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
		}
		word.WriteByte(s[i])
	}
	return 0
}
