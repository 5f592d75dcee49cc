package layout

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/tui/action"
)

// picture draws a plan: the inside of a box is filled with its pane's number,
// borders are #, and what belongs to nobody is a dot. It is scaled down so
// that a test shows it whole.
func picture(in Input, sx, sy int) string {
	p := Divide(in)
	var b strings.Builder
	for y := 0; y < in.H; y += sy {
		for x := 0; x < in.W; x += sx {
			b.WriteByte(cell(p, x, y))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func cell(p Plan, x, y int) byte {
	for _, c := range p.Columns {
		for _, b := range c.Boxes {
			if x >= b.X && x < b.X+b.W && y >= b.Y && y < b.Y+b.H {
				return byte('0' + slices.Index(action.Panes, b.Pane) + 1)
			}
			if x >= b.X-1 && x < b.X+b.W+1 && y >= b.Y-1 && y < b.Y+b.H+1 {
				return '#'
			}
		}
	}
	return '.'
}

func TestLayoutsLookLikeThis(t *testing.T) {
	for _, c := range []struct {
		name string
		in   Input
		want string
	}{
		{"full, chat and logs share a box", Input{W: 120, H: 40, Focus: action.Forks}, `
..............................
..............................
..............................
..............................
..............................
##############################
#2222222222#444444444444444444
#2222222222#444444444444444444
#2222222222#444444444444444444
#2222222222#444444444444444444
#2222222222#444444444444444444
#2222222222#444444444444444444
#2222222222###################
############555555555555555555
#3333333333#555555555555555555
#3333333333#555555555555555555
#3333333333#555555555555555555
#3333333333#555555555555555555
#3333333333#555555555555555555
..............................
`},
		{"full, the logs were looked at last", Input{W: 120, H: 40, Focus: action.Forks, Lower: action.Logs}, `
..............................
..............................
..............................
..............................
..............................
##############################
#2222222222#444444444444444444
#2222222222#444444444444444444
#2222222222#444444444444444444
#2222222222#444444444444444444
#2222222222#444444444444444444
#2222222222#444444444444444444
#2222222222###################
############666666666666666666
#3333333333#666666666666666666
#3333333333#666666666666666666
#3333333333#666666666666666666
#3333333333#666666666666666666
#3333333333#666666666666666666
..............................
`},
		{"tall and wide, what is selected has a box", Input{W: 160, H: 50, Focus: action.Forks}, `
........................................
........................................
........................................
........................................
........................................
........................................
........................................
########################################
#222222222224444444444444444555555555555
#222222222224444444444444444555555555555
#222222222224444444444444444555555555555
#222222222224444444444444444555555555555
#222222222224444444444444444555555555555
#222222222224444444444444444555555555555
#222222222224444444444444444555555555555
#222222222224444444444444444555555555555
#222222222220000000000000000555555555555
############0000000000000000555555555555
#333333333330000000000000000555555555555
#333333333330000000000000000555555555555
#333333333330000000000000000555555555555
#333333333330000000000000000555555555555
#333333333330000000000000000555555555555
#333333333330000000000000000555555555555
........................................
`},
		{"tabs", Input{W: 80, H: 24, Focus: action.Updates}, `
....................
....................
....................
####################
#3333333333333333333
#3333333333333333333
#3333333333333333333
#3333333333333333333
#3333333333333333333
#3333333333333333333
#3333333333333333333
....................
`},
		{"one line a pane", Input{W: 40, H: 10, Focus: action.Forks}, `
..........
..........
..........
..........
..........
`},
		{"one line a pane and a box below", Input{W: 44, H: 20, Focus: action.Chat}, `
...........
...........
...........
...........
...........
#5555555555
#5555555555
#5555555555
#5555555555
...........
`},
		{"one line a pane and a box beside", Input{W: 120, H: 12, Focus: action.Chat}, `
..............................
..........#5555555555555555555
..........#5555555555555555555
..........#5555555555555555555
..........#5555555555555555555
..........####################
`},
		{"writing on a tiny screen", Input{W: 40, H: 10, Focus: action.Chat, Writing: true}, `
..........
#555555555
#555555555
#555555555
##########
`},
		{"zoomed on a tiny screen", Input{W: 40, H: 10, Zoom: true, Focus: action.Logs}, `
..........
#666666666
#666666666
#666666666
##########
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if d := cmp.Diff(strings.TrimPrefix(c.want, "\n"), picture(c.in, 4, 2)); d != "" {
				t.Errorf("layout (-want +got):\n%s", d)
			}
		})
	}
}

func TestTheModeGoesByTheSize(t *testing.T) {
	for _, c := range []struct {
		w, h int
		want Mode
	}{
		{200, 60, Full},
		{120, 40, Full},
		{96, 26, Full},
		{95, 60, Tabs},
		{200, 25, Tabs},
		{80, 24, Tabs},
		{56, 14, Tabs},
		{55, 40, Strip},
		{120, 13, Strip},
		{40, 10, Strip},
		{39, 10, TooSmall},
		{40, 9, TooSmall},
		{1, 1, TooSmall},
	} {
		if got := Divide(Input{W: c.w, H: c.h, Focus: action.Chat}).Mode; got != c.want {
			t.Errorf("%d×%d is mode %d, want %d", c.w, c.h, got, c.want)
		}
	}
}

func draw(t *rapid.T) Input {
	return Input{
		W: rapid.IntRange(1, 260).Draw(t, "w"), H: rapid.IntRange(1, 90).Draw(t, "h"),
		Zoom:  rapid.Bool().Draw(t, "zoom"),
		Focus: rapid.SampledFrom(action.Panes).Draw(t, "focus"), Writing: rapid.Bool().Draw(t, "writing"),
		Lower: rapid.SampledFrom([]action.Pane{action.Chat, action.Logs, ""}).Draw(t, "lower"),

		Preset: rapid.SampledFrom(append([]string{"", "no such"}, Presets...)).Draw(t, "preset"), Size: Size{
			Columns: rapid.IntRange(-300, 300).Draw(t, "columns"),
			Rows:    map[action.Pane]int{rapid.SampledFrom(action.Panes).Draw(t, "taller"): rapid.IntRange(-90, 90).Draw(t, "rows")},
		},
	}
}

func TestColumnsFillTheBodyWithoutAHole(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		in := draw(t)
		p := Divide(in)
		x, top := 0, 2+p.Day+p.Fixed
		switch {
		case p.Strip == in.W:
			top += len(action.Panes)
		case p.Strip > 0:
			x = p.Strip
		}
		for _, c := range p.Columns {
			if c.X != x || c.W < 3 {
				t.Fatalf("column at %d with %d cells, want it at %d", c.X, c.W, x)
			}
			x += c.W
			y := top
			for _, b := range c.Boxes {
				if b.X != c.X+1 || b.W != c.W-2 || b.Y != y || b.H < 1 {
					t.Fatalf("box %+v in column %+v, want y %d", b, c, y)
				}
				y += b.H + 1
			}
			if end := p.Said; y != end && (p.Mode != Full || y != end+1) {
				t.Fatalf("the bottom border is in row %d of %d", y-1, in.H)
			}
		}
		if len(p.Columns) > 0 && x != in.W {
			t.Fatalf("columns are %d cells wide of %d", x, in.W)
		}
	})
}

func TestTheFocusedPaneIsOnTheScreen(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		in := draw(t)
		if in.Focus == action.Chat || in.Focus == action.Logs {
			in.Lower = in.Focus // as the frame does
		}
		p := Divide(in)
		if len(p.Columns) == 0 {
			return
		}
		b, ok := p.Find(in.Focus)
		if !ok {
			t.Fatalf("%s is nowhere in %+v", in.Focus, p)
		}
		if got, ok := p.At(b.X+b.W/2, b.Y+b.H/2); !ok || got.Pane != in.Focus {
			t.Fatalf("its middle belongs to %q", got.Pane)
		}
		if got, _ := p.At(b.X, b.Y-1); got.Pane != in.Focus {
			t.Fatalf("its title belongs to %q", got.Pane)
		}
	})
}

func TestAPaneThatIsWrittenInHasRoomForIt(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		in := draw(t)
		in.Writing = true
		if in.Focus == action.Chat || in.Focus == action.Logs {
			in.Lower = in.Focus
		}
		if p := Divide(in); p.Mode == Strip {
			if b, ok := p.Find(in.Focus); !ok || b.H < writingRows {
				t.Fatalf("%d rows on %d×%d", b.H, in.W, in.H)
			}
		}
	})
}

func TestTheBarsBelongToNoPane(t *testing.T) {
	p := Divide(Input{W: 120, H: 40, Focus: action.Budget})
	for _, y := range []int{0, 39} {
		if b, ok := p.At(5, y); ok {
			t.Errorf("row %d belongs to %s", y, b.Pane)
		}
	}
}

func TestAPresetGivesItsPaneTheMostRoom(t *testing.T) {
	size := func(in Input, p action.Pane) int {
		b, _ := Divide(in).Find(p)
		return b.W * b.H
	}
	for name, p := range map[string]action.Pane{"chat": action.Chat, "forks": action.Forks, "schedule": action.Schedule} {
		in := Input{W: 160, H: 50, Focus: action.Chat}
		balanced := size(in, p)
		in.Preset = name
		if got := size(in, p); got <= balanced {
			t.Errorf("%s: %d cells for %s, %d without it", name, got, p, balanced)
		}
	}
}

func TestAPaneGrowsByTheRowsItIsGivenAndNoneFallsBelowItsLeast(t *testing.T) {
	in := Input{W: 160, H: 50, Focus: action.Chat}
	before, _ := Divide(in).Find(action.Updates)
	in.Rows = map[action.Pane]int{action.Updates: 4}
	after, _ := Divide(in).Find(action.Updates)
	if after.H != before.H+4 {
		t.Errorf("%d rows, want %d", after.H, before.H+4)
	}
	in.Rows = map[action.Pane]int{action.Updates: 1000}
	for _, c := range Divide(in).Columns {
		for _, b := range c.Boxes {
			if b.H < 3 {
				t.Errorf("%s has %d rows", b.Pane, b.H)
			}
		}
	}
	in.Columns = 7
	if a, b := Divide(Input{W: 160, H: 50}).Columns[0].W, Divide(in).Columns[0].W; b != a+7 {
		t.Errorf("the left column is %d cells, want %d", b, a+7)
	}
}
