package chat

import (
	"strings"
	"unicode/utf8"

	"ollimbot/core/clean"
	"ollimbot/tui/widget"
)

// From how many lines or bytes on pasted text is shown by a word of its own, so
// that what is written around it stays in sight.
const (
	foldLines = 8
	foldBytes = 1500
)

// maxPaste is the most bytes of one paste that are taken.
const maxPaste = 256 << 10

// folds are pasted texts that stand in the line as a token: "[pasted 1,204
// lines]". What is sent holds the texts.
type folds struct{ parts []folded }

type folded struct{ token, text string }

// fold gives what a paste stands for in the line: itself, while it is short.
func (f *folds) fold(text string) (shown string, cut bool) {
	text = strings.TrimRight(clean.Text(text), "\n")
	if cut = len(text) > maxPaste; cut {
		text = strings.ToValidUTF8(text[:maxPaste], "")
	}
	lines := strings.Count(text, "\n") + 1
	if lines <= foldLines && len(text) <= foldBytes {
		return text, cut
	}
	token := pastedWords(lines, utf8.RuneCountInString(text))
	same := 1
	for _, p := range f.parts {
		if p.text == text {
			return p.token, cut
		}
		if strings.HasPrefix(p.token, token[:len(token)-1]) {
			same++
		}
	}
	if same > 1 {
		token = token[:len(token)-1] + pastedAgain(same)
	}
	f.parts = append(f.parts, folded{token, text})
	return token, cut
}

// unfold is the line as it is sent. A token in a pasted text stands for nothing.
func (f *folds) unfold(line string) string {
	var pairs []string
	for _, p := range f.parts {
		pairs = append(pairs, p.token, p.text)
	}
	return strings.NewReplacer(pairs...).Replace(line)
}

// last is how many characters the token has that ends the text before the
// caret, or 0: it is deleted as one.
func (f *folds) last(before string) int {
	for _, p := range f.parts {
		if strings.HasSuffix(before, p.token) {
			return utf8.RuneCountInString(p.token)
		}
	}
	return 0
}

// pastedWords is what stands for a text: its lines, or its characters where it
// has one line only.
func pastedWords(lines, characters int) string {
	if lines > 1 {
		return "[pasted " + widget.Count(uint64(lines), "line") + "]"
	}
	return "[pasted " + widget.Count(uint64(characters), "character") + "]"
}
