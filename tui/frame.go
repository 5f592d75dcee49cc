package tui

import (
	"cmp"
	"strings"
	"time"

	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// frame draws the whole screen: h lines of exactly w cells.
func (r *root) frame() []string {
	plan := r.plan()
	if plan.Mode == layout.TooSmall {
		return r.tooSmall()
	}
	lines := make([]string, 0, r.h)
	lines = append(lines, r.topLine().draw(r.theme, r.w))
	lines = append(lines, r.head(plan)...)
	if plan.Strip > 0 {
		lines = append(lines, r.strip(plan)...)
	} else {
		lines = append(lines, r.body(plan)...)
	}
	for _, d := range r.dialogs { // before the help line, which may say what is drawn
		r.overlay(lines[:plan.Said], d)
	}
	if plan.Said < r.h-1 {
		lines = append(lines, cmp.Or(r.captionLine(), widget.Blank(r.w)))
	}
	lines = append(lines, r.helpLine().draw(r.theme, r.w))
	if said := r.saidLine(time.Now()); said != "" {
		lines[plan.Said] = said
	}
	return lines
}

// body draws the columns beside each other, row by row. Nothing is measured:
// every part is as wide as its box.
func (r *root) body(plan layout.Plan) []string {
	columns := make([][]string, len(plan.Columns))
	for i, c := range plan.Columns {
		columns[i] = r.column(c)
	}
	rows := make([]string, len(columns[0]))
	var b strings.Builder
	for y := range rows {
		b.Reset()
		for _, c := range columns {
			b.WriteString(c[y])
		}
		rows[y] = b.String()
	}
	return rows
}

// column draws a stack of boxes with the borders that they share.
func (r *root) column(c layout.Column) []string {
	box := r.theme.Box()
	context := r.context()
	var rows []string
	for i, b := range c.Boxes {
		above := i > 0 && c.Boxes[i-1].Pane == r.focus
		rows = append(rows, r.border(b, i == 0, above))
		role := r.borderRole(b.Pane)
		side := r.theme.Paint(role, box.Left)
		for _, l := range r.panes[b.Pane].Draw(context, b.W, b.H, b.Pane == r.focus) {
			left, right := side, side
			if l.Place == widget.Ruled {
				left, right = r.theme.Paint(role, box.MiddleLeft), r.theme.Paint(role, box.MiddleRight)
			}
			rows = append(rows, left+l.Text+right)
		}
	}
	last := c.Boxes[len(c.Boxes)-1].Pane
	bottom := box.BottomLeft + strings.Repeat(box.Top, c.W-2) + box.BottomRight
	return append(rows, r.theme.Paint(r.borderRole(last), bottom))
}

func (r *root) borderRole(p action.Pane) theme.Role {
	if p == r.focus {
		return theme.Focus
	}
	return theme.Border
}

// border is the row above a box: its title, and its state at the right end.
func (r *root) border(b layout.Box, first, below bool) string {
	box := r.theme.Box()
	left, right := box.MiddleLeft, box.MiddleRight
	if first {
		left, right = box.TopLeft, box.TopRight
	}
	role := r.borderRole(b.Pane)
	if below {
		role = theme.Focus
	}
	mark := widget.Span{Role: role, Text: box.Top}
	if b.Pane == r.focus && len(b.Tabs) == 0 {
		mark = widget.Span{Role: theme.Focus, Text: r.theme.Glyph(theme.Pointer)}
	}
	title, states := r.heading(b)
	room := b.W - 2 - widget.Width(title)
	tail := []widget.Span{{Role: role, Text: box.Top + right}}
	for _, state := range states {
		if n := widget.Cells(state); n > 0 && room >= n+4 {
			room -= n + 2
			tail = []widget.Span{{Text: " "}, {Role: theme.Dim, Text: state}, {Text: " "}, {Role: role, Text: box.Top + right}}
			break
		}
	}
	spans := append([]widget.Span{{Role: role, Text: left}, mark}, title...)
	spans = append(spans, widget.Span{Role: role, Text: strings.Repeat(box.Top, max(0, room))})
	return widget.Brush{Theme: r.theme}.Line(b.W+2, append(spans, tail...)...)
}

// heading is a box's title, or its tabs, and what may stand at its right end,
// the most telling first.
func (r *root) heading(b layout.Box) (title []widget.Span, states []string) {
	name, state := b.Pane.Name(), r.panes[b.Pane].State(r.context())
	if r.whole() {
		if b.Pane == action.Forks {
			name = textRuns
		}
		zoomed := textZoomed(r.names(), r.focus.Page())
		states = append(states, strings.TrimPrefix(state+textDot+zoomed, textDot), zoomed, textZoomedShort)
	} else {
		for ; state != ""; state = state[:max(0, strings.LastIndex(state, textDot))] {
			states = append(states, state) // the most telling words stand first
		}
	}
	if len(b.Tabs) == 0 {
		return r.titleSpans(b.Pane, name), states
	}
	return spansOf(r.tabs(b)), states
}

func (r *root) titleSpans(p action.Pane, name string) []widget.Span {
	role := theme.Strong
	if p == r.focus {
		role = theme.Focus
	}
	spans := []widget.Span{{Text: " "}}
	if key := r.goKey(p); key != "" {
		spans = append(spans, widget.Span{Role: theme.Dim, Text: key + " "})
	}
	return append(spans, widget.Span{Role: role, Text: name}, widget.Span{Text: " "})
}

// goKey is the key that goes to a pane, as its title shows it: its number, unless
// the user has chosen another. One that is no sign is left to the help page.
func (r *root) goKey(p action.Pane) string {
	key := r.names().Key(p.Go())
	if widget.Cells(key) > maxGoKey {
		return ""
	}
	return key
}

// maxGoKey is how many cells the key of a title may take: "5", "f5".
const maxGoKey = 2
