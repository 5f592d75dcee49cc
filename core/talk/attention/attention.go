// Package attention knows when a ping may reach the user: quiet hours, a mute, and whether
// a conversation is going on. It must not know what pings or costs tokens.
package attention

import (
	"time"

	"ollimbot/core/storage/config"
	"ollimbot/routines/schedule"
)

// Attention is the user's attention. Its methods may be called concurrently.
type Attention struct {
	Zone   *time.Location
	Config func() *config.Runtime
	Mute   *schedule.Mute
	// Talking reports whether a turn of the conversation runs, and since when.
	Talking func() (busy bool, since time.Time)
}

// Busy reports whether a conversation is going on, and until when pings that are not
// critical are refused; the zero time means that they are not.
func (a *Attention) Busy() (busy bool, quiet time.Time) {
	busy, _ = a.Talking()
	return busy, a.QuietUntil(time.Now())
}

// QuietUntil is until when pings that are not critical are refused at a moment: for quiet
// hours, a mute, or one that ends within the other. It is zero when they are not.
func (a *Attention) QuietUntil(now time.Time) time.Time {
	now = now.In(a.Zone)
	c := a.Config()
	until := c.QuietUntil(now)
	muted := a.Mute.At(now)
	if !muted.After(until) {
		return until
	}
	if later := c.QuietUntil(muted); !later.IsZero() {
		return later
	}
	return muted
}
