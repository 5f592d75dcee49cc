package fakeapi

import (
	"context"
	"time"
)

// gate is what a held step waits at. It opens once and stays open.
type gate struct {
	open   chan struct{}
	opened bool
}

// Release lets the step go on that is held under key (Hold, or Hang with a
// Key), and everyone who comes to that key later: a release that is early is
// not lost. Take another key to hold again.
func (s *Server) Release(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.gate(key); !g.opened {
		g.opened = true
		close(g.open)
	}
}

// gate finds the gate of a key. The caller holds mu.
func (s *Server) gate(key string) *gate {
	g := s.gates[key]
	if g == nil {
		g = &gate{open: make(chan struct{})}
		s.gates[key] = g
	}
	return g
}

// wait blocks until key is released; without a key only ctx ends it.
func (s *Server) wait(ctx context.Context, key string) error {
	var open chan struct{}
	if key != "" {
		s.mu.Lock()
		open = s.gate(key).open
		s.mu.Unlock()
	}
	select {
	case <-open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pause waits for d, or for the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
