package layout

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/tui/action"
)

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

// numbers are a plan: the rows of the day, the gauge, the strip and the messages, and the boxes of each column.
func numbers(p Plan) string {
	out := fmt.Sprintf("day %d+%d strip %d said %d", p.Day, p.Fixed, p.Strip, p.Said)
	for _, c := range p.Columns {
		out += fmt.Sprintf(" | %d+%d", c.X, c.W)
		for _, b := range c.Boxes {
			out += fmt.Sprintf(" %s %d,%d %d×%d", b.Pane, b.X, b.Y, b.W, b.H)
			if len(b.Tabs) > 0 {
				out += fmt.Sprint(b.Tabs)
			}
		}
	}
	return out
}

func TestAScreenIsDividedIntoTheseNumbers(t *testing.T) {
	needs := func(p action.Pane, cells int) int {
		return map[action.Pane]int{action.Schedule: 9, action.Updates: 2, action.Detail: cells / 10}[p]
	}
	for _, c := range []struct {
		what string
		in   Input
		want string
	}{
		{"full", Input{W: 120, H: 40, Focus: action.Forks}, "day 9+0 strip 0 said 38 | 0+45 schedule 1,11 43×15 updates 1,27 43×10 | 45+75 forks 46,11 73×13 chat 46,25 73×12[chat logs]"},
		{"full, the logs were looked at last", Input{W: 120, H: 40, Focus: action.Forks, Lower: action.Logs}, "day 9+0 strip 0 said 38 | 0+45 schedule 1,11 43×15 updates 1,27 43×10 | 45+75 forks 46,11 73×13 logs 46,25 73×12[chat logs]"},
		{"the lowest full one", Input{W: 96, H: 26, Focus: action.Chat}, "day 5+0 strip 0 said 24 | 0+38 schedule 1,7 36×9 updates 1,17 36×6 | 38+58 forks 39,7 56×8 chat 39,16 56×7[chat logs]"},
		{"the highest", Input{W: 260, H: 90, Focus: action.Chat}, "day 20+0 strip 0 said 88 | 0+52 schedule 1,22 50×38 updates 1,61 50×26 | 52+136 forks 53,22 134×32 detail 53,55 134×32 | 188+72 chat 189,22 70×65[chat logs]"},
		{"the budget in the large box", Input{W: 120, H: 40, Focus: action.Budget}, "day 9+0 strip 0 said 38 | 0+45 schedule 1,11 43×15 updates 1,27 43×10 | 45+75 budget 46,11 73×13 chat 46,25 73×12[chat logs]"},
		{"the day in front of the runs", Input{W: 80, H: 24, Focus: action.Day}, "day 5+0 strip 0 said 22 | 0+80 forks 1,7 78×14[budget schedule updates forks chat logs]"},
		{"what is selected above the runs", Input{W: 100, H: 34, Focus: action.Schedule}, "day 6+0 strip 0 said 32 | 0+38 schedule 1,8 36×13 updates 1,22 36×9 | 38+62 detail 39,8 60×7 forks 39,16 60×8 chat 39,25 60×6[chat logs]"},
		{"not on a narrower one", Input{W: 99, H: 34, Focus: action.Schedule}, "day 6+0 strip 0 said 32 | 0+38 schedule 1,8 36×13 updates 1,22 36×9 | 38+61 forks 39,8 59×11 chat 39,20 59×11[chat logs]"},
		{"nor on a lower one", Input{W: 100, H: 33, Focus: action.Updates}, "day 6+0 strip 0 said 31 | 0+38 schedule 1,8 36×13 updates 1,22 36×8 | 38+62 forks 39,8 60×11 chat 39,20 60×10[chat logs]"},
		{"nor of an empty list", Input{W: 100, H: 34, Focus: action.Updates, Bare: true}, "day 6+0 strip 0 said 32 | 0+38 schedule 1,8 36×13 updates 1,22 36×9 | 38+62 forks 39,8 60×11 chat 39,20 60×11[chat logs]"},
		{"what is selected below the runs", Input{W: 160, H: 45, Focus: action.Chat}, "day 11+0 strip 0 said 43 | 0+46 schedule 1,13 44×17 updates 1,31 44×11 | 46+64 forks 47,13 62×14 detail 47,28 62×14 | 110+50 chat 111,13 48×29[chat logs]"},
		{"not on a lower one with three columns", Input{W: 160, H: 44, Focus: action.Chat}, "day 10+0 strip 0 said 42 | 0+46 schedule 1,12 44×17 updates 1,30 44×11 | 46+64 forks 47,12 62×29 | 110+50 chat 111,12 48×29[chat logs]"},
		{"lists with few rows", Input{W: 160, H: 50, Focus: action.Forks, Needs: needs}, "day 13+0 strip 0 said 48 | 0+46 schedule 1,15 44×29 updates 1,45 44×2 | 46+64 forks 47,15 62×25 detail 47,41 62×6 | 110+50 chat 111,15 48×32[chat logs]"},
		{"lists with few rows in two columns", Input{W: 110, H: 50, Focus: action.Forks, Needs: needs}, "day 13+0 strip 0 said 48 | 0+41 schedule 1,15 39×29 updates 1,45 39×2 | 41+69 forks 42,15 67×16 chat 42,32 67×15[chat logs]"},
		{"the chat's preset", Input{W: 200, H: 60, Focus: action.Chat, Preset: "chat"}, "day 17+0 strip 0 said 58 | 0+46 schedule 1,19 44×22 updates 1,42 44×15 | 46+79 forks 47,19 77×19 detail 47,39 77×18 | 125+75 chat 126,19 73×38[chat logs]"},
		{"the runs' preset", Input{W: 120, H: 40, Focus: action.Chat, Preset: "forks"}, "day 9+0 strip 0 said 38 | 0+38 schedule 1,11 36×15 updates 1,27 36×10 | 38+82 forks 39,11 80×17 chat 39,29 80×8[chat logs]"},
		{"the schedule's preset", Input{W: 160, H: 40, Focus: action.Chat, Preset: "schedule"}, "day 9+0 strip 0 said 38 | 0+80 schedule 1,11 78×19 updates 1,31 78×6 | 80+30 forks 81,11 28×26 | 110+50 chat 111,11 48×26[chat logs]"},
		{"no such preset", Input{W: 200, H: 30, Focus: action.Chat, Preset: "x"}, "day 5+0 strip 0 said 28 | 0+50 schedule 1,7 48×11 updates 1,19 48×8 | 50+80 forks 51,7 78×20 | 130+70 chat 131,7 68×20[chat logs]"},
		{"resized", Input{W: 200, H: 50, Focus: action.Chat, Size: Size{Columns: 9, Right: -5, Rows: map[action.Pane]int{action.Schedule: 5}}}, "day 13+0 strip 0 said 48 | 0+59 schedule 1,15 57×24 updates 1,40 57×7 | 59+76 forks 60,15 74×16 detail 60,32 74×15 | 135+65 chat 136,15 63×32[chat logs]"},
		{"resized as far as possible", Input{W: 200, H: 50, Focus: action.Chat, Size: Size{Columns: -99, Right: 99, Rows: map[action.Pane]int{action.Updates: 99}}}, "day 13+0 strip 0 said 48 | 0+30 schedule 1,15 28×4 updates 1,20 28×27 | 30+100 forks 31,15 98×16 detail 31,32 98×15 | 130+70 chat 131,15 68×32[chat logs]"},
		{"zoomed", Input{W: 120, H: 40, Focus: action.Logs, Zoom: true}, "day 9+0 strip 0 said 38 | 0+120 logs 1,11 118×26"},
		{"zoomed on a small one", Input{W: 60, H: 30, Focus: action.Logs, Zoom: true}, "day 0+0 strip 0 said 28 | 0+60 logs 1,2 58×25"},
		{"tabs with the area", Input{W: 56, H: areaHeight, Focus: action.Chat}, "day 5+0 strip 0 said 22 | 0+56 chat 1,7 54×14[budget schedule updates forks chat logs]"},
		{"tabs with the day", Input{W: 56, H: areaHeight - 1, Focus: action.Chat}, "day 2+1 strip 0 said 21 | 0+56 chat 1,5 54×15[budget schedule updates forks chat logs]"},
		{"the lowest with the day", Input{W: 56, H: headHeight, Focus: action.Chat}, "day 2+1 strip 0 said 18 | 0+56 chat 1,5 54×12[budget schedule updates forks chat logs]"},
		{"tabs with the gauge", Input{W: 56, H: headHeight - 1, Focus: action.Chat}, "day 0+1 strip 0 said 18 | 0+56 chat 1,3 54×14[budget schedule updates forks chat logs]"},
		{"a strip", Input{W: 55, H: 20, Focus: action.Chat}, "day 2+0 strip 55 said 18 | 0+55 chat 1,10 53×7"},
		{"messages over the keys", Input{W: 55, H: 19, Focus: action.Chat}, "day 2+0 strip 55 said 18 | 0+55 chat 1,10 53×7"},
		{"a strip with the day", Input{W: 40, H: 16, Focus: action.Chat}, "day 2+0 strip 40 said 15 | 0+40 chat 1,10 38×4"},
		{"a strip without it", Input{W: 40, H: 15, Focus: action.Chat}, "day 0+0 strip 40 said 14 | 0+40 chat 1,8 38×5"},
		{"a strip without a box", Input{W: 40, H: 10, Focus: action.Chat}, "day 2+0 strip 40 said 9"},
		{"a strip of eleven lines", Input{W: 40, H: 11, Focus: action.Chat}, "day 0+0 strip 40 said 10 | 0+40 chat 1,8 38×1"},
		{"written into with room", Input{W: 40, H: 16, Focus: action.Chat, Writing: true}, "day 0+0 strip 40 said 15 | 0+40 chat 1,8 38×6"},
		{"written into without room", Input{W: 40, H: 14, Focus: action.Chat, Writing: true}, "day 0+0 strip 0 said 13 | 0+40 chat 1,2 38×10"},
		{"beside a strip", Input{W: 96, H: 12, Focus: action.Chat}, "day 0+0 strip 40 said 11 | 40+56 chat 41,2 54×8"},
		{"not beside it", Input{W: 95, H: 12, Focus: action.Chat}, "day 0+0 strip 95 said 11 | 0+95 chat 1,8 93×2"},
		{"too small", Input{W: 39, H: 10, Focus: action.Chat}, "day 0+0 strip 0 said 9"},
	} {
		if got := numbers(Divide(c.in)); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.what, got, c.want)
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
