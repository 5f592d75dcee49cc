// Package layout divides the screen: a pure function of its size, the zoom and the focus.
// It knows the names of the panes, and must not know what they show.
package layout

import (
	"cmp"
	"maps"
	"slices"

	"ollimbot/tui/action"
)

// Mode is how much of the dashboard fits on the screen.
type Mode uint8

// The modes, from the one with the most room to the one with none.
const (
	Full     Mode = iota // every pane in a box, in two or three columns
	Tabs                 // one pane at a time
	Strip                // one line per pane, and the focused one if there is room
	TooSmall             // only a message
)

// The smallest sizes of the modes, in cells.
const (
	FullWidth   = 96
	fullHeight  = 26
	TabsWidth   = 56
	tabsHeight  = 14
	StripWidth  = 40
	StripHeight = 10
	// wideWidth is the screen width from which there are three columns of panes.
	wideWidth = 160
	// headHeight is the screen height from which the day is above the tabs, areaHeight the one from which it has the
	// level of the bucket there. On a lower screen the gauge has a row.
	headHeight, areaHeight = 20, 24
	// dayRows is the height of a day without the level, areaRows that of a low one with it, mostRows that of the highest.
	dayRows, areaRows, mostRows = 2, 5, 20
	// saidHeight is the screen height from which messages have their own row.
	saidHeight = 20
)

// Input is the input of the layout.
type Input struct {
	W, H  int
	Zoom  bool
	Focus action.Pane
	// Writing means that the focused pane must be visible, because it takes text or asks a question.
	Writing bool
	// Lower is the pane that the lower right box shows if Chat and Logs share it. Anything except Logs means Chat.
	Lower action.Pane
	// Preset is one of Presets.
	Preset string
	// Bare means that the list with the focus has no row that could have a box of its own.
	Bare bool
	// Needs returns how many rows of so many cells a pane can fill; 0 means any number, and so does a nil Needs.
	Needs func(p action.Pane, cells int) int
	Size
}

// Size is the user's resizing of a preset; Step changes it. The zero Size is the preset's default.
type Size struct {
	Columns int                 // cells added to the left column's default width
	Right   int                 // the same for a third column
	Rows    map[action.Pane]int // rows added to panes
}

// Box is the position of a pane. X, Y, W and H exclude its border, which takes one cell on the left and right and one
// row above and below. Adjacent boxes of a column share a border row.
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
	// Said is the row of messages, above the help line; on a low screen, messages replace the help line.
	Said int
	// Day is the number of rows of the day, starting at row 1. Fixed is the number of rows below it for the budget
	// gauge, which the tabs would hide.
	Day, Fixed int
	// Strip is the width of the one-line panes, which start at row 1 and column 0; 0 without them.
	Strip   int
	Columns []Column
}

// Divide returns the plan. The columns and the strip cover the body without a gap, except for rows below a strip that
// are too few for a box.
func Divide(in Input) Plan {
	p := Plan{Mode: mode(in.W, in.H), Said: in.H - 1}
	if in.H >= saidHeight {
		p.Said--
	}
	p.Day, p.Fixed = in.head()
	top, end := 1+p.Day+p.Fixed, p.Said
	switch {
	case p.Mode == TooSmall:
	case in.Zoom:
		p.Columns = []Column{single(Column{W: in.W}, top, end, slot{pane: in.box()})}
	case p.Mode == Full:
		p.Columns = full(in)
	case p.Mode == Tabs:
		p.Columns = []Column{single(Column{W: in.W}, top, end, slot{pane: in.box(), tabs: action.Panes})}
	default:
		p.Strip, p.Columns = strip(in, end)
	}
	return p
}

// head returns the number of rows between the top line and the panes.
func (in Input) head() (day, fixed int) {
	switch m := mode(in.W, in.H); {
	case m == Full: // two of five rows beyond those of a low screen, so that the level is the largest thing on each
		return min(max(areaRows, 2*in.H/5-7), mostRows), 0
	case in.Zoom:
		return 0, 0
	case m == Tabs && in.H >= areaHeight:
		return areaRows, 0
	case m == Tabs && in.H >= headHeight:
		return dayRows, 1
	case m == Tabs:
		return 0, 1
	case m == Strip && !in.beside() && !in.Writing && (in.H == StripHeight || in.H >= bothRows):
		return dayRows, 0
	}
	return 0, 0
}

// bothRows is the screen height from which there is room for the day and for a box below the one-line panes. On the
// lowest screen there is none for a box.
const bothRows = 16

// beside reports whether the focused pane is beside the one-line panes.
func (in Input) beside() bool { return in.W >= StripWidth+TabsWidth }

