package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
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
	lines = append(widget.Fill(lines, f.W, f.H-1), f.helpLine().draw(f.Theme, f.W))
	said := f.toastLine()
	if f.plan.Said < f.H-1 {
		said = cmp.Or(said, f.captionLine())
	}
	if said != "" {
		lines[f.plan.Said] = said
	}
	return lines
}

// head is the day and, on a small screen, the gauge of the budget, which the tabs would hide.
func (f frame) head() (rows []string) {
	if f.plan.Day > 0 {
		for _, row := range f.Panes[action.Day].Draw(f.Context, f.W, f.plan.Day, f.Focus == action.Day) {
			rows = append(rows, row.Text)
		}
	}
	if f.plan.Fixed > 0 {
		rows = append(rows, " "+f.Panes[action.Budget].Line(f.Context, f.W-1))
	}
	return rows
}

// seat is a dialog's position: the cell of its box's upper left corner, and the lines in
// the box, each of w cells.
type seat struct {
	x, y, w int
	inside  []string
}

// seat draws a dialog and centres it over the body. ok is false if there is no room.
func (f frame) seat(d pane.Dialog) (s seat, ok bool) {
	end := f.plan.Said
	if f.W < 8 || end < 4 {
		return s, false
	}
	s.inside = d.Draw(f.Context, f.W-2, end-3)
	if len(s.inside) == 0 {
		return s, false
	}
	s.w = ansi.StringWidth(s.inside[0])
	s.x, s.y = (f.W-s.w-2)/2, max(1, (end+1-len(s.inside)-2)/2)
	return s, true
}

// overlay draws a dialog in its box.
func (f frame) overlay(lines []string, d pane.Dialog) {
	s, ok := f.seat(d)
	if !ok {
		return
	}
	box, edge := f.Theme.Box(), func(text string) widget.Span { return widget.Span{Role: theme.Focus, Text: text} }
	name := widget.Span{Role: theme.Strong, Text: widget.Cut(d.Title(), max(0, s.w-4))}
	rest := strings.Repeat(box.Top, max(0, s.w-3-widget.Cells(name.Text)))
	brush, side := widget.Brush{Theme: f.Theme}, f.Theme.Paint(theme.Focus, box.Left)
	lay(lines, f.W, s.x, s.y, brush.Line(s.w+2, edge(box.TopLeft+box.Top+" "), name, edge(" "+rest+box.TopRight)))
	for i, l := range s.inside {
		lay(lines, f.W, s.x, s.y+1+i, side+l+side)
	}
	bottom := edge(box.BottomLeft + strings.Repeat(box.Top, s.w) + box.BottomRight)
	lay(lines, f.W, s.x, s.y+1+len(s.inside), brush.Line(s.w+2, bottom))
}

// lay draws a text over a line of w cells, from cell x on. A wide character that the text
// covers by half becomes a blank.
func lay(screen []string, w, x, y int, over string) {
	end := x + ansi.StringWidth(over)
	left, right := ansi.Truncate(screen[y], x, ""), ansi.TruncateLeft(screen[y], end, "")
	if ansi.StringWidth(right) > w-end { // it starts with half of a character
		right = ansi.TruncateLeft(screen[y], end+1, "")
	}
	screen[y] = left + widget.Blank(x-ansi.StringWidth(left)) + over + widget.Blank(w-end-ansi.StringWidth(right)) + right
}

// strip is the layout of a small screen: one line for each pane, and the focused pane in a
// box if there is room.
func (f frame) strip() []string {
	rows := make([]string, 0, f.plan.Said)
	brush := widget.Brush{Theme: f.Theme}
	for _, p := range action.Panes {
		mark, role := " ", theme.Dim
		if p == f.Focus {
			mark, role = f.Theme.Glyph(theme.Pointer), theme.Focus
		}
		head := brush.Line(4, widget.Span{Role: theme.Focus, Text: mark}, widget.Span{Role: role, Text: f.goKey(p) + " "})
		rows = append(rows, head+f.Panes[p].Line(f.Context, f.plan.Strip-4))
	}
	if len(f.plan.Columns) > 0 && f.plan.Strip == f.W {
		return append(rows, f.body()...)
	}
	rows = widget.Fill(rows, f.plan.Strip, f.plan.Said-1)
	if len(f.plan.Columns) > 0 {
		for i, l := range f.body() {
			rows[i] += l
		}
	}
	return rows
}

// tooSmall shows the required size, in as many words as fit: the size first, and always
// with the key that quits.
func (f frame) tooSmall() []string {
	if q, ok := f.Top().(*dialog.Question); ok {
		lines := q.Draw(f.Context, f.W+dialog.Air, f.H) // it takes the whole width
		for i, l := range lines {
			lines[i] = l + widget.Blank(f.W-ansi.StringWidth(l))
		}
		return widget.Fill(lines, f.W, f.H)
	}
	brush, least := widget.Brush{Theme: f.Theme}, fmt.Sprintf("%d×%d", layout.StripWidth, layout.StripHeight)
	quits := cmp.Or(f.names().Key(action.Quit), "ctrl+c") + held + "quits"
	var lines []string
	for _, sentences := range [][]string{
		{fmt.Sprintf(textSize, least, f.W, f.H), textKeepsRunning + quits + held + "it"},
		{fmt.Sprintf("%s needed", least), quits},
		{least, quits},
		{least + " " + quits},
	} {
		lines = lines[:0]
		for i, s := range sentences {
			for _, row := range widget.Wrap(s, f.W) {
				role := []theme.Role{theme.Strong, theme.Dim}[i]
				lines = append(lines, brush.Line(f.W, widget.Span{Role: role, Text: strings.ReplaceAll(row, held, " ")}))
			}
		}
		if len(lines) <= f.H {
			break
		}
	}
	return widget.Fill(lines, f.W, f.H)
}
