package command

import (
	"strings"
	"unicode"
)

// CutWord splits a text after its first word. The rest keeps its line breaks.
func CutWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	i := strings.IndexFunc(text, unicode.IsSpace)
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimSpace(text[i:])
}

// SkipWords returns the text after the first n words.
func SkipWords(text string, n int) string {
	for range n {
		_, text = CutWord(text)
	}
	return strings.TrimSpace(text)
}
