package tui

import (
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// button is a span of a row of the frame, and what a click on it does; nil does nothing.
type button struct {
	widget.Span
	press func() tea.Cmd
}

func label(role theme.Role, text string, press func() tea.Cmd) button {
	return button{widget.Span{Role: role, Text: text}, press}
}

func spansOf(row []button) []widget.Span {
	out := make([]widget.Span, len(row))
	for i, b := range row {
		out[i] = b.Span
	}
	return out
}

// pressAt does what the button under cell x of a row does.
func pressAt(row []button, x int) tea.Cmd {
	for _, b := range row {
		n := widget.Cells(b.Text)
		if x >= 0 && x < n && b.press != nil {
			return b.press()
		}
		x -= n
	}
	return nil
}

// bar is a row of the whole width: buttons from its left edge on, and others that end at
// its right edge, whatever the former want.
type bar struct{ left, right []button }

func (b bar) draw(t *theme.Theme, w int) string {
	brush, right := widget.Brush{Theme: t}, spansOf(b.right)
	n := min(widget.Width(right), w)
	return brush.Line(w-n, spansOf(b.left)...) + brush.Line(n, right...)
}

func (b bar) press(w, x int) tea.Cmd {
	if start := w - min(widget.Width(spansOf(b.right)), w); x >= start {
		return pressAt(b.right, x-start)
	}
	return pressAt(b.left, x)
}
