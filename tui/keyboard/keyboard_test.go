package keyboard

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/creack/pty"
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

// text is the keys that were pressed, one after the other, and pastes in brackets.
func (h *heard) text() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for _, msg := range h.msgs {
		switch msg := msg.(type) {
		case tea.KeyPressMsg:
			b.WriteString(msg.String())
		case tea.PasteMsg:
			b.WriteString("[" + msg.Content + "]")
		case GarbledMsg:
			b.WriteString("<garbled>")
		}
	}
	return b.String()
}

// types feeds a keyboard with all of in and returns what it sent.
func types(t *testing.T, in io.Reader) *heard {
	t.Helper()
	h := &heard{}
	k := New(in, "xterm-256color", h.send)
	if err := k.Start(); err != nil {
		t.Fatal(err)
	}
	k.readers.Wait()
	return h
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
		h := types(t, strings.NewReader("a"+bytes+"\x1b[Az"))
		got := h.text()
		if !strings.HasPrefix(got, "a") || !strings.HasSuffix(got, "z") {
			t.Errorf("%q between a and z gave %q", bytes, got)
		}
		if strings.Contains(got, "<garbled>") {
			t.Errorf("%q reached the decoder: %q", bytes, got)
		}
	}
}

func TestOrdinaryInputPassesUnchanged(t *testing.T) {
	for in, want := range map[string]string{
		"hello":                          "hello",
		"äö😀":                            "äö😀",
		"\x1b[A\x1b[1;5C\x1bOP":          "upctrl+rightf1",
		"\x1b[27;2;13~":                  "shift+enter",
		"\x1b[13;2u":                     "shift+enter",
		"\x1b[200~two\r\nlines\x1b[201~": "[two\r\nlines]",
		"\x1b[0;30;97;1;0;1_":            "a",
	} {
		for name, r := range map[string]io.Reader{
			"whole": strings.NewReader(in), "by byte": iotest.OneByteReader(strings.NewReader(in)),
		} {
			if got := types(t, r).text(); got != want {
				t.Errorf("%q read %s gave %q, not %q", in, name, got, want)
			}
		}
	}
}

// However bytes are split between reads, the same bytes pass, and none is added.
func TestTheFilterDoesNotDependOnHowBytesArrive(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		alphabet := rapid.OneOf(
			rapid.SampledFrom([]string{"\x1b", "[", ";", ":", "?", "1", "38", "m", "M", "~", "<", "_", "\x9b", "\x18", "ä", "\xc3", "x"}),
			rapid.Map(rapid.Byte(), func(b byte) string { return string([]byte{b}) }),
		)
		in := []byte(strings.Join(rapid.SliceOfN(alphabet, 0, 60).Draw(t, "in"), ""))
		var whole filter
		want := string(whole.pass(nil, in, true))
		var f filter
		var got []byte
		for rest := in; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			got = f.pass(got, rest[:n], n == len(rest))
			rest = rest[n:]
		}
		if string(got) != want {
			t.Fatalf("%q gave %q in pieces, %q whole", in, got, want)
		}
		if len(got) > len(in) {
			t.Fatalf("%q grew to %q", in, got)
		}
		for _, sequence := range strings.Split(string(got), "\x1b[")[1:] {
			end := strings.IndexFunc(sequence, func(r rune) bool { return r == can || r == sub || r >= 0x40 })
			if end < 0 {
				end = len(sequence)
			}
			if n := strings.Count(sequence[:end], ";") + strings.Count(sequence[:end], ":"); n >= maxParams {
				t.Fatalf("%q has a sequence of %d separators: %q", in, n, got)
			}
		}
	})
}

// fragile panics when it reads an exclamation mark.
type fragile struct{ in io.Reader }

func (f fragile) StreamEvents(_ context.Context, events chan<- uv.Event) error {
	b := make([]byte, 1)
	for {
		n, err := f.in.Read(b)
		if err != nil {
			return err
		}
		if n > 0 && b[0] == '!' {
			panic("a fault of the decoder")
		}
		events <- uv.KeyPressEvent{Code: rune(b[0]), Text: string(b)}
	}
}

func TestAFaultInTheDecoderCostsWhatItWasGiven(t *testing.T) {
	h := &heard{}
	k := New(iotest.OneByteReader(strings.NewReader("ab!cd!e")), "xterm", h.send)
	k.newer = func(in io.Reader, _ string) decoder { return fragile{in} }
	if err := k.Start(); err != nil {
		t.Fatal(err)
	}
	k.readers.Wait()
	if got, want := h.text(), "ab<garbled>cd<garbled>e"; got != want {
		t.Errorf("sent %q, not %q", got, want)
	}
}

