package tui

import (
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Small screens: one line a pane, and the page that says that there is no room.

// strip is one line a pane, and the focused one in its box where there is room.
func (r *root) strip(plan layout.Plan) []string {
	rows := make([]string, 0, plan.Said)
	context := r.context()
	brush := widget.Brush{Theme: r.theme}
	for _, p := range action.Panes {
		mark, role := " ", theme.Dim
		if p == r.focus {
			mark, role = r.theme.Glyph(theme.Pointer), theme.Focus
		}
		head := brush.Line(4, widget.Span{Role: theme.Focus, Text: mark}, widget.Span{Role: role, Text: r.goKey(p) + " "})
		rows = append(rows, head+r.panes[p].Line(context, plan.Strip-4))
	}
	if len(plan.Columns) > 0 && plan.Strip == r.w {
		return append(rows, r.body(plan)...)
	}
	for len(rows) < plan.Said-1 {
		rows = append(rows, widget.Blank(plan.Strip))
	}
	if len(plan.Columns) > 0 {
		for i, l := range r.body(plan) {
			rows[i] += l
		}
	}
	return rows
}

// needsRoom reports that the focused pane has to be seen: it takes text, or a
// tool call waits in it that esc has not put away.
func (r *root) needsRoom() bool {
	if r.panes[r.focus].Capture() {
		return true
	}
	waits := r.snap.Approvals
	return r.focus == action.Chat && len(waits) > 0 && waits[0].ID != r.desk.away
}

// putAway gives the screen back to the strip, where a tool call that waits has
// taken it; the call waits on in its line.
func (r *root) putAway() bool {
	waits := r.snap.Approvals
	if len(waits) == 0 || !r.needsRoom() || r.plan().Mode != layout.Strip {
		return false
	}
	r.desk.away = waits[0].ID
	return true
}
