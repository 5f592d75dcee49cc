package schedule

import (
	"context"
	"time"

	"ollimbot/core/base/fault"
	"ollimbot/routines"
)

// mostFailures is after how many failures in a row a routine is paused.
const mostFailures = 3

// failing is a routine that fails again and again.
type failing struct {
	task   routines.Task
	why    string
	paused bool
}

// countFailure counts the failures of a routine in a row. One that has failed too often is
// paused, so that it spends nothing more until the user has answered.
func (l *loop) countFailure(r *routineEntry, e ended, now time.Time) {
	switch e.outcome {
	case outcomeDone:
		r.Failures = 0
	case outcomeFailed:
		r.Failures++
	}
	if l.o.Failing == nil || r.Failures < mostFailures {
		return
	}
	r.Failures = 0
	f := failing{task: e.fire.Task(), why: e.why}
	t, ok := l.set().RoutineByID(f.task.ID)
	if !ok || l.heldAt(&t.Task, now) {
		return // it does not fire any more
	}
	if !t.Critical && !t.Essential {
		err := l.holds.change(l.o.Dir, true, func(all map[key]held) { replaceHold(all, e.fire.key(), Hold{Paused: true}, now) })
		if err != nil {
			l.o.Log.Error("the pause of a routine that fails could not be saved", "task", t.ID, "error", err)
		}
		f.paused = true
		l.planRoutine(t, now)
		l.agenda.drop(itemKey{key: e.fire.key(), catchUp: true})
	}
	l.failing = append(l.failing, f)
}

// reportFailing reports the routines that were paused. start runs a function beside the loop.
func reportFailing(ctx context.Context, report func(context.Context, routines.Task, string, bool), start func(func() error), list []failing) {
	for _, f := range list {
		start(fault.Guard("the report of a failing routine", func() error {
			report(ctx, f.task, f.why, f.paused)
			return nil
		}))
	}
}
