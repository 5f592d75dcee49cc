package view

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/layout"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// body draws the columns next to each other, row by row. It measures nothing, because
// every part is as wide as its box.
func (f frame) body() []string {
	columns := make([][]string, len(f.plan.Columns))
	for i, c := range f.plan.Columns {
		columns[i] = f.column(c)
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

// column draws a stack of boxes with shared borders.
func (f frame) column(c layout.Column) []string {
	box := f.Theme.Box()
	edge := func(text string) string { return f.Theme.Paint(theme.Border, text) }
	rows, side, left, right := []string(nil), edge(box.Left), edge(box.MiddleLeft), edge(box.MiddleRight)
	for i, b := range c.Boxes {
		title, states, inside := f.inside(b)
		rows = append(rows, f.border(b, title, states, i == 0))
		for _, l := range inside {
			if l.Place == widget.Ruled {
				rows = append(rows, left+l.Text+right)
				continue
			}
			rows = append(rows, side+l.Text+side)
		}
	}
	return append(rows, edge(box.BottomLeft+strings.Repeat(box.Top, c.W-2)+box.BottomRight))
}

// detailer is a list that can show its selected row in a box of its own.
type detailer interface {
	Len() int // rows
	Detail(c pane.Context, w, h int) pane.Detail
}

// inside draws the content of a box, with its title and the alternatives for its right end.
func (f frame) inside(b layout.Box) (title []widget.Span, states []string, rows []widget.Row) {
	if b.Pane != action.Detail {
		rows = f.Panes[b.Pane].Draw(f.Context, b.W, b.H, b.Pane == f.Focus)
		title, states = f.heading(b)
		return title, states, rows
	}
	d := f.Panes[f.listed()].(detailer).Detail(f.Context, b.W, b.H)
	title = slices.Concat([]widget.Span{{Text: " "}}, d.Title, []widget.Span{{Text: " "}})
	return title, nil, widget.FillRows(d.Rows, b.W, b.H)
}

// listed is the list whose selected row has a box of its own: the one with the focus, else the schedule.
func (s *State) listed() action.Pane {
	if p := cmp.Or(s.Beneath, s.Focus); p == action.Updates {
		return p
	}
	return action.Schedule
}

// border is the top border of a box, with its title, and the longest of its states that fits at the right end.
func (f frame) border(b layout.Box, title []widget.Span, states []string, first bool) string {
	box := f.Theme.Box()
	left, right := box.MiddleLeft, box.MiddleRight
	if first {
		left, right = box.TopLeft, box.TopRight
	}
	edge := func(text string) widget.Span { return widget.Span{Role: theme.Border, Text: text} }
	mark := edge(box.Top)
	if b.Pane == f.Focus && len(b.Tabs) == 0 {
		mark = widget.Span{Role: theme.Focus, Text: f.Theme.Glyph(theme.Pointer)}
	}
	room := b.W - 2 - widget.Width(title)
	tail := []widget.Span{edge(box.Top + right)}
	for _, state := range states {
		if n := widget.Cells(state); n > 0 && room >= n+4 {
			room -= n + 2
			tail = []widget.Span{{Text: " "}, {Role: theme.Dim, Text: state}, {Text: " "}, edge(box.Top + right)}
			break
		}
	}
	spans := append([]widget.Span{edge(left), mark}, title...)
	spans = append(spans, edge(strings.Repeat(box.Top, max(0, room))))
	return widget.Brush{Theme: f.Theme}.Line(b.W+2, append(spans, tail...)...)
}

// heading is a box's title or tabs, and the alternatives for its right end, the most
// detailed first.
func (f frame) heading(b layout.Box) (title []widget.Span, states []string) {
	name, state := b.Pane.Name(), f.Panes[b.Pane].State(f.Context)
	if f.Zoomed {
		zoomed := textZoomed(f.names(), f.Focus.Page())
		states = append(states, strings.TrimPrefix(state+textDot+zoomed, textDot), zoomed, "zoomed")
	} else {
		for ; state != ""; state = state[:max(0, strings.LastIndex(state, textDot))] {
			states = append(states, state) // the most important part comes first
		}
	}
	if len(b.Tabs) == 0 {
		return f.titleSpans(b.Pane, name), states
	}
	return spansOf(f.tabs(b)), states
}

// hues are the colours of the titles, so that each pane is found without reading.
var hues = map[action.Pane]theme.Role{
	action.Schedule: theme.Accent, action.Updates: theme.Report, action.Forks: theme.Good, action.Chat: theme.Tool, action.Logs: theme.Think,
}

// titleSpans are the key and the name of a pane; inverse if it has the keys.
func (f frame) titleSpans(p action.Pane, name string) []widget.Span {
	spans := []widget.Span{{Text: " "}}
	if key := f.goKey(p); key != "" {
		spans[0].Text = " " + key + " "
	}
	spans[0].Role = theme.Dim
	spans = append(spans, widget.Span{Role: hues[p], Text: name + " "})
	if p == f.Focus {
		spans = []widget.Span{{Role: theme.Here, Text: spans[0].Text + spans[1].Text}}
	}
	return spans
}

// goKey is the key that goes to a pane, for its title: its number, unless the user has
// remapped it. A long key name is only on the help page.
func (f frame) goKey(p action.Pane) string {
	key := f.names().Key(p.Go())
	if widget.Cells(key) > maxGoKey {
		return ""
	}
	return key
}

// maxGoKey is the maximum width of a key in a title, in cells: "5", "f5".
const maxGoKey = 2

// tabs are the labels on the border of a box that panes share: their keys, their names if
// there is room, and the activity of the hidden panes.
func (f frame) tabs(b layout.Box) []button {
	if out := f.labels(b, true); widget.Width(spansOf(out)) <= b.W-2 {
		return out
	}
	return f.labels(b, false)
}

// labels are the tabs, with or without names. The open one is in brackets, or after a
// pointer if it has the focus.
func (f frame) labels(b layout.Box, names bool) []button {
	out := make([]button, 0, len(b.Tabs))
	for _, p := range b.Tabs {
		role, key := theme.Dim, f.goKey(p)
		text := strings.TrimLeft(key+" "+p.Name(), " ")
		switch p {
		case f.Focus:
			role, text = theme.Here, f.Theme.Glyph(theme.Pointer)+text+" "
		case b.Pane:
			role, text = hues[p], "["+text+"]"
		default:
			if !names && key != "" {
				text = key
			}
			if n := activity(p, f.Snap); n > 0 {
				text += " (" + strconv.Itoa(n) + ")"
			}
			text = " " + text + " "
		}
		out = append(out, label(role, text, Heading{b.Pane, p}))
	}
	return out
}

// activity is the number on a pane's tab: updates, running and waiting forks, or tool
// calls to approve.
func activity(p action.Pane, s *core.Snapshot) int {
	switch p {
	case action.Updates:
		return len(s.Updates) + len(s.Proposals)
	case action.Forks:
		running, waiting := fork.Count(s.Forks)
		return running + waiting
	case action.Chat:
		return len(s.Approvals)
	}
	return 0
}
