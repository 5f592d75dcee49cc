package widget

import (
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/clipperhouse/displaywidth"

	"ollimbot/core/clean"
)

// maxField is the most bytes that can be written: a long message, not a book.
const maxField = 16 << 10

// backspaces are the keys that delete backwards; with shift it is a slip.
var backspaces = []string{"backspace", "ctrl+h", "shift+backspace"}

// writes reports that a key writes what stands on it.
func writes(msg tea.KeyPressMsg) bool {
	return msg.Text != "" && msg.Mod&^tea.ModShift == 0
}

// cleaned is foreign text without what the editors would drop or change by
// themselves, so that what they hold is known.
func cleaned(s string) string {
	return strings.ReplaceAll(clean.Text(s), "\ufffd", "?")
}

// fitting is as much of s as free bytes hold, in whole characters.
func fitting(s string, free int) string {
	if len(s) <= free {
		return s
	}
	s = s[:max(0, free)]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s
}

// The editors count code points, people count characters: a key that goes over
// one character goes over all of its code points.
func runes(character string) int { return utf8.RuneCountInString(character) }

func firstCharacter(s string) string {
	g := displaywidth.StringGraphemes(s)
	if !g.Next() {
		return ""
	}
	return g.Value()
}

// lastCharacter looks at the end of the last line only: characters do not
// reach over a line break.
func lastCharacter(s string) string {
	line := lastLine(s)
	if line == "" {
		return s[max(0, len(s)-1):]
	}
	last := ""
	for g := displaywidth.StringGraphemes(line); g.Next(); {
		last = g.Value()
	}
	return last
}

func lastLine(s string) string  { return s[strings.LastIndexByte(s, '\n')+1:] }
func firstLine(s string) string { line, _, _ := strings.Cut(s, "\n"); return line }
