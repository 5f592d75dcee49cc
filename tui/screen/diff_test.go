package screen

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"pgregory.net/rapid"
)

func TestTheRestOfALineMakesItWhole(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", " ", "12", "│", "世", "é", "é", "\x1b[1;38;2;1;2;3mred\x1b[22;39m", "\x1b[48;5;4mback\x1b[38;5;1m both\x1b[39;49m", "\x1b[7mturned\x1b[27m",
		"\x1b[3;4mlines\x1b[23;24m", "\x1b[91mx\x1b[39m", "\x1b[2mf\x1b[0m",
	})
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) string { return strings.Join(rapid.SliceOfN(piece, 0, 5).Draw(t, name), "") }
		same := draw("same")
		was, now := same+draw("was"), same+draw("now")
		n, width := kept(was, now)
		if was[:n] != now[:n] || width != ansi.StringWidth(now[:n]) {
			t.Fatalf("%q is kept of %q and %q", now[:n], was, now)
		}
		show := func(frames ...string) string {
			e := vt.NewEmulator(60, 1)
			s := New(context.Background(), e, nil)
			if err := s.Open(); err != nil {
				t.Fatal(err)
			}
			for _, f := range frames {
				if err := s.Paint([]string{f}); err != nil {
					t.Fatal(err)
				}
			}
			return e.Render()
		}
		if got, want := show(was, now), show(now); got != want {
			t.Fatalf("after %q, %q looks like %q, alone like %q", was, now, got, want)
		}
	})
}

// modes describes the settings of a terminal.
func modes(t *testing.T, f *os.File) string {
	t.Helper()
	s, err := term.GetState(f.Fd())
	must(t, err)
	return fmt.Sprintf("%+v", *s)
}