// box returns the pane in a single box; the day has no box.
func (in Input) box() action.Pane {
	if in.Focus == action.Day {
		return action.Forks
	}
	return in.Focus
}

// strip returns the width of the one-line panes, and the box of the focused one if there is room: next to the lines
// on a wide screen, else below. A pane that takes text gets the whole screen if its box would be too low.
func strip(in Input, end int) (int, []Column) {
	s := slot{pane: in.box()}
	day, _ := in.head()
	width, below, top := in.W, Column{W: in.W}, 1+day+len(action.Panes)
	if in.beside() {
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

// writingRows is the height needed to show the text being written and its context.
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

// slot is a request for rows in a column: at least least rows, then a share of the rest.
type slot struct {
	pane  action.Pane
	least int
	most  int // 0: no limit
	share int
	tabs  []action.Pane
}

// size returns the pane under which the rows of a slot are stored: a shared box has one size.
func (s slot) size() action.Pane {
	switch {
	case len(s.tabs) > 0:
		return s.tabs[0]
	case s.pane == action.Budget:
		return action.Forks
	}
	return s.pane
}

// The smallest screen that shows what is selected in the schedule or in the updates while they have the focus, and the
// height from which a wide one does so whatever has the focus.
const detailWidth, detailHeight, bothHeight = 100, 34, 45

// full returns the columns of a large screen: due tasks, runs and, in the same column or the next one, the
// conversation.
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

// widths returns the widths of the columns. The column of runs gets the rest.
func (in Input) widths() []int {
	left := in.leftLimits().clamp(in.Columns)
	if in.W < wideWidth {
		return []int{left, in.W - left}
	}
	right := in.rightLimits().clamp(in.Right)
	return []int{left, in.W - left - right, right}
}

// rightLimits returns the limits of a third column.
func (in Input) rightLimits() limits {
	base := min(max(in.W/2-30, 48), 72)
	if presetOf(in.Preset).favourite == action.Chat {
		base = in.W * 3 / 8
	}
	return limits{base, leastColumn, max(base, in.W/2-leastColumn)}
}

// slots returns the contents of the columns.
func (in Input) slots() [][]slot {
	share, wide := presetOf(in.Preset).share, in.W >= wideWidth
	left := []slot{
		in.limited(slot{pane: action.Schedule, least: 4, share: share(action.Schedule)}, 0),
		in.limited(slot{pane: action.Updates, least: 3, share: share(action.Updates)}, 0),
	}
	talk := slot{pane: action.Chat, least: 5, share: share(action.Chat), tabs: []action.Pane{action.Chat, action.Logs}}
	if in.Lower == action.Logs {
		talk.pane = action.Logs
	}
	runs := slot{pane: action.Forks, least: 8, share: share(action.Forks)}
	if in.Focus == action.Budget { // the day shows its level; the page is in the large box
		runs.pane = action.Budget
	}
	right, detail := []slot{runs}, slot{pane: action.Detail, least: 5, share: 3}
	switch {
	case in.Bare:
	case (in.Focus == action.Schedule || in.Focus == action.Updates) && in.W >= detailWidth && in.H >= detailHeight:
		right = []slot{detail, runs}
	case wide && in.H >= bothHeight:
		right = []slot{runs, in.limited(detail, 1)}
	}
	if wide {
		return [][]slot{left, right, {talk}}
	}
	return [][]slot{left, append(right, talk)}
}

// limited gives a slot of a column no more rows than its pane can fill.
func (in Input) limited(s slot, column int) slot {
	if in.Needs == nil {
		return s
	}
	if s.most = in.Needs(s.pane, in.widths()[column]-2); s.most > 0 {
		s.least = min(s.least, s.most)
	}
	return s
}

// single returns a column with one box, from row top to the row before end.
func single(c Column, top, end int, s slot) Column {
	return column(c, top, []slot{s}, []int{end - 2 - top})
}

// column stacks boxes of these heights with shared borders, starting at row top.
func column(c Column, top int, slots []slot, heights []int) Column {
	y := top + 1
	for i, s := range slots {
		c.Boxes = append(c.Boxes, Box{Pane: s.pane, X: c.X + 1, Y: y, W: c.W - 2, H: heights[i], Tabs: s.tabs})
		y += heights[i] + 1
	}
	return c
}

// heights gives every slot its minimum and divides the rest by shares; rows beyond a slot's maximum go to the others.
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

// Presets are the names of the layouts of a large screen; the first one replaces an unknown name.
var Presets = []string{"balanced", "chat", "forks", "schedule"}

// preset is the weights of the panes: the left column's share of the width and its limits, and the pane with most
// rows of its column.
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
	action.Schedule: 3, action.Updates: 2, action.Forks: 3, action.Chat: 3,
}

// share returns a pane's share in this preset.
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

// The least width of a column that the user has narrowed, and of the left one of three.
const leastColumn, threeColumns = 30, 46

// leftLimits returns the limits of the left column. They do not depend on its content.
func (in Input) leftLimits() limits {
	p := presetOf(in.Preset)
	base, most := min(max(in.W*p.eighths/8, p.least), p.most), in.W-leastColumn
	if in.W >= wideWidth {
		most = in.W / 2
		if p.favourite == action.Everywhere {
			base = min(base, max(in.W/4, threeColumns))
		}
	}
	return limits{base, leastColumn, most}
}

// Step moves the borders of a pane by columns and rows, which may be negative, and returns the input with the new
// Columns and Rows. It starts from the visible size, not from a size stored on another screen. ok is false if the
// pane has no border that can move so far. The step back restores the size.
func (in Input) Step(pane action.Pane, columns, rows int) (out Input, ok bool) {
	if mode(in.W, in.H) != Full || in.Zoom {
		return in, false
	}
	for i, column := range in.slots() {
		at := slices.IndexFunc(column, func(s slot) bool { return s.pane == pane })
		if at < 0 {
			continue
		}
		var wider bool
		switch i { // the column next to the left one grows to the left
		case 0:
			wider = in.leftLimits().step(&in.Columns, columns)
		case 1:
			wider = in.leftLimits().step(&in.Columns, -columns)
		default:
			wider = in.rightLimits().step(&in.Right, columns)
		}
		taller := in.stepRows(column, at, rows)
		return in, wider || taller
	}
	return in, false
}

// stepRows makes a box of a column taller. The changes of the others are stored with it, so
// that the same screen is divided in the same way again.
func (in *Input) stepRows(column []slot, at, by int) bool {
	total, shown := in.rows(column), in.grown(column)
	base := heights(total, column)
	most := total + column[at].least
	for _, s := range column {
		most -= s.least
	}
	if by == 0 || len(column) == 1 || shown[at]+by < column[at].least || shown[at]+by > most {
		return false
	}
	shown[at] += by
	settle(shown, base, total, column, func(i int) bool { return i == at })
	rows := map[action.Pane]int{}
	maps.Copy(rows, in.Rows)
	for i, s := range column {
		rows[s.size()] = shown[i] - base[i]
	}
	in.Rows = rows
	return true
}

// limits are a size without the user's steps, and its bounds.
type limits struct{ base, least, most int }

// clamp returns the size for a stored number of steps.
func (l limits) clamp(stored int) int { return min(max(l.base+stored, l.least), l.most) }

// step changes the visible size and the stored steps.
func (l limits) step(stored *int, by int) bool {
	size := l.clamp(*stored) + by
	if by == 0 || size < l.least || size > l.most {
		return false
	}
	*stored = size - l.base
	return true
}

// grown returns the rows of a column's slots, as resized by the user.
func (in Input) grown(column []slot) []int {
	total := in.rows(column)
	base := heights(total, column)
	out := make([]int, len(base))
	for i, s := range column {
		out[i] = max(s.least, base[i]+in.Rows[s.size()])
	}
	settle(out, base, total, column, func(i int) bool { return in.Rows[column[i].size()] != 0 })
	return out
}

// rows returns the number of rows between the borders of a column: above are the top line and the day, below the rows
// of messages and keys.
func (in Input) rows(column []slot) int {
	day, _ := in.head()
	return in.H - 3 - day - len(column) - 1
}

// settle removes rows from boxes, or adds some, until their sum is total. It changes kept boxes last, and first those
// furthest from their base, so that removed rows are returned to the boxes they came from.
func settle(have, base []int, total int, column []slot, keep func(i int) bool) {
	sum := 0
	for _, n := range have {
		sum += n
	}
	for sum != total {
		by := cmp.Compare(total, sum)
		best, rank := -1, []int(nil)
		for i, s := range column {
			if by < 0 && have[i] <= s.least {
				continue
			}
			class := 0
			if keep(i) {
				class = 1
			}
			if by > 0 && s.most > 0 && have[i] >= max(s.most, base[i]) {
				class += 2
			}
			if r := []int{class, by * (have[i] - base[i]), by * have[i]}; best < 0 || slices.Compare(r, rank) < 0 {
				best, rank = i, r
			}
		}
		if best < 0 {
			return
		}
		have[best] += by
		sum += by
	}
}
