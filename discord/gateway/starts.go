package gateway

import (
	"sync"
	"time"
)

// Discord allows 1000 new sessions in a day and resets the token beyond that.
// The short window is against a gateway that refuses every session; the long
// one keeps a whole night of that at 720.
const (
	startsInWindow  = 3
	startsInWindows = 30
	longWindow      = 60 // short windows
	startsReserve   = 10 // fewer left on Discord's side, and we wait for the reset
)

// starts counts the sessions that were really started, by the IDENTIFY packets
// that left, and says when the next one may be.
type starts struct {
	window time.Duration

	mu    sync.Mutex // guards times
	times []time.Time
}

// note records that a session was started.
func (s *starts) note(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times = append(s.times, now)
	if extra := len(s.times) - startsInWindows; extra > 0 {
		s.times = append([]time.Time(nil), s.times[extra:]...)
	}
}

// wait is how long the next start has to wait, 0 for not at all.
func (s *starts) wait(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.room(now, startsInWindow, s.window), s.room(now, startsInWindows, longWindow*s.window))
}

// room is how long until fewer than n starts lie within the last window.
func (s *starts) room(now time.Time, n int, window time.Duration) time.Duration {
	if len(s.times) < n {
		return 0
	}
	return s.times[len(s.times)-n].Add(window).Sub(now)
}
