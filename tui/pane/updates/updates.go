// Package updates is the dashboard's pane of what background runs have left for
// the main session. The newest stands on top. It changes nothing by itself:
// discarding is answered as a command.
package updates

import (
	"slices"
	"strings"
	"time"

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
	list    widget.List
	chosen  string // the key of the selected update, so that the selection stays with it
	h       int
	version uint64
	seen    seen
	cache   widget.Cache[key]
}

type key struct {
	w, h    int
	version uint64
	focused bool
	theme   *theme.Theme
}

// New returns the pane.
func New() *Pane { return &Pane{} }

// Title implements pane.Pane.
func (p *Pane) Title(c pane.Context) (name, state string) {
	return textTitle, count(len(c.Snap.Updates))
}

// Draw implements pane.Pane.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	w, h = max(w, 0), max(h, 0)
	p.h = h
	k := key{w, h, p.version, focused, c.Theme}
	return p.cache.Rows(k, func() []widget.Row { return p.draw(c, w, h, focused) })
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
	p.version++
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
	switch i := int(at); {
	case i < 0 || i >= len(c.Snap.Updates):
		return ""
	case i != p.list.At:
		p.list.At, p.chosen = i, keyAt(c.Snap, i)
		p.version++
	case focused:
		return action.UpdatesRead
	}
	return ""
}

// Capture implements pane.Pane: this pane has no text to write.
func (p *Pane) Capture() bool { return false }

// Type implements pane.Pane.
func (p *Pane) Type(pane.Context, tea.Msg) pane.Answer { return pane.Answer{} }

// Sync implements pane.Pane.
func (p *Pane) Sync(c pane.Context) {
	p.follow(c)
	if p.seen.changed(c.Snap, p.list.At) {
		p.version++
	}
}

// follow keeps the selection with its update; where that has gone, it stays at its
// place. A reader at the top keeps to the newest.
func (p *Pane) follow(c pane.Context) {
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

// seen is what the pane draws of a snapshot: the updates, their age, and the runs
// that may have left them.
type seen struct {
	second      int64
	at          int // the selected update
	updates     []updates.Update
	runs, spare []run
}

// run is a run that has reported.
type run struct {
	title          string
	started, ended time.Time
}

// changed takes over what a snapshot shows and reports whether it looks different
// from the last one.
func (k *seen) changed(s *core.Snapshot, at int) bool {
	runs := k.spare[:0]
	for i := range s.Forks {
		if f := &s.Forks[i]; f.Reports > 0 {
			runs = append(runs, run{f.Title, f.Started, f.Ended})
		}
	}
	k.spare, k.runs = k.runs, runs
	if k.second == s.At.Unix() && k.at == at && slices.Equal(k.spare, runs) && slices.Equal(k.updates, s.Updates) {
		return false
	}
	k.second, k.at, k.updates = s.At.Unix(), at, s.Updates
	return true
}

// draw renders the pane: every update in as many lines as there are, fairly
// shared, and the selected one as whole as it fits. Only what is in view is
// wrapped: there may be thousands.
func (p *Pane) draw(c pane.Context, w, h int, focused bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	n := len(c.Snap.Updates)
	if n == 0 {
		return widget.Rows(widget.Nowhere, b.Empty(w, h, textEmpty, textTeach)...)
	}
	on := sheet{Context: c, w: w, marked: -1}
	if focused {
		on.marked = p.list.At
	}
	whole := max(1, h-min(n-1, 2)) // two others stay in sight
	if n <= h {
		if items := on.share(n, p.list.At, whole, h); items != nil {
			return widget.FillRows(on.all(items, h), w, h)
		}
	}
	// A line for each but for the selected one, so that their places are known.
	at := p.list.At
	body := on.wrapped(at, whole)
	top := p.list.Window(at, min(at+len(body)-1, at+h-1), n+len(body)-1, h)
	var lines []widget.Row
	for i, y := first(top, at, len(body)); i < n && len(lines) < h+y; i++ {
		text := body
		if i != at {
			text = on.wrapped(i, 1)
		}
		lines = append(lines, on.item(i, text)...)
		if y > 0 {
			lines, y = lines[y:], 0
		}
	}
	return widget.FillRows(lines, w, h)
}

// first is the update that line top belongs to, and which of its lines that is,
// where only the update at has more than one.
func first(top, at, lines int) (i, y int) {
	switch {
	case top <= at:
		return top, 0
	case top < at+lines:
		return at, top - at
	}
	return top - lines + 1, 0
}

// share wraps n updates so that they fit into h lines: all of them are cut at the
// same number of lines, and what is free then goes to the newest. It is nil where
// the selected one leaves too little room for the others.
func (on sheet) share(n, selected, whole, h int) [][]string {
	items := make([][]string, n)
	for i := range items {
		items[i] = on.wrapped(i, h)
	}
	most := make([]int, n)
	height := func(each int) int {
		sum := 0
		for i, l := range items {
			if most[i] = each; i == selected {
				most[i] = max(each, whole)
			}
			sum += min(len(l), most[i])
		}
		return sum
	}
	each := h
	for each > 1 && height(each) > h {
		each--
	}
	free := h - height(each)
	if free < 0 {
		return nil
	}
	for i, l := range items {
		if len(l) > most[i] && free > 0 {
			most[i]++
			free--
		}
		if len(l) > most[i] {
			items[i] = on.wrapped(i, most[i])
		}
	}
	return items
}

// all draws updates that fit into h lines, with air between them where there is
// room for that.
func (on sheet) all(items [][]string, h int) []widget.Row {
	n := len(items) - 1
	for _, l := range items {
		n += len(l)
	}
	var lines []widget.Row
	for i, text := range items {
		if i > 0 && n <= h {
			lines = append(lines, widget.Row{Text: widget.Blank(on.w), Place: widget.Nowhere})
		}
		lines = append(lines, on.item(i, text)...)
	}
	return lines
}

// sheet is what the lines of one drawing have in common.
type sheet struct {
	pane.Context
	w      int
	marked int // the update with the pointer; -1 without focus
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
func (on sheet) wrapped(i, most int) []string {
	text := strings.TrimRight(on.Snap.Sourced(at(on.Snap, i)), "\n ")
	if most == 1 {
		text = flat(text)
	}
	return widget.WrapN(text, max(1, on.w-2-ageColumn(on.w)), most, on.Theme.Glyph(theme.Ellipsis))
}

// item draws the ith update with its text.
func (on sheet) item(i int, text []string) []widget.Row {
	u := at(on.Snap, i)
	b := widget.Brush{Theme: on.Theme}
	gutter := " "
	if i == on.marked {
		gutter, b.Back = on.Theme.Glyph(theme.Pointer), theme.Select
	}
	role := theme.Text
	if u.Dropped > 0 {
		role = theme.Warn
	}
	age := ageColumn(on.w)
	out := make([]widget.Row, 0, len(text))
	for y, l := range text {
		head := []widget.Span{{Role: theme.Accent, Text: gutter}}
		if age > 0 {
			text := widget.Blank(age)
			if y == 0 {
				text = widget.Fit(ageOf(on.Snap, u), age)
			}
			head = append(head, widget.Span{Role: theme.Report, Text: text})
		}
		out = append(out, widget.Row{Text: b.Line(on.w, append(head, widget.Span{Role: role, Text: l})...), Place: widget.Place(i)})
		gutter = " "
	}
	return out
}
