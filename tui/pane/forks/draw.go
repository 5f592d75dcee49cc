package forks

import (
	"cmp"
	"slices"

	"ollimbot/core"
	"ollimbot/core/fork"
	"ollimbot/core/words"
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
	fork.Running:     {theme.Running, theme.Good},
	fork.Done:        {theme.Check, theme.Good},
	fork.Failed:      {theme.Cross, theme.Bad},
	fork.NoReport:    {theme.Cross, theme.Bad},
	fork.TimedOut:    {theme.Cross, theme.Bad},
	fork.Stopped:     {theme.Stopped, theme.Dim},
	fork.Interrupted: {theme.Stopped, theme.Warn},
}

// tailLeast is how many lines the tail keeps before the list has more than a third.
const tailLeast = 8

// split is how many lines the list and the rule get of h: what the list needs, up to
// half of them. The tail has the rest.
func split(n, h int) (list, rule int) {
	switch {
	case h < 3:
		return h, 0
	case h < 6:
		return min(n, 1), 0
	}
	return min(n, max(2, h/3, min(h/2, h-1-tailLeast))), 1
}

// draw renders the list, a rule that names the run, and its tail.
func (p *Pane) draw(c pane.Context, w, h int, focused bool) []widget.Row {
	forks := p.runs
	b := widget.Brush{Theme: c.Theme}
	switch {
	case c.Zoomed && len(p.book.above)+len(p.book.past.rows) > 0:
		return p.page(c, w, h, focused)
	case len(forks) == 0:
		return widget.Rows(widget.Nowhere, b.Empty(w, h, textEmpty, textTeach)...)
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
	return append(rows, p.words(c, selected, w, h-len(rows), focused)...)
}

// words are what a run has said, in h lines, or why there is nothing.
func (p *Pane) words(c pane.Context, f fork.View, w, h int, focused bool) []widget.Row {
	v := p.view()
	if v == nil || v.Len() == 0 {
		return widget.Rows(widget.Inner, silence(c, f, w, h)...)
	}
	v.Names = c.Names(action.Forks)
	return widget.Rows(widget.Inner, v.Lines(c.Theme, w, h, focused)...)
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
	if n := len(p.runs); n > p.listed && !c.Zoomed { // runs are out of sight
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
	if find(c.Snap.Forks, f.ID) < 0 {
		return b.Empty(w, h, textForgotten)
	}
	return b.Empty(w, h, textNoWords)
}

// stateWidth is the width of the column of states: the longest and a cell.
func stateWidth(forks []fork.View) int {
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
		look.glyph, look.role = theme.Stopped, theme.Dim
	}
	return []widget.Span{
		{Role: look.role, Text: t.Glyph(look.glyph) + " "},
		{Role: look.role, Text: widget.Fit(string(f.State), cells)},
	}
}

// row is a run in one line: state, title, what it does, and its figures.
func (p *Pane) row(c pane.Context, i, w int, focused bool) string {
	f := p.runs[i]
	b := widget.Brush{Theme: c.Theme}
	gutter := " "
	if i == p.list.At {
		gutter = c.Theme.Glyph(theme.Pointer)
		if focused && !p.tail {
			b.Back = theme.Select
		}
	}
	left := []widget.Span{{Role: theme.Accent, Text: gutter}}
	state := badge(c.Theme, f, stateWidth(p.runs))
	if w < narrow {
		state = state[:1] // the glyphs differ too, and what has ended says so at the end
	}
	left = append(left, state...)
	if f.Late { // before the title, which may be cut
		left = append(left, widget.Span{Role: theme.Warn, Text: c.Theme.Glyph(theme.Bang) + " late  "})
	}
	left = append(left, widget.Span{Role: theme.Strong, Text: f.Title})
	right := p.right(c, f, w)
	// A few letters of a detail would say nothing.
	if detail := detail(f); detail.Text != "" && w-widget.Width(left)-widget.Width(right) >= 16 {
		detail.Text = "  " + detail.Text
		left = append(left, detail)
	}
	if n := widget.Width(right); n > share(w) { // the title matters more
		return b.Line(w, left...)
	}
	return b.Line(w-widget.Width(right)-1, left...) + b.Line(widget.Width(right)+1, append([]widget.Span{{Text: " "}}, right...)...)
}

// share is how many of w cells the right side of a row may have.
func share(w int) int { return w * 3 / 5 }

// narrow is below how many cells a row has no figures.
const narrow = 40

// detail is why a run failed, that its tools are off, or what it does at the moment.
func detail(f fork.View) widget.Span {
	switch {
	case f.Error != "":
		return widget.Span{Role: theme.Dim, Text: f.Error}
	case f.Tainted != "" && !f.Trusted:
		return widget.Span{Role: theme.Warn, Text: textTainted}
	case f.State == fork.Running:
		return widget.Span{Role: theme.Dim, Text: f.Activity}
	}
	return widget.Span{}
}

// right is the right side of a row. The time stands last.
func (p *Pane) right(c pane.Context, f fork.View, w int) []widget.Span {
	switch {
	case w < narrow && f.State != fork.Running:
		return []widget.Span{{Role: theme.Dim, Text: string(f.State) + " "}}
	case f.State == fork.Waiting:
		return []widget.Span{{Role: theme.Dim, Text: queued(c.Snap, f) + " "}}
	}
	time := " "
	if !f.Started.IsZero() {
		time = pad(words.Elapsed(elapsed(f, c.Snap.At)), timeColumn-1) + " "
	}
	var out []widget.Span
	if w >= narrow {
		out = figures(p.runs, f, share(w)-timeColumn)
	}
	return append(out, widget.Span{Role: theme.Text, Text: time})
}

// timeColumn is the width of the column of times.
const timeColumn = 7

// figure is a column of a run's row: what it brought about, what it used.
type figure struct {
	role theme.Role
	text func(f fork.View) string
	keep int // where there is too little room, the columns with the lowest go first
}

// columns are the figures from left to right.
var columns = []figure{
	{theme.Ping, pinged, 6},
	{theme.Warn, refused, 5},
	{theme.Report, reported, 4},
	{theme.Dim, tools, 3},
	{theme.Dim, tokens, 1},
	{theme.Dim, func(f fork.View) string { return cost(f.Usage.CostUSD) }, 2},
}

// figures are the columns of a run, as many as fit into room cells. All runs have
// the same: each column is as wide as its longest word, and goes for all of them.
func figures(runs []fork.View, f fork.View, room int) []widget.Span {
	wide := make([]int, len(columns))
	for i, col := range columns {
		for _, r := range runs {
			wide[i] = max(wide[i], widget.Cells(col.text(r)))
		}
	}
	least := 0
	for sum := room + 1; sum > room; least++ {
		sum = 0
		for i, col := range columns {
			if wide[i] > 0 && col.keep >= least {
				sum += wide[i] + 2
			}
		}
	}
	var out []widget.Span
	for i, col := range columns {
		text := col.text(f)
		if text == "" && len(out) == 0 { // the left side may have the room
			continue
		}
		if wide[i] > 0 && col.keep >= least-1 {
			if col.role == theme.Dim {
				text = pad(text, wide[i])
			} else {
				text = widget.Fit(text, wide[i])
			}
			out = append(out, widget.Span{Role: col.role, Text: text}, widget.Span{Text: "  "})
		}
	}
	return out
}

// pad moves a word to the right end of its column.
func pad(s string, w int) string { return widget.Blank(w-widget.Cells(s)) + s }

// Failures do not scroll away: one that nobody has looked at stands above what goes
// on, and the frame counts it.

// arrange sorts the runs for the list: failures that nobody has looked at, those
// that run, those that wait, then what has ended, each as they come.
func (p *Pane) arrange(s *core.Snapshot) {
	p.pinned = p.pinned[:0]
	for _, f := range s.Failures {
		if f.ID == p.held.ID || !p.visited[f.ID] {
			p.pinned = append(p.pinned, f)
		}
	}
	if p.held.ID != "" && find(p.pinned, p.held.ID) < 0 {
		p.pinned = append(p.pinned, p.held)
	}
	p.runs = slices.Clone(s.Forks)
	slices.SortStableFunc(p.runs, func(a, b fork.View) int { return cmp.Compare(p.rank(a), p.rank(b)) })
	for id := range p.visited {
		if find(s.Failures, id) < 0 {
			delete(p.visited, id)
		}
	}
	live := slices.DeleteFunc(slices.Clone(p.runs), func(f fork.View) bool { return !f.Live() })
	p.book.fill(s, p.pinned, live)
}

func (p *Pane) rank(f fork.View) int {
	switch {
	case find(p.pinned, f.ID) >= 0:
		return 0
	case f.State == fork.Running:
		return 1
	case f.State == fork.Waiting:
		return 2
	}
	return 3
}

// Unseen are the failures that nobody has looked at, the newest first.
func (p *Pane) Unseen(s *core.Snapshot) (ids []string) {
	for _, f := range s.Failures {
		if !p.visited[f.ID] {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// visit notes that the user has the selected run before them. A failure goes to its
// place in the list once they go on.
func (p *Pane) visit(s *core.Snapshot) {
	i := find(s.Failures, p.run)
	switch {
	case i >= 0 && !p.visited[p.run]:
		p.visited[p.run], p.held = true, s.Failures[i]
		p.noted = append(p.noted, p.run)
	case p.run != p.held.ID:
		p.held = fork.View{}
	default:
		return
	}
	p.arrange(s)
	p.list.At = max(0, find(p.runs, p.run))
	p.book.choose(p.run)
}
