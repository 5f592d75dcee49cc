// Package budget is the dashboard's pane of the ping budget: how many tokens
// there are, when the next one comes, and the keys that change capacity and
// refill rate. It owns no numbers: all of them come with the snapshot, and
// what is to be changed is answered as a command.
package budget

import (
	"time"

	"ollimbot/core"
	"ollimbot/core/budget"
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

// Pane is the budget pane. Use New.
type Pane struct {
	pane.Still
	cache widget.Cache[drawn]
	// now are the numbers that were seen last, before those that they were compared
	// with until a moment.
	now, before numbers
	until       time.Time
	seen        bool
}

// New returns the pane.
func New() *Pane { return &Pane{} }

// Title implements pane.Pane.
func (p *Pane) Title(c pane.Context) (name, state string) {
	_, state, _ = mood(c)
	return textTitle, state
}

// Do implements pane.Pane. The other actions of the pane make their commands
// themselves.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	if id == action.Back {
		p.until = time.Time{} // what has changed was seen
	}
	if id != action.Mute {
		return pane.Answer{}
	}
	return pane.Answer{Until: &pane.Until{Title: textMuteTitle, For: command.MuteUntil{}, Now: c.Snap.Budget.Muted}}
}

// Sync implements pane.Pane: it keeps the numbers before the first of a row of changes.
func (p *Pane) Sync(c pane.Context) {
	s := c.Snap
	now := numbersOf(s.Budget.State)
	if p.seen && now != p.now {
		if !s.At.Before(p.until) {
			p.before = p.now
		}
		p.until = s.At.Add(proposes)
	}
	p.now, p.seen = now, true
}

// compared are the numbers that the curve is compared with: those before a change, for
// as long as that is shown; else those of now.
func (p *Pane) compared(s *core.Snapshot) numbers {
	if s.At.Before(p.until) {
		return p.before
	}
	return numbersOf(s.Budget.State)
}

// numbers are what the keys of the pane change.
type numbers struct{ capacity, refill int }

func numbersOf(s budget.State) numbers { return numbers{s.Capacity, s.RefillRateMinutes} }
