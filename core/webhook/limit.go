package webhook

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits of what is taken.
const (
	perMinute = 60  // deliveries of one webhook: as many at once, then one a second
	atOnce    = 10  // deliveries that are screened or run at the same time
	underWay  = 100 // deliveries that are accepted and not ended: the rest of them wait
	guesses   = 10  // wrong tokens a minute
	// retrySlot is what a sender is told to wait when underWay has been reached, or
	// nothing can be written, in seconds: nobody knows how long that lasts.
	retrySlot = 10
)

// limiter counts the deliveries of each webhook.
type limiter struct {
	mu sync.Mutex
	of map[string]*rate.Limiter
}

// take counts a delivery at now, or says how many whole seconds to wait. The id
// is that of a spec, so that strangers cannot make it remember anything.
func (l *limiter) take(id string, now time.Time) (wait int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[string]*rate.Limiter{}
	}
	if l.of[id] == nil {
		l.of[id] = newRate(perMinute)
	}
	return takeOne(l.of[id], now)
}

// newRate lets so many through at once, and then as many in a minute.
func newRate(perMinute int) *rate.Limiter {
	return rate.NewLimiter(rate.Every(time.Minute/time.Duration(perMinute)), perMinute)
}

// takeOne takes one of what is free at now, or says how many whole seconds to wait.
func takeOne(l *rate.Limiter, now time.Time) (wait int) {
	r := l.ReserveN(now, 1)
	d := r.DelayFrom(now)
	if d == 0 {
		return 0
	}
	r.CancelAt(now)
	return int((d + time.Second - 1) / time.Second)
}
