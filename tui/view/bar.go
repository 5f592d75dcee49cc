package view

import (
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// button is a span of a row, with the target of a click.
type button struct {
	widget.Span
	target Target
}

func label(role theme.Role, text string, target Target) button {
	return button{widget.Span{Role: role, Text: text}, target}
}

func spansOf(row []button) []widget.Span {
	out := make([]widget.Span, len(row))
	for i, b := range row {
		out[i] = b.Span
	}
	return out
}

// buttonAt is the target at cell x of a row, or nil.
func buttonAt(row []button, x int) Target {
	for _, b := range row {
		n := widget.Cells(b.Text)
		if x >= 0 && x < n {
			return b.target
		}
		x -= n
	}
	return nil
}

// bar is a row across the screen, with buttons at its left edge and at its right edge.
// The right ones take precedence.
type bar struct{ left, right []button }

func (b bar) draw(t *theme.Theme, w int) string {
	brush, right := widget.Brush{Theme: t}, spansOf(b.right)
	n := min(widget.Width(right), w)
	return brush.Line(w-n, spansOf(b.left)...) + brush.Line(n, right...)
}

func (b bar) at(w, x int) Target {
	if start := w - min(widget.Width(spansOf(b.right)), w); x >= start {
		return buttonAt(b.right, x-start)
	}
	return buttonAt(b.left, x)
}
