package schedule

import (
	"time"

	"ollimbot/routines"
	"ollimbot/routines/account"
)

// What a reminder sends before it is due (routines.Early) has its own place on the agenda and in the
// record, beside that of the reminder. Each moment is decided once: it is sent, or a hold keeps it, or
// a later one replaces it, or the reminder itself is due. Of those missed while nothing was running,
// the last is sent late, as long as the reminder is still ahead. Moments that have passed when the
// reminder is first seen, or gets another time, are not owed.

// aheadKind is the kind of the keys of early moments. Tasks never have it.
const aheadKind routines.Kind = "ahead"

func aheadKey(id string) key { return key{aheadKind, id} }

// aheadEntry is the record of a reminder's early moments.
type aheadEntry struct {
	Rule  string    `json:"rule"`  // the reminder's time and moments, to which After applies
	After time.Time `json:"after"` // everything up to it is decided
	// Running is the moment whose run is in progress since a time; zero if none is.
	Running time.Time `json:"running,omitzero"`
	Since   time.Time `json:"since,omitzero"`
}

// aheadRule identifies the moments of a reminder.
func aheadRule(list []routines.Early) (rule string) {
	for _, e := range list {
		rule += e.At.UTC().Format(time.RFC3339) + " "
	}
	return rule
}

// nextEarly returns the moment to act on after one that is decided: the last one that has passed, or
// else the first ahead.
func nextEarly(list []routines.Early, after, now time.Time) (next routines.Early, ok bool) {
	for _, e := range list {
		switch {
		case !e.At.After(after):
		case !e.At.After(now):
			next, ok = e, true
		case !ok:
			return e, true
		}
	}
	return next, ok
}

// syncAhead plans the next early moment of a reminder.
func (l *loop) syncAhead(id string, now time.Time) {
	k := itemKey{key: aheadKey(id)}
	l.agenda.drop(k)
	r, ok := l.set().ReminderByID(id)
	var list []routines.Early
	if ok {
		list = r.Early()
	}
	if len(list) == 0 {
		delete(l.record.Ahead, id)
		return
	}
	e := l.record.Ahead[id]
	if rule := aheadRule(list); e == nil || e.Rule != rule {
		e = &aheadEntry{Rule: rule, After: now.Add(-grace).Truncate(time.Second)}
		l.record.Ahead[id] = e
		l.record.saveSoon(now)
	}
	next, ok := nextEarly(list, e.After, now)
	if !ok || l.orders.runs(k.key) {
		return // a run that ends plans the next one
	}
	it := item{itemKey: k, at: next.At, when: next.At}
	if now.Sub(it.at) > onTime {
		it.late, it.when = true, l.agenda.nextSlot(now)
	}
	l.agenda.put(it)
}

// dueAhead returns whether an early moment starts now.
func (l *loop) dueAhead(it item, now time.Time) (Due, bool) {
	r, known := l.set().ReminderByID(it.id)
	e := l.record.Ahead[it.id]
	if !known || e == nil {
		return Due{}, false
	}
	next, ok := nextEarly(r.Early(), e.After, now)
	if !ok || next.At.After(now) {
		return Due{}, false // the order with the reason is on its way
	}
	if at, _ := l.holds.now.Load().dueAt(r); !now.Before(at) {
		e.After = next.At
		return Due{}, false // the reminder says it
	}
	e.After = next.At
	l.record.saveAt = now
	l.syncAhead(it.id, now)
	d := Due{Kind: routines.KindReminder, Reminder: r, Early: &next, At: next.At.In(l.zone), Late: now.Sub(next.At) > onTime}
	if h := l.hold(&r.Task); !h.Ended(now) {
		why := account.Paused
		if h.Why != "" {
			why = TagWaits
		}
		l.tellDue(d, account.Held, why).Until = h.Until
		l.report.changed = true
		return Due{}, false
	}
	return d, true
}

// endAhead records the end of the run of an early moment. One that was cut off is repeated after the
// next start.
func (l *loop) endAhead(e ended, now time.Time) {
	id := e.fire.Reminder.ID
	if entry := l.record.Ahead[id]; entry != nil && e.outcome != outcomeCutOff {
		entry.Running, entry.Since = time.Time{}, time.Time{}
		l.record.saveAt = now
	}
	l.syncAhead(id, now)
}

// cutAhead makes the moments due again whose run was in progress when the program last ended, unless
// the run is recorded as ended.
func (l *loop) cutAhead() {
	for id, e := range l.record.Ahead {
		if e.Running.IsZero() {
			continue
		}
		if l.o.Ended == nil || !l.o.Ended(id, e.Running, e.Since) {
			e.After = e.Running.Add(-time.Second)
		}
		e.Running, e.Since = time.Time{}, time.Time{}
	}
}

// earlyNext returns the first early moment at or after a time that comes before the reminder itself.
func (p *Plan) earlyNext(t task, from time.Time) time.Time {
	due, _ := p.dueAt(t.reminder)
	for _, e := range t.early {
		if !e.At.Before(from) && e.At.Before(due) {
			return e.At.In(p.Now.Location())
		}
	}
	return time.Time{}
}

// earlyAt returns what is sent at a moment.
func (t task) earlyAt(at time.Time) routines.Early {
	for _, e := range t.early {
		if e.At.Equal(at) {
			return e
		}
	}
	return routines.Early{}
}

// addEarly adds the last and the next early moment of a reminder.
func (w *window) addEarly(p *Plan, t task) {
	hold := p.Holds.Of(t.Task)
	var last time.Time
	at := p.earlyNext(t, p.Now.Add(-forwardGrace))
	for ; !at.IsZero() && !at.After(p.Now); at = p.earlyNext(t, after(at)) {
		last = at
	}
	switch what := p.known.early(t.ID, last); {
	case last.IsZero() || what == outcomeNone:
	case hold.covers(last):
		w.passed = append(w.passed, fire{t, last, tagHeld})
	default:
		w.recent = append(w.recent, fire{t, last, what.tag()})
	}
	if at = p.nextFree(t, hold, after(p.Now)); !at.IsZero() {
		w.addAhead(p, t, at)
	}
}

// early returns the outcome of a past early moment.
func (k *outcomes) early(id string, at time.Time) outcome {
	if k == nil || at.After(k.at) {
		return outcomeUnknown
	}
	switch e, ok := k.ahead[id]; {
	case !ok:
		return outcomeNone
	case e.Running.Equal(at):
		return outcomeRunning
	}
	return outcomeDone
}
