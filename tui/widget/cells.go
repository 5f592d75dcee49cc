// Package widget has the building blocks of panes: text that is exactly as wide as its
// box, input fields, lists, scrolling text and the tail view. It knows the theme and the
// lines of a tail; it must not know snapshots, commands or panes.
//
// Every function takes plain text, without escape sequences, and colours it last, so
// that coloured text is never measured.
package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"
)

// maxMarks is how many combining marks one character keeps: enough for every
// language, too few to cover its neighbours.
const maxMarks = 3

// Cells is the width of s in terminal cells once it is drawn.
func Cells(s string) int {
	if n, ok := even(s); ok {
		return n
	}
	return displaywidth.String(Tidy(s))
}

// Fit makes s exactly w cells wide: padded with spaces, or cut with an ellipsis.
func Fit(s string, w int) string {
	s, n := cut(s, w, "…")
	return s + Blank(w-n)
}

// Cut shortens s to at most w cells. Text that was cut ends in an ellipsis.
func Cut(s string, w int) string {
	s, _ = cut(s, w, "…")
	return s
}

// CutFront removes the start of s so that at most w cells are left, including a mark of
// one cell in its place. It is for paths, whose end is more informative.
func CutFront(s string, w int, mark string) string {
	s = Tidy(s)
	over := Cells(s) - w
	if over <= 0 {
		return s
	}
	return ansi.TruncateLeft(s, over+1, mark)
}

// CutMiddle shortens s to at most w cells and keeps its beginning and its end, with the mark of one cell between
// them. It is for text that somebody decides about.
func CutMiddle(s string, w int, mark string) string {
	if s = Tidy(s); Cells(s) <= w {
		return s
	}
	head, n := cut(s, w-w/2, mark)
	return head + CutFront(s, w-n+1, "")
}

// Blank returns n spaces, or "" for n below one.
func Blank(n int) string {
	if n <= len(spaces) {
		return spaces[:max(n, 0)]
	}
	return strings.Repeat(" ", n)
}

const spaces = "                                                                                                                                "

// cut is Cut with a given mark of one cell. It also returns the width of the result.
func cut(s string, w int, mark string) (string, int) {
	if w <= 0 {
		return "", 0
	}
	if n, ok := even(s); ok {
		if n <= w {
			return s, n
		}
		end := 0
		for range w - 1 {
			_, size := utf8.DecodeRuneInString(s[end:])
			end += size
		}
		return s[:end] + mark, w
	}
	s = displaywidth.TruncateString(Tidy(s), w, mark)
	return s, displaywidth.String(s)
}

// Tidy rewrites s so that it has the same width in every terminal, whether the terminal
// counts code points or grapheme clusters. It keeps the first part of joined emoji, drops
// skin tones and variation selectors, turns flags into letters, limits stacked combining
// marks, widens narrow sound marks, and removes control and zero-width characters.
// Printable ASCII is unchanged.
func Tidy(s string) string {
	if _, ok := even(s); ok {
		return s
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	if strings.ContainsAny(s, "\uff9e\uff9f") {
		s = sounds.Replace(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for g := displaywidth.StringGraphemes(s); g.Next(); {
		tidyCharacter(&b, g.Value())
	}
	return b.String()
}

// sounds are the voicing marks of narrow katakana. They are one cell in terminals that
// count code points, none in those that count characters. Their wide forms are two cells
// in both.
var sounds = strings.NewReplacer("\uff9e", "\u309b", "\uff9f", "\u309c")

// tidyCharacter writes one user-perceived character.
func tidyCharacter(b *strings.Builder, c string) {
	if len(c) == 1 {
		switch {
		case c[0] == '\t':
			b.WriteByte(' ')
		case c[0] >= 0x20 && c[0] < 0x7f:
			b.WriteByte(c[0])
		}
		return
	}
	first, n := utf8.DecodeRuneInString(c)
	if flag(first) {
		for _, r := range c {
			if flag(r) {
				b.WriteByte(byte('A' + r - firstFlag))
			}
		}
		return
	}
	if first >= 0x1100 && first <= 0x115f || first >= 0xa960 && first <= 0xa97f {
		b.WriteRune(syllable(c))
		return
	}
	if first < 0x20 || dropped(first) || trailing(first) || displaywidth.Rune(first) == 0 {
		return
	}
	b.WriteString(c[:n])
	picture := unicode.Is(unicode.So, first) || first >= 0x1f000
	marks := 0
	for _, r := range c[n:] {
		if picture {
			break // joined parts, tones and selectors of an emoji
		}
		if dropped(r) || flag(r) {
			continue
		}
		if marks++; marks > maxMarks && unicode.Is(unicode.M, r) {
			continue
		}
		b.WriteRune(r)
	}
}

// syllable composes a Hangul syllable from its parts (jamo), as some systems write file
// names. If they are not a modern syllable, it returns the replacement character, because
// their width is unknown.
func syllable(c string) rune {
	parts := []rune(c)
	if len(parts) < 2 || len(parts) > 3 {
		return '\ufffd'
	}
	lead, vowel, tail := parts[0]-0x1100, parts[1]-0x1161, rune(0)
	if len(parts) == 3 {
		tail = parts[2] - 0x11a7
	}
	if lead < 0 || lead > 18 || vowel < 0 || vowel > 20 || tail < 0 || tail > 27 {
		return '\ufffd'
	}
	return 0xac00 + (lead*21+vowel)*28 + tail
}

const firstFlag = 0x1f1e6

func flag(r rune) bool { return r >= firstFlag && r <= firstFlag+25 }

// dropped reports a code point whose width differs between terminals: joiners, selectors,
// keycaps and formatting characters.
func dropped(r rune) bool {
	return r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef || r == 0x20e3 ||
		unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
}

// trailing reports a code point that modifies the previous character: marks, the later
// parts of Hangul syllables, skin tones. Without one, it would combine with whatever
// precedes it on the screen.
func trailing(r rune) bool {
	return r >= 0x1160 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7ff || r >= 0x1f3fb && r <= 0x1f3ff || unicode.Is(unicode.M, r)
}

// even counts the cells of a text whose code points are all one cell wide and never
// combine: ASCII, Latin letters, and the marks, arrows, lines and blocks that we draw.
// Nearly all lines are such text, and grapheme segmentation took a fifth of a frame.
func even(s string) (cells int, ok bool) {
	for _, r := range s {
		if (r < 0x20 || r > 0x7e) && !single(r) {
			return 0, false
		}
		cells++
	}
	return cells, true
}

// single reports whether even accepts a code point beyond ASCII.
func single(r rune) bool {
	switch {
	case r >= 0xa0 && r <= 0x24f:
		return r != 0xad // the soft hyphen, which may be invisible
	case r >= 0x2010 && r <= 0x2027, r >= 0x2190 && r <= 0x21ff, r >= 0x2500 && r <= 0x25fc, r >= 0x2713 && r <= 0x2718, r >= 0x2800 && r <= 0x28ff:
		return true
	}
	return false
}
