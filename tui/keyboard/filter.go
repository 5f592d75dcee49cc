package keyboard

import "unicode/utf8"

// Limits on one control sequence. The longest that a key, a mouse report or an answer
// needs has six parameters of at most seven digits (win32 input). A terminal that lists
// more about itself is cut short, which costs nothing that the dashboard reads.
const (
	maxParams = 16
	maxDigits = 7
)

// replacement takes the place of a byte that is not UTF-8.
const replacement = '?'

// filter removes what the decoder cannot be trusted with. Ultraviolet indexes past its
// 32 parameters in a longer sequence, and past its input in an 8-bit mouse report that
// was cut short, and panics (T8). So a control sequence has few parameters here, and
// bytes are UTF-8, which no 8-bit control is.
type filter struct {
	state  state
	params int    // separators in this sequence so far
	digits int    // other bytes in this parameter so far
	cut    []byte // the beginning of a character whose rest has not arrived
}

type state uint8

const (
	ground  state = iota
	escape        // after ESC
	control       // after ESC [
)

// pass appends what is left of in to out. It keeps only an incomplete character back,
// unless end says that nothing follows.
func (f *filter) pass(out, in []byte, end bool) []byte {
	text := append(f.cut, in...)
	for len(text) > 0 {
		if text[0] < utf8.RuneSelf {
			if f.passes(text[0]) {
				out = append(out, text[0])
			}
			text = text[1:]
			continue
		}
		if !end && !utf8.FullRune(text) {
			break
		}
		f.state = ground
		r, size := utf8.DecodeRune(text)
		if r == utf8.RuneError && size == 1 {
			out = append(out, replacement)
		} else {
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	f.cut = append(f.cut[:0], text...)
	return out
}

// passes follows the sequence through one ASCII byte and reports whether it is kept.
func (f *filter) passes(b byte) bool {
	switch {
	case b == 0x1b:
		f.state = escape
	case f.state == escape && b == '[':
		f.state, f.params, f.digits = control, 0, 0
	case f.state != control, b < 0x20, b >= 0x40:
		f.state = ground
	case b == ';' || b == ':':
		f.params, f.digits = f.params+1, 0
		return f.params < maxParams
	default: // a digit, a prefix or an intermediate
		f.digits++
		return f.params < maxParams && f.digits <= maxDigits
	}
	return true
}
