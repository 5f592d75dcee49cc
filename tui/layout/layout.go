// Package layout divides the screen: a pure function of its size, the zoom and the focus.
// It knows the names of the panes, and must not know what they show.
package layout

import "ollimbot/tui/action"

// Mode is how much of the dashboard the screen can hold.
type Mode uint8

// The modes, from the one with the most room to the one with none.
const (
	Full     Mode = iota // every pane in a box, in two or three columns
	Tabs                 // one pane at a time
	Strip                // one line a pane, and the focused one where there is room
	TooSmall             // nothing but a message that says so
)

// The smallest sizes of the modes, in cells.
const (
	FullWidth   = 96
	fullHeight  = 26
	TabsWidth   = 56
	tabsHeight  = 14
	StripWidth  = 40
	StripHeight = 10
	// wideWidth is from how many columns on there are three columns of panes.
	wideWidth = 160
	// headHeight is from how many rows on the day is above the tabs, and the fixed row.
	headHeight = 20
	// bandHeight is from how many rows on the day has bandRows; below it has dayRows.
	bandHeight        = 40
	bandRows, dayRows = 4, 2
	// saidHeight is from how many rows on messages have their own row.
	saidHeight = 20
)

// Input is what decides the layout.
type Input struct {
	W, H  int
	Zoom  bool
	Focus action.Pane
	// Writing says that the focused pane must be visible: it takes text, or asks.
	Writing bool
	// Lower is Chat or Logs: what the lower right box shows if they share one. Anything
	// else means Chat.
	Lower action.Pane
	// Preset is one of Presets.
	Preset string
	Size
}

// Size is how the user has resized a preset; Step changes it. The zero Size is the preset's
// own.
type Size struct {
	Columns int                 // by how many cells the left column is wider than the preset says
	Right   int                 // the same for a third column
	Rows    map[action.Pane]int // by how many rows panes are taller
}

// Box is a pane's place. X, Y, W and H are its inside. The border around it is one cell left
// and right, one row above and one below, which it shares with the next box of the column.
type Box struct {
	Pane       action.Pane
	X, Y, W, H int
	// Tabs are the panes that share this box, in order; empty when it has one.
	Tabs []action.Pane
}

// Column is a stack of boxes between common borders.
type Column struct {
	X, W  int // with the borders
	Boxes []Box
}

// Plan is the divided screen. Row 0 is the top line and the last row the help
// line, in every mode but TooSmall.
type Plan struct {
	Mode Mode
	// Said is the row of messages, above the help line; on a low screen it replaces the
	// help line.
	Said int
	// Day is how many rows the day has, from row 1 on. Fixed is how many rows below it show
	// what the tabs would hide: the gauge of the budget.
	Day, Fixed int
	// Strip is how many cells wide the one-line panes are, from row 1 and column 0 on; 0
	// without them.
	Strip   int
	Columns []Column
}

// Divide makes the plan. The columns and the strip cover the body without a gap, except for
// rows below a strip that are too few for a box.
func Divide(in Input) Plan {
	p := Plan{Mode: mode(in.W, in.H), Said: in.H - 1}
	if in.H >= saidHeight {
		p.Said--
	}
	p.Day, p.Fixed = in.head()
	top := 1 + p.Day + p.Fixed
	switch {
	case p.Mode == TooSmall:
	case in.Zoom:
		p.Columns = []Column{single(Column{W: in.W}, top, p.Said, slot{pane: in.box()})}
	case p.Mode == Full:
		p.Columns = full(in)
	case p.Mode == Tabs:
		p.Columns = []Column{single(Column{W: in.W}, top, p.Said, slot{pane: in.box(), tabs: action.Panes})}
	default:
		p.Strip, p.Columns = strip(in, p.Said)
	}
	return p
}

// head is how many rows there are between the top line and the panes.
func (in Input) head() (day, fixed int) {
	day = dayRows
	if in.H >= bandHeight {
		day = bandRows
	}
	switch m := mode(in.W, in.H); {
	case m == Full:
		return day, 0
	case m == Tabs && in.H >= headHeight && !in.Zoom:
		return day, 1
	}
	return 0, 0
}

// box is the pane that a single box shows; the day has no box.
func (in Input) box() action.Pane {
	if in.Focus == action.Day {
		return action.Forks
	}
	return in.Focus
}

// strip is how wide the lines of the panes are, and the box of the focused one if there is
// room: next to the lines on a wide screen, else below. A pane that takes text gets the whole
// screen if its box would be too low.
func strip(in Input, end int) (int, []Column) {
	s := slot{pane: in.box()}
	width, below, top := in.W, Column{W: in.W}, 1+len(action.Panes)
	if in.W >= StripWidth+TabsWidth {
		width, below, top = StripWidth, Column{X: StripWidth, W: in.W - StripWidth}, 1
	}
	rows := end - 2 - top
	switch {
	case in.Writing && rows < writingRows:
		return 0, []Column{single(Column{W: in.W}, 1, end, s)}
	case rows < 1:
		return width, nil
	}
	return width, []Column{single(below, top, end, s)}
}

// writingRows show what is written, and what it is about.
const writingRows = 5

func mode(w, h int) Mode {
	switch {
	case w >= FullWidth && h >= fullHeight:
		return Full
	case w >= TabsWidth && h >= tabsHeight:
		return Tabs
	case w >= StripWidth && h >= StripHeight:
		return Strip
	}
	return TooSmall
}

// slot asks for room in a column: least rows first, then a share of the rest.
type slot struct {
	pane  action.Pane
	least int
	most  int // 0: no limit
	share int
	tabs  []action.Pane
}

