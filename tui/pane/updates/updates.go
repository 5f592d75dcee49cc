// Package updates is the dashboard's pane of what background runs have left for
// the main session. The newest stands on top. It changes nothing by itself:
// discarding is answered as a command.
package updates

import (
	"strings"

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
