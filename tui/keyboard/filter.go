package keyboard

import "unicode/utf8"

// Limits on one control sequence. The longest that a key, a mouse report or an answer needs has six parameters of at
// most seven digits (win32 input). Longer answers of a terminal are cut, which does not affect anything that the
// dashboard reads.
const (
	maxParams = 16
	maxDigits = 7
)

// filter removes input that the decoder cannot handle safely. Ultraviolet indexes past its 32 parameters in a longer
// sequence, and past its input in an 8-bit mouse report that was cut short, and panics (T8). So the filter limits the
// parameters of a control sequence and requires plain ASCII without control characters; all other bytes must be
// UTF-8, which excludes 8-bit controls.
type filter struct {
	state  state
	params int    // separators in this sequence so far
	digits int    // other bytes in this parameter so far
	cut    []byte // the start of an incomplete character
}

type state uint8

const (
	ground  state = iota
	escape        // after ESC
	control       // in the parameters of CSI or DCS
)

// pass appends what is left of in to out. It holds back only an incomplete character, unless end is set.
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
		if r, size := utf8.DecodeRune(text); f.state == control || r == utf8.RuneError && size == 1 {
			text = text[1:]
		} else {
			f.state = ground
			out, text = append(out, text[:size]...), text[size:]
		}
	}
	f.cut = append(f.cut[:0], text...)
	return out
}

const (
	esc = 0x1b
	can = 0x18 // ends a sequence, as sub does
	sub = 0x1a
	del = 0x7f
)

// passes follows the sequence through one ASCII byte and reports whether it is kept.
func (f *filter) passes(b byte) bool {
	switch {
	case b == esc:
		f.state = escape
	case f.state == escape && (b == '[' || b == 'P'):
		f.state, f.params, f.digits = control, 0, 0
	case f.state != control || b == can || b == sub:
		f.state = ground
	case b < 0x20 || b == del:
		return false
	case b >= 0x40: // the final byte
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
