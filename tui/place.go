package tui

import (
	"slices"

	"ollimbot/tui/action"
)

// place is where the user is: the focused pane, and the way back from a page.
type place struct {
	focus  action.Pane
	lower  action.Pane // Chat or Logs: what the box shows that they share
	zoom   bool
	trail  []action.Pane // what esc goes back to from a page or the day, the newest last
	before *place        // where esc leads from a message that was begun elsewhere; nil if none was
}

// passing reports whether the focused pane is one that esc leaves: a page, or the day.
func (p *place) passing() bool { return p.focus.Page() || p.focus == action.Day }

// beneath is the pane that the day keeps in view while it has the focus; empty without one.
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

// visit moves the focus for as long as something is written there; leave leads back.
func (p *place) visit(to action.Pane) {
	was := *p
	was.trail = slices.Clone(p.trail)
	p.move(to)
	p.before = &was
}

// leave goes back to where a visit began, and reports whether there was one.
func (p *place) leave() bool {
	if p.before == nil {
		return false
	}
	*p = *p.before
	return true
}

// whole reports whether the focused pane has the whole body.
func (p *place) whole() bool { return p.zoom && p.focus != action.Day || p.focus.Page() }

// beside is the pane that many steps away; from a page or the day, from the pane where the first page
// was opened.
func (p *place) beside(steps int) action.Pane {
	at, n := p.focus, len(action.Panes)
	if len(p.trail) > 0 {
		at = p.trail[0]
	}
	return action.Panes[(slices.Index(action.Panes, at)+steps+n)%n]
}

// toggleZoom gives the focused pane the whole body or takes it back. It returns what has
// the focus next: a page and the day are left.
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
