package fakeapi

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Requests is everything that came so far, oldest first. The slice is the
// caller's; what the requests point to is shared and must not be changed.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.record)
}

// Wait blocks until holds says true about the requests so far. It is asked at
// once, and again whenever a request came, began to be answered or ended. The
// error is ErrClosed or the context's, with a line about what did come.
func (s *Server) Wait(ctx context.Context, holds func([]Request) bool) error {
	for {
		s.mu.Lock()
		seen, changed, closed := slices.Clone(s.record), s.changed, s.closed
		s.mu.Unlock()
		if holds(seen) {
			return nil
		}
		if closed {
			return fmt.Errorf("wait for the claude command: %w; %s", ErrClosed, outline(seen))
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("wait for the claude command: %w; %s", ctx.Err(), outline(seen))
		}
	}
}

// add records a request and returns its place.
func (s *Server) add(r Request) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record = append(s.record, r)
	s.announce()
	return len(s.record) - 1
}

// update changes what is recorded about the request at a place.
func (s *Server) update(at int, change func(*Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.record[at])
	s.announce()
}

// announce wakes everybody who waits for a change. The caller holds mu.
func (s *Server) announce() {
	close(s.changed)
	s.changed = make(chan struct{})
}

// outline says in one line which requests came.
func outline(seen []Request) string {
	if len(seen) == 0 {
		return "no request came"
	}
	lines := make([]string, len(seen))
	for i, r := range seen {
		lines[i] = fmt.Sprintf("%s %s %d", r.Method, r.Path, r.Status)
	}
	return "came: " + strings.Join(lines, ", ")
}
