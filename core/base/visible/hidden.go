package visible

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// Hidden returns the first character that has no place in a command or a path, as a mark with its
// position, or "": control characters other than line break and tab, characters that change the direction
// of text, invisible ones outside of their normal use, and bytes that are no text. Joiners are normal
// within emoji and in the scripts that need them.
func Hidden(s string) string {
	var before rune
	count := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+n:])
		count++
		if r == utf8.RuneError && n == 1 || !belongs(before, r, next) {
			return fmt.Sprintf("%s (character %d)", Line(s[i:i+n]), count)
		}
		before, i = r, i+n
	}
	return ""
}

// belongs reports whether a character has a place in a command, between two others.
func belongs(before, r, next rune) bool {
	switch {
	case r == '\n' || r == '\t' || r >= ' ' && r < 0x7f:
		return true
	case r < 0xa0, r == 0x2028, r == 0x2029, unicode.Is(unicode.Bidi_Control, r), fills(r):
		return false
	case r == joiner:
		return pictograph(before) && pictograph(next) || joins(before) && joins(next)
	case r == nonJoiner:
		return joins(before) && joins(next)
	case unicode.Is(unicode.Variation_Selector, r):
		return varies(before)
	case r >= 0xe0020 && r <= 0xe007f: // the name of a region in a flag
		return before == blackFlag || before >= 0xe0020 && before < 0xe007f
	case ignorable(r):
		return false
	case unicode.Is(unicode.Cf, r):
		return unicode.Is(unicode.Prepended_Concatenation_Mark, r)
	}
	return true
}

const (
	nonJoiner = 0x200c
	joiner    = 0x200d
	blackFlag = 0x1f3f4
)

// joins reports whether a character belongs to a script that needs joiners.
func joins(r rune) bool {
	return unicode.IsLetter(r) && unicode.In(r, joining...) || unicode.In(r, unicode.Mn, unicode.Mc) && r >= 0x0610
}

var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
	unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
}

// pictograph reports whether a character may be a part of an emoji.
func pictograph(r rune) bool {
	return r >= 0x2190 && unicode.Is(unicode.So, r) || r == 0xfe0f || r >= 0x1f3fb && r <= 0x1f3ff
}

// varies reports whether a character has variants.
func varies(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sm, unicode.Han, unicode.Mongolian) || r == '#' || r == '*' || r >= '0' && r <= '9' ||
		r == 0xa9 || r == 0xae || r == 0x203c || r == 0x2049 || r >= 0x1f3fb && r <= 0x1f3ff
}
