// Package budget is the dashboard's pane of the ping budget: how many tokens
// there are, when the next one comes, and the keys that change capacity and
// refill rate. It owns no numbers: all of them come with the snapshot, and
// what is to be changed is answered as a command.
package budget

import (
	tea "charm.land/bubbletea/v2"

	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Pane is the budget pane. Use New.
type Pane struct {
	version uint64
	seen    seen
	cache   widget.Cache[key]
}

// key is what the drawn lines depend on.
type key struct {
	w, h    int
	version uint64
	focused bool
	theme   *theme.Theme
	keys    action.Keys
}

// New returns the pane.
func New() *Pane { return &Pane{} }

// Title implements pane.Pane.
func (p *Pane) Title(c pane.Context) (name, state string) {
	return textTitle, summary(c.Snap)
}

// Draw implements pane.Pane.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	w, h = max(w, 0), max(h, 0)
	k := key{w, h, p.version, focused, c.Theme, c.Keys}
	return p.cache.Rows(k, func() []widget.Row { return widget.Rows(widget.Nowhere, draw(c, w, h)...) })
}

// Line implements pane.Pane.
func (p *Pane) Line(c pane.Context, w int) string {
	return widget.Brush{Theme: c.Theme}.Line(w, oneLine(c, w)...)
}

// Do implements pane.Pane. The other actions of the pane make their commands
// themselves.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	if id != action.Mute {
		return pane.Answer{}
	}
	return pane.Answer{Until: &pane.Until{Title: textMuteTitle, For: command.MuteUntil{}, Now: c.Snap.Budget.Muted}}
}

// Press implements pane.Pane: nothing here is selected.
func (p *Pane) Press(pane.Context, widget.Place, bool) action.ID { return "" }

// Capture implements pane.Pane: this pane has no text to write.
func (p *Pane) Capture() bool { return false }

// Type implements pane.Pane.
func (p *Pane) Type(pane.Context, tea.Msg) pane.Answer { return pane.Answer{} }

// Sync implements pane.Pane.
func (p *Pane) Sync(c pane.Context) {
	if p.seen.changed(c.Snap) {
		p.version++
	}
}
