package routines

import (
	"errors"
	"fmt"
	"time"
)

// keepGone is how long the hold of a task that is gone is remembered: a file
// that is away while it is mended must not fire when it comes back.
const keepGone = 24 * time.Hour

// Hold keeps a task from firing, or with the zero Hold lets it go on, and says
// which hold was in force before (the zero Hold for none). Where a routine and a
// reminder share the id, the routine is meant. What a routine passes over while
// it is held is not missed; a reminder fires at the end of its snooze. FireNow
// fires held tasks too. Errors: no such task, a time that has passed, a file
// that cannot be written, or a loop that does not run.
func (l *Loop) Hold(id string, h Hold) (before Hold, err error) {
	k, ok := l.find(id)
	if !ok {
		return Hold{}, errors.New(unknownTask(id))
	}
	now := l.clock()
	l.mu.Lock()
	open := l.open
	l.mu.Unlock()
	if !open {
		return Hold{}, errors.New(msgLoopClosed)
	}
	if !h.Until.IsZero() {
		h.Until = h.Until.Round(0).Truncate(time.Second).In(l.o.Zone)
	}
	letGo := h.Until.IsZero() && !h.Paused
	if !letGo && h.Ended(now) {
		return Hold{}, errors.New(holdPassed(h.Until, now))
	}
	err = l.o.Index.holds.change(l.o.Dir, false, func(all map[key]held) {
		before = replaceHold(all, k, h, now)
	})
	if err != nil {
		return Hold{}, fmt.Errorf("hold %s %s: %w", k.kind, id, err)
	}
	l.mu.Lock()
	l.orders.changed[id] = true
	l.mu.Unlock()
	l.rouse()
	return before, nil
}

// find is the key of a task in force; of the routine where a reminder shares
// the id.
func (l *Loop) find(id string) (key, bool) {
	set := l.o.Index.Set()
	if _, ok := set.RoutineByID(id); ok {
		return key{KindRoutine, id}, true
	}
	_, ok := set.ReminderByID(id)
	return key{KindReminder, id}, ok
}

// replaceHold puts a hold in the place of another, and returns the one that was
// in force. A routine that is let go on keeps a hold that ends now: the loop
// notes in the book that nothing from before is owed, and then forgets it.
func replaceHold(all map[key]held, k key, h Hold, now time.Time) (before Hold) {
	if old := all[k].Hold; !old.Ended(now) {
		before = old
	}
	switch {
	case h.Paused:
		h.Until = time.Time{}
	case !h.Until.IsZero():
	case before == Hold{}:
		return before
	case k.kind == KindReminder:
		delete(all, k)
		return before
	default:
		h.Until = now
	}
	if h.Since = before.Since; h.Since.IsZero() {
		h.Since = now
	}
	all[k] = held{Hold: h}
	return before
}

// heldAt reports whether the task may not fire at now.
func (l *Loop) heldAt(k key, now time.Time) bool {
	return !l.o.Index.Holds().Of(k.kind, k.id).Ended(now)
}

// turn is what becomes of a hold: another, or nothing.
type turn struct {
	seen, next held
	forget     bool
}

// turnHolds says what becomes of the holds that have ended and of those whose
// tasks have gone or come back. The book is brought up to the end of each hold,
// which may be forgotten once the book is written.
func (l *Loop) turnHolds(now time.Time) map[key]turn {
	l.holdEnd = time.Time{}
	all := l.o.Index.Holds()
	if l.unset || !all.any() {
		return nil
	}
	turns := map[key]turn{}
	for k, h := range all.of {
		switch there := l.there(k); {
		case !there && h.gone.IsZero():
			turns[k] = turn{seen: h, next: held{h.Hold, now}}
		case !there && now.Sub(h.gone) > keepGone:
			turns[k] = turn{seen: h, forget: true}
		case there && !h.gone.IsZero():
			turns[k] = turn{seen: h, next: held{Hold: h.Hold}}
		case !there:
		case !h.Ended(now):
			if !h.Paused && (l.holdEnd.IsZero() || h.Until.Before(l.holdEnd)) {
				l.holdEnd = h.Until
			}
		case k.kind == KindRoutine:
			l.passHeld(k.id, h.Hold)
			turns[k] = turn{seen: h, forget: true}
		case !l.plan.has(item{key: k}.spot()):
			// While it waits behind other late ones, the hold says when it was due.
			turns[k] = turn{seen: h, forget: true}
		}
	}
	return turns
}

// passHeld brings the book up to the end of a hold, with the last fire that it kept
// from happening.
func (l *Loop) passHeld(id string, h Hold) {
	b := l.book.entry(id)
	if !b.After.Before(h.after()) {
		return
	}
	b.After = h.after()
	r, ok := l.o.Index.Set().RoutineByID(id)
	if !ok {
		return
	}
	from := max(ceilSecond(h.Since), ceilSecond(h.Until.Add(-knownFor)))
	if first, end := nextFire(r.Schedule, from, l.o.Zone), h.after().Unix(); first <= end {
		last, _, _ := lastFires(r.Schedule, first, end, l.o.Zone)
		b.Passed, b.Why = l.time(last), fateHeld
	}
}

// keepHolds writes what has become of holds. One that the user has changed since
// is theirs; what cannot be written comes out the same after a restart.
func (l *Loop) keepHolds(turns map[key]turn) {
	if len(turns) == 0 {
		return
	}
	l.touched = true
	err := l.o.Index.holds.change(l.o.Dir, true, func(all map[key]held) {
		for k, t := range turns {
			switch {
			case all[k] != t.seen:
			case t.forget:
				delete(all, k)
			default:
				all[k] = t.next
			}
		}
	})
	if err != nil {
		l.o.Log.Error("holds that have ended could not be forgotten", "error", err)
	}
}

// there reports whether the task is in force.
func (l *Loop) there(k key) bool {
	set := l.o.Index.Set()
	if k.kind == KindRoutine {
		_, ok := set.RoutineByID(k.id)
		return ok
	}
	_, ok := set.ReminderByID(k.id)
	return ok
}
