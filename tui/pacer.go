package tui

import "time"

// frameGap is the least time between two frames that no key asked for.
const frameGap = 33 * time.Millisecond

// urgency is how soon a change must be visible.
type urgency uint8

const (
	never urgency = iota // nothing to see
	soon                 // within a frame
	atOnce
)

// pacer decides when to paint. While things stream, each frame stays for at least
// frameGap; after a key, painting never waits.
type pacer struct {
	painted time.Time // when the last frame was painted
	due     bool      // the next one is scheduled
}

// decide reports whether to paint now, or after how long to do it; 0 is neither.
func (p *pacer) decide(now time.Time, when urgency) (paint bool, later time.Duration) {
	rest := frameGap - now.Sub(p.painted)
	switch {
	case when == atOnce, when == soon && rest <= 0:
		p.painted = now
		return true, 0
	case when == soon && !p.due:
		p.due = true
		return false, rest
	}
	return false, 0
}