// The program that the terminal is lent to gets each key that is pressed from then on.
func TestAStoppedKeyboardLeavesTheTerminalToOthers(t *testing.T) {
	testkit.Alone(t)
	master, slave, err := pty.Open()
	if err != nil {
		t.Skip("no pseudo terminal: ", err)
	}
	defer master.Close()
	defer slave.Close()
	arrived := make(chan string, 8)
	k := New(slave, "xterm", func(msg tea.Msg) {
		if key, ok := msg.(tea.KeyPressMsg); ok {
			arrived <- key.String()
		}
	})
	for _, name := range []string{"x", "y"} { // again after a pause
		if err := k.Start(); err != nil {
			t.Fatal(err)
		}
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

func write(t *testing.T, f *os.File, text string) {
	t.Helper()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func TestAReceiverMayStopTheKeyboardWhileItIsBeingSentTo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, out := io.Pipe()
		got, release := make(chan tea.Msg), make(chan struct{})
		k := New(in, "xterm", func(msg tea.Msg) {
			select {
			case got <- msg:
			case <-release:
			}
		})
		if err := k.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = out.Write([]byte("abc")) }()
		<-got
		k.Stop()
		_ = out.CloseWithError(errors.New("gone"))
		close(release)
		k.readers.Wait()
	})
}

func TestAClaimedSizeIsLimited(t *testing.T) {
	h := types(t, strings.NewReader("\x1b[48;9999999;9999999;0;0t"))
	if len(h.msgs) != 1 || h.msgs[0] != (tea.WindowSizeMsg{Width: maxWidth, Height: maxHeight}) {
		t.Errorf("sent %v", h.msgs)
	}
}

// S34: after a paste whose end was lost, no key had an effect, q and ctrl+c neither.
func TestAPasteWhoseEndIsLostEndsAfterASecondOfSilence(t *testing.T) {
	for name, c := range map[string]struct {
		chunks []string // half a second apart
		want   string
	}{
		"lost":                {[]string{"a\x1b[200~te", "x", "t", "", "", "q"}, "a[text]q"},
		"cut":                 {[]string{"\x1b[200~text\x1b[20", "", "", "q"}, "[text]q"},
		"whole":               {[]string{"\x1b[200~text\x1b[201~", "", "", "q"}, "[text]q"},
		"slow but never mute": {[]string{"\x1b[200~te", "x", "t", "q\x1b[201~z"}, "[textq]z"},
		"two":                 {[]string{"\x1b[200~a\x1b[201~\x1b[200~b", "", "", "q"}, "[a][b]q"},
		"a late end":          {[]string{"\x1b[200~a", "", "", "\x1b[201~q"}, "[a]q"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, out := io.Pipe()
				h := &heard{}
				k := New(in, "xterm", h.send)
				if err := k.Start(); err != nil {
					t.Fatal(err)
				}
				for _, chunk := range c.chunks {
					if _, err := io.WriteString(out, chunk); err != nil {
						t.Fatal(err)
					}
					time.Sleep(pasteSilence/2 + time.Millisecond)
				}
				_ = out.Close()
				k.readers.Wait()
				if got := h.text(); got != c.want {
					t.Errorf("sent %q, not %q", got, c.want)
				}
			})
		})
	}
}

func TestAPasteIsFollowedHoweverItsBytesArrive(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		piece := rapid.SampledFrom([]string{"a", "\x1b", "\x1b[200", "~", string(pasteStart), string(pasteEnd)})
		in := strings.Join(rapid.SliceOfN(piece, 0, 8).Draw(t, "in"), "")
		var p paste
		for rest := in; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			p.follow([]byte(rest[:n]))
			rest = rest[n:]
		}
		if want := strings.LastIndex(in, string(pasteStart)) > strings.LastIndex(in, string(pasteEnd)); p.open != want {
			t.Fatalf("%q: open is %v", in, p.open)
		}
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
		h := types(t, io.MultiReader(strings.NewReader(string(in[:at])), strings.NewReader(string(in[at:]))))
		for _, msg := range h.msgs {
			if msg == (GarbledMsg{}) {
				t.Fatalf("%q was not decoded", in)
			}
		}
	})
}
