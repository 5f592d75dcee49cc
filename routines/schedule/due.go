package schedule

import (
	"fmt"
	"time"

	"ollimbot/routines"
)

// Due is one fire.
type Due struct {
	Kind     routines.Kind
	Routine  *routines.Routine  // of KindRoutine
	Reminder *routines.Reminder // of KindReminder
	At       time.Time          // the scheduled instant, in the configured zone
	own      time.Time          // of a routine: its time before the leeway was applied; zero if that is At
	Late     bool               // it starts well after At, which the agent is told
	Missed   int                // earlier missed fires of the routine that this one replaces, at most 99
	ByHand   bool               // the user fired it, regardless of the schedule
	// Broke is when there will be money for a model again; zero if there is now. Only
	// essential tasks fire without money.
	Broke time.Time
	// Finish uses up a reminder after a run in the conversation, before the run is recorded
	// as ended. If it is not called, that happens when Fire returns. It is nil outside a
	// fire.
	Finish func()
	Ticket string // the reservation made by Purse.Reserve, which the caller of the run settles
}

// Task returns the task that fires.
func (d Due) Task() routines.Task {
	if d.Kind == routines.KindRoutine {
		return d.Routine.Task
	}
	return d.Reminder.Task
}

// Fire identifies the fire: it is the same when the fire is repeated because its run was cut
// off, and empty if the user fired the task, which nothing repeats.
func (d Due) Fire() string {
	if d.ByHand {
		return ""
	}
	return fmt.Sprintf("%s %s %d", d.Kind, d.Task().ID, d.At.UnixNano())
}

// PutOffError is the error of a fire that was put off without a run because no provider
// was reachable.
type PutOffError struct {
	Why   string
	Until time.Time
	// Broke means that a spending cap was reached before the run began: a reminder waits for money,
	// as if the cap had been reached when it was due.
	Broke bool
}

func (p *PutOffError) Error() string { return "put off: " + p.Why }

// ownTime returns the due time before the leeway was applied, by which the account
// identifies it.
func (d Due) ownTime() time.Time {
	if d.own.IsZero() {
		return d.At
	}
	return d.own
}

func (d Due) key() key {
	t := d.Task()
	return key{t.Kind, t.ID}
}

// key identifies a task: a routine and a reminder may have the same id.
type key struct {
	kind routines.Kind
	id   string
}

func routineKey(id string) key  { return key{routines.KindRoutine, id} }
func reminderKey(id string) key { return key{routines.KindReminder, id} }

// Purse knows the costs of runs and the spending caps. Its methods must be safe for
// concurrent use. Reserve may write a file.
type Purse interface {
	// At returns a function for the cost of a run at a moment, and whether there is money
	// for it.
	At(now time.Time) func(t *routines.Task) Price
	// Reserve sets aside the cost of a run and returns a ticket for it, or else the time
	// until which there is no money. Firm runs always get a ticket.
	Reserve(t routines.Task, now time.Time, firm bool) (ticket string, until time.Time)
}

// Price is the expected cost of a run in dollars. Until is when there is money for it
// again; zero if there is now.
type Price struct {
	Dollars float64
	Until   time.Time
}
