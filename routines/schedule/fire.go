package schedule

import (
	"fmt"
	"time"

	"ollimbot/routines"
	"ollimbot/routines/account"
	"ollimbot/routines/cron"
	"ollimbot/routines/leeway"
)

const (
	// onTime is the largest delay of a fire that counts as on time.
	onTime = 60 * time.Second
	// runMissedFor is the largest age of a fire that `missed: run` still runs.
	runMissedFor = 12 * time.Hour
)

// due takes the due items from the agenda, plans the next fires, and returns the ones to
// start now.
func (l *loop) due(now time.Time) []Due {
	var start []Due
	var missed []missedFire
	for _, it := range l.agenda.filter(func(it item) bool { return !it.when.After(now) }) {
		if _, ok := l.agenda.get(it.itemKey); !ok {
			continue // another fire replaces it
		}
		l.agenda.drop(it.itemKey)
		var d Due
		var ok bool
		switch {
		case it.kind == routines.KindReminder:
			d, ok = l.dueReminder(it, now)
		case it.catchUp:
			d, ok = l.dueCatchUp(it, now)
		default:
			var m missedFire
			if d, m, ok = l.dueRoutine(it, now); m.routine != nil {
				missed = append(missed, m)
			}
		}
		if ok && l.claim(&d, now) {
			start = append(start, d)
		}
	}
	l.report.changed = l.report.changed || len(missed) > 0
	l.report.note(missedNotes(missed, now)...)
	return start
}

// dueRoutine plans a routine's next fire. It returns whether the due one starts now, and
// any fires missed before it.
func (l *loop) dueRoutine(it item, now time.Time) (d Due, m missedFire, ok bool) {
	r, known := l.set().RoutineByID(it.id)
	if !known || l.heldAt(&r.Task, now) {
		return d, m, false // the order with the reason is on its way
	}
	e := l.record.entry(it.id)
	last, before, n := lastFires(r.Schedule, it.at.Unix(), now.Unix(), l.zone)
	old, own := moment(before, l.zone), moment(last, l.zone)
	at, waits := l.settle(routineFire(r, own), it.key, now)
	l.accountMissed(r, it.at, own)
	if waits {
		if n > 1 {
			m, e.After = missedFire{routine: r, at: old}, old
			e.pass(old, outcomeMissed)
		}
		l.planRoutine(r, now)
		return d, m, false
	}
	e.After = at
	l.planRoutine(r, now)
	fresh := now.Sub(at) <= onTime
	switch {
	case !fresh:
		m = missedFire{routine: r, at: at, catchUp: r.RunMissed && now.Sub(at) <= runMissedFor}
		e.pass(at, outcomeMissed)
		l.teller.missed(r.Task, own, l.adrift)
	case n > 1 && now.Sub(old) > onTime:
		m = missedFire{routine: r, at: old}
	}
	l.record.saveSoon(now)
	catchUp := itemKey{key: it.key, catchUp: true}
	if fresh {
		l.agenda.drop(catchUp) // this fire replaces that one too
		e.Late = time.Time{}
		return Due{Kind: routines.KindRoutine, Routine: r, At: at, own: own, Missed: n - 1}, m, true
	}
	if m.catchUp {
		e.Late = at
		l.agenda.put(item{itemKey: catchUp, at: at, when: l.agenda.nextSlot(now), missed: n - 1})
	}
	l.record.saveAt = now // save now, so that it is reported only once even if the bot ends
	return d, m, false
}

// dueCatchUp returns the late run of a routine that was missed.
func (l *loop) dueCatchUp(it item, now time.Time) (Due, bool) {
	r, known := l.set().RoutineByID(it.id)
	if !known || !r.RunMissed || l.heldAt(&r.Task, now) {
		return Due{}, false
	}
	l.record.entry(it.id).Late = time.Time{}
	l.record.saveSoon(now)
	return Due{Kind: routines.KindRoutine, Routine: r, At: it.at, own: l.record.ownTime(it.key, it.at), Late: true, Missed: it.missed}, true
}

// dueReminder returns whether a reminder starts now. One noticed late, for example after
// a suspension, first queues up behind the other late ones.
func (l *loop) dueReminder(it item, now time.Time) (Due, bool) {
	r, known := l.set().ReminderByID(it.id)
	if !known {
		return Due{}, false
	}
	at, free := l.holds.now.Load().dueAt(r)
	if !free || !at.Equal(it.at) {
		return Due{}, false // the order with the reason is on its way
	}
	if !it.late {
		f := reminderFire(r, at.In(l.zone))
		chosen, waits := l.settle(f, it.key, now)
		if f.Rule != (leeway.Rule{}) {
			it.when = chosen
		}
		if waits {
			l.agenda.put(it)
			return Due{}, false
		}
	}
	if !it.late && now.Sub(it.when) > onTime {
		it.late, it.when = true, l.agenda.nextSlot(now)
		l.agenda.put(it)
		return Due{}, false
	}
	return Due{Kind: routines.KindReminder, Reminder: r, At: at.In(l.zone), Late: it.late}, true
}

// claim marks a task as running. If it is already running, the fire is skipped, which is
// reported once per run. Without money, the fire is held.
func (l *loop) claim(d *Due, now time.Time) bool {
	k := d.key()
	ok, first := l.orders.claim(k)
	if ok {
		var until time.Time
		if d.Ticket, until = l.reserve(*d, now, d.Task().Critical); until.IsZero() || d.Task().Essential {
			d.Broke = until
			l.record.start(*d, now, false)
			return true
		}
		l.orders.release(k)
		l.holdForMoney(*d, until)
		return false
	}
	l.o.Log.Warn("fire skipped, the task is still running", "task", k.id, "due", d.At)
	if first {
		l.report.note(fmt.Sprintf(msgSkipped, d.Kind, d.Task().Title(), cron.Format(d.At, "15:04")))
	}
	if d.Kind == routines.KindRoutine {
		l.record.entry(k.id).pass(d.At, outcomeSkipped)
		l.teller.tell(d.Task(), d.ownTime(), account.Skipped, "")
		l.report.changed = true
	}
	return false
}

// reserve sets aside the cost of a run. It may start if the returned time is zero.
func (l *loop) reserve(d Due, now time.Time, firm bool) (ticket string, until time.Time) {
	if l.o.Purse == nil {
		return "", time.Time{}
	}
	return l.o.Purse.Reserve(d.Task(), now, firm)
}

// holdForMoney skips the fire of a routine, as a snooze would, and makes a reminder wait
// for money.
func (l *loop) holdForMoney(d Due, until time.Time) {
	t := d.Task()
	l.o.Log.Info("fire held for money", "task", t.ID, "due", d.At, "until", until)
	l.report.changed = true
	l.teller.tell(t, d.ownTime(), account.Refused, "no money").Until = until
	if d.Kind == routines.KindReminder {
		l.agenda.put(item{itemKey: itemKey{key: d.key()}, at: d.At, when: until, late: true, forMoney: true})
		return
	}
	l.record.entry(t.ID).pass(d.At, outcomeHeld)
}

// reviewMoney releases reminders that can be afforded again.
func (l *loop) reviewMoney(now time.Time) {
	l.report.changed = true
	if l.o.Purse == nil {
		return
	}
	price := l.o.Purse.At(now)
	for _, it := range l.agenda.filter(func(it item) bool {
		r, ok := l.set().ReminderByID(it.id)
		return it.forMoney && ok && price(&r.Task).Until.IsZero()
	}) {
		it.when, it.forMoney = l.agenda.nextSlot(now), false
		l.agenda.put(it)
	}
}
