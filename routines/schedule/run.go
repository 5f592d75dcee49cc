package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"ollimbot/core/base/fault"
	"ollimbot/routines"
	"ollimbot/routines/account"
)

// retryDelay is the pause before retrying a reminder whose run could not be recorded.
const retryDelay = 5 * time.Minute

// errKept keeps a reminder's file unchanged.
var errKept = errors.New("it was moved during its run")

// runner runs one fire in its own goroutine, and reports its end to the loop.
type runner struct {
	work   func(ctx context.Context, d Due) error
	log    *slog.Logger
	clock  func() time.Time
	orders *orders
	files  *taskFiles
}

func (r *runner) run(ctx context.Context, d Due) {
	k := d.key()
	e := ended{fire: d, outcome: outcomeDone}
	finish := sync.OnceFunc(func() {
		if r.orders.keeps(k) {
			return
		}
		if e.retry = !r.finish(d.Reminder); !e.retry {
			e.spent = d.Reminder.RunAt
		}
	})
	if d.Kind == routines.KindReminder {
		d.Finish = finish
	}
	err := r.call(ctx, d)
	var put *PutOffError
	switch {
	case errors.As(err, &put):
		e.outcome, e.why, e.until, err = outcomeHeld, put.Why, put.Until, nil
	case err != nil && ctx.Err() != nil:
		e.outcome = outcomeCutOff
	case errors.Is(err, routines.ErrNothingNew):
		e.outcome = outcomeNothing
	case errors.Is(err, routines.ErrCutOff):
		e.outcome, e.why = outcomeStopped, account.ByUser
	case err != nil:
		e.outcome, e.why = outcomeFailed, err.Error()
		r.log.Error("task failed", "kind", string(d.Kind), "task", k.id, "title", d.Task().Title(), "error", err)
	}
	switch {
	case d.Kind == routines.KindRoutine, e.outcome == outcomeCutOff:
	case put != nil && put.Broke:
		e.broke = true
	case errors.Is(err, routines.ErrUnrecorded):
		e.retry = true
	default:
		finish()
	}
	r.orders.end(e)
}

// call turns a panic in the work into an error.
func (r *runner) call(ctx context.Context, d Due) (err error) {
	t := d.Task()
	defer fault.Catch(fmt.Sprintf("%s %s", t.Kind, t.ID), &err)
	return r.work(ctx, d)
}

// finishCut uses up reminders that have run. cut are those whose run was in progress when
// the program last ended. If the run is recorded as ended, only the last step was
// missing. For the others, the file could not be removed.
func (l *loop) finishCut(cut map[string]time.Time) {
	for id, since := range cut {
		r, ok := l.set().ReminderByID(id)
		if !ok || since.IsZero() || l.o.Ended == nil || !l.o.Ended(id, r.RunAt, since) {
			continue
		}
		l.o.Log.Info("a reminder whose run had ended is used up", "task", id, "due", r.RunAt)
		l.record.Spent[id] = r.RunAt
	}
	for id, at := range l.record.Spent {
		if r, ok := l.set().ReminderByID(id); !ok || !r.RunAt.Equal(at) || !l.runner.finish(r) {
			delete(l.record.Spent, id)
		}
	}
}

// finish removes a reminder after its run or, if it repeats until done, moves it to the
// next check of its chain. A file that was edited during the run to another time, or is
// now unreadable, stays. An agent's pending edit is removed with its reminder. It returns
// false if the run must be retried.
func (r *runner) finish(ran *routines.Reminder) bool {
	inForce := r.files.inForce(routines.KindReminder, ran.ID)
	_, err := r.files.MoveReminder(ran.ID, func(now routines.Reminder) (routines.Move, error) {
		switch {
		case now.Digest == inForce.Proposed.Version && inForce.Digest == ran.Digest:
			return routines.Move{Gone: true}, nil
		case !now.RunAt.Equal(ran.RunAt):
			return routines.Move{}, errKept
		case !now.UntilDone, now.LastWord:
			return routines.Move{Gone: true}, nil
		}
		to := routines.Move{At: r.clock().Add(time.Duration(now.Again) * time.Minute).Truncate(time.Second), Depth: now.ChainDepth + 1}
		if to.Depth > now.MaxChain { // the answer to the last repetition has the same time
			to.Depth, to.Last = now.ChainDepth, true
		}
		return to, nil
	})
	switch {
	case err == nil, errors.Is(err, errKept), errors.Is(err, routines.ErrNoReminder), errors.Is(err, routines.ErrBroken):
		return true
	case ran.UntilDone:
		r.log.Error("a reminder that is not done could not be moved on; its run is tried again", "file", ran.Path, "error", err)
		return false
	}
	r.log.Error("the file of a reminder that has run could not be removed; it does not fire again",
		"file", ran.Path, "error", err)
	return true
}
