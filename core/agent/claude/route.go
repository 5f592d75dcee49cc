package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/wire"
	"ollimbot/core/base/fault"
)

// noteAuth updates the login status after a turn: the class of a failure may show that it is bad,
// and an answer from the model proves that it is good.
func (s *session) noteAuth(failure string, r wire.Result) {
	switch {
	case r.IsError && failure == notLoggedIn && r.APIErrorStatus == 0:
		s.e.later("status", func() { s.e.setLogin(false) })
	case !r.IsError && r.NumTurns > 0:
		s.e.later("status", func() { s.e.setLogin(true) })
	}
}

// route passes one line to the turn it belongs to. A panic ends the process.
func (s *session) route(l wire.Line) {
	defer fault.Rescue("the engine: reader", func(err *fault.Error) {
		s.log.Error("engine panicked", "error", err, "stack", err.Stack)
		s.kill(err)
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.flow
	if s.ended != nil || l.Type == wire.TypeSystem && s.between(l) {
		return
	}
	if f.current == nil && beginsTurn(l) {
		s.beginTurn(l.At)
	}
	if l.Type == wire.TypeUser {
		s.echo(l)
	}
	switch {
	case l.Type == wire.TypeResult:
		s.finish(l)
	case f.current != nil:
		f.current.tr.translate(l, f.current.events.put)
		s.giveUp(f.current)
		if l.Type == wire.TypeStream && l.Stream().Kind == wire.MessageDelta {
			s.later(func() { s.read(context.Background()) })
		}
	}
}

// giveUp ends a turn whose credentials were refused twice. With an API key the CLI would keep
// retrying for minutes; a fresh token may still cure the first refusal.
func (s *session) giveUp(t *turn) {
	r := t.tr.retry
	if r.Error != notLoggedIn || r.ErrorStatus != http.StatusUnauthorized || r.Attempt < 2 || t.forced != nil || !t.stopped.IsZero() {
		return
	}
	t.forced, t.stopped = &agent.Result{IsError: true, Unavailable: true, Text: textBadKey}, time.Now()
	s.later(s.requestInterrupt)
}

// echo looks for our message among those that the CLI repeats.
func (s *session) echo(l wire.Line) {
	f := &s.flow
	if f.waiting == nil && (f.current == nil || f.current.uuid == "" || f.current.echoed) {
		return
	}
	switch id := l.User().UUID; {
	case id == "":
	case f.waiting != nil && id == f.waiting.uuid:
		s.adopt()
	case f.current != nil && id == f.current.uuid:
		f.current.echoed = true
	}
}

// between handles lines about the state of the CLI. done means that the line has no other meaning.
func (s *session) between(l wire.Line) (done bool) {
	f := &s.flow
	switch l.Subtype {
	case wire.SubtypeState:
		f.running = l.System().State != "idle"
		if f.current == nil {
			f.selfBegun, f.announced = false, ""
		} else if !f.running {
			s.endTurn(f.current, agent.Result{SessionID: s.id, Text: f.current.tr.last()})
		}
		s.calmed()
		return true
	case wire.SubtypeTaskNotification:
		if f.current != nil {
			return false
		}
		f.selfBegun, f.announced = true, short(l.System().Summary)
		return true
	case wire.SubtypeInit:
		s.id = cmp.Or(l.System().SessionID, s.id)
	}
	return false
}

// beginTurn starts the turn of the waiting message, or one that the CLI started by
// itself.
func (s *session) beginTurn(now time.Time) {
	f := &s.flow
	if f.waiting != nil && !f.selfBegun {
		f.current, f.waiting = f.waiting, nil
		f.current.since = now
		if !f.current.stopped.IsZero() { // it was stopped before it started
			s.later(s.requestInterrupt)
		}
		return
	}
	t := &turn{events: newEventQueue(), tr: newTranslator(s.host.denied, ""), since: now}
	if f.announced != "" {
		t.events.put(agent.Notice{Text: f.announced})
	}
	f.current, f.selfBegun, f.announced = t, false, ""
	s.engineTurn(t)
}

// adopt assigns the running turn to the message that joined it. Its earlier reader gets a result.
func (s *session) adopt() {
	f := &s.flow
	mine := f.waiting
	f.waiting = nil
	mine.echoed = true
	if other := f.current; other != nil {
		mine.tr = other.tr.handOver()
		other.events.end(agent.Result{SessionID: s.id, Text: other.tr.last()})
	}
	f.current = mine
	if !mine.stopped.IsZero() {
		s.later(s.requestInterrupt)
	}
}

// finish ends the running turn with its result.
func (s *session) finish(l wire.Line) {
	f := &s.flow
	r, t := l.Result(), f.current
	switch {
	case t == nil && f.waiting != nil: // it ended before it did anything
		t, f.waiting = f.waiting, nil
		f.current = t
	case t == nil:
		s.early = append(s.early, r.Errors...)
		return
	case t.uuid != "" && !t.echoed && r.Origin.Kind != "":
		s.disown(t)
		return
	}
	s.id = cmp.Or(r.SessionID, s.id)
	s.noteAuth(t.tr.failure, r)
	t.tr.text.takeBack(t.events.put) // unfinished text is not in the history
	end := t.tr.result(r, !t.stopped.IsZero(), t.forced)
	end.SessionID, end.Usage = s.id, s.closeTurn(r)
	s.endTurn(t, end)
	s.later(s.flush) // the reader may have left
}

// disown undoes the assumption that the current turn answers our message: its result shows that
// something else started it. Our message is still waiting.
func (s *session) disown(t *turn) {
	if n := t.tr.text.total; n > 0 {
		t.events.put(agent.Rewind{Bytes: n})
	}
	t.tr = newTranslator(s.host.denied, t.command)
	s.flow.current, s.flow.waiting, s.flow.over = nil, t, time.Now()
}

// endTurn ends a turn.
func (s *session) endTurn(t *turn, end agent.Result) {
	t.events.end(end)
	s.flow.current, s.flow.over = nil, time.Now()
	s.flow.selfBegun, s.flow.announced = false, ""
	s.calmed()
}

// beginsTurn reports whether a line occurs only inside a turn. Echoes do not qualify: a change of
// the model is echoed even while nothing runs.
func beginsTurn(l wire.Line) bool {
	switch l.Type {
	case wire.TypeAssistant, wire.TypeStream:
		return true
	case wire.TypeSystem:
		switch l.Subtype {
		case wire.SubtypeInit, wire.SubtypeRetry, wire.SubtypeCompactBoundary:
			return true
		case wire.SubtypeStatus:
			return l.System().Status != ""
		}
	}
	return false
}

// calmed wakes the goroutines that wait for the session to be quiet. The lock is held.
func (s *session) calmed() {
	close(s.calm)
	s.calm = make(chan struct{})
}

// pump yields a turn's events and returns the error that ended it, which it has not yielded. If the
// reader leaves, ctx ends or yield panics before the turn is over, the turn is interrupted and the
// rest is dropped.
func (s *session) pump(ctx context.Context, t *turn, yield func(agent.Event, error) bool) error {
	over := false
	defer func() {
		if !over {
			t.events.Abandon()
			s.later(s.requestInterrupt)
			s.markStopped(t)
		}
	}()
	for ctx.Err() == nil { // which takes precedence over queued events
		next, err := t.events.Pop(ctx)
		switch {
		case errors.Is(err, io.EOF):
			over = true
			return nil
		case err != nil:
			return err
		case next.err != nil:
			over = true
			s.flush()
			return next.err
		}
		if _, over = next.event.(agent.Result); over {
			s.flush() // whoever sees the end sees what it cost
		}
		if !yield(next.event, nil) || over {
			return nil
		}
	}
	return ctx.Err()
}

// engineTurn passes a turn that began by itself to the bot. The lock is held.
func (s *session) engineTurn(t *turn) {
	read := s.host.o.OnEngineTurn
	if read == nil {
		t.events.Abandon()
		return
	}
	s.e.later("turn that began by itself", func() {
		defer t.events.Abandon()
		read(func(yield func(agent.Event, error) bool) {
			s.reader <- struct{}{} // turns end, so their readers do too
			defer func() { <-s.reader }()
			if err := s.pump(context.Background(), t, yield); err != nil {
				yield(nil, err)
			}
		})
	})
}

// requestInterrupt interrupts the turn and logs a failure.
func (s *session) requestInterrupt() {
	if err := s.interrupt(context.Background(), answerLimit); err != nil {
		s.log.Warn("turn was not interrupted", "error", err)
	}
}

// interrupt asks the CLI to end the running turn.
func (s *session) interrupt(ctx context.Context, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return s.ask(ctx, request{"subtype": "interrupt"})
}

// ask sends a control request. A closed connection is not an error: there is nothing left to ask
// for.
func (s *session) ask(ctx context.Context, r request) error {
	_, err := s.conn.Request(ctx, r)
	if errors.Is(err, wire.ErrClosed) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("ask claude for %v: %w", r["subtype"], err)
	}
	return nil
}

// later runs f in a goroutine that the engine waits for.
func (s *session) later(f func()) { s.e.later("request", f) }

// markStopped records that all turns, or only one, must end. It returns false if there is none. A
// waiting turn is interrupted again when it starts, because the CLI forgets an interruption that
// arrives too early.
func (s *session) markStopped(only *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := false
	for _, t := range []*turn{s.flow.current, s.flow.waiting} {
		if t == nil || only != nil && t != only {
			continue
		}
		found = true
		if t.stopped.IsZero() {
			t.stopped = time.Now()
		}
	}
	return found
}

// request is a control request with the fields of its subtype.
type request map[string]any

// kill ends the process at once. The reader of a turn gets the reason.
func (s *session) kill(reason error) {
	s.mu.Lock()
	if s.reason == nil {
		s.reason = reason
	}
	s.mu.Unlock()
	now, cancel := context.WithCancel(context.Background())
	cancel() // the end of its context means SIGKILL
	s.e.later("end of a process", func() {
		if err := s.child.Stop(now, 0); err != nil {
			s.log.Warn("process was not ended", "error", err)
		}
	})
}
