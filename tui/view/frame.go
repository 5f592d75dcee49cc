package view

import (
	"cmp"

	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/widget"
)

// frame draws one frame.
type frame struct {
	*State
	plan layout.Plan
}

// Frame draws the screen: H lines of exactly W cells.
func Frame(s *State) []string {
	f := frame{s, s.Plan()}
	if f.plan.Mode == layout.TooSmall {
		return f.tooSmall()
	}
	lines := make([]string, 0, f.H)
	lines = append(lines, f.topLine().draw(f.Theme, f.W))
	lines = append(lines, f.head()...)
	if f.plan.Strip > 0 {
		lines = append(lines, f.strip()...)
	} else {
		lines = append(lines, f.body()...)
	}
	for _, d := range f.Dialogs { // before the help line, which may depend on what was drawn
		f.overlay(lines[:f.plan.Said], d)
	}
	if f.plan.Said < f.H-1 {
		lines = append(lines, cmp.Or(f.captionLine(), widget.Blank(f.W)))
	}
	lines = append(lines, f.helpLine().draw(f.Theme, f.W))
	if line := f.toastLine(); line != "" {
		lines[f.plan.Said] = line
	}
	return lines
}

// head is the day and, above the tabs of a small screen, the panes that the tabs would
// hide.
func (f frame) head() (rows []string) {
	if f.plan.Day > 0 {
		for _, row := range f.Panes[action.Day].Draw(f.Context, f.W, f.plan.Day, f.Focus == action.Day) {
			rows = append(rows, row.Text)
		}
	}
	if f.plan.Fixed > 0 {
		for _, fixed := range fixedPanes {
			rows = append(rows, " "+f.Panes[fixed].Line(f.Context, f.W-1))
		}
	}
	return rows
}

// fixedPanes have a line each above the tabs of a small screen.
var fixedPanes = []action.Pane{action.Budget, action.Schedule}
