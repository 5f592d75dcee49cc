package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"
)

// sessionKept is for how long Discord is likely to know a session that has no
// connection. After that a new one is begun at once: asking to resume would only
// cost the pause that Discord wants after its no.
const sessionKept = 5 * time.Minute

// keep connects again and again until ctx ends or nothing can be hoped for.
func (s *Supervisor) keep(ctx context.Context) error {
	s.board.enter(Connecting, "")
	defer func() {
		if s.board.read().Phase != Stopped {
			s.board.enter(Stopped, textLeft)
		}
	}()
	var se session
	lost := time.Now() // since when there is no connection
	// refusals are those that follow each other; tries are all since the loss.
	for refusals, tries := 0, 0; ; tries++ {
		if time.Since(lost) > sessionKept {
			se = session{}
		}
		began := time.Now()
		why, upFor := s.attend(ctx, &se, tries)
		if ctx.Err() != nil {
			return nil
		}
		if why.action() == actStop {
			return s.stop(why)
		}
		if upFor > 0 {
			lost, tries = time.Now(), -1
		}
		if upFor >= s.o.Timing.Settled {
			refusals = 0
		}
		if why.action() == actFresh {
			se = session{}
		}
		var wait time.Duration
		switch why.end {
		case endInvalid:
			wait = pause(s.o.Timing)
		case endUnreachable: // nothing is asked of Discord by trying often
			wait = again(s.o.Timing, time.Since(lost)) - time.Since(began)
		default:
			if upFor == 0 {
				refusals = max(refusals, 1)
			}
			wait = backoff(s.o.Timing, refusals)
			refusals++
		}
		if !s.rest(ctx, max(wait, 0), why.sentence()) {
			return nil
		}
	}
}

// attend opens a connection and stays with it until it ends. It returns why, and
// for how long the bot was up: 0 if it never was.
func (s *Supervisor) attend(ctx context.Context, se *session, try int) (why cause, upFor time.Duration) {
	address := se.address
	if se.id == "" {
		if failed := s.find(ctx); failed != nil {
			return *failed, 0
		}
	}
	if address == "" || try%2 == 1 { // the one for resuming may be what is dead
		address = s.address
	}
	limited, cancel := context.WithTimeout(ctx, s.o.Timing.Open)
	defer cancel()
	c, failed := s.connect(limited, address, se)
	if failed != nil {
		return *failed, 0
	}
	defer c.close()
	return s.follow(ctx, c, limited.Done())
}

// follow handles what a connection brings. late says that it has not come up in
// time.
func (s *Supervisor) follow(ctx context.Context, c *conn, late <-chan struct{}) (why cause, upFor time.Duration) {
	var since, shown time.Time
	var show <-chan time.Time // the presence is told
	for {
		var end *cause
		select {
		case p := <-c.packets:
			if end = p.end; end != nil {
				break
			}
			var kind Kind
			if kind, end = c.take(p); kind != 0 && since.IsZero() {
				since, late = time.Now(), nil
				show = time.After(0)
				s.board.enter(Up, "")
				s.told = ""
				s.o.Log.Info("discord connected", "new_session", kind == Ready)
			}
		case <-c.beat.C:
			end = c.heartbeat()
		case <-s.presence.changed:
			show = time.After(time.Until(shown.Add(presenceEvery)))
		case <-show:
			if show = nil; !since.IsZero() && s.presence.stale() {
				shown = time.Now()
				c.send(opPresence, s.presence.tell())
			}
		case <-late:
			end = &cause{end: endSilent, duration: s.o.Timing.Open}
		case <-ctx.Done():
			if !since.IsZero() {
				c.leave()
			}
			end = &cause{end: endLeft}
		}
		if end != nil {
			if !since.IsZero() {
				upFor = max(1, time.Since(since))
			}
			return *end, upFor
		}
	}
}

// find asks where a session may be started, and waits until one may be.
func (s *Supervisor) find(ctx context.Context) *cause {
	for {
		if wait := s.starts.wait(time.Now()); wait > 0 {
			if !s.rest(ctx, wait, textManyStarts) {
				return &cause{end: endLeft}
			}
			continue
		}
		limited, cancel := context.WithTimeout(ctx, s.o.Timing.Open)
		door, err := s.o.Find(limited)
		cancel()
		switch {
		case ctx.Err() != nil:
			return &cause{end: endLeft}
		case err != nil && s.address == "":
			return &cause{end: endUnreachable, err: err}
		case err != nil: // where it was, it may still be
			s.o.Log.Warn("discord session budget unknown", "reason", brief(err))
			return nil
		}
		s.address = door.Address
		if door.Remaining >= startsReserve {
			return nil
		}
		wait := min(max(door.ResetAfter, s.o.Timing.Window), 24*time.Hour)
		if !s.rest(ctx, wait, fmt.Sprintf(textFewStarts, door.Remaining)) {
			return &cause{end: endLeft}
		}
	}
}

// stop is the end after which only a person can help.
func (s *Supervisor) stop(why cause) error {
	reason := why.sentence()
	s.board.enter(Stopped, reason)
	s.o.Log.Error("discord refuses the bot", "code", why.code, "reason", reason)
	return &StoppedError{Code: why.code, Reason: reason}
}

// rest shows why there is no connection and waits; false when ctx has ended.
func (s *Supervisor) rest(ctx context.Context, wait time.Duration, reason string) bool {
	s.board.enter(Down, reason)
	level := slog.LevelWarn
	if reason == s.told {
		level = slog.LevelDebug // a night without network is not a line a second
	}
	s.told = reason
	s.o.Log.Log(ctx, level, "discord not connected", "reason", reason, "next_try_s", wait.Seconds())
	if wait > 0 {
		s.board.nextTry(time.Now().Add(wait))
		defer s.board.nextTry(time.Time{})
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// again is the time between two tries to reach a server that is out of reach.
// Together with the pause after an invalid session it stays below five seconds.
func again(t Timing, away time.Duration) time.Duration {
	d := t.BackoffMin
	if away > sessionKept {
		d *= 2
	}
	return d + rand.N(d)
}

// backoff is how long to wait after so many refusals in a row: not at all after
// none, then BackoffMin doubling to BackoffMax, a random half of it taken off so
// that not everybody comes back at the same moment.
func backoff(t Timing, refusals int) time.Duration {
	if refusals == 0 {
		return 0
	}
	d := t.BackoffMax
	if shift := refusals - 1; shift < 32 && t.BackoffMin<<shift < t.BackoffMax && t.BackoffMin<<shift > 0 {
		d = t.BackoffMin << shift
	}
	return d - rand.N(d/2+1)
}

// pause is the time that Discord asks for between an invalid session and the
// next one.
func pause(t Timing) time.Duration {
	return t.PauseMin + rand.N(t.PauseMax-t.PauseMin+1)
}

// accept takes what was decoded. It does not block.
func (s *Supervisor) accept(e Event, v verdict) {
	switch v {
	case wanted:
		s.queue.push(e)
	case broke:
		s.board.dropped()
	}
}
