package tui

import (
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	today "ollimbot/tui/pane/day"
	"ollimbot/tui/widget"
)

// What stands between the top line and the panes: the day, and above the tabs of a
// small screen what they would hide.

func (r *root) head(plan layout.Plan) (rows []string) {
	c := r.context()
	if plan.Day > 0 {
		for _, row := range r.panes[action.Day].Draw(c, r.w, plan.Day, r.focus == action.Day) {
			rows = append(rows, row.Text)
		}
	}
	if plan.Fixed > 0 {
		rows = append(rows, " "+r.panes[action.Budget].Line(c, r.w-1), " "+r.panes[action.Schedule].Line(c, r.w-1))
	}
	return rows
}

// pressDay chooses what stands under a cell of the day, and opens what was chosen.
func (r *root) pressDay(x int) tea.Cmd {
	p := r.panes[action.Day].(*today.Pane)
	focused := r.focus == action.Day
	r.setFocus(action.Day)
	if again, ok := p.Point(r.context(), x, r.w); ok && again && focused {
		return r.answer(p.Do(r.context(), action.DayOpen))
	}
	return nil
}

// The columns of a row of the schedule around its title: time, distance, sign, and
// what stands at its right end.
const scheduleColumns = 28

// wants is how wide the left column would be for no title of the schedule to be cut,
// in steps, so that a change of one letter moves nothing.
func wants(s *core.Snapshot) int {
	n := 0
	for i := range s.Schedule.Tasks {
		n = max(n, widget.Cells(s.Schedule.Tasks[i].Title))
	}
	if n == 0 {
		return 0
	}
	return (n + scheduleColumns + columnStep - 1) / columnStep * columnStep
}
