package keyboard

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// heard is what a keyboard has sent.
type heard struct {
	mu   sync.Mutex
	msgs []tea.Msg
}

func (h *heard) send(msg tea.Msg) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.msgs = append(h.msgs, msg)
}

// takes gives what was sent since the last call: keys by their names, pastes in brackets, and anything else with its type.
func (h *heard) takes() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := []string{}
	for _, msg := range h.msgs {
		switch msg := msg.(type) {
		case tea.KeyPressMsg:
			all = append(all, msg.String())
		case tea.PasteMsg:
			all = append(all, "["+msg.Content+"]")
		default:
			all = append(all, fmt.Sprintf("%T%v", msg, msg))
		}
	}
	h.msgs = nil
	return all
}

// types feeds a keyboard with all of in and returns what it sent.
func types(t *testing.T, in io.Reader) []string {
	t.Helper()
	h := &heard{}
	k := New(in, h.send)
	testkit.Must(t, k.Start())
	k.readers.Wait()
	return h.takes()
}

// The sequences of T8: each ended the whole bot, from a read-only viewer as well.
var deadly = []string{
	"\x1b[" + strings.Repeat("1;", 33) + "m",
	"\x9bM\x24\x9c\x9c",
	"\x1b[200~\x1b[" + strings.Repeat("38;2;1;2;3;", 12) + "m\x1b[201~",
	"\x1b[?" + strings.Repeat("6;", 34) + "c",
	"\x1b[" + strings.Repeat("4:", 40) + "m",
	"\x1b[\xfa" + strings.Repeat(";", 32) + "0",
	"\x1b[" + strings.Repeat("1;", 10) + "\x07" + strings.Repeat("1;", 25) + "m",
	"\x1bP" + strings.Repeat("1;", 40) + "q\x1b\\",
	"\xc2\x9b" + strings.Repeat("1;", 33) + "m",
}

func TestNoSequenceOfT8StopsTheKeys(t *testing.T) {
	for _, bytes := range deadly {
		got := types(t, strings.NewReader("a"+bytes+"\x1b[Az"))
		if got[0] != "a" || got[len(got)-1] != "z" || slices.Contains(got, garbled) {
			t.Errorf("%q between a and z gave %q", bytes, got)
		}
	}
}

// garbled is what the decoder could not read.
var garbled = fmt.Sprintf("%T%v", GarbledMsg{}, GarbledMsg{})

func TestInputMeansWhatTheTerminalSays(t *testing.T) {
	sent := func(msgs ...tea.Msg) string { return strings.Join((&heard{msgs: msgs}).takes(), " ") }
	white := sent(tea.BackgroundColorMsg{Color: color.RGBA{255, 255, 255, 255}})
	paste := func(n int) string {
		return "a" + pasteStart + strings.Repeat("x", n) + pasteEnd + "z" + pasteStart + "y" + pasteEnd
	}
	for in, want := range map[string]string{
		"hello":                            "h e l l o",
		"äö😀":                              "ä ö 😀",
		"\x1b[A\x1b[1;5C\x1bOP":            "up ctrl+right f1",
		"\x1b[27;2;13~":                    "shift+enter",
		"\x1b[13;2u":                       "shift+enter",
		"\x1b[200~two\r\nlines\x1b[201~":   "[two\r\nlines]",
		"\x1b[0;30;97;1;0;1_":              "a",
		"\x1b]11;rgb:ffff/ffff/ffff\x1b\\": white,
		"\x9d11;rgb:ffff/ffff/ffff\x9c":    white, // 8-bit
		"\x9bM\x20\x84\xa2":                sent(tea.MouseClickMsg{X: 99, Y: 129, Button: tea.MouseLeft}),
		"\x1b[M \x00!":                     "", // a position that this report cannot express
		"\x1b\x1b[A":                       "alt+up",
		"\x1b\x1b[<0;1;1M":                 sent(tea.KeyPressMsg{Code: tea.KeyEscape}, tea.MouseClickMsg{Button: tea.MouseLeft}),
		"\x1b\x1b[200~a\x1b[201~":          "esc [a]",
		"\x9b200~a\x9b201~":                "[a]",
		"\x1b[[A":                          "",
		"\x1b[" + strings.Repeat("1;", maxParams) + "A": "", // too long
		"\x1b[1;00000005A": "",
		"\x1b]11;" + strings.Repeat("x", maxString) + "\aq": "q",
		"\x1b[1;1R":                    "f3",
		"\x1b[65;30;97;1;0;65535_":     strings.TrimSpace(strings.Repeat("a ", maxRepeats)),
		"\x1b[48;9999999;9999999;0;0t": sent(tea.WindowSizeMsg{Width: maxWidth, Height: maxHeight}), // a claimed size is limited
		paste(maxPaste - 6):            "a [" + strings.Repeat("x", maxPaste-6) + "] z [y]",
		paste(maxPaste + 100):          "a " + garbled + " z [y]", // a paste that is too long
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "by byte": iotest.OneByteReader(strings.NewReader(in))} {
			if got := strings.Join(types(t, r), " "); got != want && (name == "whole" || len(in) < 1000) {
				t.Errorf("%.40q read %s sent %.60q, not %.60q", in, name, got, want)
			}
		}
	}
}

