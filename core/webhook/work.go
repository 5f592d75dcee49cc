package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/clean"
)

// work screens and runs what was taken, until ctx ends; it returns when all of
// it has ended. What nobody has begun by then is told to the main session.
func (s *Server) work(ctx context.Context) error {
	var g errgroup.Group
	for {
		select {
		case t := <-s.queue:
			g.Go(func() error { s.perform(ctx, t); return nil })
			continue
		case <-ctx.Done():
		}
		s.mu.Lock()
		s.stopping = true
		s.mu.Unlock()
		for len(s.queue) > 0 { // nobody adds to it any more
			s.cutOff(<-s.queue)
			s.release()
		}
		return g.Wait()
	}
}

func (s *Server) release() {
	s.mu.Lock()
	s.active--
	s.mu.Unlock()
}

// perform takes a delivery to its end.
func (s *Server) perform(ctx context.Context, t *task) {
	defer s.release()
	defer func() {
		if p := recover(); p != nil {
			s.o.Log.Error("the run of a delivery failed", "delivery", t.job.Delivery.ID, "fault", faultWords(p))
			s.end(t, Failed)
		}
	}()
	run, err := s.screened(ctx, t)
	if err != nil {
		s.cutOff(t)
		return
	}
	if !run {
		return
	}
	t.job.Delivery = s.book.change(t.entry, func(d *Delivery) { d.Outcome = Running })
	err = s.o.Run(ctx, t.job)
	switch {
	case err == nil:
		s.end(t, Done)
	case ctx.Err() != nil:
		s.end(t, Interrupted)
	default:
		s.o.Log.Error("the run of a delivery failed", "delivery", t.job.Delivery.ID, "webhook", t.job.Spec.ID, "error", err)
		s.end(t, Failed)
	}
}

// screened reports whether the delivery may run. One that may not is held, and
// the main session is told so. An error means that the bot ends before that is
// known.
func (s *Server) screened(ctx context.Context, t *task) (run bool, err error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	names := t.job.Spec.Fields.named(t.job.Payload.Screened)
	if len(names) == 0 {
		s.book.change(t.entry, func(d *Delivery) { d.Verdict = VerdictNone })
		return true, nil
	}
	if s.o.Screen == nil {
		s.hold(t, VerdictUnreadable, nil, fmt.Sprintf(noteNoScreen, t.job.Spec.ID, fieldsText(names), t.job.Delivery.ID))
		return false, nil
	}
	safe, flagged, err := s.screen(ctx, t.job.Payload)
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case err != nil:
		s.o.Log.Warn("the screening of a delivery gave no verdict", "delivery", t.job.Delivery.ID, "webhook", t.job.Spec.ID, "error", clean.Line(err.Error()))
		s.hold(t, VerdictUnreadable, nil, fmt.Sprintf(noteUnreadable, t.job.Spec.ID, fieldsText(names), t.job.Delivery.ID))
		return false, nil
	case safe && len(flagged) == 0:
		s.book.change(t.entry, func(d *Delivery) { d.Verdict = VerdictSafe })
		return true, nil
	}
	pointed := t.job.Spec.Fields.named(flagged)
	s.hold(t, VerdictHeld, pointed, fmt.Sprintf(noteFlagged, t.job.Spec.ID, fieldsText(pointed), t.job.Delivery.ID))
	return false, nil
}

// screen asks the model, for a minute at most; a panic is no verdict.
func (s *Server) screen(ctx context.Context, p Payload) (safe bool, flagged []string, err error) {
	ctx, release := context.WithTimeout(ctx, screenTimeout)
	defer release()
	defer func() {
		if f := recover(); f != nil {
			err = errors.New(faultWords(f))
		}
	}()
	return s.o.Screen(ctx, p.texts())
}

func (s *Server) hold(t *task, verdict string, flagged []string, note string) {
	s.book.change(t.entry, func(d *Delivery) {
		d.Verdict, d.Flagged, d.Outcome, d.Ended = verdict, flagged, Held, time.Now()
	})
	s.o.Log.Warn("delivery held", "delivery", t.job.Delivery.ID, "webhook", t.job.Spec.ID, "verdict", verdict)
	s.o.Note(note)
}

// cutOff ends a delivery that the bot's end has kept from running.
func (s *Server) cutOff(t *task) {
	s.end(t, Interrupted)
	s.o.Note(fmt.Sprintf(noteLost, t.job.Spec.ID, t.job.Delivery.ID))
}

func (s *Server) end(t *task, outcome string) {
	s.book.change(t.entry, func(d *Delivery) { d.Outcome, d.Ended = outcome, time.Now() })
}