// size is under which pane the rows of a slot are kept: a shared box has one size.
func (s slot) size() action.Pane {
	if len(s.tabs) > 0 {
		return s.tabs[0]
	}
	return s.pane
}

// budgetRows is what the budget pane can fill; more would only be empty.
const budgetRows = 5

// talk is how tall the screen must be for chat and logs to have a box each.
const talk = 48

// full is the columns of a roomy screen: what is due, what runs and, in the same column or
// the next one, the conversation.
func full(in Input) []Column {
	day, _ := in.head()
	wide := in.widths()
	var out []Column
	x := 0
	for i, slots := range in.slots() {
		out = append(out, column(Column{X: x, W: wide[i]}, 1+day, slots, in.grown(slots)))
		x += wide[i]
	}
	return out
}

// widths are those of the columns. The column of runs gets the rest.
func (in Input) widths() []int {
	left := in.leftLimits().clamp(in.Columns)
	if in.W < wideWidth {
		return []int{left, in.W - left}
	}
	right := in.rightLimits().clamp(in.Right)
	return []int{left, in.W - left - right, right}
}

// rightLimits are those of a third column.
func (in Input) rightLimits() limits {
	base := min(max(in.W*3/10, 48), 72)
	if presetOf(in.Preset).favourite == action.Chat {
		base = in.W * 3 / 8
	}
	return limits{base, leastColumn, max(base, in.W/2-leastColumn)}
}

// slots are the contents of the columns.
func (in Input) slots() [][]slot {
	share := presetOf(in.Preset).share
	lower := []slot{{pane: action.Chat, least: 5, share: share(action.Chat)}}
	if in.H >= talk {
		lower = append(lower, slot{pane: action.Logs, least: 5, share: share(action.Logs)})
	} else {
		lower[0].tabs = []action.Pane{action.Chat, action.Logs}
		if in.Lower == action.Logs {
			lower[0].pane = action.Logs
		}
	}
	left := []slot{
		{pane: action.Budget, least: 5, most: budgetRows, share: share(action.Budget)},
		{pane: action.Schedule, least: 4, share: share(action.Schedule)},
		{pane: action.Updates, least: 3, share: share(action.Updates)},
	}
	runs := slot{pane: action.Forks, least: 8, share: share(action.Forks)}
	if in.W >= wideWidth {
		return [][]slot{left, {runs}, lower}
	}
	return [][]slot{left, append([]slot{runs}, lower...)}
}

// single is a column of one box, from a row on to the row before end.
func single(c Column, top, end int, s slot) Column {
	return column(c, top, []slot{s}, []int{end - 2 - top})
}

// column stacks boxes of these heights between common borders, from a row on.
func column(c Column, top int, slots []slot, heights []int) Column {
	y := top + 1
	for i, s := range slots {
		c.Boxes = append(c.Boxes, Box{Pane: s.pane, X: c.X + 1, Y: y, W: c.W - 2, H: heights[i], Tabs: s.tabs})
		y += heights[i] + 1
	}
	return c
}

// heights gives every slot its least and divides the rest by the shares; rows beyond the
// most of a slot go to the others.
func heights(rows int, slots []slot) []int {
	out := make([]int, len(slots))
	for i, s := range slots {
		out[i] = s.least
		rows -= s.least
	}
	for ; rows > 0; rows-- {
		best := -1
		for i, s := range slots {
			full := s.most > 0 && out[i] >= s.most
			if !full && (best < 0 || out[i]*slots[best].share < out[best]*s.share) { // further below its share
				best = i
			}
		}
		out[max(best, 0)]++
	}
	return out
}

// At finds the box under a cell, its borders included.
func (p Plan) At(x, y int) (Box, bool) {
	for _, c := range p.Columns {
		if x < c.X || x >= c.X+c.W {
			continue
		}
		for _, b := range c.Boxes {
			if y >= b.Y-1 && y < b.Y+b.H {
				return b, true
			}
		}
	}
	return Box{}, false
}

// Presets are the names of the ways to divide a roomy screen; the first replaces an unknown
// name.
var Presets = []string{"balanced", "chat", "forks", "schedule"}

// preset is the weight that the panes have: the left column's share of the width and its
// limits, and which pane has most of the rows of its column.
type preset struct {
	eighths     int // of the width
	least, most int // cells of the left column
	favourite   action.Pane
}

var presets = map[string]preset{
	"balanced": {3, 38, 52, action.Everywhere},
	"chat":     {2, 38, 46, action.Chat},
	"forks":    {2, 38, 46, action.Forks},
	"schedule": {4, 44, 100, action.Schedule},
}

// shares are how the rows of a column are divided.
var shares = map[action.Pane]int{
	action.Budget: 2, action.Schedule: 3, action.Updates: 2, action.Forks: 3, action.Chat: 2, action.Logs: 1,
}

// share is a pane's in this preset.
func (p preset) share(pane action.Pane) int {
	if pane == p.favourite {
		return 7
	}
	return shares[pane]
}

func presetOf(name string) preset {
	if p, ok := presets[name]; ok {
		return p
	}
	return presets[Presets[0]]
}

// The least width of a column that the user has narrowed.
const leastColumn = 30

// leftLimits are those of the left column. What it shows moves no border.
func (in Input) leftLimits() limits {
	p := presetOf(in.Preset)
	most := in.W - leastColumn
	if in.W >= wideWidth {
		most = in.W / 2
	}
	return limits{min(max(in.W*p.eighths/8, p.least), p.most), leastColumn, most}
}
