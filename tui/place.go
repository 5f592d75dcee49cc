package tui

import (
	"slices"

	"ollimbot/tui/action"
)

// place is where the user is: the focused pane, and the way back from a page.
type place struct {
	focus  action.Pane
	lower  action.Pane // Chat or Logs: the pane shown in their shared box
	zoom   bool
	trail  []action.Pane // the panes to which esc returns from a page or the day, the newest last
	before *place        // where esc leads from a message started elsewhere; nil if there is none
}

// passing reports whether esc leaves the focused pane: a page, or the day.
func (p *place) passing() bool { return p.focus.Page() || p.focus == action.Day }

// beneath returns the pane that stays visible while the day has the focus, or empty.
func (p *place) beneath() action.Pane {
	if n := len(p.trail); p.focus == action.Day && n > 0 && !p.trail[n-1].Page() {
		return p.trail[n-1]
	}
	return action.Everywhere
}

// move moves the focus. A page and the day remember where they were opened.
func (p *place) move(to action.Pane) {
	switch i := slices.Index(p.trail, to); {
	case to == p.focus:
		return
	case !to.Page() && to != action.Day:
		p.trail = nil
	case i >= 0: // it was opened before the pages after it
		p.trail = p.trail[:i]
	default:
		p.trail = append(p.trail, p.focus)
	}
	p.focus, p.before = to, nil
	if to == action.Chat || to == action.Logs {
		p.lower = to
	}
}

// visit moves the focus while something is written there; leave returns.
func (p *place) visit(to action.Pane) {
	was := *p
	was.trail = slices.Clone(p.trail)
	p.move(to)
	p.before = &was
}

// leave returns to where a visit started, and reports whether there was one.
func (p *place) leave() bool {
	if p.before == nil {
		return false
	}
	*p = *p.before
	return true
}

// whole reports whether the focused pane has the whole body.
func (p *place) whole() bool { return p.zoom && p.focus != action.Day || p.focus.Page() }

// beside returns the pane that many steps away; from a page or the day, it counts from the pane where the first page
// was opened.
func (p *place) beside(steps int) action.Pane {
	at, n := p.focus, len(action.Panes)
	if len(p.trail) > 0 {
		at = p.trail[0]
	}
	return action.Panes[(slices.Index(action.Panes, at)+steps+n)%n]
}

// toggleZoom zooms the focused pane or restores it. It returns the next focus, because a page and the day are left.
func (p *place) toggleZoom() (focus action.Pane) {
	if !p.passing() {
		p.zoom = !p.zoom
		return p.focus
	}
	if n := len(p.trail); n > 0 {
		return p.trail[n-1]
	}
	return action.Forks
}
