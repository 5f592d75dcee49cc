package tui

import (
	"fmt"
	"strconv"
	"strings"

	"ollimbot/core"
	"ollimbot/core/words"
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// tab is a label on a border that is shared by panes.
type tab struct {
	pane  action.Pane
	spans []widget.Span
}

// tabForm is how much the labels of a border say.
type tabForm struct{ names, states bool }

// tabForms are what may stand on a border, the most telling first: what goes on in
// a pane that is not on the screen is worth more than its name. A row of few cells
// never has names, two tabs always do.
func tabForms(b layout.Box) []tabForm {
	switch {
	case len(b.Tabs) <= 2:
		return []tabForm{{true, true}, {true, false}}
	case b.W >= namedTabs:
		return []tabForm{{true, true}, {false, true}, {true, false}, {false, false}}
	}
	return []tabForm{{false, true}, {false, false}}
}

// namedTabs is from how many cells on tabs may have names.
const namedTabs = 60

// tabs are the labels of a box, in the most telling form for which there is room.
func (r *root) tabs(b layout.Box) []tab {
	forms := tabForms(b)
	for _, f := range forms[:len(forms)-1] {
		out, n := r.labels(b, f), 0
		for _, t := range out {
			n += widget.Width(t.spans)
		}
		if n <= b.W-2 {
			return out
		}
	}
	return r.labels(b, forms[len(forms)-1])
}

// labels are the tabs in one form. The open one stands in brackets, or behind a
// pointer where it has the focus; what goes on in it is in its box.
func (r *root) labels(b layout.Box, f tabForm) []tab {
	out := make([]tab, 0, len(b.Tabs))
	for _, p := range b.Tabs {
		if p == b.Pane {
			role, left, right := theme.Strong, "[", "]"
			if p == r.focus {
				role, left, right = theme.Focus, r.theme.Glyph(theme.Pointer), " "
			}
			out = append(out, tab{p, []widget.Span{{Role: role, Text: left + strings.TrimLeft(r.goKey(p)+" ", " ") + p.Name() + right}}})
			continue
		}
		label := r.goKey(p)
		if f.names || label == "" {
			label = strings.TrimLeft(label+" "+shortName(p), " ")
		}
		if state := tabState(p, r.snap); state != "" && f.states {
			if !f.names && p != action.Budget && p != action.Schedule { // a bare number would be a key
				state = "(" + state + ")"
			}
			label += " " + state
		}
		out = append(out, tab{p, []widget.Span{{Role: theme.Dim, Text: " " + label + " "}}})
	}
	return out
}

// tabAt finds the label under a column of the border row.
func (r *root) tabAt(b layout.Box, x int) (action.Pane, bool) {
	at := b.X + 1
	for _, t := range r.tabs(b) {
		n := widget.Width(t.spans)
		if x >= at && x < at+n {
			return t.pane, true
		}
		at += n
	}
	return "", false
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
