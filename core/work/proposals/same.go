package proposals

import (
	"slices"
	"strings"
	"unicode"
)

// folded returns the distinct words of a text, sorted: lower-case letters and digits.
// Apostrophes join: "I'll" is one word.
func folded(text string) []string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == '\'' || r == '’' || r == '`' || unicode.Is(unicode.Mn, r):
			return -1
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, text)
	list := strings.Fields(text)
	slices.Sort(list)
	return slices.Compact(list)
}

// same reports whether two lists of folded words count as the same; see the package
// comment.
func same(a, b []string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	for _, word := range a {
		if _, found := slices.BinarySearch(b, word); !found {
			return false
		}
	}
	return 2*len(a) > len(b)
}
