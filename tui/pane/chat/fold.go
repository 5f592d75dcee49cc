package chat

import (
	"strings"
	"unicode/utf8"

	"ollimbot/core/clean"
	"ollimbot/core/words"
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

// fold gives what a paste stands for in a line: itself, while it is short and holds
// nothing that would be taken for a token. No word of the line becomes one by it.
func (f *folds) fold(text, line string) (shown string, cut bool) {
	// U+FFFD as the line writes it, so that a text is sent the same both ways.
	text = strings.ReplaceAll(strings.TrimRight(clean.Text(text), "\n"), "\ufffd", "?")
	if cut = len(text) > maxPaste; cut {
		text = strings.ToValidUTF8(text[:maxPaste], "")
	}
	lines := strings.Count(text, "\n") + 1
	if lines <= foldLines && len(text) <= foldBytes && f.unfold(text) == text {
		return text, cut
	}
	taken := line
	for _, p := range f.parts {
		if p.text == text {
			return p.token, cut
		}
		taken += p.token
	}
	words := pastedWords(lines, utf8.RuneCountInString(text))
	token := words
	for same := 2; strings.Contains(taken, token); same++ {
		token = words[:len(words)-1] + pastedAgain(same)
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

// at is the token that the caret stands on, else the one that ends before it, and
// how many bytes of it are behind the caret. A token is plain ASCII.
func (f *folds) at(before, after string) (p folded, behind int, ok bool) {
	for _, q := range f.parts {
		for n := range q.token { // n bytes of it stand before the caret
			if !strings.HasSuffix(before, q.token[:n]) || !strings.HasPrefix(after, q.token[n:]) {
				continue
			}
			return q, len(q.token) - n, true
		}
		if strings.HasSuffix(before, q.token) {
			p, ok = q, true
		}
	}
	return p, 0, ok
}

// pastedWords is what stands for a text: its lines, or its characters where it
// has one line only.
func pastedWords(lines, characters int) string {
	if lines > 1 {
		return "[pasted " + words.Grouped(uint64(lines), "line") + "]"
	}
	return "[pasted " + words.Grouped(uint64(characters), "character") + "]"
}
