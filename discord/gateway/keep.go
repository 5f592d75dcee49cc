package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"
)

// keep connects again and again until ctx ends or nothing can be hoped for.
func (s *Supervisor) keep(ctx context.Context) error {
	s.board.enter(Connecting, "")
	defer func() {
		if s.board.read().Phase != Stopped {
			s.board.enter(Stopped, textLeft)
		}
	}()
	d := newDialer(s.o.Dial)
	var c *client // nil: the next connection starts a session
	defer func() {
		if c != nil { // after a panic it still has a connection
			c.retire()
			c.cut(cause{end: endLeft})
		}
	}()
	failures := 0
	for {
		if c == nil {
			if !s.mayStart(ctx) {
				return nil
			}
			var err error
			if c, err = newClient(s, d); err != nil {
				return fmt.Errorf("make session: %w", err)
			}
		}
		why, upFor := s.attend(ctx, c)
		if ctx.Err() != nil {
			return nil
		}
		if why.action() == actStop {
			return s.stop(why)
		}
		if upFor >= s.o.Timing.Settled {
			failures = 0
		} else if upFor == 0 {
			failures = max(failures, 1)
		}
		wait := backoff(s.o.Timing, failures)
		failures++
		if why.end == endInvalid {
			wait = max(wait, pause(s.o.Timing))
		}
		if why.action() == actFresh || !c.known.Load() {
			c.retire()
			c = nil
		}
		if !s.rest(ctx, wait, why.sentence()) {
			return nil
		}
	}
}

// attend opens the client's connection and stays with it until it ends. It
// returns why, and for how long the bot was up: 0 if it never was.
func (s *Supervisor) attend(ctx context.Context, c *client) (why cause, upFor time.Duration) {
	w, fresh, failed := c.open(ctx)
	if failed != nil {
		if failed.end == endStuck {
			s.abandon(c)
		}
		return *failed, 0
	}
	since := time.Now()
	s.board.enter(Up, "")
	s.told = ""
	s.o.Log.Info("discord connected", "new_session", fresh)
	if fresh {
		if err := w.send(presence()); err != nil {
			s.o.Log.Warn("discord presence not set", "reason", brief(err))
		}
	}
	for {
		select {
		case d := <-w.beats:
			s.board.latency(d)
		case <-ctx.Done():
			w.leave()
			<-w.done // in byeWait at most
			s.board.enter(Stopped, textLeft)
			if !c.settle() {
				s.abandon(c)
			}
			return cause{end: endLeft}, time.Since(since)
		case <-w.done:
			why, upFor = w.cause(), max(1, time.Since(since))
			if why.action() != actStop {
				s.board.enter(Down, why.sentence())
			}
			if !c.settle() {
				s.abandon(c)
				why = cause{end: endStuck}
			}
			return why, upFor
		}
	}
}

// abandon leaves a stuck session of the library behind.
func (s *Supervisor) abandon(c *client) {
	c.retire()
	s.board.abandoned()
	s.o.Log.Warn("discord session stuck and left behind")
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
		level = slog.LevelDebug // a night without network is not a line a minute
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

// mayStart waits until a session may be started; false when ctx has ended.
func (s *Supervisor) mayStart(ctx context.Context) bool {
	for ctx.Err() == nil {
		if wait := s.starts.wait(time.Now()); wait > 0 {
			if !s.rest(ctx, wait, textManyStarts) {
				return false
			}
			continue
		}
		remaining, reset, err := s.budget(ctx)
		if err != nil {
			s.o.Log.Warn("discord session budget unknown", "reason", brief(err))
			return ctx.Err() == nil
		}
		if remaining >= startsReserve {
			return true
		}
		wait := min(max(reset, s.o.Timing.Window), 24*time.Hour)
		if !s.rest(ctx, wait, fmt.Sprintf(textFewStarts, remaining)) {
			return false
		}
	}
	return false
}

// budget asks Discord how many sessions may be started, for no longer than
// opening one may take.
func (s *Supervisor) budget(ctx context.Context) (remaining int, reset time.Duration, err error) {
	if s.o.Budget == nil {
		return startsReserve, 0, nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Timing.Open)
	defer cancel()
	return s.o.Budget(ctx)
}

// backoff is how long to wait after so many failures in a row: not at all after
// none, then BackoffMin doubling to BackoffMax, a random half of it taken off so
// that not everybody comes back at the same moment.
func backoff(t Timing, failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	d := t.BackoffMax
	if shift := failures - 1; shift < 32 && t.BackoffMin<<shift < t.BackoffMax && t.BackoffMin<<shift > 0 {
		d = t.BackoffMin << shift
	}
	return d - rand.N(d/2+1)
}

// pause is the time that Discord asks for between an invalid session and the
// next one.
func pause(t Timing) time.Duration {
	return t.PauseMin + rand.N(t.PauseMax-t.PauseMin+1)
}

// accept takes what the library's reader has decoded. It must not block.
func (s *Supervisor) accept(e Event, v verdict) {
	switch v {
	case wanted:
		s.queue.push(e)
	case broke:
		s.board.dropped()
	}
}
