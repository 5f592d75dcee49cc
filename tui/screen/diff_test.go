package screen

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestTheRestOfALineMakesItWhole(t *testing.T) {
	piece := rapid.SampledFrom([]string{
		"a", " ", "12", "│", "世", "é", "é", "\x1b[1;38;2;1;2;3mred\x1b[22;39m", "\x1b[48;5;4mback\x1b[38;5;1m both\x1b[39;49m", "\x1b[7mturned\x1b[27m",
		"\x1b[3;4mlines\x1b[23;24m", "\x1b[91mx\x1b[39m", "\x1b[2mf\x1b[0m",
	})
	testkit.Check(t, func(t *rapid.T) {
		draw := func(name string) string { return strings.Join(rapid.SliceOfN(piece, 0, 5).Draw(t, name), "") }
		same := draw("same")
		was, now := same+draw("was"), same+draw("now")
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

func TestTheChangedCellsOfManyRowsMakeThemWhole(t *testing.T) {
	const width, height = 12, 3
	char := rapid.SampledFrom([]string{"a", "b", " ", "│", "é"})
	odd := rapid.SampledFrom([]string{"世", "é", "👍🏽"})
	colour := rapid.SampledFrom([]string{
		"", "", "", "", "\x1b[0m", "\x1b[m", "\x1b[1;38;2;1;2;3m", "\x1b[22;39m", "\x1b[48;5;4m", "\x1b[49m", "\x1b[7m", "\x1b[27m", "\x1b[3;4m", "\x1b[23;24m", "\x1b[2m", "\x1b[91m", "\x1b[4:3;58;5;9m",
	})
	testkit.Check(t, func(t *rapid.T) {
		piece := func() string {
			if rapid.IntRange(0, 30).Draw(t, "odd") == 0 {
				return odd.Draw(t, "character")
			}
			return char.Draw(t, "character")
		}
		line := func(like string) string {
			var b strings.Builder
			n := 0
			if cells := rapid.IntRange(0, width).Draw(t, "as before"); like != "" {
				head := ansi.Truncate(like, cells, "")
				b.WriteString(head)
				n = ansi.StringWidth(head)
			}
			for n < width {
				p := piece()
				if n += ansi.StringWidth(p); n <= width {
					b.WriteString(colour.Draw(t, "colour") + p)
				}
			}
			return b.String()
		}
		frame := make([]string, height)
		e := vt.NewEmulator(width, height)
		s := New(context.Background(), e, nil)
		testkit.Must(t, s.Open())
		for range rapid.IntRange(1, 4).Draw(t, "frames") {
			for i := range frame {
				frame[i] = line(frame[i])
			}
			testkit.Must(t, s.Paint(frame))
			fresh := vt.NewEmulator(width, height)
			whole := New(context.Background(), fresh, nil)
			testkit.Must(t, whole.Open())
			testkit.Must(t, whole.Paint(frame))
			if got, want := e.Render(), fresh.Render(); got != want {
				t.Fatalf("%q looks like %q, alone like %q", frame, got, want)
			}
		}
	})
}

// S33: a change of focus, which colours the borders, wrote each row from its border on.
func TestABorderThatChangesItsColourCostsTheBorder(t *testing.T) {
	g := newGlass(120, 40)
	s := opened(t, g)
	frame := func(left, right string) []string {
		row := "\x1b[" + left + "m│\x1b[39m" + strings.Repeat("a", 58) + "\x1b[" + left + "m│\x1b[" + right + "m│\x1b[39m" + strings.Repeat("b", 58) + "\x1b[" + right + "m│\x1b[39m"
		return slices.Repeat([]string{row}, 40)
	}
	testkit.Must(t, s.Paint(frame("38;5;1", "38;5;2")))
	before := g.bytes
	testkit.Must(t, s.Paint(frame("38;5;2", "38;5;1")))
	if got := g.bytes - before; got > 40*75 {
		t.Errorf("%d bytes for the borders of 40 rows", got)
	}
}

// modes describes the settings of a terminal.
func modes(t *testing.T, f *os.File) string {
	t.Helper()
	s, err := term.GetState(f.Fd())
	testkit.Must(t, err)
	return fmt.Sprintf("%+v", *s)
}
