// Package budget is the dashboard's pane of the ping budget: how many tokens
// there are, when the next one comes, and the keys that change capacity and
// refill rate. It owns no numbers: all of them come with the snapshot, and
// what is to be changed is answered as a command.
package budget

import (
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
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
	// capacity and refill are changes that were asked for and may not be in the
	// snapshot yet, so that a key held down counts every press.
	capacity, refill wish
}

// key is what the drawn lines depend on.
type key struct {
	w, h    int
	version uint64
	focused bool
	theme   *theme.Theme
	keys    action.Keys
}

// wish is a number on its way from a value to another.
type wish struct {
	open     bool
	from, to int
	waited   int // snapshots that have come and still said from
}

// base is the number that the next step starts from.
func (w wish) base(now int) int {
	if w.open && now == w.from {
		return w.to
	}
	return now
}

// New returns the pane.
func New() *Pane { return &Pane{} }

// Title implements pane.Pane.
func (p *Pane) Title(c pane.Context) (name, state string) {
	return textTitle, summary(c.Snap)
}

// Lines implements pane.Pane.
func (p *Pane) Lines(c pane.Context, w, h int, focused bool) []string {
	w, h = max(w, 0), max(h, 0)
	k := key{w, h, p.version, focused, c.Theme, c.Keys}
	return p.cache.Lines(k, func() []string { return draw(c, w, h) })
}

// Line implements pane.Pane.
func (p *Pane) Line(c pane.Context, w int) string {
	return widget.Brush{Theme: c.Theme}.Line(w, oneLine(c, w)...)
}

// Do implements pane.Pane.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	if c.ReadOnly {
		return pane.Answer{Toast: textReadOnly}
	}
	now := c.Snap.Budget.State
	switch id {
	case action.Mute:
		return pane.Answer{Until: &pane.Until{Title: textMuteTitle, For: core.MuteUntil{}, Now: c.Snap.Budget.Muted}}
	case action.CapacityUp:
		return p.setCapacity(now.Capacity, +1)
	case action.CapacityDown:
		return p.setCapacity(now.Capacity, -1)
	case action.RefillUp5:
		return p.setRefill(now.RefillRateMinutes, +5)
	case action.RefillDown5:
		return p.setRefill(now.RefillRateMinutes, -5)
	case action.RefillUp1:
		return p.setRefill(now.RefillRateMinutes, +1)
	case action.RefillDown1:
		return p.setRefill(now.RefillRateMinutes, -1)
	}
	return pane.Answer{}
}

func (p *Pane) setCapacity(now, step int) pane.Answer {
	from := p.capacity.base(now)
	to := action.StepCapacity(from, step)
	if to == from {
		return pane.Answer{Toast: textMutedAlready}
	}
	p.capacity = wish{open: true, from: now, to: to}
	return pane.Answer{Do: core.SetBudget{Capacity: &to}}
}

func (p *Pane) setRefill(now, step int) pane.Answer {
	from := p.refill.base(now)
	to := action.StepRefill(from, step)
	if to == from {
		return pane.Answer{Toast: textFastest}
	}
	p.refill = wish{open: true, from: now, to: to}
	return pane.Answer{Do: core.SetBudget{RefillMinutes: &to}}
}

// Capture implements pane.Pane: this pane has no text to write.
func (p *Pane) Capture() bool { return false }

// Type implements pane.Pane.
func (p *Pane) Type(pane.Context, tea.Msg) pane.Answer { return pane.Answer{} }

// Sync implements pane.Pane.
func (p *Pane) Sync(c pane.Context) {
	if p.seen.changed(c.Snap) {
		p.version++
	}
	now := c.Snap.Budget.State
	p.capacity = p.capacity.after(now.Capacity)
	p.refill = p.refill.after(now.RefillRateMinutes)
}

// patience is how many snapshots may come before a change that none of them
// shows counts as refused.
const patience = 3

// after is the wish once a snapshot has come with a value. Several presses may
// be under way, so that a value between from and to keeps it open.
func (w wish) after(now int) wish {
	switch {
	case !w.open || now == w.to:
		return wish{}
	case now == w.from && w.waited < patience:
		w.waited++
		return w
	case now != w.from && (now > w.from) == (w.to > now):
		return wish{open: true, from: now, to: w.to}
	}
	return wish{}
}
