package view

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// seat is where a dialog stands: the cell of its box's upper left corner, and
// the lines in it, each of w cells.
type seat struct {
	x, y, w int
	inside  []string
}

// seat draws a dialog for its place over the middle of the body; ok is false
// where there is no room for it.
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
