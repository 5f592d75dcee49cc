package routines

import "time"

// Hold keeps a task from firing: until a time (a snooze), or with Paused until
// it is let go on. The zero Hold holds nothing.
//
// Why is another reason, which is not the user's doing and in no file of holds: the
// task waits for their word (Index.JudgeBy).
type Hold struct {
	Since  time.Time // when the task was first held; the loop sets it
	Until  time.Time // the first moment at which it may fire again; zero while Paused
	Paused bool
	Why    string
}

// Ended reports whether the hold is over at now; the zero Hold always is.
func (h Hold) Ended(now time.Time) bool { return !h.open() && !now.Before(h.Until) }

// open reports a hold without an end.
func (h Hold) open() bool { return h.Paused || h.Why != "" }

// covers reports whether a fire at that time is held.
func (h Hold) covers(at time.Time) bool { return !at.Before(h.Since) && !h.Ended(at) }

// after is the instant up to which a snoozed routine owes nothing.
func (h Hold) after() time.Time { return h.Until.Add(-sightSlack).Truncate(time.Second) }

// dueAt is when a reminder fires under the hold: at the end of a snooze that
// its time falls into. False means never, as things stand.
func (h Hold) dueAt(r *Reminder) (time.Time, bool) {
	if h.Until.After(r.RunAt) {
		return h.Until, !h.open()
	}
	return r.RunAt, !h.open()
}

// Holds are all holds at one moment. Whoever has it may keep it: a change makes
// a new one. Nil is none.
type Holds struct {
	of map[key]held
	// waits is why tasks wait for the user's word, by task.
	waits map[key]string
}

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
	k := key{kind, id}
	one := h.of[k].Hold
	one.Why = h.waits[k]
	return one
}

// any reports whether there is a hold at all: the common case needs no lookups.
func (h *Holds) any() bool { return h != nil && len(h.of)+len(h.waits) > 0 }

// Holds are the tasks that are kept from firing, as Scan found them and the
// loop has changed them since.
func (x *Index) Holds() *Holds { return x.holds.now.Load() }
