package view

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/layout"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Small screens: one line a pane, and the page that says that there is no room.

// strip is one line a pane, and the focused one in its box where there is room.
func (f frame) strip() []string {
	rows := make([]string, 0, f.plan.Said)
	context := f.Context
	brush := widget.Brush{Theme: f.Theme}
	for _, p := range action.Panes {
		mark, role := " ", theme.Dim
		if p == f.Focus {
			mark, role = f.Theme.Glyph(theme.Pointer), theme.Focus
		}
		head := brush.Line(4, widget.Span{Role: theme.Focus, Text: mark}, widget.Span{Role: role, Text: f.goKey(p) + " "})
		rows = append(rows, head+f.Panes[p].Line(context, f.plan.Strip-4))
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

// tooSmall says what the screen needs, in as many words as it can show: the
// number first, and never without the way out.
func (f frame) tooSmall() []string {
	if q, ok := f.Top().(*dialog.Question); ok {
		lines := q.Draw(f.Context, f.W+dialog.Air, f.H) // nothing is seen beside it
		for i, l := range lines {
			lines[i] = l + widget.Blank(f.W-ansi.StringWidth(l))
		}
		return widget.Fill(lines, f.W, f.H)
	}
	brush, least := widget.Brush{Theme: f.Theme}, fmt.Sprintf("%d×%d", layout.StripWidth, layout.StripHeight)
	quits := quitKey(f.names()) + held + "quits"
	var lines []string
	for _, sentences := range [][]string{
		{fmt.Sprintf(textSize, least, f.W, f.H), textGoesOn + quits + held + "it"},
		{fmt.Sprintf(textNeeded, least), quits},
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
