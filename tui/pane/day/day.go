// Package day is the day in two rows, or in one: what has happened since midnight,
// a line for now, and what is to come until the next. The past comes from what is
// stored, so that it is there after a restart. The package owns which mark is chosen
// and nothing else.
package day

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/budget"
	"ollimbot/core/fork"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Pane is the day. Use New.
type Pane struct {
	marks  []mark
	chosen int  // of marks
	picked bool // by the user; else what comes next is chosen
	made   made
	cache  widget.Cache[drawn]
}

// New returns the day.
func New() *Pane { return &Pane{} }

// made is what the marks were made of: nobody may change what a snapshot holds, so
// that the same list is known by where it stands.
type made struct {
	minute                     int64
	zone                       *time.Location
	ended                      *fork.View
	pings                      *budget.Ping
	fires, missed              *schedule.Entry
	nEnded, nPings, live, nDay int
	nFires, nMiss              int
	twelve                     bool
}

func madeOf(s *core.Snapshot) made {
	m := made{
		minute: s.At.Unix() / 60, zone: s.Zone, ended: last(s.Ended), pings: last(s.Budget.Pings), fires: last(s.Schedule.Day),
		missed: last(s.Schedule.Missed), nEnded: len(s.Ended), nPings: len(s.Budget.Pings), nDay: len(s.Day),
		nFires: len(s.Schedule.Day), nMiss: len(s.Schedule.Missed), twelve: s.TwelveHours,
	}
	for i := range s.Forks {
		if s.Forks[i].State == fork.Running {
			m.live += int(s.Forks[i].Started.Unix() % 86400)
		}
	}
	return m
}

func last[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[len(list)-1]
}

// drawn is everything that the rows depend on.
type drawn struct {
	made
	w, h, chosen int
	focused      bool
	theme        *theme.Theme
}

// Title implements pane.Pane.
func (p *Pane) Title(pane.Context) (name, state string) { return action.Day.Name(), "" }

// Line implements pane.Pane.
func (p *Pane) Line(c pane.Context, w int) string { return p.Draw(c, w, 1, false)[0].Text }

// Draw implements pane.Pane. With one row there is no scale.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	key := drawn{p.made, w, h, p.chosen, focused, c.Theme}
	return p.cache.Rows(key, func() []widget.Row { return widget.Rows(widget.Nowhere, p.draw(c, w, h, focused)...) })
}

// Sync implements pane.Pane.
func (p *Pane) Sync(c pane.Context) {
	now := madeOf(c.Snap)
	if now == p.made {
		return
	}
	was, had := p.at()
	p.made, p.marks = now, marksOf(c.Snap)
	p.chosen = p.next(c.Snap.At)
	if i := slices.IndexFunc(p.marks, was.same); p.picked && had && i >= 0 {
		p.chosen = i
	}
}

// next is the first mark that is to come, else the last one.
func (p *Pane) next(now time.Time) int {
	i := slices.IndexFunc(p.marks, func(m mark) bool { return m.at.After(now) })
	if i < 0 {
		return max(0, len(p.marks)-1)
	}
	return i
}

// at is the chosen mark.
func (p *Pane) at() (m mark, ok bool) {
	if p.chosen >= len(p.marks) {
		return m, false
	}
	return p.marks[p.chosen], true
}

// Do implements pane.Pane. Walking goes from cell to cell: of the marks of one, the
// most telling stands for all.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	switch id {
	case action.DayEarlier:
		p.walk(c, -1)
	case action.DayLater:
		p.walk(c, +1)
	case action.DayNow:
		p.chosen, p.picked = p.next(c.Snap.At), false
	case action.DayOpen:
		if m, ok := p.at(); ok {
			return m.open(c.Snap)
		}
		return pane.Answer{Toast: textNothing}
	}
	return pane.Answer{}
}

func (p *Pane) walk(_ pane.Context, by int) {
	p.chosen, p.picked = max(0, min(p.chosen+by, len(p.marks)-1)), true
}

// Point chooses the mark under a cell of rows of w cells; again says that it was
// chosen already.
func (p *Pane) Point(c pane.Context, x, w int) (again, ok bool) {
	best := -1
	for i, m := range p.marks {
		if d := abs(cellOf(m.at, axis(w)) - (x - 1)); d <= 1 && (best < 0 || d < abs(cellOf(p.marks[best].at, axis(w))-(x-1)) ||
			d == abs(cellOf(p.marks[best].at, axis(w))-(x-1)) && m.kind < p.marks[best].kind) {
			best = i
		}
	}
	if best < 0 {
		return false, false
	}
	again = p.chosen == best && p.picked
	p.chosen, p.picked = best, true
	return again, true
}

func abs(n int) int { return max(n, -n) }

// Press implements pane.Pane: the frame asks Point, which knows cells.
func (p *Pane) Press(pane.Context, widget.Place, bool) action.ID { return "" }

// Capture implements pane.Pane.
func (p *Pane) Capture() bool { return false }

// Type implements pane.Pane.
func (p *Pane) Type(pane.Context, tea.Msg) pane.Answer { return pane.Answer{} }
