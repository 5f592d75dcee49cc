package discord

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/discord/gateway"
	"ollimbot/discord/rest"
)

// status describes the connection, from the gateway's state and Discord's answers.
type status struct {
	zone *time.Location
	link func() gateway.State

	mu      sync.Mutex
	lost    string        // why the bot's own data could not be looked up
	since   time.Time     // when that began
	shutOut string        // why the bot cannot message its user
	rival   time.Time     // when another program with the same token was last noticed
	stopped string        // why the surface has given up
	ended   time.Time     // when it has
	moved   chan struct{} // capacity 1: something may have changed
	changed func()
}

func (s *status) change(do func()) {
	s.mu.Lock()
	do()
	s.mu.Unlock()
	s.notify()
}

// notify reports a change. The lock must not be held.
func (s *status) notify() {
	s.mu.Lock()
	changed := s.changed
	s.mu.Unlock()
	select {
	case s.moved <- struct{}{}:
	default: // full, or without a reader
	}
	if changed != nil {
		changed()
	}
}

// unreachable records that Discord did not answer Run's first requests; nil means that it did.
func (s *status) unreachable(err error) {
	s.change(func() {
		switch {
		case err == nil:
			s.lost = ""
			return
		case s.lost == "":
			s.since = time.Now()
		}
		s.lost = reason(err)
	})
}

// noteReach records whether the bot can message its user, and returns whether that changed and why it cannot.
func (s *status) noteReach(err error) (changed bool, why string) {
	switch {
	case errors.Is(err, rest.ErrCannotDM):
		why = rest.ErrCannotDM.Error()
	case err != nil:
		return false, "" // other errors say nothing about it
	}
	s.mu.Lock()
	changed = s.shutOut != why
	s.shutOut = why
	s.mu.Unlock()
	if changed {
		s.notify()
	}
	return changed, why
}

func (s *status) stop(err error) { s.change(func() { s.stopped, s.ended = reason(err), time.Now() }) }

// gaveUp returns why the surface has stopped, or empty.
func (s *status) gaveUp() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// reason is an error as a sentence.
func reason(err error) string {
	for _, known := range []error{rest.ErrAuth, rest.ErrCannotDM} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return textLooking + " (" + textNoAnswer + ")"
	}
	words := clean.Cut(clean.Line(err.Error()), 300)
	if errors.Is(err, rest.ErrTransient) { // the fact first, because the top line is short
		return textLooking + " (" + words + ")"
	}
	return words
}

// passes reports whether an error may be temporary, so that retrying makes sense.
func passes(err error) bool {
	return errors.Is(err, rest.ErrTransient) || errors.Is(err, rest.ErrLimited) || errors.Is(err, context.DeadlineExceeded)
}

// Standing is the state of a connection and its start, stored for other programs.
type Standing struct {
	core.SurfaceStatus
	Since time.Time `json:"since,omitzero"`
}

// Text describes the state, its start and the bot's next step.
func (n Standing) Text(zone *time.Location) string {
	switch {
	case strings.HasPrefix(n.State, fmt.Sprintf(textStopped, "")), n.Since.IsZero():
		return n.State
	case strings.HasPrefix(n.State, textDown):
		return n.State + textTrying
	}
	return n.State + " since " + n.Since.In(zone).Format("15:04")
}

// words describes the connection, with the latest latency.
func (s *status) words() (string, bool) {
	now := s.standing()
	if link := s.link(); now.State == textUp && link.Latency > 0 {
		now.State = fmt.Sprintf(textUpIn, max(link.Latency.Milliseconds(), 1))
	}
	return now.State, now.OK
}

// standing returns the state without its constantly changing parts.
func (s *status) standing() Standing {
	link := s.link()
	s.mu.Lock()
	defer s.mu.Unlock()
	now := Standing{core.SurfaceStatus{Name: name}, link.Since}
	twice := !s.rival.IsZero() && time.Since(s.rival) < rivalFor
	if twice {
		now.Lead = textRival
	}
	switch {
	case s.stopped != "":
		now.State, now.Since = fmt.Sprintf(textStopped, s.stopped), s.ended
	case s.lost != "":
		now.State, now.Since = s.down(s.since, s.lost), s.since
	case link.Phase == gateway.Stopped:
		now.State = fmt.Sprintf(textStopped, link.Reason)
	case link.Phase == gateway.Down:
		now.State = s.down(link.Since, link.Reason)
	case link.Phase == gateway.Connecting:
		now.State, now.OK = textConnecting, true
	case s.shutOut != "":
		now.State = s.shutOut // it starts with the solution, because the top line is short
	case twice:
		now.State = textRivalCure
	default:
		now.State, now.OK = textUp, true
	}
	return now
}

func (s *status) down(since time.Time, why string) string {
	if why == "" {
		why = textLooking
	}
	return fmt.Sprintf(textDownSince, since.In(s.zone).Format("15:04"), why)
}
