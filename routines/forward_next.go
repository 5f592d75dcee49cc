package routines

import "time"

// DueAt is the fire of a task that starts at now, whatever its schedule says: a
// reminder that was due before is late, as the loop marks it. False means that there is no such task.
func (x *Index) DueAt(id string, now time.Time) (Due, bool) {
	set := x.Set()
	if r, ok := set.RoutineByID(id); ok {
		return Due{Kind: KindRoutine, Routine: r, At: now}, true
	}
	r, ok := set.ReminderByID(id)
	if !ok {
		return Due{}, false
	}
	d := Due{Kind: KindReminder, Reminder: r, At: now}
	if at, _ := x.Holds().dueAt(r); now.Sub(at) > sightSlack {
		d.At, d.Late = at.In(x.zone), true
	}
	return d, true
}

// NextFires is when each task fires next, at from or later: beside the routines
// of the set that is returned with them, and then its reminders. It is zero for
// what never does, as things stand: paused tasks among them. An overdue reminder
// gives its time in the past.
func (x *Index) NextFires(from time.Time) (*Set, []time.Time) {
	set, holds := x.Set(), x.Holds()
	next := make([]time.Time, len(set.Routines)+len(set.Reminders))
	start := ceilSecond(from)
	c := &x.forward
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(set)
	for i, r := range set.Routines {
		var at int64
		if h, ok := holds.find(&r.Task); ok {
			at = h.firstFree(r, start, x.zone)
		} else {
			at = c.times[i].first(r, start, x.zone)
		}
		if at != never {
			next[i] = time.Unix(at, 0).In(x.zone)
		}
	}
	for i, r := range set.Reminders {
		if at, free := holds.dueAt(r); free {
			next[len(set.Routines)+i] = at.In(x.zone)
		}
	}
	return set, next
}
