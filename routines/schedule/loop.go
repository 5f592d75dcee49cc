package schedule

import (
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/routines"
)

// loop fires due tasks. It belongs to the goroutine of Schedule.Run; other goroutines
// leave orders for it and read the state it publishes.
type loop struct {
	o      Options
	zone   *time.Location
	clock  func() time.Time
	holds  *holdStore
	orders *orders
	runner *runner
	known  *atomic.Pointer[outcomes] // the published state
	fires  errgroup.Group

	agenda  agenda
	record  *recorder
	report  report
	teller  teller
	failing []failing // to be reported
	heldTo  time.Time // the minute up to which the due times of current holds are accounted for
	wall    time.Time // the wall clock at the last step
	unset   bool      // the clock has not been set yet
	adrift  bool      // the data directory is missing, so nothing fires until it returns
	holdEnd time.Time // when the next hold ends; zero if none does
}

// set returns the tasks in force.
func (l *loop) set() *routines.Set { return l.o.Index.Set() }

// hold returns the current hold of a task.
func (l *loop) hold(t *routines.Task) Hold { return l.holds.now.Load().Of(t) }

// heldAt reports whether a hold keeps the task from firing at now.
func (l *loop) heldAt(t *routines.Task, now time.Time) bool { return !l.hold(t).Ended(now) }
