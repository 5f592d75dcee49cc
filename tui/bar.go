package tui

import (
	tea "charm.land/bubbletea/v2"

	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// button is a part of a row of the frame: what is drawn, and what a click on it does; nil
// does nothing.
type button struct {
	spans []widget.Span
	press func() tea.Cmd
}

// label is a button of one span.
func label(role theme.Role, text string, press func() tea.Cmd) button {
	return button{[]widget.Span{{Role: role, Text: text}}, press}
}

func spansOf(row []button) []widget.Span {
	out := make([]widget.Span, 0, 2*len(row))
	for _, b := range row {
		out = append(out, b.spans...)
	}
	return out
}

// pressAt does what the button under cell x of a row does.
func pressAt(row []button, x int) tea.Cmd {
	for _, b := range row {
		n := widget.Width(b.spans)
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
