package schedule

import (
	"context"
	"time"

	"ollimbot/core/base/fault"
	"ollimbot/routines"
)

// mostFailures is the number of consecutive failures after which a routine is paused.
const mostFailures = 3

// failing is a routine that keeps failing.
type failing struct {
	task   routines.Task
	why    string
	paused bool
}

// countFailure counts consecutive failures of a routine. A routine that fails too often
// is paused, so that it spends nothing until the user responds.
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
		return // it no longer fires
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

// reportFailing reports the paused routines. start runs a function in the background.
func reportFailing(ctx context.Context, report func(context.Context, routines.Task, string, bool), start func(func() error), list []failing) {
	for _, f := range list {
		start(fault.Guard("the report of a failing routine", func() error {
			report(ctx, f.task, f.why, f.paused)
			return nil
		}))
	}
}
