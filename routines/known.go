package routines

import "time"

// fate is what has become of a fire that lies behind: how its run went, or why
// there was none.
type fate string

const (
	// fateAssumed is that of a fire of which nothing else is known: it lies ahead of
	// whoever looked last, or far behind.
	fateAssumed fate = ""
	fateRunning fate = "running"
	fateDone    fate = "done"
	fateFailed  fate = "failed"
	fateCutOff  fate = "interrupted" // the program ended during the run
	fateMissed  fate = "missed"
	fateHeld    fate = "held"
	fateSkipped fate = "skipped"
	fateOverdue fate = "overdue"
	// fateNone is that of a fire from before its task was there.
	fateNone fate = "none"
)

// happened reports whether there was a run.
func (f fate) happened() bool {
	switch f {
	case fateMissed, fateHeld, fateSkipped, fateOverdue, fateNone:
		return false
	}
	return true
}

// tag is the word for people.
func (f fate) tag() string {
	switch f {
	case fateRunning:
		return TagRunning
	case fateFailed:
		return TagFailed
	case fateCutOff:
		return TagCutOff
	case fateMissed:
		return TagMissed
	case fateHeld:
		return TagHeld
	case fateSkipped:
		return TagSkipped
	case fateOverdue:
		return TagOverdue
	}
	return TagJustFired
}

// Known is what is known of fires at one moment. It never changes. Nil knows
// nothing, so that all that lies behind counts as fired: so it is where no bot has
// ever run, or when the schedule of another day is asked for.
type Known struct {
	at        time.Time // fires up to then are decided
	all       bool      // a routine that is not in it was never seen by a loop
	routines  map[string]bookEntry
	reminders map[string]time.Time
}

// known is what the book says at now, of routines that something has become of
// since. A zero since takes all of them.
func (b *book) known(now, since time.Time) *Known {
	k := &Known{at: now, all: since.IsZero(), routines: map[string]bookEntry{}, reminders: map[string]time.Time{}}
	for id, e := range b.Routines {
		if k.all || e.LastFire.After(since) || e.Passed.After(since) || e.Seen.After(since) {
			k.routines[id] = *e
		}
	}
	for id, at := range b.Reminders {
		k.reminders[id] = at
	}
	return k
}

// Known is what is known of fires now: another value where that has changed.
func (x *Index) Known() *Known { return x.known.Load() }

// routine says what has become of a fire, and when the last run before it was.
func (k *Known) routine(id string, at time.Time) (what fate, before time.Time) {
	if k == nil {
		return fateAssumed, time.Time{}
	}
	e, ok := k.routines[id]
	if !ok {
		if k.all && !at.After(k.at) {
			return fateNone, time.Time{}
		}
		return fateAssumed, time.Time{}
	}
	switch {
	case at.Equal(e.LastFire):
		return e.Outcome, e.LastFire
	case at.Equal(e.Passed):
		return e.Why, e.LastFire
	case !at.After(e.Seen):
		return fateNone, e.LastFire
	case at.After(e.After) && !at.After(k.at):
		return fateMissed, e.LastFire
	}
	return fateAssumed, e.LastFire
}

// reminder says what has become of a reminder that is due.
func (k *Known) reminder(id string, at time.Time) fate {
	if k == nil || at.After(k.at) {
		return fateAssumed
	}
	if _, runs := k.reminders[id]; runs {
		return fateRunning
	}
	return fateOverdue
}
