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

// work screens and runs what was taken, until ctx ends; it returns when all of
// it has ended. What nobody has begun by then is on the disk for the next start.
func (s *Server) work(ctx context.Context) error {
	var g errgroup.Group
	slots := make(chan struct{}, atOnce)
	begin := func(t *task) {
		slots <- struct{}{} // the end of ctx ends those that run
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

// perform takes a delivery to its end, and calls ran when its run has ended. One
// that has not begun when the bot ends stays accepted.
func (s *Server) perform(ctx context.Context, t *task, ran func()) {
	defer fault.Rescue("a delivery", func(f *fault.Error) {
		s.o.Log.Error("the run of a delivery failed", "delivery", t.job.Delivery.ID, "fault", f.Kind())
		s.end(t, Failed)
	})
	verdict := s.screened(ctx, t)
	if verdict == "" || !s.afforded(ctx, t) || !s.begin(ctx, t, verdict) {
		return
	}
	err := s.o.Run(ctx, t.job)
	ran() // the next need not wait until the disk knows
	switch {
	case err == nil:
		s.end(t, Done)
	case ctx.Err() != nil:
		s.abandon(t.record, fmt.Sprintf(noteCutOff, t.record.Webhook, t.record.ID), Interrupted)
	default:
		s.o.Log.Error("the run of a delivery failed", "delivery", t.job.Delivery.ID, "webhook", t.job.Spec.ID, "error", err)
		s.end(t, Failed)
	}
}

// afforded waits until there is money for the run. False means that the bot ends
// first: the delivery stays accepted.
func (s *Server) afforded(ctx context.Context, t *task) (ok bool) {
	if s.o.Afford == nil {
		return true
	}
	t.job.Ticket, ok = s.o.Afford(ctx, t.job.Spec.Task)
	return ok
}

// begin returns true when the disk knows that the run has begun: no later start
// runs it again. While that cannot be written the delivery waits.
func (s *Server) begin(ctx context.Context, t *task, verdict string) bool {
	for ctx.Err() == nil {
		d, err := s.log.change(t.record, func(r *record) { r.Outcome, r.Verdict = Running, verdict })
		if err == nil {
			t.job.Delivery = d
			return true
		}
		s.log.later(t.record, func(r *record) { r.Outcome = Accepted })
		select {
		case <-time.After(retryEvery):
		case <-ctx.Done():
		}
	}
	return false
}

// screened is the verdict with which a delivery may run. Empty: it may not. Then
// it is held, and the main session is told so, or the bot ends before that is
// known.
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

// screen asks the model, for a minute at most; a panic is no verdict.
func (s *Server) screen(ctx context.Context, p Payload) (safe bool, flagged []string, err error) {
	ctx, release := context.WithTimeout(ctx, screenTimeout)
	defer release()
	defer fault.Rescue("the screening", func(f *fault.Error) {
		err = errors.New(f.Kind())
	})
	return s.o.Screen(ctx, p.texts())
}

// hold ends a delivery that may not run. The verdict is on the disk before it is
// told, so that no start screens the delivery a second time.
func (s *Server) hold(t *task, verdict string, flagged []string, note string) {
	s.o.Log.Warn("delivery held", "delivery", t.job.Delivery.ID, "webhook", t.job.Spec.ID, "verdict", verdict)
	// Where that fails it is written later, and the log has told why.
	_, _ = s.log.change(t.record, func(r *record) { r.Verdict, r.Flagged, r.Note = verdict, flagged, note })
	s.abandon(t.record, note, Held)
}

// abandon ends a delivery that will not be run, or not to its end, with a note to
// the main session.
func (s *Server) abandon(r *record, note, outcome string) {
	err := s.o.Note(note, func() { s.finish(r, func(r *record) { r.Outcome, r.Note = outcome, "" }) })
	if err != nil {
		s.o.Log.Error(textNotTold, "delivery", r.ID, "error", err) // it stays open: the next start tells it
	}
}

func (s *Server) end(t *task, outcome string) {
	s.finish(t.record, func(r *record) { r.Outcome = outcome })
}

// finish writes down the end of a delivery. Should that fail it is written
// later; the log has told why.
func (s *Server) finish(r *record, alter func(*record)) {
	_, _ = s.log.change(r, func(r *record) {
		alter(r)
		r.Ended, r.Payload = time.Now(), nil
	})
}
