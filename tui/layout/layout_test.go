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
// borders are #, and what belongs to no pane is a dot. It is scaled down so
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
	const full = `
...............
...............
...............
#22222444444444
#22222444444444
#22222444444444
#22222#########
#33333555555555
#33333555555555
#33333555555555
`
	for _, c := range []struct {
		name string
		in   Input
		want string
	}{
		{"full, chat and logs share a box", Input{W: 120, H: 40, Focus: action.Forks}, full},
		{"full, the logs were looked at last", Input{W: 120, H: 40, Focus: action.Forks, Lower: action.Logs}, strings.ReplaceAll(full, "5", "6")},
		{"tall and wide, what is selected has a box", Input{W: 160, H: 50, Focus: action.Forks}, `
....................
....................
....................
....................
#2222244444444555555
#2222244444444555555
#2222244444444555555
#2222244444444555555
#2222200000000555555
#3333300000000555555
#3333300000000555555
#3333300000000555555
....................
`},
		{"tabs", Input{W: 80, H: 24, Focus: action.Updates}, `
..........
..........
#333333333
#333333333
#333333333
#333333333
`},
		{"one line a pane", Input{W: 40, H: 10, Focus: action.Forks}, ".....\n.....\n.....\n"},
		{"one line a pane and a box below", Input{W: 44, H: 20, Focus: action.Chat}, "......\n......\n......\n#55555\n#55555\n"},
		{"one line a pane and a box beside", Input{W: 120, H: 12, Focus: action.Chat}, `
...............
.....#555555555
.....#555555555
`},
		{"writing on a tiny screen", Input{W: 40, H: 10, Focus: action.Chat, Writing: true}, ".....\n#5555\n#####\n"},
		{"zoomed on a tiny screen", Input{W: 40, H: 10, Zoom: true, Focus: action.Logs}, ".....\n#6666\n#####\n"},
	} {
		if d := cmp.Diff(strings.TrimPrefix(c.want, "\n"), picture(c.in, 8, 4)); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
	}
}

func TestTheModeGoesByTheSize(t *testing.T) {
	for size, want := range map[[2]int]Mode{
		{200, 60}: Full, {120, 40}: Full, {96, 26}: Full, {95, 60}: Tabs, {200, 25}: Tabs, {80, 24}: Tabs, {56, 14}: Tabs,
		{55, 40}: Strip, {120, 13}: Strip, {40, 10}: Strip, {39, 10}: TooSmall, {40, 9}: TooSmall, {1, 1}: TooSmall,
	} {
		if got := Divide(Input{W: size[0], H: size[1], Focus: action.Chat}).Mode; got != want {
			t.Errorf("%d×%d is mode %d, want %d", size[0], size[1], got, want)
		}
	}
}

func TestMessagesHaveARowOfTheirOwnFromTwentyLinesOn(t *testing.T) {
	for h, want := range map[int]int{10: 9, 19: 18, 20: 18, 40: 38} {
		if got := Divide(Input{W: 120, H: h, Focus: action.Chat}).Said; got != want {
			t.Errorf("of %d lines messages have row %d, want %d", h, got, want)
		}
	}
}

// Whatever the screen: columns and boxes fill the body without a hole, and the focused pane is on it, with room for what is written.
func TestTheBodyIsFilledAndHasTheFocusedPane(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		in := Input{
			W: rapid.IntRange(1, 260).Draw(t, "w"), H: rapid.IntRange(1, 90).Draw(t, "h"),
			Zoom: rapid.Bool().Draw(t, "zoom"), Writing: rapid.Bool().Draw(t, "writing"),
			Preset: rapid.SampledFrom(append([]string{"", "no such"}, Presets...)).Draw(t, "preset"), Size: Size{
				Columns: rapid.IntRange(-300, 300).Draw(t, "columns"),
				Rows:    map[action.Pane]int{rapid.SampledFrom(action.Panes).Draw(t, "taller"): rapid.IntRange(-90, 90).Draw(t, "rows")},
			},
		}.focused(t)
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
		if len(p.Columns) == 0 {
			return
		}
		b, ok := p.Find(in.Focus)
		middle, in1 := p.At(b.X+b.W/2, b.Y+b.H/2)
		title, in2 := p.At(b.X, b.Y-1)
		if x != in.W || !ok || !in1 || !in2 || middle.Pane != in.Focus || title.Pane != in.Focus {
			t.Fatalf("columns are %d cells wide of %d; the middle and the title of %s belong to %q and %q", x, in.W, in.Focus, middle.Pane, title.Pane)
		}
		if in.Writing && p.Mode == Strip && b.H < writingRows {
			t.Fatalf("%d rows to write in on %d×%d", b.H, in.W, in.H)
		}
	})
}

// focused draws which pane has the focus. The lower of two that share a box is then on top, as in the frame.
func (in Input) focused(t *rapid.T) Input {
	in.Focus = rapid.SampledFrom(action.Panes).Draw(t, "focus")
	in.Lower = rapid.SampledFrom([]action.Pane{action.Chat, action.Logs, ""}).Draw(t, "lower")
	if in.Focus == action.Chat || in.Focus == action.Logs {
		in.Lower = in.Focus
	}
	return in
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
