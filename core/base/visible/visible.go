// Package visible makes lossless pictures of texts that a person judges: commands, paths, contents of
// files. Whatever is not a plain visible character appears as a mark between ⟦ and ⟧, such as ⟦\x1b⟧ or
// ⟦U+200B⟧. These brackets appear only in marks, because in a text they are marked themselves. Nothing
// is removed, so two different texts never have the same picture.
//
// A picture is clean text (package clean) and has a line break only where the text has one. The package
// must not know where a text comes from or where it is shown.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// The brackets of a mark.
const (
	Open  = "⟦"
	Close = "⟧"
)

// reserved are the brackets, those that look like them, and the signs with which front ends replace
// line breaks and cut texts.
const reserved = Open + Close + "⟬⟭〚〛⏎"

// maxMarks is how many combining characters may follow one another: more cover the text around them.
const maxMarks = 4

// Text returns the picture of a text. Line breaks are kept, except at its start and end, where they
// would not be seen.
func Text(s string) string { return picture(s, prose) }

// Line is Text on one line.
func Line(s string) string { return picture(s, oneLine) }

// Code is Text for a command, whose parts must be seen in their order: words that are written from
// right to left are marked, because a screen may reorder everything around them.
func Code(s string) string { return picture(s, code) }

// Path is Code on one line.
func Path(s string) string { return picture(s, code|oneLine) }

// Label returns the name of a part of a picture, as a mark that no text can imitate.
func Label(name string) string { return Open + Line(name) + ":" + Close }

// Note returns a remark in a picture, as a mark that no text can imitate. It must have several words.
func Note(words string) string { return Open + words + Close }

// manner is how a picture is made.
type manner uint8

const (
	prose   manner = 0
	oneLine manner = 1 << iota
	code
)

func picture(s string, m manner) string {
	if plain(s, m) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	p := painter{text: s, manner: m, end: len(strings.TrimRight(s, " \n")), begin: len(s) - len(strings.TrimLeft(s, " \n"))}
	for i := 0; i < len(s); {
		i += p.paint(&b, i)
	}
	p.turn(&b, false)
	return b.String()
}

// plain reports whether a text is its own picture, which is the common case: printable ASCII characters,
// and line breaks and blanks in the middle of the text and of its lines.
func plain(s string, m manner) bool {
	for i := range len(s) {
		c := s[i]
		switch {
		case c > ' ' && c < 0x7f:
		case i == 0 || i == len(s)-1 || m&oneLine != 0 && c != ' ':
			return false
		case c == ' ' && s[i+1] != '\n':
		case c == '\n':
		default:
			return false
		}
	}
	return true
}

// painter makes the picture of one text.
type painter struct {
	text       string
	manner     manner
	begin, end int  // of the text without the blanks around it
	marks      int  // the combining characters so far
	base       rune // the last character that was painted as it is
	leftward   bool // within words from right to left
	word       int  // the end of the word whose letters were judged last
	mixed      bool // that word mixes alphabets
}

// paint writes the picture of the character at i and returns its length in the text.
func (p *painter) paint(b *strings.Builder, i int) int {
	r, n := utf8.DecodeRuneInString(p.text[i:])
	combining := unicode.In(r, unicode.Mn, unicode.Mc, unicode.Me)
	if !combining {
		p.marks = 0
	}
	switch {
	case r == utf8.RuneError && n == 1:
		p.mark(b, fmt.Sprintf(`\x%02x`, p.text[i]))
	case r == '\n' && p.manner&oneLine == 0 && i >= p.begin && i < p.end:
		p.turn(b, false)
		b.WriteByte('\n')
		p.base = 0
	case r == ' ' && i >= p.begin && i < p.end && p.text[i+1] != '\n':
		b.WriteByte(' ')
		p.base = 0
	case r == ' ':
		p.mark(b, " ")
	case r < ' ' || r == 0x7f:
		p.mark(b, control(r))
	case combining && !p.sits(r), !combining && !shows(r), p.mixes(r, i):
		p.mark(b, fmt.Sprintf("U+%04X", r))
	default:
		if p.manner&code != 0 && !combining {
			p.turn(b, fromRight(r))
		}
		b.WriteRune(r)
		if p.base = r; combining {
			p.marks++
		}
	}
	return n
}

func (p *painter) mark(b *strings.Builder, what string) {
	p.turn(b, false)
	b.WriteString(Open + what + Close)
	p.base = 0
}

// turn begins or ends the words from right to left.
func (p *painter) turn(b *strings.Builder, leftward bool) {
	if p.leftward == leftward {
		return
	}
	p.leftward = leftward
	b.WriteString(map[bool]string{true: Open + "right to left" + Close, false: Open + "left to right" + Close}[leftward])
}

// control returns the mark of a control character.
func control(r rune) string {
	switch r {
	case '\t':
		return `\t`
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	}
	return fmt.Sprintf(`\x%02x`, r)
}

// shows reports whether a character that combines with no other is visible, and looks like no other in
// every font.
func shows(r rune) bool {
	switch {
	case strings.ContainsRune(reserved, r), r == utf8.RuneError, fills(r), ignorable(r):
		return false
	case !unicode.IsPrint(r): // control and format characters, unusual blanks, private and unassigned ones
		return false
	}
	var buf [utf8.UTFMax]byte
	return norm.NFC.IsNormal(buf[:utf8.EncodeRune(buf[:], r)]) // else it looks like the character that replaces it
}

// sits reports whether a combining character is visible on the character before it: few enough are there,
// and no single character looks like both.
func (p *painter) sits(r rune) bool {
	if p.base == 0 || p.base < 0x80 && !unicode.IsLetter(p.base) || p.marks >= maxMarks || ignorable(r) || unicode.Is(unicode.Me, r) {
		return false
	}
	return norm.NFC.IsNormalString(string([]rune{p.base, r}))
}

// fills reports whether a character is a letter or sign that looks like a blank.
func fills(r rune) bool {
	switch r {
	case 0x115f, 0x1160, 0x2800, 0x3164, 0xffa0, 0x1d159:
		return true
	}
	return false
}

// ignorable reports whether screens show nothing for a character that is not a control or format
// character: joiners of graphemes, selectors of variants.
func ignorable(r rune) bool {
	return r == 0x034f || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// fromRight reports whether a character is written from right to left.
func fromRight(r rune) bool {
	if r < 0x590 {
		return false
	}
	properties, _ := bidi.LookupRune(r)
	switch properties.Class() {
	case bidi.R, bidi.AL, bidi.AN:
		return true
	}
	return false
}

// foreign are the alphabets with letters that look like Latin ones.
var foreign = []*unicode.RangeTable{unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu}

// mixes reports whether the character at i is a letter of another alphabet in a word with Latin letters,
// such as a host name: it may be there to be mistaken for one of them.
func (p *painter) mixes(r rune, i int) bool {
	if r < 0x370 || !unicode.In(r, foreign...) {
		return false
	}
	if i >= p.word {
		from := strings.LastIndexFunc(p.text[:i], between) + 1
		if from > 0 {
			_, n := utf8.DecodeRuneInString(p.text[from-1:])
			from += n - 1
		}
		p.word = len(p.text)
		if at := strings.IndexFunc(p.text[i:], between); at >= 0 {
			p.word = i + at
		}
		p.mixed = strings.ContainsFunc(p.text[from:p.word], func(r rune) bool { return unicode.Is(unicode.Latin, r) })
	}
	return p.mixed
}

// between reports whether a character separates words. The punctuation of addresses does not.
func between(r rune) bool {
	return !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune("-._/:@%?&=", r)
}
