package discord

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/discord/gateway"
	"ollimbot/discord/rest"
)

// status describes the connection, from the gateway's state and Discord's answers.
type status struct {
	zone *time.Location
	link func() gateway.State

	mu      sync.Mutex
	lost    string    // why the bot's own data could not be looked up
	since   time.Time // start of that
	shutOut string    // why the bot may not write to its user
	stopped string    // why the surface has given up
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
	if changed != nil {
		changed()
	}
}

// unreachable records that Discord did not answer Run's first requests; nil that it did.
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

// noteReach records whether the bot may write to its user, and returns whether that changed
// and why it may not.
func (s *status) noteReach(err error) (changed bool, why string) {
	switch {
	case errors.Is(err, rest.ErrCannotDM):
		why = rest.ErrCannotDM.Error()
	case err != nil:
		return false, "" // other errors do not tell
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

func (s *status) stop(err error) { s.change(func() { s.stopped = reason(err) }) }

// gaveUp is why the surface has stopped, or empty.
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
	words := clean.Cut(clean.Line(err.Error()), 300)
	if errors.Is(err, rest.ErrTransient) { // the fact first, because the top line is short
		return textLooking + " (" + words + ")"
	}
	return words
}

// passes reports whether an error may be temporary, so that trying again makes sense.
func passes(err error) bool {
	return errors.Is(err, rest.ErrTransient) || errors.Is(err, rest.ErrLimited) || errors.Is(err, context.DeadlineExceeded)
}

func (s *status) words() (string, bool) {
	link := s.link()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopped != "":
		return fmt.Sprintf(textStopped, s.stopped), false
	case s.lost != "":
		return s.down(s.since, s.lost), false
	}
	switch link.Phase {
	case gateway.Stopped:
		return fmt.Sprintf(textStopped, link.Reason), false
	case gateway.Down:
		return s.down(link.Since, link.Reason), false
	case gateway.Connecting:
		return textConnecting, true
	case gateway.Up:
	}
	switch {
	case s.shutOut != "":
		return s.shutOut, false // it begins with the cure, because the top line is short
	case link.Latency > 0:
		return fmt.Sprintf(textUpIn, max(link.Latency.Milliseconds(), 1)), true
	}
	return textUp, true
}

func (s *status) down(since time.Time, why string) string {
	if why == "" {
		why = textLooking
	}
	return fmt.Sprintf(textDownSince, since.In(s.zone).Format("15:04"), why)
}
