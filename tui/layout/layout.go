// Package layout divides the screen: a pure function of its size, the zoom and
// the focus. It knows the names of the panes and nothing of what they show.
package layout

import "ollimbot/tui/action"

// Mode is how much of the dashboard the screen can hold.
type Mode uint8

// The modes, from roomy to hopeless.
const (
	Full     Mode = iota // every pane in a box, in two columns
	Tabs                 // one pane at a time
	Strip                // one line a pane
	TooSmall             // nothing but a message that says so
)

// The smallest sizes of the modes, in cells.
const (
	FullWidth   = 96
	FullHeight  = 26
	TabsWidth   = 56
	TabsHeight  = 14
	StripWidth  = 40
	StripHeight = 10
)

// Input is what decides the layout.
type Input struct {
	W, H  int
	Zoom  bool
	Focus action.Pane
	// Lower is which of Chat and Logs the lower right box shows where they share
	// one. Anything else means Chat.
	Lower action.Pane
	// Preset is one of Presets. Columns is by how many cells the left column is
	// wider than it says, Rows by how many rows a pane is taller; both may be
	// negative, and hold as far as there is room.
	Preset  string
	Columns int
	Rows    map[action.Pane]int
}

// Box is a pane's place. X, Y, W and H are its inside; the border stands around
// it: one cell left and right, one row above and, shared with the next box of
// the column, one below.
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
	W, H    int
	Mode    Mode
	Columns []Column
}

// Divide makes the plan. Every row of the body is covered by every column.
func Divide(in Input) Plan {
	p := Plan{W: in.W, H: in.H, Mode: mode(in.W, in.H)}
	switch {
	case p.Mode == TooSmall:
	case in.Zoom:
		p.Columns = []Column{column(0, in.W, in.H, []slot{{pane: in.Focus, share: 1}})}
	case p.Mode == Full:
		p.Columns = full(in)
	case p.Mode == Tabs:
		p.Columns = []Column{column(0, in.W, in.H, []slot{{pane: in.Focus, share: 1, tabs: action.Panes}})}
	}
	return p
}

func mode(w, h int) Mode {
	switch {
	case w >= FullWidth && h >= FullHeight:
		return Full
	case w >= TabsWidth && h >= TabsHeight:
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

// budgetRows is what the budget pane can fill; more would only be empty.
const budgetRows = 6

// talk is how tall the screen must be for chat and logs to have a box each.
const talk = 48

func full(in Input) []Column {
	p := presetOf(in.Preset)
	left := p.left(in)
	a := grid{0, left, in.H, in.Rows}.column([]slot{
		{pane: action.Budget, least: 5, most: budgetRows, share: p.shares[action.Budget]},
		{pane: action.Schedule, least: 4, share: p.shares[action.Schedule]},
		{pane: action.Updates, least: 3, share: p.shares[action.Updates]},
	})
	lower := []slot{{pane: action.Chat, least: 5, share: p.shares[action.Chat]}}
	if in.H >= talk {
		lower = append(lower, slot{pane: action.Logs, least: 5, share: p.shares[action.Logs]})
	} else {
		lower[0].tabs = []action.Pane{action.Chat, action.Logs}
		if in.Lower == action.Logs {
			lower[0].pane = action.Logs
		}
	}
	b := grid{left, in.W - left, in.H, in.Rows}.column(
		append([]slot{{pane: action.Forks, least: 8, share: p.shares[action.Forks]}}, lower...))
	return []Column{a, b}
}

// column stacks boxes from row 1 to the row before the last.
func column(x, w, h int, slots []slot) Column { return grid{x, w, h, nil}.column(slots) }

// grid is the place of a column on a screen of h rows, and by how many rows the
// user has made panes taller.
type grid struct {
	x, w, h int
	rows    map[action.Pane]int
}

func (g grid) column(slots []slot) Column {
	c := Column{X: g.x, W: g.w}
	rows := g.h - 2 - len(slots) - 1
	y := 2
	for i, height := range grown(heights(rows, slots), slots, g.rows) {
		c.Boxes = append(c.Boxes, Box{
			Pane: slots[i].pane, X: g.x + 1, Y: y, W: g.w - 2, H: height, Tabs: slots[i].tabs,
		})
		y += height + 1
	}
	return c
}

// heights gives every slot its least and divides what is left by the shares;
// what a slot may not take goes to the others.
func heights(rows int, slots []slot) []int {
	out := make([]int, len(slots))
	for i, s := range slots {
		out[i] = s.least
		rows -= s.least
	}
	for rows > 0 {
		i := neediest(out, slots)
		out[i]++
		rows--
	}
	return out
}

// neediest is the slot that is furthest below its share.
func neediest(have []int, slots []slot) int {
	best := -1
	for i, s := range slots {
		if s.most > 0 && have[i] >= s.most {
			continue
		}
		if best < 0 || have[i]*slots[best].share < have[best]*s.share {
			best = i
		}
	}
	return max(best, 0)
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

// Find gives the box of a pane that is on screen.
func (p Plan) Find(pane action.Pane) (Box, bool) {
	for _, c := range p.Columns {
		for _, b := range c.Boxes {
			if b.Pane == pane {
				return b, true
			}
		}
	}
	return Box{}, false
}
