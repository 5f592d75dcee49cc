package tui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/words"
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// tabs are the labels on the border of a box that panes share, in the most telling form
// for which there is room: what goes on in a pane that is not on the screen is worth more
// than its name.
func (r *root) tabs(b layout.Box) (out []button) {
	for _, form := range []tabForm{{true, true}, {false, true}, {true, false}, {false, false}} {
		if out = r.labels(b, form); widget.Width(spansOf(out)) <= b.W-2 {
			break
		}
	}
	return out
}

// tabForm is how much the labels of a border say.
type tabForm struct{ names, states bool }

// labels are the tabs in one form. The open one stands in brackets, or behind a
// pointer where it has the focus; what goes on in it is in its box.
func (r *root) labels(b layout.Box, f tabForm) []button {
	out := make([]button, 0, len(b.Tabs))
	for _, p := range b.Tabs {
		role, text := theme.Dim, r.goKey(p)
		state := tabState(p, r.snap)
		switch p {
		case r.focus:
			role, text = theme.Focus, r.theme.Glyph(theme.Pointer)+strings.TrimLeft(text+" ", " ")+p.Name()+" "
		case b.Pane:
			role, text = theme.Strong, "["+strings.TrimLeft(text+" ", " ")+p.Name()+"]"
		default:
			if f.names || text == "" {
				text = strings.TrimLeft(text+" "+shortName(p), " ")
			}
			if state != "" && f.states {
				if !f.names && p != action.Budget && p != action.Schedule { // a bare number would be a key
					state = "(" + state + ")"
				}
				text += " " + state
			}
			text = " " + text + " "
		}
		out = append(out, label(role, text, func() tea.Cmd { r.setFocus(p); return nil }))
	}
	return out
}

// tabState is what goes on in a pane, in a few cells: tokens of the budget, when the
// next task fires, how many updates there are, how many runs wait or run.
func tabState(p action.Pane, s *core.Snapshot) string {
	switch p {
	case action.Budget:
		return budgetState(s)
	case action.Schedule:
		for _, e := range s.Schedule.Entries {
			if e.FireTime.After(s.At) {
				return strings.TrimPrefix(words.Soon(e.FireTime.Sub(s.At)), "in ")
			}
		}
	case action.Updates:
		return some(len(s.Updates))
	case action.Forks:
		n := 0
		for _, f := range s.Forks {
			if f.Live() {
				n++
			}
		}
		return some(n)
	case action.Chat:
		return some(len(s.Approvals))
	case action.Logs, action.Everywhere:
	}
	return ""
}

// budgetState is "3.2/5", or that nothing pings; empty before there is a budget.
func budgetState(s *core.Snapshot) string {
	b := s.Budget
	switch {
	case b.State.Capacity <= 0 && b.State.RefillRateMinutes <= 0:
		return ""
	case b.State.Capacity <= 0, b.Muted.After(s.At):
		return textTabMuted
	}
	tenths := int(max(b.State.Available, 0)*10 + 1e-9) // never more than there is
	return strings.TrimSuffix(fmt.Sprintf("%d.%d", tenths/10, tenths%10), ".0") + "/" + strconv.Itoa(b.State.Capacity)
}

func some(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}
