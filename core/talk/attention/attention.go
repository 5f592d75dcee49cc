// Package attention decides when a ping may reach the user: quiet hours, a mute, and
// whether a conversation is in progress. It must not know what sends pings or costs
// tokens.
package attention

import (
	"maps"
	"sync"
	"time"

	"ollimbot/core/storage/config"
	"ollimbot/core/talk/post"
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

// Rings reports whether a message rings now, as post.Kind.Rings decides, and records the cause of one that does.
func (a *Attention) Rings(k post.Kind, cause string) bool {
	now := time.Now()
	muted := !a.QuietUntil(now).IsZero()
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.rung, func(_ string, at time.Time) bool { return now.Sub(at) >= ringsAgain })
	_, again := a.rung[cause]
	rings := k.Rings(post.Moment{Muted: muted, Again: again})
	if rings && k == post.KindNews {
		if a.rung == nil {
			a.rung = map[string]time.Time{}
		}
		a.rung[cause] = now
	}
	return rings
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
