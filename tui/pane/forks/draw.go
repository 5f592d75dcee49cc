package forks

import (
	"ollimbot/core/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// look is how a state is shown: always a glyph and a word.
var looks = map[fork.State]struct {
	glyph theme.Glyph
	role  theme.Role
}{
	fork.Waiting:     {theme.HalfDot, theme.Warn},
	fork.Running:     {theme.Dot, theme.Good},
	fork.Done:        {theme.Check, theme.Good},
	fork.Failed:      {theme.Cross, theme.Bad},
	fork.NoReport:    {theme.Cross, theme.Bad},
	fork.TimedOut:    {theme.Cross, theme.Bad},
	fork.Stopped:     {theme.Circle, theme.Dim},
	fork.Interrupted: {theme.Circle, theme.Warn},
}

// split is how many lines the list and the rule get of h; the tail has the rest.
func split(n, h int) (list, rule int) {
	switch {
	case h < 3:
		return h, 0
	case h < 6:
		return min(n, 1), 0
	}
	return min(n, max(2, h/3)), 1
}

// draw renders the list, a rule that names the run, and its tail.
func (p *Pane) draw(c pane.Context, w, h int, focused bool) []widget.Row {
	forks := c.Snap.Forks
	b := widget.Brush{Theme: c.Theme}
	if len(forks) == 0 {
		return widget.Rows(widget.Nowhere, b.Empty(w, h, textEmpty, textTeach)...)
	}
	if i := find(forks, p.run); i >= 0 && p.view() == nil {
		p.list.At = i // Show chose it since the last snapshot
		p.read(c)
	}
	list, rule := split(len(forks), h)
	p.listed = list
	var rows []widget.Row
	top := p.list.Window(p.list.At, p.list.At, len(forks), list)
	for i := top; i < min(top+list, len(forks)); i++ {
		rows = append(rows, widget.Row{Text: p.row(c, i, w, focused), Place: widget.Place(i)})
	}
	rows = widget.FillRows(rows, w, list)
	selected := forks[min(p.list.At, len(forks)-1)]
	if rule == 1 {
		rows = append(rows, widget.Row{Text: p.rule(c, selected, w, focused), Place: widget.Ruled})
	}
	if v := p.view(); v != nil && v.Len() > 0 {
		v.Names = c.Names(action.Forks)
		return append(rows, widget.Rows(widget.Inner, v.Lines(c.Theme, w, h-len(rows), focused)...)...)
	}
	return append(rows, widget.Rows(widget.Inner, silence(c, selected, w, h-len(rows))...)...)
}

// rule separates the list from the tail, and says whose tail it is.
func (p *Pane) rule(c pane.Context, f fork.View, w int, focused bool) string {
	name := theme.Dim
	if focused && p.tail {
		name = theme.Accent
	}
	title := []widget.Span{{Role: name, Text: "tail: "}, {Role: theme.Strong, Text: widget.Cut(f.Title, max(8, w/2))}}
	var state []widget.Span
	if v := p.view(); v != nil && v.Len() > 0 {
		role := theme.Dim
		if !v.Following() {
			role = theme.Warn
		}
		state = []widget.Span{{Role: role, Text: v.State()}}
	}
	if n := len(c.Snap.Forks); n > p.listed { // runs are out of sight
		place := widget.Span{Role: theme.Dim, Text: textPlace(p.list.At+1, n)}
		if len(state) > 0 {
			place.Text += " · "
		}
		if more := append([]widget.Span{place}, state...); widget.Width(title)+widget.Width(more)+10 <= w {
			state = more
		}
	}
	return widget.Brush{Theme: c.Theme}.Rule(w, title, state)
}

// silence is why a run has no tail.
func silence(c pane.Context, f fork.View, w, h int) []string {
	b := widget.Brush{Theme: c.Theme}
	if f.State == fork.Waiting {
		return b.Empty(w, h, queued(c.Snap, f)+".", textWaits)
	}
	if f.Error != "" {
		return b.Empty(w, h, f.Error)
	}
	return b.Empty(w, h, textNoWords)
}

// stateColumn is the width of the column of states: the longest and a cell.
func stateColumn(forks []fork.View) int {
	n := 0
	for _, f := range forks {
		n = max(n, len(f.State))
	}
	return n + 2
}

// badge is the state as glyph and word, in one column of that many cells.
func badge(t *theme.Theme, f fork.View, cells int) []widget.Span {
	look, ok := looks[f.State]
	if !ok {
		look.glyph, look.role = theme.Circle, theme.Dim
	}
	return []widget.Span{
		{Role: look.role, Text: t.Glyph(look.glyph) + " "},
		{Role: look.role, Text: widget.Fit(string(f.State), cells)},
	}
}

// row is a run in one line: state, title, what it does, and its figures.
func (p *Pane) row(c pane.Context, i, w int, focused bool) string {
	f := c.Snap.Forks[i]
	b := widget.Brush{Theme: c.Theme}
	gutter := " "
	if i == p.list.At {
		gutter = c.Theme.Glyph(theme.Pointer)
		if focused && !p.tail {
			b.Back = theme.Select
		}
	}
	left := []widget.Span{{Role: theme.Accent, Text: gutter}}
	state := badge(c.Theme, f, stateColumn(c.Snap.Forks))
	if w < 40 {
		state = state[:1] // the glyphs differ too, and what has ended says so at the end
	}
	left = append(left, state...)
	if f.Late { // before the title, which may be cut
		left = append(left, widget.Span{Role: theme.Warn, Text: c.Theme.Glyph(theme.Bang) + " late  "})
	}
	left = append(left, widget.Span{Role: theme.Strong, Text: f.Title})
	right := figures(c, f, w)
	// A few letters of a detail would say nothing.
	if detail := detail(f); detail != "" && w-widget.Width(left)-widget.Width(right) >= 16 {
		left = append(left, widget.Span{Role: theme.Dim, Text: "  " + detail})
	}
	return b.Spread(w, left, right)
}

// detail is why a run failed, or what it does at the moment.
func detail(f fork.View) string {
	switch {
	case f.Error != "":
		return f.Error
	case f.State == fork.Running:
		return f.Activity
	}
	return ""
}

// figures are the right side of a row: what a run brought about, its tools,
// tokens, cost and time, as many as fit into half of the line. The time stands
// last, so that it is a column.
func figures(c pane.Context, f fork.View, w int) []widget.Span {
	if w < 40 && f.State != fork.Running {
		return []widget.Span{{Role: theme.Dim, Text: string(f.State) + " "}}
	}
	if f.State == fork.Waiting {
		return []widget.Span{{Role: theme.Dim, Text: queued(c.Snap, f) + " "}}
	}
	time := pad(widget.Elapsed(elapsed(f, c.Snap.At)), 6) + " "
	if f.Started.IsZero() {
		time = " "
	}
	room := w/2 - widget.Cells(time)
	if w < 40 {
		room = 0
	}
	var out []widget.Span
	add := func(role theme.Role, text string) {
		if text == "" || room < widget.Cells(text)+2 {
			return
		}
		room -= widget.Cells(text) + 2
		out = append(out, widget.Span{Role: role, Text: text}, widget.Span{Text: "  "})
	}
	words := did(f)
	for i, word := range words {
		role := theme.Report
		if i == 0 && f.Pings > 0 {
			role = theme.Ping
		} else if word != "reported" {
			role = theme.Warn
		}
		add(role, word)
	}
	if f.Tools > 0 {
		add(theme.Dim, widget.Count(uint64(f.Tools), "tool"))
	}
	if n := f.Usage.Tokens(); n > 0 && w >= 72 {
		add(theme.Dim, widget.Big(n)+" tok")
	}
	add(theme.Dim, cost(f.Usage.CostUSD))
	return append(out, widget.Span{Role: theme.Text, Text: time})
}

// pad moves a word to the right end of its column.
func pad(s string, w int) string { return widget.Blank(w-widget.Cells(s)) + s }
