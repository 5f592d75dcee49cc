package process

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"ollimbot/core/clean"
)

// Limits of the error output that is kept. A crash shows its own source in
// lines of a thousand characters, and the message that matters
// stands among them: so lines are cut and not the text as a whole.
const (
	maxTail    = 4096 // bytes of the tail
	maxLine    = 240  // runes of a line
	maxExcerpt = 40   // runes of a line of source
	maxRaw     = 2048 // bytes of a line that are looked at, more than is shown, so that a secret at its end is seen whole
	minSecret  = 8    // bytes; a shorter value would hide ordinary words
	separator  = " | "
)

// tail keeps the end of an error output. It never blocks and never fails, so
// that a process that says much is not held up.
type tail struct {
	hide []string

	mu    sync.Mutex
	lines []string // guarded by mu; finished, oldest first
	size  int      // guarded by mu; bytes of lines with their separators
	open  []byte   // guarded by mu; the line that is being written, at most maxRaw
}

func newTail(hide []string) *tail { return &tail{hide: hide} }

// Write takes a piece of the output.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	rest := b
	for {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			t.grow(rest)
			return len(b), nil
		}
		t.grow(rest[:end])
		t.finish()
		rest = rest[end+1:]
	}
}

// grow adds to the open line; the caller holds mu.
func (t *tail) grow(b []byte) {
	t.open = append(t.open, b[:min(len(b), maxRaw-len(t.open))]...)
}

// finish ends the open line; the caller holds mu.
func (t *tail) finish() {
	line := t.shown()
	t.open = t.open[:0]
	if line == "" {
		return
	}
	t.lines = append(t.lines, line)
	t.size += len(line) + len(separator)
	drop := 0
	for ; t.size > maxTail; drop++ {
		t.size -= len(t.lines[drop]) + len(separator)
	}
	t.lines = slices.Delete(t.lines, 0, drop)
}

// shown is the open line as people may see it; the caller holds mu.
func (t *tail) shown() string {
	line := clean.Line(string(dropCutRune(t.open)))
	for _, s := range t.hide {
		line = hideBegun(strings.ReplaceAll(line, s, hidden), s)
	}
	if excerpt(line) {
		return clean.Cut(line, maxExcerpt)
	}
	return clean.Cut(line, maxLine)
}

// hideBegun hides a secret of which the line holds only the beginning, since
// the rest is not written yet or was cut.
func hideBegun(line, secret string) string {
	for n := min(len(secret)-1, len(line)); n >= minSecret; n-- {
		if strings.HasSuffix(line, secret[:n]) {
			return line[:len(line)-n] + hidden
		}
	}
	return line
}

// String is the tail in one line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.shown()
	if last == "" {
		return strings.Join(t.lines, separator)
	}
	lines, size := t.lines, t.size
	for size+len(last) > maxTail {
		size -= len(lines[0]) + len(separator)
		lines = lines[1:]
	}
	return strings.Join(append(slices.Clip(lines), last), separator)
}

// dropCutRune drops a character that was cut in two at the end.
func dropCutRune(b []byte) []byte {
	for i := 1; i <= min(len(b), utf8.UTFMax); i++ {
		if at := len(b) - i; utf8.RuneStart(b[at]) {
			if !utf8.FullRune(b[at:]) {
				return b[:at]
			}
			break
		}
	}
	return b
}

// excerpt reports a line of source as a crash shows it: "3211 | code".
func excerpt(line string) bool {
	digits := 0
	for digits < len(line) && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	return digits > 0 && strings.HasPrefix(line[digits:], separator)
}

// secrets are the values of an environment that nothing may show, longest
// first, so that one that holds another is hidden whole.
func secrets(env []string) []string {
	var out []string
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		// A line of a header holds its secret behind a name, a proxy's address in
		// the middle.
		var words []string
		if secretName(name) {
			words = append(strings.Fields(value), clean.Line(value))
		} else if address, err := url.Parse(value); err == nil && address.User != nil {
			words = []string{address.User.String()}
		}
		for _, word := range words {
			if len(word) >= minSecret {
				out = append(out, word)
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(out)
}
