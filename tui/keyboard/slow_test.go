package keyboard

import (
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// sequences are all kinds that a terminal may send: keys, pastes, the mouse, focus and answers, in their 7-bit and
// 8-bit forms.
var sequences = []string{
	// Keys: cursor, editing and function keys of xterm, URxvt, the Linux console and with modifiers.
	"\x1b[A", "\x1b[1;5C", "\x1bOP", "\x1bOA", "\x1bO5A", "\x1b[15~", "\x1b[3;2~", "\x1b[Z", "\x1b[7$", "\x1b[23@", "\x1b[8^", "\x1b[a",
	"\x1b[[A", "\x1b[[E", "\x1b[27;2;13~", "\x1b[27;5;9~", "\x1b\x1b[A", "\x1b[1;2R", "\x1b[M !!", "\x9bA", "\x9b1;5C", "\u009b5~", "\x8fP",
	// Alt with a key, and characters of several bytes.
	"\x1bx", "\x1b\r", "\x1bä", "ä", "😀",
	// Kitty and win32.
	"\x1b[13;2u", "\x1b[97;5:1;97u", "\x1b[57352;1:1u", "\x1b[27u", "\x1b[0;30;97;1;0;1_", "\x1b[65;30;97;1;0;1_",
	// Pastes: plain, empty, of several lines, with sequences and half marks in them.
	"\x1b[200~hello\x1b[201~", "\x1b[200~\x1b[201~", "\x1b[200~two\r\nlines \x1b[31mred\x1b[20\x1b[201~", "\x9b200~hi\x9b201~", "\x1b[200~é\x1b[201~",
	// The mouse: SGR, URxvt, and the old 8-bit report (S31).
	"\x1b[<0;10;20M", "\x1b[<64;120;33m", "\x1b[32;10;20M", "\x1b[M\x20\x84\xa2", "\x9bM\x20\x84\xa2", "\x9bM$\x9c\x9c", "\x1b[M \x00!",
	// Focus, colours, modes, sizes.
	"\x1b[I", "\x1b[O", "\x1b]11;rgb:ffff/ffff/ffff\a", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\", "\x1b]10;rgb:00/00/00\x1b\\", "\x1b]4;1;rgb:ff/00/00\a",
	"\x9d11;rgb:ffff/ffff/ffff\x9c", "\x1b[?997;1n", "\x1b[?2026;2$y", "\x1b[4;2$y", "\x1b[?1u", "\x1b[>4;1m", "\x1b[48;24;80;480;800t", "\x1b[8;24;80t",
	"\x1b[24;80R", "\x1b[?24;80R", "\x1b[0n", "\x1b[?62;22;52c", "\x1b[>41;354;0c",
	// Strings: XTVERSION, XTGETTCAP, DECRQSS, tertiary attributes, graphics, titles, clipboard.
	"\x1bP>|kitty(0.35.2)\x1b\\", "\x1bP1+r524742=38\x1b\\", "\x1bP0+r\x1b\\", "\x1bP1$r0m\x1b\\", "\x1bP!|7E565445\x1b\\", "\x90>|xterm(390)\x9c",
	"\x1b_Gi=31;OK\x1b\\", "\x1b]ltitle ✓\x1b\\", "\x1b]52;c;aGk=\a",
}

// pauses of a slow line, up to two seconds.
var pauses = []time.Duration{
	0, time.Millisecond, 20 * time.Millisecond, 49 * time.Millisecond, 51 * time.Millisecond, 60 * time.Millisecond, 120 * time.Millisecond,
	500 * time.Millisecond, 1100 * time.Millisecond, 2 * time.Second,
}

// line is a keyboard at the end of a line that delivers what is sent in pieces. It lives in a bubble.
type line struct {
	heard
	t   *testing.T
	in  io.Writer
	end func()
}

func newLine(t *testing.T) *line {
	in, out := io.Pipe()
	l := &line{t: t, in: out}
	k := New(in, l.send)
	testkit.Must(t, k.Start())
	l.end = func() { _ = out.Close(); k.readers.Wait() }
	return l
}

func (l *line) write(bytes string) {
	write(l.t, l.in, bytes)
	synctest.Wait()
}

// acts returns what the pieces did with a pause between them, and whether a key acted afterwards.
func (l *line) acts(pieces []string, pause func() time.Duration) (did []string, alive bool) {
	l.takes()
	for i, piece := range pieces {
		if i > 0 {
			time.Sleep(pause())
		}
		l.write(piece)
	}
	time.Sleep(patience + time.Millisecond)
	synctest.Wait()
	did = l.takes()
	l.write("q")
	return did, slices.Equal(l.takes(), []string{"q"})
}

// L3, L4, S31: a paste whose end came in two reads ended all keys, and the rest of an answer or of a mouse report was
// typed. Every sequence, cut once anywhere with any pause, acts as the whole one or not at all. A cut right after ESC
// can act as that key, but not where the terminal has said that it sends ESC as a sequence.
func TestACutSequenceActsAsTheWholeOneOrNotAtAll(t *testing.T) {
	const unambiguous = "\x1b[?1u"
	for _, says := range []string{"", unambiguous} {
		for _, sequence := range sequences {
			synctest.Test(t, func(t *testing.T) {
				l := newLine(t)
				defer l.end()
				l.write(says)
				whole, _ := l.acts([]string{sequence}, nil)
				for cut := 1; cut < len(sequence) && (says != "" || sequence != unambiguous); cut++ {
					for _, pause := range pauses {
						did, alive := l.acts([]string{sequence[:cut], sequence[cut:]}, func() time.Duration { return pause })
						excused := says == "" && cut <= 2 && (len(did) == 0 || actsAsEsc(sequence, cut, did, whole))
						if !alive || !slices.Equal(did, whole) && !excused {
							t.Fatalf("after %q: %q | %v | %q did %q, whole it does %q; the next key acted: %v", says, sequence[:cut], pause, sequence[cut:], did, whole, alive)
						}
					}
				}
			})
		}
	}
}

