package keyboard

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
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
	k := New(in, h.send)
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

// fragile panics at an exclamation mark.
func fragile(b []byte) (int, uv.Event) {
	if b[0] == '!' {
		panic("a fault of the decoder")
	}
	return 1, uv.KeyPressEvent{Code: rune(b[0]), Text: string(b[:1])}
}

func TestAFaultInTheDecoderCostsWhatItWasGiven(t *testing.T) {
	h := &heard{}
	k := New(iotest.OneByteReader(strings.NewReader("ab!cd!e")), h.send)
	k.decode = fragile
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
	k := New(slave, func(msg tea.Msg) {
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
		k := New(in, func(msg tea.Msg) {
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
func TestAPasteWhoseEndIsLostEndsAfterSilence(t *testing.T) {
	for name, c := range map[string]struct {
		chunks []string // half of the patience apart
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
				k := New(in, h.send)
				if err := k.Start(); err != nil {
					t.Fatal(err)
				}
				for _, chunk := range c.chunks {
					if _, err := io.WriteString(out, chunk); err != nil {
						t.Fatal(err)
					}
					time.Sleep(patience/2 + time.Millisecond)
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

func TestAPasteThatIsTooLongIsDroppedAndReported(t *testing.T) {
	for n, want := range map[int]string{maxPaste - 6: strings.Repeat("x", maxPaste-6), maxPaste + 100: ""} {
		in := "a" + pasteStart + strings.Repeat("x", n) + pasteEnd + "z" + pasteStart + "y" + pasteEnd
		pasted := "[" + want + "]"
		if want == "" {
			pasted = "<garbled>"
		}
		if got := types(t, strings.NewReader(in)).text(); got != "a"+pasted+"z[y]" {
			t.Errorf("a paste of %d bytes gave %.60q", n, got)
		}
	}
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
	device, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	defer tty.Close()
	in := stolen{tty, make(chan struct{}), make(chan struct{})}
	defer close(in.end)
	k := New(in, (&heard{}).send)
	if err := k.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := device.WriteString("x\n"); err != nil {
		t.Fatal(err)
	}
	<-in.read
	k.Close()
}
