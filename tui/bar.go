package tui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
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

// tabs are the labels on the border of a box that panes share: their keys and names,
// where there is room for these, and how much goes on in a pane that is not on the screen.
func (r *root) tabs(b layout.Box) []button {
	if out := r.labels(b, true); widget.Width(spansOf(out)) <= b.W-2 {
		return out
	}
	return r.labels(b, false)
}

// labels are the tabs with their names or without. The open one stands in brackets, or
// behind a pointer where it has the focus; what goes on in it is in its box.
func (r *root) labels(b layout.Box, names bool) []button {
	out := make([]button, 0, len(b.Tabs))
	for _, p := range b.Tabs {
		role, key := theme.Dim, r.goKey(p)
		text := strings.TrimLeft(key+" "+p.Name(), " ")
		switch p {
		case r.focus:
			role, text = theme.Focus, r.theme.Glyph(theme.Pointer)+text+" "
		case b.Pane:
			role, text = theme.Strong, "["+text+"]"
		default:
			if !names && key != "" {
				text = key
			}
			if n := goesOn(p, r.snap); n > 0 {
				text += " (" + strconv.Itoa(n) + ")"
			}
			text = " " + text + " "
		}
		out = append(out, label(role, text, func() tea.Cmd { r.setFocus(p); return nil }))
	}
	return out
}

// goesOn is how many updates there are, how many runs wait or run, how many tool calls
// wait.
func goesOn(p action.Pane, s *core.Snapshot) int {
	switch p {
	case action.Updates:
		return len(s.Updates)
	case action.Forks:
		running, waiting := fork.Count(s.Forks)
		return running + waiting
	case action.Chat:
		return len(s.Approvals)
	}
	return 0
}
