package webhook

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/fault"
)

// work screens and runs accepted deliveries until ctx ends, and waits for those that run.
// The others are on the disk for the next start.
func (s *Server) work(ctx context.Context) error {
	var g errgroup.Group
	slots := make(chan struct{}, atOnce)
	begin := func(t *task) {
		slots <- struct{}{} // frees up at the latest when ctx ends
		release := sync.OnceFunc(func() { <-slots; s.release() })
		g.Go(func() error { defer release(); s.perform(ctx, t, release); return nil })
	}
	for _, t := range s.resumed {
		begin(t)
	}
	for {
		select {
		case t := <-s.queue:
			begin(t)
			continue
		case <-ctx.Done():
		}
		s.mu.Lock()
		s.stopping = true
		s.mu.Unlock()
		return g.Wait()
	}
}

func (s *Server) release() {
	s.mu.Lock()
	s.active--
	s.mu.Unlock()
}

// perform screens and runs a delivery, and calls ran when its run has ended. If the bot
// stops before the run has begun, the delivery stays accepted.
func (s *Server) perform(ctx context.Context, t *task, ran func()) {
	defer fault.Rescue("a delivery", func(f *fault.Error) {
		s.o.Log.Error("the run of a delivery failed", "delivery", t.job.Delivery.ID, "fault", f.Kind())
		s.end(t, Failed)
	})
	if !s.afforded(ctx, t) { // the screening costs money too
		return
	}
	if t.verdict == "" {
		t.verdict = s.screened(ctx, t)
	}
	if t.verdict == "" {
		s.o.Settle(t.job.Ticket)
		return
	}
	t.job.Delivery = s.log.change(t.record, func(r *record) { r.Outcome, r.Verdict = Running, t.verdict })
	err := s.o.Run(ctx, t.job)
	ran() // the next one does not wait for the disk
	switch waits := new(WaitsError); {
	case err == nil:
		s.end(t, Done)
	case errors.Is(err, ErrNotBegun): // the next start runs it
		s.log.change(t.record, func(r *record) { r.Outcome = Accepted })
	case errors.As(err, &waits):
		s.hold(t, t.verdict, nil, fmt.Sprintf(noteWaits, t.record.Webhook, waits.Why, t.record.ID))
	case errors.Is(err, ErrCutOff), ctx.Err() != nil:
		s.abandon(t.record, fmt.Sprintf(noteCutOff, t.record.Webhook, t.record.ID), Interrupted)
	default:
		s.o.Log.Error("the run of a delivery failed", "delivery", t.job.Delivery.ID, "webhook", t.job.Spec.ID, "error", err)
		s.end(t, Failed)
	}
}

// afforded waits until there is money for the delivery. It is false if the bot stops first; the
// delivery then stays accepted.
func (s *Server) afforded(ctx context.Context, t *task) (ok bool) {
	if s.o.Afford == nil {
		return true
	}
	t.job.Ticket, ok = s.o.Afford(ctx, t.job.Spec.Task)
	return ok
}

// screened returns the verdict if the delivery can run. Otherwise the verdict is empty, and
// the delivery is held and reported to the main session, or the bot stopped before that.
func (s *Server) screened(ctx context.Context, t *task) (verdict string) {
	if ctx.Err() != nil {
		return ""
	}
	names := t.job.Spec.Fields.named(t.job.Payload.Screened)
	if len(names) == 0 {
		return verdictNone
	}
	if s.o.Screen == nil {
		s.hold(t, verdictUnreadable, nil, fmt.Sprintf(noteNoScreen, t.job.Spec.ID, fieldsText(names), t.job.Delivery.ID))
		return ""
	}
	safe, flagged, err := s.screen(ctx, t.job.Payload)
	switch {
	case ctx.Err() != nil:
		return ""
	case err != nil:
		s.o.Log.Warn("the screening of a delivery gave no verdict", "delivery", t.job.Delivery.ID, "webhook", t.job.Spec.ID, "error", clean.Line(err.Error()))
		s.hold(t, verdictUnreadable, nil, fmt.Sprintf(noteUnreadable, t.job.Spec.ID, fieldsText(names), t.job.Delivery.ID))
		return ""
	case safe && len(flagged) == 0:
		return verdictSafe
	}
	pointed := t.job.Spec.Fields.named(flagged)
	s.hold(t, verdictHeld, pointed, fmt.Sprintf(noteFlagged, t.job.Spec.ID, fieldsText(pointed), t.job.Delivery.ID))
	return ""
}

// screen asks the model and waits a minute at most. A panic is an error.
func (s *Server) screen(ctx context.Context, p Payload) (safe bool, flagged []string, err error) {
	ctx, release := context.WithTimeout(ctx, screenTimeout)
	defer release()
	defer fault.Rescue("the screening", func(f *fault.Error) {
		err = errors.New(f.Kind())
	})
	return s.o.Screen(ctx, p.texts())
}

// hold ends a delivery that must not run. The verdict is on the disk before it is reported,
// so that no restart screens the delivery again.
func (s *Server) hold(t *task, verdict string, flagged []string, note string) {
	s.o.Log.Warn("delivery held", "delivery", t.job.Delivery.ID, "webhook", t.job.Spec.ID, "verdict", verdict)
	s.log.change(t.record, func(r *record) { r.Outcome, r.Verdict, r.Flagged, r.Note = Accepted, verdict, flagged, note })
	s.abandon(t.record, note, Held)
}

// abandon ends a delivery that did not run, or not completely, with a note to the main
// session.
func (s *Server) abandon(r *record, note, outcome string) {
	err := s.o.Note(note, func() { s.finish(r, func(r *record) { r.Outcome, r.Note = outcome, "" }) })
	if err != nil {
		s.o.Log.Error(textNotTold, "delivery", r.ID, "error", err) // it stays open: the next start reports it
	}
}

func (s *Server) end(t *task, outcome string) {
	s.finish(t.record, func(r *record) { r.Outcome = outcome })
}

// finish records the end of a delivery.
func (s *Server) finish(r *record, alter func(*record)) {
	s.log.change(r, func(r *record) {
		alter(r)
		r.Ended, r.Payload = time.Now(), nil
	})
}
