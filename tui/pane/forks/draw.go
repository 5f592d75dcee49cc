package forks

import (
	"ollimbot/core/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// look is how a state is shown: always a glyph and a word.
type look struct {
	glyph theme.Glyph
	role  theme.Role
}

var looks = map[fork.State]look{
	fork.Waiting:     {theme.HalfDot, theme.Warn},
	fork.Running:     {theme.Running, theme.Good},
	fork.Done:        {theme.Check, theme.Good},
	fork.Failed:      {theme.Cross, theme.Bad},
	fork.NoReport:    {theme.Cross, theme.Bad},
	fork.TimedOut:    {theme.Cross, theme.Bad},
	fork.Stopped:     {theme.Stopped, theme.Dim},
	fork.Interrupted: {theme.Stopped, theme.Warn},
}

func lookOf(s fork.State) look {
	if l, ok := looks[s]; ok {
		return l
	}
	return look{theme.Stopped, theme.Dim}
}

const (
	// tailLeast is how many lines the tail of a box keeps before the list has more than a
	// third, and tailMost how many that of the page has where the list could use them.
	tailLeast, tailMost = 8, 16
	// ruled is from how many lines on a rule names the run.
	ruled = 6
)

// listed is how many of h lines the list gets: what it needs, up to half of a box.
func (p *Pane) listed(c pane.Context, h int) int {
	n := p.book.Lines()
	switch {
	case h < 3 || c.Zoomed && h < ruled:
		return h
	case c.Zoomed:
		return min(n, max(h/2, h-1-tailMost))
	case h < ruled:
		return 1
	}
	return min(n, h/2, max(4, h/3+1, h-1-tailLeast))
}

// Draw implements pane.Pane: the list, a rule that names the run, and its tail.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	w, h = max(w, 0), max(h, 0)
	b, k := widget.Brush{Theme: c.Theme}, p.book
	if k.Len() == 0 && k.class == everyRun {
		return widget.Rows(widget.Nowhere, b.Empty(w, h, textEmpty, textTeach)...)
	}
	k.fit(c.Theme, w)
	list := p.listed(c, h)
	rows := k.Draw(c.Theme, w, list, focused && !p.tail)
	f, ok := p.selected()
	switch {
	case list == h:
		return rows
	case !ok:
		return append(rows, widget.Rows(widget.Inner, b.Empty(w, h-list, textNoneShown)...)...)
	case h >= ruled:
		rows = append(rows, widget.Row{Text: p.rule(c, f, w, list, focused), Place: widget.Ruled})
	}
	return append(rows, p.words(c, f, w, h-len(rows), focused)...)
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
func (p *Pane) rule(c pane.Context, f fork.View, w, list int, focused bool) string {
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
	if t := p.book; t.Lines() > list && !c.Zoomed { // runs are out of sight
		place := widget.Span{Role: theme.Dim, Text: textPlace(t.At()+1, t.Shown())}
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
	switch {
	case f.State == fork.Waiting:
		return b.Empty(w, h, queued(c.Snap, f)+".", textWaits)
	case f.Error != "":
		return b.Empty(w, h, f.Error)
	case find(c.Snap.Forks, f.ID) < 0:
		return b.Empty(w, h, textForgotten)
	}
	return b.Empty(w, h, textNoWords)
}
