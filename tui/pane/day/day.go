// Package day is the day in two rows, or in one: what has happened since midnight,
// a line for now, and what is to come until the next. The past comes from what is
// stored, so that it is there after a restart. The package owns which mark is chosen
// and nothing else.
package day

import (
	"slices"
	"time"

	"ollimbot/core/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/widget"
)

// Pane is the day. Use New.
type Pane struct {
	pane.Still
	marks  []mark
	chosen int  // of marks
	picked bool // by the user; else what comes next is chosen
	made   made
}

// New returns the day.
func New() *Pane { return &Pane{} }

// made is what the marks were made of.
type made struct {
	second                                 int64
	ended, pings, live, fires, missed, day int
}

// Title implements pane.Pane.
func (p *Pane) Title(pane.Context) (name, state string) { return action.Day.Name(), "" }

// Line implements pane.Pane.
func (p *Pane) Line(c pane.Context, w int) string { return p.Draw(c, w, 1, false)[0].Text }

// Draw implements pane.Pane. With one row there is no scale.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	return widget.Rows(widget.Nowhere, p.draw(c, w, h, focused)...)
}

// Sync implements pane.Pane.
func (p *Pane) Sync(c pane.Context) {
	s := c.Snap
	now := made{s.At.Unix(), len(s.Ended), len(s.Budget.Pings), 0, len(s.Schedule.Day), len(s.Schedule.Missed), len(s.Day)}
	now.live, _ = fork.Count(s.Forks)
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
		p.walk(-1)
	case action.DayLater:
		p.walk(+1)
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

func (p *Pane) walk(by int) {
	p.chosen, p.picked = max(0, min(p.chosen+by, len(p.marks)-1)), true
}

// Point chooses the mark under a cell of rows of w cells; again says that it was
// chosen already. Of marks that are as near, the most telling counts.
func (p *Pane) Point(_ pane.Context, x, w int) (again, ok bool) {
	best, least := -1, [2]int{2}
	for i, m := range p.marks {
		away := cellOf(m.at, axis(w)) - (x - 1)
		if now := [2]int{max(away, -away), int(m.kind)}; slices.Compare(now[:], least[:]) < 0 {
			best, least = i, now
		}
	}
	if best < 0 {
		return false, false
	}
	again = p.chosen == best && p.picked
	p.chosen, p.picked = best, true
	return again, true
}
