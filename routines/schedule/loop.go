package schedule

import (
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/routines"
)

// loop fires what is due. It lives in Schedule.Run, whose goroutine is the only one that
// can reach it; other goroutines leave orders, and read what it publishes.
type loop struct {
	o      Options
	zone   *time.Location
	clock  func() time.Time
	holds  *holdStore
	orders *orders
	runner *runner
	known  *atomic.Pointer[outcomes] // what it publishes
	fires  errgroup.Group

	agenda  agenda
	record  *recorder
	report  report
	teller  teller
	failing []failing // to be told of
	heldTo  time.Time // the minute up to which the due times of current holds are accounted for
	wall    time.Time // the wall clock at the last step
	unset   bool      // the clock has not been set yet
	adrift  bool      // the data directory is missing: nothing fires until it returns
	holdEnd time.Time // when the next hold ends; zero for never
}

// set is what is in force now.
func (l *loop) set() *routines.Set { return l.o.Index.Set() }

// hold is the current hold of a task.
func (l *loop) hold(t *routines.Task) Hold { return l.holds.now.Load().Of(t) }

// heldAt reports whether a hold keeps the task from firing at now.
func (l *loop) heldAt(t *routines.Task, now time.Time) bool { return !l.hold(t).Ended(now) }
