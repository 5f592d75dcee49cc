package plain

import (
	"fmt"
	"strings"
	"unicode"
)

// begun is a command whose last line said that it goes on.
type begun struct {
	lines []string
	count int // how many there were
	size  int // of all of them, in bytes; what is beyond maxLine is not kept
}

// take hears a line of input. One that ends in a backslash goes on in the next;
// one that ends in two ends in one.
func (m *machine) take(line string) {
	b := &m.begun
	line = strings.TrimRightFunc(line, unicode.IsSpace)
	line, goesOn := strings.CutSuffix(line, `\`)
	if goesOn && strings.HasSuffix(line, `\`) { // two of them
		goesOn = false
	}
	line = strings.TrimRightFunc(line, unicode.IsSpace)
	b.count++
	if b.size += len(line) + 1; b.size <= maxLine {
		b.lines = append(b.lines, line)
	}
	if !goesOn {
		m.finish()
		return
	}
	if b.count == 1 {
		m.answer(kindMore, textGoesOn)
		return
	}
	m.answer(kindMore, fmt.Sprintf(textNextLine, b.count+1))
}

// finish obeys what was said on all its lines.
func (m *machine) finish() {
	b := m.begun
	m.begun = begun{}
	if b.size > maxLine { // a single line may have been cut as it was read
		m.answer(kindError, textTooLong)
		return
	}
	if line := strings.TrimSpace(strings.Join(b.lines, "\n")); line != "" {
		m.obey(line)
	}
}

// cutWord splits a text behind its first word. What follows keeps its lines.
func cutWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	i := strings.IndexFunc(text, unicode.IsSpace)
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimSpace(text[i:])
}

// behind is what follows the first n words.
func behind(text string, n int) string {
	for range n {
		_, text = cutWord(text)
	}
	return strings.TrimSpace(text)
}
