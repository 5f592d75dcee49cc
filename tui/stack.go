package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

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
	if a.Send != nil {
		return r.doFor(a.Send, d)
	}
	return r.answer(a)
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
	if s, ok := r.seat(d); ok {
		lay(lines, r.w, piece{s.x, s.y, framed(r.theme, d.Title(), s.inside, s.w)})
	}
}

// What lies over the panes is drawn with lipgloss, which measures all that it
// touches: it is given the rows that are covered, and no others.

// piece is something that lies over the screen: lines of equal width, with the
// cell of its upper left corner.
type piece struct {
	x, y  int
	lines []string
}

// lay puts pieces over a screen of lines of w cells, later ones on top. What
// would be outside of the screen is not drawn.
func lay(lines []string, w int, pieces ...piece) {
	top, end := len(lines), 0
	for _, p := range pieces {
		top, end = min(top, p.y), max(end, p.y+len(p.lines))
	}
	top, end = max(top, 0), min(end, len(lines))
	if top >= end {
		return
	}
	layers := []*lipgloss.Layer{lipgloss.NewLayer(strings.Join(lines[top:end], "\n"))}
	for z, p := range pieces {
		layers = append(layers, lipgloss.NewLayer(strings.Join(p.lines, "\n")).X(p.x).Y(p.y-top).Z(z+1))
	}
	canvas := lipgloss.NewCanvas(w, end-top)
	canvas.Compose(lipgloss.NewCompositor(layers...))
	for i, l := range strings.Split(canvas.Render(), "\n") {
		lines[top+i] = l + widget.Blank(w-ansi.StringWidth(l)) // the canvas trims what is blank
	}
}

// framed puts a border with a title around lines of w cells.
func framed(t *theme.Theme, title string, inside []string, w int) []string {
	border := t.Border()
	edge := t.Style(theme.Focus)
	name := widget.Cut(title, max(0, w-4))
	rest := max(0, w-3-widget.Cells(name))
	top := edge.Render(border.TopLeft+border.Top+" ") + t.Style(theme.Strong).Render(name) +
		edge.Render(" "+strings.Repeat(border.Top, rest)+border.TopRight)
	box := lipgloss.NewStyle().Border(border).BorderTop(false)
	if fg, _ := t.Options().Colours(theme.Focus); fg != nil {
		box = box.BorderForeground(fg)
	}
	return append([]string{top}, strings.Split(box.Render(strings.Join(inside, "\n")), "\n")...)
}
