// Package attention decides when a ping may reach the user: quiet hours, a mute, and
// whether a conversation is in progress. It must not know what sends pings or costs
// tokens.
package attention

import (
	"time"

	"ollimbot/core/storage/config"
	"ollimbot/routines/schedule"
)

// Attention is the state of the user's attention. Its methods are safe for concurrent
// use.
type Attention struct {
	Zone   *time.Location
	Config func() *config.Runtime
	Mute   *schedule.Mute
	// Talking reports whether a turn of the conversation is running, and since when.
	Talking func() (busy bool, since time.Time)
}

// Busy reports whether a conversation is in progress, and until when non-critical pings
// are refused; the zero time means that they are not.
func (a *Attention) Busy() (busy bool, quiet time.Time) {
	busy, _ = a.Talking()
	return busy, a.QuietUntil(time.Now())
}

// QuietUntil returns until when non-critical pings are refused at a moment: because of
// quiet hours, a mute, or both in succession. It is zero if they are not.
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
