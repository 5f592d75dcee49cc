package routines

import "time"

// Hold keeps a task from firing: until a time (a snooze), or with Paused until
// it is let go on. The zero Hold holds nothing.
type Hold struct {
	Since  time.Time // when the task was first held; the loop sets it
	Until  time.Time // the first moment at which it may fire again; zero while Paused
	Paused bool
}

// Ended reports whether the hold is over at now; the zero Hold always is.
func (h Hold) Ended(now time.Time) bool { return !h.Paused && !now.Before(h.Until) }

// covers reports whether a fire at that time is held.
func (h Hold) covers(at time.Time) bool { return !at.Before(h.Since) && !h.Ended(at) }

// after is the instant up to which a snoozed routine owes nothing.
func (h Hold) after() time.Time { return h.Until.Add(-sightSlack).Truncate(time.Second) }

// dueAt is when a reminder fires under the hold: at the end of a snooze that
// its time falls into. False means never, as things stand.
func (h Hold) dueAt(r *Reminder) (time.Time, bool) {
	if h.Until.After(r.RunAt) {
		return h.Until, !h.Paused
	}
	return r.RunAt, !h.Paused
}

// Holds are all holds at one moment. Whoever has it may keep it: a change makes
// a new one. Nil is none.
type Holds struct{ of map[key]held }

// held is a hold, and since when its task has been gone; zero while it is there.
type held struct {
	Hold
	gone time.Time
}

// Of is the hold of a task, ended or not; the zero Hold where there is none.
func (h *Holds) Of(kind Kind, id string) Hold {
	if h == nil {
		return Hold{}
	}
	return h.of[key{kind, id}].Hold
}

// any reports whether there is a hold at all: the common case needs no lookups.
func (h *Holds) any() bool { return h != nil && len(h.of) > 0 }

// Holds are the tasks that are kept from firing, as Scan found them and the
// loop has changed them since.
func (x *Index) Holds() *Holds { return x.holds.now.Load() }
