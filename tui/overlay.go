package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

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
		lines[top+i] = l + widget.Blank(w-cells(l)) // the canvas trims what is blank
	}
}

// cells is the width of a coloured line. Only what lies over the panes is
// ever measured.
func cells(s string) int { return ansi.StringWidth(s) }

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
