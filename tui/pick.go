package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
)

// pick selects the row under the pointer in a pane that has rows: with the same
// actions as the keys, until the mark of the selected row stands there. A click
// beside the rows selects nothing.
func (r *root) pick(b layout.Box, y int) {
	up, _ := wheelAction(b.Pane, true)
	down, _ := wheelAction(b.Pane, false)
	if b.Pane == action.Forks {
		up, down = action.ForksUp, action.ForksDown
	}
	p := r.panes[b.Pane]
	if p.Capture() || b.Pane == action.Chat || b.Pane == action.Logs || up == "" {
		return
	}
	for at, ok := r.marked(p, b); ok && at != y; {
		id, by := down, 1
		if at > y {
			id, by = up, -1
		}
		p.Do(r.context(), id)
		next, still := r.marked(p, b)
		if !still || next == at {
			return // the end of the list, or rows that have moved under the mark
		}
		if (next-y)*by > 0 { // it has gone over a row of several lines: one back
			if by > 0 {
				p.Do(r.context(), up)
			}
			return
		}
		at = next
	}
}

// marked is the row of the screen on which the mark of the selected row stands.
func (r *root) marked(p pane.Pane, b layout.Box) (y int, ok bool) {
	mark := r.theme.Glyph(theme.Pointer)
	for i, l := range p.Lines(r.context(), b.W, b.H, true) {
		if strings.HasPrefix(strings.TrimLeft(ansi.Strip(l), " "), mark) {
			return b.Y + i, true
		}
	}
	return 0, false
}
