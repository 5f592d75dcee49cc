package rest

import (
	"sync"
	"time"
)

const (
	// maxRefused answers of 401, 403 and 429 within refusedWithin make the client
	// stop: at ten thousand Discord bans the address.
	maxRefused    = 500
	refusedWithin = 10 * time.Minute
)

// standing is what Discord thinks of this bot as a whole: whether its token is
// good and its address welcome.
type standing struct {
	refused chan struct{} // closed when the token was refused

	mu     sync.Mutex
	banned time.Time // every call fails until then
	since  time.Time // when counting began
	count  int       // of refused requests since
}

// check is the error with which every call fails now, or nil.
func (s *standing) check(now time.Time) error {
	select {
	case <-s.refused:
		return ErrAuth
	default:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if wait := s.banned.Sub(now); wait > 0 {
		return &BanError{After: wait}
	}
	if wait := s.since.Add(refusedWithin).Sub(now); s.count >= maxRefused && wait > 0 {
		return &LimitedError{After: wait, Stopped: true}
	}
	return nil
}

// refuse ends every call, also those that wait, with ErrAuth.
func (s *standing) refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.refused:
	default:
		close(s.refused)
	}
}

func (s *standing) ban(until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if until.After(s.banned) {
		s.banned = until
	}
}

// note counts a refused request.
func (s *standing) note(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.since) >= refusedWithin {
		s.since, s.count = now, 0
	}
	s.count++
}
