// Package clean makes untrusted text safe to show and store: valid UTF-8 without terminal
// escapes, control or bidirectional-override characters. All text from other people,
// files or the model is cleaned before it is stored. It must not know where a text comes
// from.
package clean

import (
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text cleans s and keeps its line breaks. Tabs become four spaces, "\r\n" and "\r" become
// "\n", and invalid UTF-8 becomes U+FFFD.
func Text(s string) string {
	if plain(s, true) {
		return s
	}
	return scrub(s, true)
}

// Line cleans s and makes it one line: line breaks become single spaces and
// the ends are trimmed.
func Line(s string) string {
	if plain(s, false) {
		return strings.TrimSpace(s)
	}
	return strings.TrimSpace(scrub(s, false))
}

// Cut shortens a line to at most n runes; if it was cut, the last is an ellipsis.
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	i := 0
	for at := range s {
		if i == n-1 {
			return s[:at] + "…"
		}
		i++
	}
	return s
}

// FirstLine returns the first line that is not blank, cleaned, with at most n runes.
func FirstLine(text string, n int) string {
	for line := range strings.Lines(text) {
		if line = Line(line); line != "" {
			return Cut(line, n)
		}
	}
	return ""
}

// Head returns the beginning of a text: at most n bytes of whole characters.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Whole returns p without an incomplete character at its end.
func Whole(p []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if end := p[len(p)-n:]; utf8.RuneStart(end[0]) {
			if !utf8.FullRune(end) {
				return p[:len(p)-n]
			}
			break
		}
	}
	return p
}

// plain reports whether s is printable ASCII, the common case, which needs no cleaning.
func plain(s string, breaks bool) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x7f || c < 0x20 && (c != '\n' || !breaks) {
			return false
		}
	}
	return true
}

func scrub(s string, breaks bool) string {
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i += escapeLen(s[i:])
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if r == '\r' {
			if i < len(s) && s[i] == '\n' {
				continue
			}
			r = '\n'
		}
		switch {
		case r == '\n' && breaks:
			b.WriteByte('\n')
		case r == '\n' || r == '\u2028' || r == '\u2029':
			b.WriteByte(' ')
		case r == '\t':
			b.WriteString("    ")
		case r == utf8.RuneError:
			b.WriteRune(utf8.RuneError)
		case unicode.IsControl(r) || forbidden(r):
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// forbidden reports whether a character that is not a control character moves or hides text:
// bidirectional controls, zero-width marks, tags, line and paragraph separators.
func forbidden(r rune) bool {
	switch {
	case r == 0x061c, r == 0x200b, r == 0x200e, r == 0x200f, r == 0xfeff:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f:
		return true
	case r >= 0xe0000 && r <= 0xe007f:
		return true
	case r >= 0xfff9 && r <= 0xfffb:
		return true
	}
	return false
}

// escapeLen returns the length of the escape sequence at the start of s, including its
// printable characters.
func escapeLen(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e {
				return i
			}
		}
		return len(s)
	case ']', 'P', 'X', '^', '_':
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
			if s[i] == '\n' { // never swallow more than a line
				return i
			}
		}
		return len(s)
	}
	// The rest are intermediate bytes and a final one, "\x1b(B" for example.
	i := 1
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
		i++
	}
	if i < len(s) && s[i] >= 0x30 && s[i] < 0x7f {
		i++
	}
	return i
}

// maxFileName is the maximum length of FileName in bytes: file systems allow 255, and a
// number may be appended. An extension longer than maxExt is treated as part of the name.
const maxFileName, maxExt = 160, 16

// FileName makes a name from outside a valid file name: the last element of a path, on one
// line, without a leading dot or dash or invisible characters, shortened before its extension.
// Square brackets become round ones, because prompts put the name in square ones. An empty
// name becomes "file".
func FileName(s string) string {
	s = Line(s)
	s = s[strings.LastIndexAny(s, `/\`)+1:]
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '[':
			return '('
		case r == ']':
			return ')'
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return -1
		}
		return r
	}, s)
	s = strings.TrimLeft(strings.TrimRight(strings.Join(strings.Fields(s), " "), ". "), "-. ")
	ext := filepath.Ext(s)
	if len(ext) > maxExt || strings.Contains(ext, " ") {
		ext = ""
	}
	stem := strings.TrimSuffix(s, ext)
	for len(stem)+len(ext) > maxFileName {
		_, n := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-n]
	}
	if stem = strings.TrimRight(stem, ". "); stem == "" {
		stem = "file"
	}
	name := stem + ext
	if len(name) < len(s) { // the end of the rest may now be an extension
		return FileName(name)
	}
	return name
}
