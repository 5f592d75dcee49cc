package schedule

import (
	"time"

	"ollimbot/routines"
)

// Due is one fire.
type Due struct {
	Kind     routines.Kind
	Routine  *routines.Routine  // of KindRoutine
	Reminder *routines.Reminder // of KindReminder
	At       time.Time          // the scheduled instant, in the configured zone
	own      time.Time          // of a routine: its time before a minute was chosen; zero if that is At
	Late     bool               // it starts well after At, and the agent should know
	Missed   int                // earlier fires of the routine that this one makes up for, at most 99
	ByHand   bool               // the user fired it: it runs whatever the schedule says
	// Broke is until when there is no money for a model; zero where there is. Only an essential
	// task fires without.
	Broke time.Time
	// Finish uses a reminder up after a run in the conversation, before anything says that it
	// has run. Without it that is done when Fire has returned. Nil outside of a fire.
	Finish func()
	Ticket string // the money reserved for the run by Purse.Reserve; the caller that runs it settles it
}

// Task is the task that fires.
func (d Due) Task() routines.Task {
	if d.Kind == routines.KindRoutine {
		return d.Routine.Task
	}
	return d.Reminder.Task
}

// PutOffError is the error of a fire that was put off without a run, because nobody could be
// reached.
type PutOffError struct {
	Why   string
	Until time.Time
}

func (p *PutOffError) Error() string { return "put off: " + p.Why }

// ownTime is when it was due before a minute was chosen: what the account knows it by.
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

// key names a task: a routine and a reminder may share an id.
type key struct {
	kind routines.Kind
	id   string
}

func routineKey(id string) key  { return key{routines.KindRoutine, id} }
func reminderKey(id string) key { return key{routines.KindReminder, id} }

// Purse knows what runs cost and what may be spent. Its methods may be called by
// several goroutines; Reserve may write a file.
type Purse interface {
	// At returns what a run of a task costs at a moment, and whether there is money for it.
	At(now time.Time) func(t *routines.Task) Price
	// Reserve sets aside the cost of a run and returns a ticket for it, or the time until
	// which there is no money. Firm runs always get a ticket.
	Reserve(t routines.Task, now time.Time, firm bool) (ticket string, until time.Time)
}

// Price is the expected cost of a run in dollars. Until is when there is money for it
// again; zero if there is money now.
type Price struct {
	Dollars float64
	Until   time.Time
}
