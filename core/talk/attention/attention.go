// Package attention decides when a ping may reach the user: quiet hours, a mute, and
// whether a conversation is in progress. It must not know what sends pings or costs
// tokens.
package attention

import (
	"maps"
	"sync"
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

	mu   sync.Mutex
	rung map[string]time.Time // by cause
}

// ringsAgain is when something that the program says by itself may ring once more for the same cause.
const ringsAgain = 12 * time.Hour

// Rings reports whether something that the program says by itself may make a sound, and records that it does. It may
// not in quiet hours, while muted, or soon after the same cause. Answers to the user are not the program's own words.
func (a *Attention) Rings(cause string) bool {
	now := time.Now()
	if !a.QuietUntil(now).IsZero() {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if at, ok := a.rung[cause]; ok && now.Sub(at) < ringsAgain {
		return false
	}
	if a.rung == nil {
		a.rung = map[string]time.Time{}
	}
	maps.DeleteFunc(a.rung, func(_ string, at time.Time) bool { return now.Sub(at) >= ringsAgain })
	a.rung[cause] = now
	return true
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
