package view

import (
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

// Target is what is under a cell: one of the types below, or nil for nothing.
type Target any

type (
	// Toast is the row of toasts.
	Toast struct{}
	// Action is a hint of the help line.
	Action struct {
		Pane action.Pane
		ID   action.ID
	}
	// Key is a hint of the help line of a dialog or pane that captures every key.
	Key struct{ Name string }
	// Headline is the sentence of the top line.
	Headline struct{}
	// Dialog is a cell of the topmost dialog, or outside of it.
	Dialog struct{ Click pane.Click }
	// Day is a cell of the day, and how many rows the day has.
	Day struct{ X, Y, Rows int }
	// Line is a pane of one line. Opens means that a click opens the pane if it has the
	// focus.
	Line struct {
		Pane  action.Pane
		Opens bool
	}
	// Heading is the top border of a pane. Tab is the pane of the tab under the cell, or
	// Pane.
	Heading struct{ Pane, Tab action.Pane }
	// Row is a row of a pane.
	Row struct {
		Pane  action.Pane
		Place widget.Place
	}
)

// At is the target under a cell of the frame. It is computed on demand, so that drawing a
// frame costs nothing extra.
func At(s *State, x, y int) Target {
	f := frame{s, s.Plan()}
	switch {
	case f.plan.Mode == layout.TooSmall:
		return nil
	case y == f.plan.Said && len(f.Toasts) > 0:
		return Toast{}
	case y == f.H-1:
		return f.helpLine().at(f.W, x)
	case len(f.Dialogs) > 0:
		return f.dialogAt(x, y)
	case y == 0:
		return f.topLine().at(f.W, x)
	case y <= f.plan.Day:
		return Day{x, y - 1, f.plan.Day}
	case y <= f.plan.Day+f.plan.Fixed:
		return Line{Pane: action.Budget}
	case x < f.plan.Strip && y <= f.plan.Day+len(action.Panes):
		return Line{Pane: action.Panes[y-1-f.plan.Day], Opens: true}
	}
	return f.paneAt(x, y)
}

// dialogAt is the target at a cell while a dialog is open; nil on its border.
func (f frame) dialogAt(x, y int) Target {
	s, ok := f.seat(f.Top())
	if !ok {
		return nil
	}
	x, y = x-s.x, y-s.y
	switch {
	case x < 0 || x >= s.w+2 || y < 0 || y >= len(s.inside)+2:
		return Dialog{pane.Click{Beside: true}}
	case x < 1 || x > s.w || y < 1 || y > len(s.inside):
		return nil
	}
	return Dialog{pane.Click{X: x - 1, Y: y - 1}}
}

// opens are the actions of a click on the box that shows what is selected.
var opens = map[action.Pane]action.ID{action.Schedule: action.ScheduleDetails, action.Updates: action.UpdatesRead}

func (f frame) paneAt(x, y int) Target {
	b, ok := f.plan.At(x, y)
	switch list := f.listed(); {
	case !ok:
		return nil
	case b.Pane == action.Detail:
		return Action{list, opens[list]}
	}
	if y < b.Y {
		if tab, ok := buttonAt(f.tabs(b), x-b.X-1).(Heading); ok {
			return Heading{b.Pane, tab.Tab}
		}
		return Heading{b.Pane, b.Pane}
	}
	row := f.Panes[b.Pane].Draw(f.Context, b.W, b.H, b.Pane == f.Focus)[y-b.Y]
	return Row{b.Pane, row.At(x - b.X)}
}
