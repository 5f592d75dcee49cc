package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/theme"
)

// rowKeys select in the panes that have rows.
var rowKeys = map[action.Pane]struct{ up, down action.ID }{
	action.Schedule: {action.ScheduleUp, action.ScheduleDown},
	action.Updates:  {action.UpdatesUp, action.UpdatesDown},
	action.Forks:    {action.ForksUp, action.ForksDown},
}

// pick selects the row under the pointer in a pane that has rows, with the same
// actions as the keys. A click beside the rows selects nothing. It reports
// whether the row was selected already.
func (r *root) pick(b layout.Box, y int) (already bool) {
	rows := r.drawn(b)
	rows = rows[:r.listed(b.Pane, rows)]
	y -= b.Y
	if _, has := rowKeys[b.Pane]; !has || y < 0 || y >= len(rows) || strings.TrimSpace(rows[y]) == "" {
		return false
	}
	at, ok := r.marked(rows)
	switch {
	case !ok:
	case within(rows, at, y):
		return true
	case b.Pane == action.Schedule:
		r.seek(b, at, y)
	default:
		r.stepRows(b, between(rows, at, y))
	}
	return false
}

// seek moves the selection of the schedule, line after line, to the item that
// line y belongs to. Where it belongs to none, as a heading does, the selection
// goes back to where it was.
func (r *root) seek(b layout.Box, at, y int) {
	id, back := rowKeys[b.Pane].down, rowKeys[b.Pane].up
	down := at < y
	if !down {
		id, back = back, id
	}
	p, c := r.panes[b.Pane], r.context()
	for moved := 1; ; moved++ {
		p.Do(c, id)
		rows := r.drawn(b)
		next, ok := r.marked(rows)
		if ok && within(rows, next, y) {
			return
		}
		if !ok || next == at { // the end of the list
			moved--
		}
		if !ok || next == at || (next < y) != down {
			for range moved {
				p.Do(c, back)
			}
			return
		}
		at = next
	}
}

// stepRows moves the selection by so many rows. Lines of updates move while the
// selection does, so they are not looked at again.
func (r *root) stepRows(b layout.Box, by int) {
	id := rowKeys[b.Pane].down
	if by < 0 {
		id, by = rowKeys[b.Pane].up, -by
	}
	p, c := r.panes[b.Pane], r.context()
	if r.inTail(b.Pane) {
		p.Do(c, action.ForksTail) // it is left
	}
	for range by {
		p.Do(c, id)
	}
}

// inTail reports that a pane's tail has its keys.
func (r *root) inTail(p action.Pane) bool {
	t, ok := r.panes[p].(interface{ InTail() bool })
	return ok && t.InTail()
}

// onTail reports whether row y of the forks stands below the rule, in the tail.
func (r *root) onTail(b layout.Box, y int) bool {
	rows := r.drawn(b)
	n := r.listed(b.Pane, rows)
	return b.Pane == action.Forks && n < len(rows) && y-b.Y > n
}

// between is by how many items line y is below the marked one; negative above.
func between(rows []string, at, y int) int {
	n := 0
	for i, l := range rows {
		switch first := !strings.HasPrefix(l, "  ") && strings.TrimSpace(l) != ""; {
		case first && i > at && i <= y:
			n++
		case first && i > y && i <= at:
			n--
		}
	}
	return n
}

// drawn are the lines of a box as they stand on the screen, without colours.
func (r *root) drawn(b layout.Box) []string {
	lines := r.panes[b.Pane].Lines(r.context(), b.W, b.H, true)
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = ansi.Strip(l)
	}
	return out
}

// listed is how many of a pane's lines belong to its rows: in the forks those
// above the rule, below which the tail stands.
func (r *root) listed(p action.Pane, rows []string) int {
	if i := rules(rows, r.theme.Box().Horizontal); p == action.Forks && len(i) > 0 {
		return i[0]
	}
	return len(rows)
}

// rules are the lines that are drawn from edge to edge.
func rules(rows []string, horizontal string) []int {
	var out []int
	for i, l := range rows {
		if ruled(l, horizontal) {
			out = append(out, i)
		}
	}
	return out
}

// marked is the line on which the mark of the selected row stands.
func (r *root) marked(rows []string) (y int, ok bool) {
	mark := r.theme.Glyph(theme.Pointer)
	for i, l := range rows {
		if strings.HasPrefix(strings.TrimLeft(l, " "), mark) {
			return i, true
		}
	}
	return 0, false
}

// within reports whether line y belongs to the item that begins at a line: what
// an item has below its first line is indented.
func within(rows []string, at, y int) bool {
	if y < at {
		return false
	}
	for _, l := range rows[at+1 : y+1] {
		if !strings.HasPrefix(l, "  ") || strings.TrimSpace(l) == "" {
			return false
		}
	}
	return true
}

// onInput reports whether the line to write on stands in row y of the chat: all
// that is below its last rule.
func (r *root) onInput(b layout.Box, y int) bool {
	found := rules(r.drawn(b), r.theme.Box().Horizontal)
	return len(found) > 0 && y-b.Y > found[len(found)-1]
}
