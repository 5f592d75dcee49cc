// Package updates is the dashboard's pane of what background runs have left for
// the main session. The newest stands on top. It changes nothing by itself:
// discarding is answered as a command.
package updates

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/updates"
	"ollimbot/core/words"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Pane is the updates pane. Use New.
type Pane struct {
	pane.Still
	list   widget.List
	query  widget.Query
	chosen string // the key of the selected update, so that the selection stays with it
	h      int
	cache  widget.Cache[drawn]
}

// drawn is what a drawing depends on: ages are told by the second.
type drawn struct {
	theme    *theme.Theme
	w, h, at int
	focused  bool
	second   int64
	texts    string
}

// New returns the pane.
func New() *Pane { return &Pane{} }

// sifted is the context without the updates that the filter leaves out.
func (p *Pane) sifted(c pane.Context) pane.Context {
	if p.query.On() {
		left := *c.Snap
		left.Updates = slices.DeleteFunc(slices.Clone(left.Updates), func(u updates.Update) bool { return !p.query.Keeps(left.Sourced(u)) })
		c.Snap = &left
	}
	return c
}

// Capture implements pane.Pane: the filter takes every key while it is written.
func (p *Pane) Capture() bool { return p.query.Typing() }

// Hint is the help line meanwhile.
func (p *Pane) Hint() []key.Binding { return p.query.Hint() }

// Type implements pane.Pane.
func (p *Pane) Type(c pane.Context, msg tea.Msg) pane.Answer {
	if _, verb := p.query.Type(msg); verb != "" {
		return p.Do(c, action.Updates.ID(verb))
	}
	p.Sync(c)
	return pane.Answer{}
}

// End takes the filter away and reports whether there was one.
func (p *Pane) End(c pane.Context) bool {
	was := p.query.End()
	p.Sync(c)
	return was
}

// Title implements pane.Pane.
func (p *Pane) Title(c pane.Context) (name, state string) {
	return textTitle, count(len(p.sifted(c).Snap.Updates))
}

// Line implements pane.Pane: how many there are, and the newest.
func (p *Pane) Line(c pane.Context, w int) string {
	out := []widget.Span{{Role: theme.Strong, Text: textName}}
	if n := len(c.Snap.Updates); n > 0 {
		out = append(out,
			widget.Span{Role: theme.Report, Text: words.Thousands(uint64(n)) + " "},
			widget.Span{Text: flat(c.Snap.Updates[n-1].Message)})
	} else {
		out = append(out, widget.Span{Role: theme.Dim, Text: textNone})
	}
	return widget.Brush{Theme: c.Theme}.Line(w, out...)
}

// Do implements pane.Pane.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	if id == action.Updates.ID("find") {
		p.query.Open()
		return pane.Answer{}
	}
	c = p.sifted(c)
	n := len(c.Snap.Updates)
	if _, verb, _ := strings.Cut(string(id), "."); p.list.Move(verb, n, p.h/2) {
		p.chosen = keyAt(c.Snap, p.list.At)
		return pane.Answer{}
	}
	if n == 0 {
		return pane.Answer{Toast: textNothing}
	}
	u := at(c.Snap, p.list.At)
	switch {
	case id == action.UpdatesRead:
		return pane.Answer{Show: &pane.Page{Title: pageTitle(c.Snap, u), Body: page(c.Snap, u, c.Names(action.Updates))}}
	case id == action.UpdatesDiscard && c.ReadOnly:
		return pane.Answer{Toast: textReadOnly}
	case id == action.UpdatesDiscard:
		return pane.Answer{Do: command.DiscardUpdate{Key: u.Key}}
	}
	return pane.Answer{}
}

// Press implements pane.Pane.
func (p *Pane) Press(c pane.Context, at widget.Place, focused bool) action.ID {
	c = p.sifted(c)
	switch i := int(at); {
	case i < 0 || i >= len(c.Snap.Updates):
		return ""
	case i != p.list.At:
		p.list.At, p.chosen = i, keyAt(c.Snap, i)
	case focused:
		return action.UpdatesRead
	}
	return ""
}

// Sync implements pane.Pane. The selection stays with its update; where that has
// gone, it stays at its place. A reader at the top keeps to the newest.
func (p *Pane) Sync(c pane.Context) {
	c = p.sifted(c)
	n := len(c.Snap.Updates)
	p.list.Clamp(n)
	if n == 0 {
		p.chosen = ""
		return
	}
	for i := range n {
		if p.chosen != "" && keyAt(c.Snap, i) == p.chosen {
			p.list.At = i
			return
		}
	}
	p.chosen = ""
	if p.list.At > 0 {
		p.chosen = keyAt(c.Snap, p.list.At)
	}
}

// at is the nth update, the newest first.
func at(s *core.Snapshot, i int) updates.Update { return s.Updates[len(s.Updates)-1-i] }

