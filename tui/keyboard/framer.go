package keyboard

import (
	"bytes"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// How long the framer waits for the rest of what has begun. A slow line delivers a sequence in pieces, so only the
// start that is also a key of its own, ESC, is given up quickly.
const (
	patience   = 2500 * time.Millisecond
	escapeTime = 50 * time.Millisecond
)

// Limits on one sequence. A longer one is read to its end and dropped. The longest that a key, a mouse report or an
// answer needs has six parameters of at most seven digits (win32 input).
const (
	maxParams = 16
	maxDigits = 7
	maxString = 4 << 10   // bytes of an answer such as OSC or DCS
	maxPaste  = 256 << 10 // bytes
)

// framer cuts input into units: a run of text and control keys, one complete sequence, or one paste. A unit never
// depends on how its bytes were delivered: a sequence is passed on when its last byte is here, and otherwise nothing of
// it is. It also keeps what the decoder cannot handle safely away from it (T8): Ultraviolet indexes past its 32
// parameters in a longer sequence, and past its input in a mouse report that was cut short, and panics.
type framer struct {
	state   state
	pending []byte // of the sequence so far; 8-bit controls are in their 7-bit form
	paste   []byte
	cut     []byte // the start of an incomplete character
	params  int    // separators in this sequence so far
	digits  int    // other bytes in this parameter so far
	drop    bool   // the sequence is followed to its end and then dropped
	// tooLong is set once a paste has more than maxPaste bytes. It is dropped, and that is reported.
	tooLong bool
	// late is set after a single ESC has acted as the key: the rest of a sequence that it was the start of may follow.
	late bool
	// sure is set if the terminal sends the key ESC as a sequence. Then a single ESC always is the start of one.
	sure bool

	run   []byte // text that is not in units yet
	units []unit
}

// unit is input that acts as a whole.
type unit struct {
	kind  kind
	bytes []byte // without the marks around a paste
}

type kind uint8

const (
	text kind = iota
	sequence
	pasted
	lost // a paste that was too long
)

type state uint8

const (
	ground    state = iota
	escape          // after ESC, or two of them
	single          // after ESC O
	control         // in a control sequence
	mouse           // in the three bytes after ESC [ M
	console         // in the byte after ESC [ [, a function key of the Linux console
	answer          // in a string, such as OSC or DCS
	answerEnd       // after ESC in a string
	pasting
)

const (
	esc = 0x1b
	bel = 0x07
	del = 0x7f
	st  = 0x9c // ends a string, as ESC \ does
)

// The marks around a bracketed paste.
const pasteStart, pasteEnd = "\x1b[200~", "\x1b[201~"

// pasteEnds are all forms of the end of a paste: 7-bit, 8-bit and 8-bit as UTF-8.
var pasteEnds = []string{pasteEnd, "\x9b201~", "\u009b201~"}

// take adds input and returns the units that are complete.
func (f *framer) take(in []byte) []unit {
	if f.late && continues(in) {
		f.begin(esc)
		f.drop = true
	}
	f.late = false
	in = append(f.cut, in...)
	f.cut = nil
	for len(in) > 0 {
		n := f.step(in)
		if n == 0 {
			f.cut = bytes.Clone(in)
			break
		}
		in = in[n:]
	}
	return f.flush()
}

// wait returns how long to wait for more input before expire, or 0 if nothing is incomplete.
func (f *framer) wait() time.Duration {
	switch {
	case f.state == escape && len(f.cut) == 0 && !f.sure && !f.drop:
		return escapeTime
	case f.state != ground || len(f.cut) > 0 || f.late:
		return patience
	}
	return 0
}

// expire gives up what is incomplete: ESC was the key, a paste has lost its end, and any other start is dropped.
func (f *framer) expire() []unit {
	wasKey := f.state == escape && len(f.cut) == 0 && !f.drop && !f.sure
	switch {
	case wasKey:
		f.emit(sequence, f.pending)
	case f.state == escape: // a terminal that promised more would have sent it
		f.sure = false
	case f.state == pasting:
		f.endPaste(partialEnd(f.paste))
	}
	f.cut, f.late = nil, wasKey
	f.abandon()
	return f.flush()
}

// continues reports whether input looks like the rest of a sequence after its ESC. One character may be a key.
func continues(in []byte) bool {
	if len(in) < 2 {
		return false
	}
	next := string(in[1:2])
	switch in[0] {
	case '[':
		return strings.Contains("0123456789;<=>?ABCDEFHIMOPQRSZabcd[", next)
	case ']':
		return strings.Contains("0123456789lL", next)
	case 'P':
		return strings.Contains("0123456789;<=>?!+$", next)
	case 'O':
		return strings.Contains("0123456789ABCDEFHMPQRS", next)
	}
	return in[0] == '_' && next == "G"
}

// step takes at least one byte of in, or none if a character is incomplete.
func (f *framer) step(in []byte) int {
	switch f.state {
	case pasting:
		f.pasteByte(in[0])
		return 1
	case mouse: // its bytes are no characters
		return f.mouseByte(in)
	case answer:
		if in[0] == st && f.pending[len(f.pending)-1] < utf8.RuneSelf {
			f.pending = append(f.pending, esc, '\\')
			f.complete()
			return 1
		}
		if in[0] >= utf8.RuneSelf {
			f.add(in[0], len(f.pending) < maxString)
			return 1
		}
	}
	if in[0] < utf8.RuneSelf {
		f.ascii(in[0])
		return 1
	}
	if f.state != ground && f.state != escape {
		return 1 // no sequence has such bytes
	}
	if !utf8.FullRune(in) && introducer(rune(in[0])) == 0 {
		return 0
	}
	r, size := utf8.DecodeRune(in)
	if r == utf8.RuneError && size == 1 {
		r = rune(in[0])
		if introducer(r) == 0 {
			return 1
		}
	}
	switch c := introducer(r); {
	case c != 0:
		f.abandonKey()
		f.begin(esc)
		f.ascii(c)
	case r < 0xa0: // another 8-bit control
	case f.state == escape: // alt with a letter
		f.pending = append(f.pending, in[:size]...)
		f.complete()
	default:
		f.run = append(f.run, in[:size]...)
	}
	return size
}

// introducer returns the letter that stands for an 8-bit control after ESC if it starts a sequence, or 0.
func introducer(r rune) byte {
	if slices.Contains([]rune{0x8f, 0x90, 0x98, 0x9b, 0x9d, 0x9e, 0x9f}, r) {
		return byte(r) - 0x40
	}
	return 0
}

// ascii follows the sequence through one byte.
func (f *framer) ascii(c byte) {
	switch {
	case f.state == answerEnd && c == '\\', f.state == answer && c == bel:
		f.pending = append(f.pending, c)
		f.complete()
		return
	case f.state == answerEnd: // another sequence
		f.begin(esc)
	}
	switch {
	case c == esc:
		f.escape()
	case f.state == escape:
		f.introduce(c)
	case f.state == ground:
		f.run = append(f.run, c)
	case c < ' ' || c == del: // a key: ctrl+c always acts
		f.abandon()
		f.run = append(f.run, c)
	case f.state == answer:
		f.add(c, len(f.pending) < maxString)
	case f.state == control:
		f.controlByte(c)
	case f.state == console || c < '0' || c > '9': // also the end of ESC O
		f.pending = append(f.pending, c)
		f.complete()
	default:
		f.digits++
		f.add(c, f.digits <= maxDigits)
	}
}

// escape handles ESC: a second one is the prefix of alt, the third starts again, and one within a sequence ends it.
func (f *framer) escape() {
	switch {
	case f.state == answer:
		f.pending = append(f.pending, esc)
		f.state = answerEnd
	case f.state == escape && len(f.pending) == 1:
		f.pending = append(f.pending, esc)
	default:
		f.abandonKey()
		f.begin(esc)
	}
}

// introduce handles the byte after ESC.
func (f *framer) introduce(c byte) {
	if c < ' ' && !strings.ContainsRune("\b\t\n\r", rune(c)) { // two keys: ctrl+c always acts
		f.abandonKey()
		f.run = append(f.run, c)
		return
	}
	f.pending = append(f.pending, c)
	switch c {
	case '[':
		f.state = control
	case 'O':
		f.state = single
	case 'P', ']', '_', '^', 'X':
		f.state = answer
	default: // a key with alt
		f.complete()
	}
}

func (f *framer) controlByte(c byte) {
	first := f.pending[len(f.pending)-1] == '[' && f.params+f.digits == 0
	switch {
	case c == ';' || c == ':':
		f.params, f.digits = f.params+1, 0
		f.add(c, f.params < maxParams)
	case c < '@' && !f.shifted(c):
		f.digits++
		f.add(c, f.digits <= maxDigits)
	default:
		f.pending = append(f.pending, c)
		switch {
		case first && c == 'M':
			f.state = mouse
		case first && c == '[':
			f.state = console
		default:
			f.complete()
		}
	}
}

// shifted reports whether c ends a shifted key of URxvt, such as ESC [ 7 $. In answers, $ follows several parameters
// or a prefix.
func (f *framer) shifted(c byte) bool {
	last := f.pending[len(f.pending)-1]
	return c == '$' && f.params == 0 && last >= '0' && last <= '9' && f.pending[bytes.IndexByte(f.pending, '[')+1] < '<'
}

// mouseByte takes a byte of a mouse report without parameters. A position that it cannot express is 0.
func (f *framer) mouseByte(in []byte) int {
	if c := in[0]; c != 0 && c < ' ' {
		f.ascii(c)
		return 1
	}
	f.pending = append(f.pending, in[0])
	f.drop = f.drop || in[0] == 0
	if len(f.pending) == bytes.IndexByte(f.pending, '[')+5 {
		f.complete()
	}
	return 1
}

// add appends a byte to the sequence, or marks the sequence as one to drop.
func (f *framer) add(c byte, fits bool) {
	if !fits {
		f.drop = true
		return
	}
	f.pending = append(f.pending, c)
}

func (f *framer) begin(c byte) {
	f.abandon()
	f.state, f.pending = escape, append(f.pending, c)
}

// complete passes on the sequence and returns to text.
func (f *framer) complete() {
	isStart := bytes.HasSuffix(f.pending, []byte(pasteStart))
	switch {
	case f.drop:
	case isStart && len(f.pending) > len(pasteStart): // ESC, then a paste
		f.emit(sequence, f.pending[:1])
	case !isStart:
		f.emit(sequence, f.pending)
	}
	drop := f.drop
	f.abandon()
	if isStart {
		f.state, f.drop = pasting, drop
	}
}

// abandon drops what is incomplete and returns to text.
func (f *framer) abandon() {
	f.state, f.drop, f.tooLong, f.params, f.digits = ground, false, false, 0, 0
	f.pending, f.paste = f.pending[:0], nil
}

// abandonKey returns to text, but passes on ESC if it was not followed by a sequence of its own.
func (f *framer) abandonKey() {
	if f.state == escape && !f.drop {
		f.emit(sequence, f.pending)
	}
	f.abandon()
}

func (f *framer) pasteByte(c byte) {
	if len(f.paste) >= maxPaste { // only its end is looked for
		f.tooLong = true
		f.paste = append(f.paste[:0], f.paste[len(f.paste)-len(pasteEnd):]...)
	}
	f.paste = append(f.paste, c)
	if c != '~' {
		return
	}
	for _, end := range pasteEnds {
		if bytes.HasSuffix(f.paste, []byte(end)) {
			f.endPaste(len(end))
			return
		}
	}
}

// endPaste passes on the paste without its last n bytes.
func (f *framer) endPaste(n int) {
	switch {
	case f.tooLong:
		f.emit(lost, nil)
	case !f.drop:
		f.emit(pasted, f.paste[:len(f.paste)-n])
	}
	f.abandon()
}

// partialEnd returns the length of the start of an end mark at the end of a paste.
func partialEnd(paste []byte) int {
	for n := len(pasteEnd) - 1; n > 0; n-- {
		for _, end := range pasteEnds {
			if n < len(end) && bytes.HasSuffix(paste, []byte(end[:n])) {
				return n
			}
		}
	}
	return 0
}

// emit adds a unit after the text before it.
func (f *framer) emit(k kind, b []byte) {
	if len(f.run) > 0 {
		f.units = append(f.units, unit{text, f.run})
		f.run = nil
	}
	f.units = append(f.units, unit{k, bytes.Clone(b)})
}

func (f *framer) flush() []unit {
	if len(f.run) > 0 {
		f.units = append(f.units, unit{text, f.run})
	}
	units := f.units
	f.run, f.units = nil, nil
	return units
}
