package schedule

import (
	"time"

	"ollimbot/routines"
)

// holdChange replaces or removes a hold.
type holdChange struct {
	seen, next held
	forget     bool
}

// reviewHolds returns the changes to holds that have ended and to those whose tasks were
// removed or have returned. It advances the record to the end of each hold, which may be
// removed after the record is written.
func (l *loop) reviewHolds(now time.Time) map[key]holdChange {
	l.holdEnd = time.Time{}
	if l.unset || len(l.holds.now.Load().of) == 0 {
		return nil
	}
	changes := map[key]holdChange{}
	for k, h := range l.holds.now.Load().of {
		_, planned := l.agenda.get(itemKey{key: k})
		switch exists := l.exists(k); {
		case !exists && h.gone.IsZero():
			changes[k] = holdChange{seen: h, next: held{h.Hold, now}}
		case !exists && now.Sub(h.gone) > keepGone:
			changes[k] = holdChange{seen: h, forget: true}
		case exists && !h.gone.IsZero():
			changes[k] = holdChange{seen: h, next: held{Hold: h.Hold}}
		case !exists:
		case !h.Ended(now):
			if !h.Paused && (l.holdEnd.IsZero() || h.Until.Before(l.holdEnd)) {
				l.holdEnd = h.Until
			}
		case k.kind == routines.KindRoutine:
			l.passHeld(k.id, h.Hold)
			changes[k] = holdChange{seen: h, forget: true}
		case !planned:
			// While it queues behind other late ones, the hold keeps its due time.
			changes[k] = holdChange{seen: h, forget: true}
		}
	}
	return changes
}

func (l *loop) exists(k key) bool {
	if k.kind == routines.KindReminder {
		_, ok := l.set().ReminderByID(k.id)
		return ok
	}
	_, ok := l.set().RoutineByID(k.id)
	return ok
}

// passHeld advances the record to the end of a hold, including the last fire the hold
// prevented.
func (l *loop) passHeld(id string, h Hold) {
	e := l.record.entry(id)
	if !e.After.Before(h.after()) {
		return
	}
	decided := e.After
	e.After = h.after()
	r, ok := l.set().RoutineByID(id)
	if !ok {
		return
	}
	if c, ok := l.record.Moments[chosenKey(routineKey(id))]; ok && h.covers(c.At) && c.At.After(decided) {
		e.pass(c.At, outcomeHeld)
		return
	}
	from := max(ceilSecond(h.Since), ceilSecond(h.Until.Add(-knownFor)))
	if first, end := nextFire(r.Schedule, from, l.zone), h.after().Unix(); first <= end {
		last, _, _ := lastFires(r.Schedule, first, end, l.zone)
		e.pass(moment(last, l.zone), outcomeHeld)
	}
}

// keepHolds saves the changes. It leaves alone holds that the user has changed since;
// changes that cannot be saved are repeated after a restart.
func (l *loop) keepHolds(changes map[key]holdChange) {
	if len(changes) == 0 {
		return
	}
	l.report.changed = true
	err := l.holds.change(l.o.Dir, true, func(all map[key]held) {
		for k, c := range changes {
			switch {
			case all[k] != c.seen:
			case c.forget:
				delete(all, k)
			default:
				all[k] = c.next
			}
		}
	})
	if err != nil {
		l.o.Log.Error("holds that have ended could not be removed", "error", err)
	}
}