func keyAt(s *core.Snapshot, i int) string {
	if i >= len(s.Updates) {
		return ""
	}
	return at(s, i).Key
}

// Draw implements pane.Pane: every update in as many lines as there are, fairly
// shared, and the selected one as whole as it fits. All are broken into lines before it
// is known which are seen, a seventh of a full frame: a drawing is kept.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	w, h = max(w, 0), max(h, 0)
	if p.query.Shown() && h >= 3 {
		return append(p.draw(c, w, h-1, focused), p.found(c, w))
	}
	if p.query.On() {
		return p.draw(c, w, h, focused)
	}
	var texts strings.Builder
	for _, u := range c.Snap.Updates {
		texts.WriteString(u.Key + c.Snap.Sourced(u))
	}
	key := drawn{c.Theme, w, h, p.list.At, focused, c.Snap.At.Unix(), texts.String()}
	return p.cache.Rows(key, func() []widget.Row { return p.draw(c, w, h, focused) })
}

// found is the filter in one row.
func (p *Pane) found(c pane.Context, w int) widget.Row {
	text := words.Thousands(uint64(len(p.sifted(c).Snap.Updates))) + " of " + words.Thousands(uint64(len(c.Snap.Updates)))
	return widget.Row{Text: p.query.Line(widget.Brush{Theme: c.Theme}, w, text), Place: widget.Nowhere}
}

func (p *Pane) draw(c pane.Context, w, h int, focused bool) []widget.Row {
	c, p.h = p.sifted(c), h
	n := len(c.Snap.Updates)
	if n == 0 {
		return widget.Rows(widget.Nowhere, widget.Brush{Theme: c.Theme}.Empty(w, h, textEmpty, textTeach)...)
	}
	texts := make([][]string, n)
	for i := range texts {
		texts[i] = wrapped(c, i, w, max(1, h))
	}
	shares := share(texts, p.list.At, h)
	all := n - 1 // with air between them
	for _, lines := range shares {
		all += lines
	}
	var rows []widget.Row
	from, to := 0, 0
	for i, text := range texts {
		if i > 0 && all <= h {
			rows = append(rows, widget.Row{Text: widget.Blank(w), Place: widget.Nowhere})
		}
		if len(text) > shares[i] {
			text = wrapped(c, i, w, shares[i])
		}
		if i == p.list.At {
			from, to = len(rows), len(rows)+len(text)-1
		}
		rows = append(rows, item(c, i, w, text, focused && i == p.list.At)...)
	}
	top := p.list.Window(from, min(to, from+h-1), len(rows), h)
	return widget.FillRows(rows[top:], w, h)
}

// share says how many of h lines each update gets: one at least, the selected one
// as many as leave two others in sight. What is free goes round, the newest first.
func share(texts [][]string, selected, h int) []int {
	lines, free := make([]int, len(texts)), h
	for i := range texts {
		lines[i] = 1
		if i == selected {
			lines[i] = min(len(texts[i]), max(1, h-min(len(texts)-1, 2)))
		}
		free -= lines[i]
	}
	for more := true; more && free > 0; {
		more = false
		for i := range texts {
			if lines[i] < len(texts[i]) && free > 0 {
				lines[i]++
				free--
				more = true
			}
		}
	}
	return lines
}

// ageWidth is the column of the age: "15 min" and two cells of air.
const ageWidth = 8

func ageColumn(w int) int {
	if w < 24 {
		return 0
	}
	return ageWidth
}

// wrapped is the text of the ith update in at most so many lines.
func wrapped(c pane.Context, i, w, most int) []string {
	text := strings.TrimRight(c.Snap.Sourced(at(c.Snap, i)), "\n ")
	if most == 1 {
		text = flat(text)
	}
	return widget.WrapN(text, max(1, w-2-ageColumn(w)), most, c.Theme.Glyph(theme.Ellipsis))
}

// item draws the ith update with its text.
func item(c pane.Context, i, w int, text []string, marked bool) []widget.Row {
	u := at(c.Snap, i)
	b := widget.Brush{Theme: c.Theme}
	gutter, age := " ", ageOf(c.Snap, u)
	if marked {
		gutter, b.Back = c.Theme.Glyph(theme.Pointer), theme.Select
	}
	role := theme.Text
	if u.Dropped > 0 {
		role = theme.Warn
	}
	var out []widget.Row
	for _, l := range text {
		line := b.Line(w, widget.Span{Role: theme.Accent, Text: gutter},
			widget.Span{Role: theme.Report, Text: widget.Fit(age, ageColumn(w))}, widget.Span{Role: role, Text: l})
		out = append(out, widget.Row{Text: line, Place: widget.Place(i)})
		gutter, age = " ", ""
	}
	return out
}
