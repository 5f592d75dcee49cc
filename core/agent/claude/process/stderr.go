package process

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"sync"

	"ollimbot/core/base/clean"
)

// Limits of the error output that is kept. A crash shows its own source in
// lines of a thousand characters, and the message that matters
// stands among them: so lines are cut and not the text as a whole.
const (
	maxTail    = 4096     // bytes of the tail
	maxLine    = 240      // runes of a line
	maxExcerpt = 40       // runes of a line of source
	maxRaw     = 64 << 10 // bytes that are kept as they came
	minSecret  = 8        // bytes; a shorter value would hide ordinary words
	separator  = " | "
)

// tail keeps the end of an error output. It never blocks and never fails, so
// that a process that says much is not held up.
type tail struct {
	hide []string

	mu  sync.Mutex
	raw []byte // guarded by mu; the newest, up to twice maxRaw
	cut bool   // guarded by mu; raw begins in the middle of a line
}

// Write takes a piece of the output.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.raw = append(t.raw, b...)
	if over := len(t.raw) - maxRaw; over > maxRaw {
		t.raw, t.cut = append(t.raw[:0], t.raw[over:]...), true
	}
	return len(b), nil
}

// String is the tail in one line. A line whose beginning is lost is left out: a
// secret that was cut would not be known again.
func (t *tail) String() string {
	t.mu.Lock()
	lines := bytes.Split(t.raw, []byte("\n"))
	if t.cut {
		lines = lines[1:]
	}
	var shown []string
	size := 0
	for _, raw := range slices.Backward(lines) {
		line := t.shown(raw)
		if line == "" {
			continue
		}
		if size += len(line) + len(separator); size > maxTail {
			break
		}
		shown = append(shown, line)
	}
	t.mu.Unlock()
	slices.Reverse(shown)
	return strings.Join(shown, separator)
}

// shown is a line as people may see it.
func (t *tail) shown(raw []byte) string {
	line := clean.Line(string(clean.Whole(raw)))
	for _, s := range t.hide {
		line = hideBegun(strings.ReplaceAll(line, s, hidden), s)
	}
	if excerpt(line) {
		return clean.Cut(line, maxExcerpt)
	}
	return clean.Cut(line, maxLine)
}

// hideBegun hides a secret of which the line holds only the beginning, since
// the rest is not written yet.
func hideBegun(line, secret string) string {
	for n := min(len(secret)-1, len(line)); n >= minSecret; n-- {
		if strings.HasSuffix(line, secret[:n]) {
			return line[:len(line)-n] + hidden
		}
	}
	return line
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
