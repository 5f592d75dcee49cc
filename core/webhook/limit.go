package webhook

import (
	"sync"
	"time"
)

// Limits of what is taken (issue of the webhooks).
const (
	perMinute = 60 // deliveries of one webhook in any minute
	atOnce    = 10 // deliveries that are screened or run at the same time
	// retrySlot is what a sender is told to wait when all of atOnce are taken, in
	// seconds: nobody knows how long runs take.
	retrySlot = 10
)

// limiter counts the deliveries of each webhook over the last minute.
type limiter struct {
	mu      sync.Mutex
	windows map[string]*window
}

// window holds the times of a webhook's last deliveries, in a ring.
type window struct {
	times [perMinute]time.Time
	next  int
}

// take counts a delivery at now, or says how many whole seconds to wait. The id
// is that of a spec, so that strangers cannot make it remember anything.
func (l *limiter) take(id string, now time.Time) (wait int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.windows == nil {
		l.windows = map[string]*window{}
	}
	w := l.windows[id]
	if w == nil {
		w = &window{}
		l.windows[id] = w
	}
	oldest := w.times[w.next]
	if free := oldest.Add(time.Minute); !oldest.IsZero() && now.Before(free) {
		return int((free.Sub(now) + time.Second - 1) / time.Second)
	}
	w.times[w.next] = now
	w.next = (w.next + 1) % perMinute
	return 0
}
