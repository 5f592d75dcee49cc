package process

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"sync"

	"ollimbot/core/base/clean"
)

// Limits of the kept error output. A crash prints its source in lines of a thousand
// characters around the important message, so lines are cut, not the text as a whole.
const (
	maxTail    = 4096     // bytes of the tail
	maxLine    = 240      // runes of a line
	maxExcerpt = 40       // runes of a line of source
	maxRaw     = 64 << 10 // bytes kept unchanged
	minSecret  = 8        // bytes; hiding a shorter value would hide ordinary words
	separator  = " | "
)

// tail keeps the end of an error output. It never blocks and never fails, so it cannot slow down
// the process.
type tail struct {
	hide []string

	mu  sync.Mutex
	raw []byte // guarded by mu; the newest, up to twice maxRaw
	cut bool   // guarded by mu; raw starts within a line
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.raw = append(t.raw, b...)
	if over := len(t.raw) - maxRaw; over > maxRaw {
		t.raw, t.cut = append(t.raw[:0], t.raw[over:]...), true
	}
	return len(b), nil
}

// String returns the tail on one line. A line without its beginning is left out, because a cut
// secret would not be recognized.
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

// shown returns a line as the user may see it.
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

// hideBegun hides the beginning of a secret at the end of an incomplete line.
func hideBegun(line, secret string) string {
	for n := min(len(secret)-1, len(line)); n >= minSecret; n-- {
		if strings.HasSuffix(line, secret[:n]) {
			return line[:len(line)-n] + hidden
		}
	}
	return line
}

// excerpt reports whether a line is source code printed by a crash: "3211 | code".
func excerpt(line string) bool {
	digits := 0
	for digits < len(line) && line[digits] >= '0' && line[digits] <= '9' {
		digits++
	}
	return digits > 0 && strings.HasPrefix(line[digits:], separator)
}

// secrets returns the secret values of an environment, longest first, so that a value that contains
// another is hidden completely.
func secrets(env []string) []string {
	var out []string
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		// The secret follows the name in a header, and is within a proxy's address.
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