// actsAsEsc reports whether a sequence that was cut right after ESC acted as that key. Two keys in which ESC means
// alt then are esc and the other key.
func actsAsEsc(sequence string, cut int, did, whole []string) bool {
	if sequence[:cut] == "\x1b" {
		rest := strings.TrimPrefix(strings.Join(whole, ""), "alt+")
		return slices.Equal(did, []string{"esc"}) || len(did) == 2 && did[0] == "esc" && did[1] == rest
	}
	return sequence[:cut] == "\x1b\x1b" && slices.Equal(did, []string{"alt+esc"})
}

// Cut at any number of places but after ESC, and mixed with others, sequences act as if they had come whole.
func TestSequencesInManyPiecesActAsWholeOnes(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		some := rapid.SliceOfN(rapid.SampledFrom(append(sequences, "a", "\x7f", "\r")), 1, 4).Draw(rt, "sequences")
		in := strings.Join(some, "")
		var pieces []string
		for rest := in; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "n")
			for n < len(rest) && rest[n-1] == esc {
				n++
			}
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		pause := rapid.SampledFrom(pauses)
		var whole, did []string
		var alive bool
		synctest.Test(t, func(t *testing.T) {
			l := newLine(t)
			whole, _ = l.acts([]string{in}, nil)
			l.end()
			l = newLine(t)
			did, alive = l.acts(pieces, func() time.Duration { return pause.Draw(rt, "pause") })
			l.end()
		})
		if !slices.Equal(did, whole) || !alive {
			rt.Fatalf("%q did %q, whole %q; alive: %v", pieces, did, whole, alive)
		}
	})
}

// Whatever the input was, two and a half seconds later a key acts.
func TestNoInputEndsTheKeys(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		piece := rapid.OneOf(
			rapid.SampledFrom([]string{"\x1b", "\x1b[", "\x1b]", "\x1bP", "\x9d", "\x90", "\x1b[M", pasteStart, "\x1b[20", "\x1b[<", "\x1b[?1u", "\xe2"}),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
		)
		pieces := rapid.SliceOfN(piece, 1, 6).Draw(rt, "pieces")
		pause := rapid.SampledFrom(pauses)
		var alive bool
		synctest.Test(t, func(t *testing.T) {
			l := newLine(t)
			defer l.end()
			_, alive = l.acts(pieces, func() time.Duration { return pause.Draw(rt, "pause") })
		})
		if !alive {
			rt.Fatalf("after %q no key acts", pieces)
		}
	})
}

// What is written, with pauses between, and what was sent by the end. S34: after a paste whose end was lost, no key had an effect, q and ctrl+c neither.
func TestPausesEndWhatIsIncomplete(t *testing.T) {
	const short, half, long = 60 * time.Millisecond, patience/2 + time.Millisecond, patience + time.Millisecond
	for _, c := range []struct {
		name   string
		pause  time.Duration
		chunks []string
		want   string
	}{
		{"a lone ESC acts within 60 ms", short, []string{"\x1b", "\x1b"}, "esc esc"},
		{"a key after it is no rest of a sequence", short, []string{"j\x1b", "[", "O", "[x"}, "j esc [ O [ x"},
		{"a terminal that has promised to send ESC as a sequence and does not loses one press", long, []string{"\x1b[?1u\x1b", ""}, ""},
		{"but not two", long, []string{"\x1b[?1u\x1b", "\x1b"}, "esc"},
		{"another program has changed it", short, []string{"\x1b[?1u", "\x1b[?0u", "\x1b"}, "esc"},
		{"a paste whose end is lost", half, []string{"a\x1b[200~te", "x", "t", "", "", "q"}, "a [text] q"},
		{"a paste whose end is cut", half, []string{"\x1b[200~text\x1b[20", "", "", "q"}, "[text] q"},
		{"a whole paste", half, []string{"\x1b[200~text\x1b[201~", "", "", "q"}, "[text] q"},
		{"a paste that is slow but never mute", half, []string{"\x1b[200~te", "x", "t", "q\x1b[201~z"}, "[textq] z"},
		{"two pastes", half, []string{"\x1b[200~a\x1b[201~\x1b[200~b", "", "", "q"}, "[a] [b] q"},
		{"a paste with a late end", half, []string{"\x1b[200~a", "", "", "\x1b[201~q"}, "[a] q"},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLine(t)
			for _, chunk := range c.chunks {
				l.write(chunk)
				time.Sleep(c.pause)
			}
			synctest.Wait()
			if got := strings.Join(l.takes(), " "); got != c.want {
				t.Errorf("%s: sent %q, not %q", c.name, got, c.want)
			}
			l.end()
		})
	}
}

// Control keys end whatever is incomplete, and act.
func TestCtrlCActsInTheMiddleOfAnySequenceButAPaste(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLine(t)
		defer l.end()
		for _, sequence := range sequences {
			for cut := 1; cut < len(sequence) && !strings.Contains(sequence[:cut], "200~"); cut++ {
				l.write(sequence[:cut] + "\x03")
				if got := l.takes(); len(got) == 0 || got[len(got)-1] != "ctrl+c" {
					t.Errorf("%q and ctrl+c: %q", sequence[:cut], got)
				}
			}
		}
	})
}
