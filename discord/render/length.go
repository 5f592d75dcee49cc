package render

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

const ellipsis = "…"

// Length is the length of a text as Discord counts it: in UTF-16 units.
func Length(s string) int {
	n := 0
	for _, r := range s {
		n += width(r)
	}
	return n
}

// width of a character; what is no character is sent as U+FFFD.
func width(r rune) int { return max(1, utf16.RuneLen(r)) }

// prefix is the length in bytes of the longest part of s, from its begin, that
// has at most n units. It never ends inside a character.
func prefix(s string, n int) int {
	if len(s) <= n { // a byte is never more than a unit
		return len(s)
	}
	for i, r := range s {
		if n -= width(r); n < 0 {
			return i
		}
	}
	return len(s)
}

// fits reports whether s has at most n units, without reading further than that.
func fits(s string, n int) bool { return prefix(s, n) == len(s) }

// Cut shortens a text to at most n units, the last of them an ellipsis where
// something was cut, and leaves emoji and accents whole where it can.
func Cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if fits(s, n) {
		return s
	}
	return strings.TrimRight(s[:whole(s, 0, prefix(s, n-1))], " \n") + ellipsis
}

// cutBlock is Cut for a text that may hold code blocks: one that is cut is closed.
func cutBlock(s string, n int) string {
	if fits(s, n) {
		return s
	}
	p := Parts(s, n-1)[0]
	if p.Close != "" {
		p.Close = "\n" + fence // whatever line breaks were there are trimmed
	}
	return p.Open + strings.TrimRight(p.Text, " \n") + ellipsis + p.Close
}

// maxCharacter is how many code points are taken for one character: a family
// emoji has eleven, and a hostile one any number.
const maxCharacter = 32

// whole moves a cut backwards to where it parts no character that is made of
// several, but not to low or further; it stays where there is no such place.
func whole(s string, low, cut int) int {
	at := cut
	for range maxCharacter {
		if at <= low {
			return cut
		}
		if !joined(s, at) {
			return at
		}
		_, n := utf8.DecodeLastRuneInString(s[:at])
		at -= n
	}
	return cut
}

// joined reports whether the characters before and after a cut are shown as one.
func joined(s string, cut int) bool {
	if cut <= 0 || cut >= len(s) {
		return false
	}
	const joiner = '\u200d'
	before, _ := utf8.DecodeLastRuneInString(s[:cut])
	after, _ := utf8.DecodeRuneInString(s[cut:])
	switch {
	case before == joiner, after == joiner, unicode.Is(unicode.M, after):
		return true
	case after >= 0x1f3fb && after <= 0x1f3ff: // a tone of skin
		return true
	case flag(before) && flag(after):
		return flags(s[:cut])%2 == 1
	}
	return false
}

// flag reports one of the letters of which two make a flag.
func flag(r rune) bool { return r >= 0x1f1e6 && r <= 0x1f1ff }

// flags counts those letters at the end of s, as far as it matters.
func flags(s string) int {
	n := 0
	for n <= 2*maxCharacter {
		r, size := utf8.DecodeLastRuneInString(s)
		if !flag(r) {
			break
		}
		s = s[:len(s)-size]
		n++
	}
	return n
}
