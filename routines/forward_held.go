package routines

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// find is the hold of a routine or reminder, if there is one.
func (h *Holds) find(t *Task) (Hold, bool) {
	if !h.any() {
		return Hold{}, false
	}
	one := h.Of(t.Kind, t.ID)
	return one, one != Hold{}
}

// dueAt is when a reminder fires; false when it is paused.
func (h *Holds) dueAt(r *Reminder) (time.Time, bool) {
	if one, ok := h.find(&r.Task); ok {
		return one.dueAt(r)
	}
	return r.RunAt, true
}

// firstFree is the first fire at or after sec that is not held, in unix seconds.
func (h Hold) firstFree(r *Routine, sec int64, zone *time.Location) int64 {
	if h.open() {
		return never
	}
	return nextFire(r.Schedule, max(sec, ceilSecond(h.Until)), zone)
}

// addHeld adds the fires of a routine that has a hold: the last of the grace, and
// the first ahead that will fire.
func (w *window) addHeld(known *Known, r *Routine, h Hold, zone *time.Location, index int) {
	now := w.now.Unix()
	var free, held int64
	for at := nextFire(r.Schedule, ceilSecond(w.now.Add(-forwardGrace)), zone); at <= now; at = nextFire(r.Schedule, at+1, zone) {
		if h.covers(time.Unix(at, 0)) {
			held = at
		} else {
			free = at
		}
	}
	if free > 0 {
		w.addPast(known, r, time.Unix(free, 0), index)
	}
	if held > free && h.Why == "" {
		w.passed = append(w.passed, candidate{at: time.Unix(held, 0), index: index, fate: fateHeld})
	}
	if ahead := h.firstFree(r, now+1, zone); ahead <= w.most.Unix() {
		w.add(candidate{at: time.Unix(ahead, 0), index: index})
	}
}

// mark says in an entry that people see whether its fire is held at now, or is
// where it is because of a snooze. A reminder has one fire, whose time does not
// count: it is held even when it was due before.
func (h *Holds) mark(e Entry, now time.Time) Entry {
	one := h.Of(e.Kind, e.ID)
	covered := one.covers(e.FireTime)
	switch {
	case one.Why != "":
		e.Held, e.Tag, e.Why = true, TagWaits, one.Why
	case one.Ended(now):
	case one.Paused && (covered || e.Kind == KindReminder):
		e.Held, e.Tag = true, TagPaused
	case covered:
		e.Held, e.Tag = true, snoozedTag(one.Until, now)
	case e.Kind == KindReminder && e.FireTime.Equal(one.Until) && e.Tag == "":
		e.Tag = snoozedTag(one.Until, now)
	}
	return e
}

// ForPeople is what a dashboard shows at now: the schedule that agents see, the
// foreground tasks up to a time, and the next fire of each task that is held,
// marked, by time.
func (x *Index) ForPeople(f Forward, now, until time.Time) []Entry {
	all := slices.Concat(f.Told(), x.Foreground(now, until))
	holds := x.Holds()
	if holds.any() {
		for i := range all {
			all[i] = holds.mark(all[i], now)
		}
		all = append(all, x.heldFires(holds, now, until)...)
	}
	slices.SortStableFunc(all, func(a, b Entry) int { return a.FireTime.Compare(b.FireTime) })
	return all
}

// heldFires are the next fires of tasks that are held, by file.
func (x *Index) heldFires(holds *Holds, now, until time.Time) []Entry {
	set := x.Set()
	var list []Entry
	keys := slices.Collect(maps.Keys(holds.waits))
	for k := range holds.of {
		if holds.waits[k] == "" {
			keys = append(keys, k)
		}
	}
	for _, k := range keys {
		var e Entry
		if r, ok := set.RoutineByID(k.id); ok && k.kind == KindRoutine {
			at := nextFire(r.Schedule, ceilSecond(now), x.zone)
			if at == never {
				continue
			}
			e = routineEntry(r)
			e.FireTime = time.Unix(at, 0).In(x.zone)
		} else if r, ok := set.ReminderByID(k.id); ok && k.kind == KindReminder {
			e = reminderEntry(r)
			e.FireTime, _ = holds.dueAt(r)
			e.FireTime = e.FireTime.In(x.zone)
		}
		if e = holds.mark(e, now); e.Held && !e.FireTime.After(until) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.FilePath, b.FilePath) })
	return list
}
