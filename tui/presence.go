package tui

import "time"

const (
	// glanceEvery is how often the core is told that someone is looking: once a minute.
	glanceEvery = 50 * time.Second
	// hereEvery is how often the core is told that the user is active.
	hereEvery = time.Minute
	// leftAlone is how long a terminal without the focus still counts as looked at. It may
	// be on a second screen, or in a session that no one is attached to.
	leftAlone = time.Hour
)

// presence decides how often the core hears of the user.
type presence struct {
	glanced time.Time // when the core was told that someone is looking
	active  time.Time // when it was told that the user is active
	blurred time.Time // since when the terminal has not had the focus
}

func (p *presence) blur(now time.Time) { p.blurred = now }

// focus is also called for keys and clicks, since not every terminal reports its focus.
func (p *presence) focus() { p.blurred = time.Time{} }

// glance reports whether to tell the core now that someone is looking.
func (p *presence) glance(now time.Time) bool {
	if now.Sub(p.glanced) < glanceEvery || !p.blurred.IsZero() && now.Sub(p.blurred) > leftAlone {
		return false
	}
	p.glanced = now
	return true
}

// here reports whether to tell the core now that the user is active.
func (p *presence) here(now time.Time) bool {
	if now.Sub(p.active) < hereEvery {
		return false
	}
	p.active = now
	return true
}
