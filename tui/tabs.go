package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// tabs are the labels on the border of a box that panes share: their keys and names,
// where there is room for these, and how much goes on in a pane that is not on the screen.
func (r *root) tabs(b layout.Box) []button {
	if out := r.labels(b, true); widget.Width(spansOf(out)) <= b.W-2 {
		return out
	}
	return r.labels(b, false)
}

// labels are the tabs with their names or without. The open one stands in brackets, or
// behind a pointer where it has the focus; what goes on in it is in its box.
func (r *root) labels(b layout.Box, names bool) []button {
	out := make([]button, 0, len(b.Tabs))
	for _, p := range b.Tabs {
		role, key := theme.Dim, r.goKey(p)
		text := strings.TrimLeft(key+" "+p.Name(), " ")
		switch p {
		case r.focus:
			role, text = theme.Focus, r.theme.Glyph(theme.Pointer)+text+" "
		case b.Pane:
			role, text = theme.Strong, "["+text+"]"
		default:
			if !names && key != "" {
				text = key
			}
			if n := goesOn(p, r.snap); n > 0 {
				text += " (" + strconv.Itoa(n) + ")"
			}
			text = " " + text + " "
		}
		out = append(out, label(role, text, func() tea.Cmd { r.setFocus(p); return nil }))
	}
	return out
}

// goesOn is how many updates there are, how many runs wait or run, how many tool calls
// wait.
func goesOn(p action.Pane, s *core.Snapshot) int {
	switch p {
	case action.Updates:
		return len(s.Updates)
	case action.Forks:
		running, waiting := fork.Count(s.Forks)
		return running + waiting
	case action.Chat:
		return len(s.Approvals)
	}
	return 0
}