// However bytes are split between reads, they are the same units, and none is longer than the decoder can take.
func TestUnitsDoNotDependOnHowBytesArrive(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		alphabet := rapid.OneOf(
			rapid.SampledFrom([]string{
				"\x1b", "[", "]", "O", "P", ";", ":", "?", "$", "1", "38", "m", "M", "~", "<", "_", "\\", "\a", "\x9b", "\x9c",
				"\x18", "\x03", "ä", "\xc3", "x", pasteStart, pasteEnd,
			}),
			rapid.Map(rapid.Byte(), func(b byte) string { return string([]byte{b}) }),
		)
		in := strings.Join(rapid.SliceOfN(alphabet, 0, 60).Draw(t, "in"), "")
		var whole framer
		want := joined(append(whole.take([]byte(in)), whole.expire()...))
		var f framer
		var got []unit
		for rest := in; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			got = append(got, f.take([]byte(rest[:n]))...)
			rest = rest[n:]
		}
		got = joined(append(got, f.expire()...))
		if d := cmp.Diff(want, got, cmp.AllowUnexported(unit{})); d != "" {
			t.Fatalf("%q in pieces (-whole, +in pieces):\n%s", in, d)
		}
		for _, u := range got {
			if n := bytes.Count(u.bytes, []byte(";")) + bytes.Count(u.bytes, []byte(":")); u.kind == sequence && bytes.HasPrefix(u.bytes, []byte("\x1b[")) && n >= maxParams {
				t.Fatalf("%q has a sequence of %d separators: %q", in, n, u.bytes)
			}
			if u.kind == text && !utf8.Valid(u.bytes) {
				t.Fatalf("%q has text that is none: %q", in, u.bytes)
			}
		}
	})
}

// joined puts text that was delivered in pieces together.
func joined(units []unit) (all []unit) {
	for _, u := range units {
		if last := len(all) - 1; last >= 0 && u.kind == text && all[last].kind == text {
			all[last].bytes = append(bytes.Clone(all[last].bytes), u.bytes...)
			continue
		}
		all = append(all, u)
	}
	return all
}

func TestAFaultInTheDecoderCostsWhatItWasGiven(t *testing.T) {
	h := &heard{}
	k := New(iotest.OneByteReader(strings.NewReader("ab!cd!e")), h.send)
	k.decode = func(b []byte) (int, uv.Event) {
		if b[0] == '!' {
			panic("a fault of the decoder")
		}
		return 1, uv.KeyPressEvent{Code: rune(b[0]), Text: string(b[:1])}
	}
	testkit.Must(t, k.Start())
	k.readers.Wait()
	if d := cmp.Diff([]string{"a", "b", garbled, "c", "d", garbled, "e"}, h.takes()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// The program that the terminal is lent to gets each key that is pressed from then on.
func TestAStoppedKeyboardLeavesTheTerminalToOthers(t *testing.T) {
	testkit.Alone(t)
	master, slave := terminal(t)
	arrived := make(chan string, 8)
	k := New(slave, func(msg tea.Msg) {
		if key, ok := msg.(tea.KeyPressMsg); ok {
			arrived <- key.String()
		}
	})
	for _, name := range []string{"x", "y"} { // again after a pause
		testkit.Must(t, k.Start())
		write(t, master, name+"\n")
		if got := <-arrived; got != name {
			t.Fatalf("pressed %q, got %q", name, got)
		}
		<-arrived // enter
		if !k.Stop() {
			t.Fatal("the read of a terminal was not interrupted")
		}
		write(t, master, "z\n")
		line := make([]byte, 8)
		n, err := slave.Read(line)
		if err != nil || string(line[:n]) != "z\n" {
			t.Fatalf("another reader got %q, %v", line[:n], err)
		}
	}
	k.Close()
	if len(arrived) > 0 {
		t.Errorf("%d keys of the other reader arrived", len(arrived))
	}
}

func terminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, slave, err := pty.Open()
	testkit.Must(t, err)
	t.Cleanup(func() { _ = master.Close(); _ = slave.Close() })
	return master, slave
}

func write(t *testing.T, to io.Writer, text string) {
	t.Helper()
	_, err := io.WriteString(to, text)
	testkit.Must(t, err)
}

// stolen is a terminal whose input another process gets, although it was there a moment ago.
type stolen struct {
	*os.File
	read, end chan struct{}
}

func (s stolen) Read([]byte) (int, error) {
	close(s.read)
	<-s.end
	return 0, io.EOF
}

func TestAReadThatNothingInterruptsDoesNotKeepTheKeyboard(t *testing.T) {
	testkit.Alone(t)
	device, tty := terminal(t)
	in := stolen{tty, make(chan struct{}), make(chan struct{})}
	defer close(in.end)
	k := New(in, (&heard{}).send)
	testkit.Must(t, k.Start())
	write(t, device, "x\n")
	<-in.read
	k.Close()
}

func TestAReceiverMayStopTheKeyboardWhileItIsBeingSentTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		got, release := make(chan tea.Msg), make(chan struct{})
		k := New(in, func(msg tea.Msg) {
			select {
			case got <- msg:
			case <-release:
			}
		})
		testkit.Must(t, k.Start())
		go func() { _, _ = out.Write([]byte("abc")) }()
		<-got
		k.Stop()
		_ = out.CloseWithError(errors.New("gone"))
		close(release)
		k.readers.Wait()
	})
}

// FuzzInput feeds the path that a viewer's bytes take, split in two at any place.
func FuzzInput(f *testing.F) {
	for _, bytes := range deadly {
		f.Add([]byte(bytes), 3)
	}
	f.Add([]byte("\x1b[<0;10;10M\x1b]11;rgb:0000/0000/0000\x07\x1bP1+r\x1b\\"), 7)
	f.Add([]byte("\x1b[M   \x1b[[A\x1bOP\x1b[200~x"), 4)
	f.Fuzz(func(t *testing.T, in []byte, at int) {
		if len(in) > 4<<10 {
			return
		}
		at = max(0, min(at, len(in)))
		got := types(t, io.MultiReader(strings.NewReader(string(in[:at])), strings.NewReader(string(in[at:]))))
		if slices.Contains(got, garbled) {
			t.Fatalf("%q was not decoded", in)
		}
	})
}
