package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
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

// The stack of what lies over the panes.

func (r *root) open(d pane.Dialog) { r.dialogs = append(r.dialogs, d) }

// top is the dialog that has the keys, or nil.
func (r *root) top() pane.Dialog {
	if n := len(r.dialogs); n > 0 {
		return r.dialogs[n-1]
	}
	return nil
}

// tell gives a message to a dialog of the stack, and carries out what it wants.
func (r *root) tell(d pane.Dialog, msg tea.Msg) tea.Cmd {
	a := d.Take(r.context(), msg)
	if i := slices.Index(r.dialogs, d); a.Close && i >= 0 {
		r.dialogs = slices.Delete(r.dialogs, i, i+1)
	}
	if a.Leave != pane.Stay {
		return r.exit(a.Leave)
	}
	if a.Run != nil {
		return r.act(*a.Run)
	}
	return r.answerTo(d, a)
}

// seat is where a dialog stands: the cell of its box's upper left corner, and
// the lines in it, each of w cells.
type seat struct {
	x, y, w int
	inside  []string
}

// seat draws a dialog for its place over the middle of the body; ok is false
// where there is no room for it.
func (r *root) seat(d pane.Dialog) (s seat, ok bool) {
	end := r.plan().Said
	if r.w < 8 || end < 4 {
		return s, false
	}
	s.inside = d.Draw(r.context(), r.w-2, end-3)
	if len(s.inside) == 0 {
		return s, false
	}
	s.w = ansi.StringWidth(s.inside[0])
	s.x, s.y = (r.w-s.w-2)/2, max(1, (end+1-len(s.inside)-2)/2)
	return s, true
}

// overlay draws a dialog in its box.
func (r *root) overlay(lines []string, d pane.Dialog) {
	s, ok := r.seat(d)
	if !ok {
		return
	}
	box, edge := r.theme.Box(), func(text string) widget.Span { return widget.Span{Role: theme.Focus, Text: text} }
	name := widget.Span{Role: theme.Strong, Text: widget.Cut(d.Title(), max(0, s.w-4))}
	rest := strings.Repeat(box.Top, max(0, s.w-3-widget.Cells(name.Text)))
	brush, side := widget.Brush{Theme: r.theme}, r.theme.Paint(theme.Focus, box.Left)
	lay(lines, r.w, s.x, s.y, brush.Line(s.w+2, edge(box.TopLeft+box.Top+" "), name, edge(" "+rest+box.TopRight)))
	for i, l := range s.inside {
		lay(lines, r.w, s.x, s.y+1+i, side+l+side)
	}
	bottom := edge(box.BottomLeft + strings.Repeat(box.Top, s.w) + box.BottomRight)
	lay(lines, r.w, s.x, s.y+1+len(s.inside), brush.Line(s.w+2, bottom))
}

// lay puts a line over one of w cells of a screen, from cell x on. Half a character beside
// it becomes a blank.
func lay(screen []string, w, x, y int, over string) {
	behind := x + ansi.StringWidth(over)
	left, right := ansi.Truncate(screen[y], x, ""), ansi.TruncateLeft(screen[y], behind, "")
	if ansi.StringWidth(right) > w-behind { // it begins with half of a character
		right = ansi.TruncateLeft(screen[y], behind+1, "")
	}
	screen[y] = left + widget.Blank(x-ansi.StringWidth(left)) + over + widget.Blank(w-behind-ansi.StringWidth(right)) + right
}
