package schedule

import (
	"time"

	"ollimbot/routines"
	"ollimbot/routines/leeway"
)

// A fire with a window or a jitter becomes due at its own time like any other. Then its moment is
// chosen and recorded, and it stays on the agenda until the moment has come. The record and the
// schedule have the chosen moment as its time, the account of due times its own time.

// keepChosen is how long the moment of a fire is remembered: while it is shown as past.
const keepChosen = 2 * 24 * time.Hour

// chosen is the moment of a fire.
type chosen struct {
	Start time.Time `json:"start"` // the fire's own time
	At    time.Time `json:"at"`
	Why   string    `json:"why,omitempty"`
	Rule  string    `json:"rule"` // the leeway that it was chosen by
}

// chosenKey names a task in the record.
func chosenKey(k key) string { return string(k.kind) + " " + k.id }

// of reports whether this is the moment of a fire under a rule.
func (c chosen) of(start time.Time, rule leeway.Rule) bool {
	return c.Start.Equal(start) && c.Rule == rule.String()
}

// settle returns when the fire that is due at start happens, and whether it waits for that. Once
// its window is over, it is the last moment that was known.
func (l *loop) settle(f leeway.Fire, k key, now time.Time) (at time.Time, waits bool) {
	if f.Rule == (leeway.Rule{}) {
		return f.Start, false
	}
	c, known := l.record.Moments[chosenKey(k)]
	known = known && c.of(f.Start, f.Rule)
	if now.After(f.End.Add(onTime)) {
		if known {
			return c.At, false
		}
		return f.Start, false
	}
	f.Now = now.Truncate(time.Minute)
	if f.Now.Before(now) {
		f.Now = f.Now.Add(time.Minute)
	}
	if known && c.At.After(now) {
		return c.At, true
	}
	facts := factsOf(l, f, now)
	overslept := known && now.Sub(c.At) > onTime
	if known && !overslept && (f.Rule.Window.IsZero() || !facts.BusyAt(now) || !now.Before(f.End)) {
		return c.At, false
	}
	choice := leeway.Choose(f, facts, l.agenda.others(l.set(), k, f))
	c = chosen{Start: f.Start, At: choice.At, Why: choice.Why, Rule: f.Rule.String()}
	l.record.Moments[chosenKey(k)] = c
	l.record.saveAt, l.report.changed = now, true // it is not chosen again after a restart
	l.o.Log.Info("the moment of a fire was chosen", "task", k.id, "window", f.Rule.String(), "at", c.At, "why", c.Why)
	return c.At, c.At.After(now)
}

// factsOf are what is known of the user until the end of a window.
func factsOf(l *loop, f leeway.Fire, now time.Time) leeway.Facts {
	if l.o.Facts == nil || f.Rule.Window.IsZero() {
		return leeway.Facts{}
	}
	return l.o.Facts(now, f.End)
}

// others are the fires from which one with a window keeps its distance: those that may ping.
func (a *agenda) others(set *routines.Set, k key, f leeway.Fire) (list []time.Time) {
	for _, it := range a.items {
		t, ok := taskOf(set, it.key)
		if ok && it.key != k && t.AllowPing && t.Background && it.when.After(f.Start.Add(-time.Hour)) && it.when.Before(f.End.Add(time.Hour)) {
			list = append(list, it.when)
		}
	}
	return list
}

// taskOf is the task in force with a key.
func taskOf(set *routines.Set, k key) (*routines.Task, bool) {
	if k.kind == routines.KindReminder {
		if r, ok := set.ReminderByID(k.id); ok {
			return &r.Task, true
		}
	} else if r, ok := set.RoutineByID(k.id); ok {
		return &r.Task, true
	}
	return nil, false
}

// routineFire is a fire of a routine, which has to come before the next one.
func routineFire(r *routines.Routine, start time.Time) leeway.Fire {
	f := leeway.Fire{ID: r.ID, Rule: r.Leeway, Start: start, End: r.Leeway.End(start)}
	if f.Rule == (leeway.Rule{}) {
		return f
	}
	if next := nextFire(r.Schedule, start.Unix()+1, start.Location()); next != never && !f.End.Before(moment(next, start.Location())) {
		f.End = moment(next, start.Location()).Add(-time.Minute)
	}
	return f
}

// reminderFire is the fire of a reminder at its time or at the end of a snooze.
func reminderFire(r *routines.Reminder, at time.Time) leeway.Fire {
	rule := r.LeewayAt(at)
	return leeway.Fire{ID: r.ID, Rule: rule, Start: at, End: rule.End(at)}
}

// pending is the chosen moment of a routine's fire whose window has opened, if it comes after
// everything that is decided.
func (r *record) pending(t *routines.Routine, after, now time.Time) (c chosen, ok bool) {
	c, ok = r.Moments[chosenKey(routineKey(t.ID))]
	return c, ok && c.Rule == t.Leeway.String() && c.At.After(after) && !c.Start.After(now)
}

// momentOf is the moment of a routine's fire as far as it is chosen, else its own time.
func (r *record) momentOf(t *routines.Routine, own time.Time) time.Time {
	if c, ok := r.Moments[chosenKey(routineKey(t.ID))]; ok && c.of(own, t.Leeway) {
		return c.At
	}
	return own
}

// ownTime is the own time of a fire that has a moment.
func (r *record) ownTime(k key, at time.Time) time.Time {
	if c, ok := r.Moments[chosenKey(k)]; ok && c.At.Equal(at) {
		return c.Start
	}
	return at
}

// forgetMoments drops the moments of fires that are long past.
func (r *record) forgetMoments(now time.Time) {
	for name, c := range r.Moments {
		if now.Sub(c.At) > keepChosen {
			delete(r.Moments, name)
		}
	}
}

// chosenFor is the moment of a task's fire that was chosen last.
func (p *Plan) chosenFor(t task) (chosen, bool) {
	if p.known == nil || t.Leeway == (leeway.Rule{}) {
		return chosen{}, false
	}
	c, ok := p.known.moments[chosenKey(key{t.Kind, t.ID})]
	return c, ok && c.Rule == t.Leeway.String()
}

// dueAt is when a reminder fires, as far as that is known; see Holds.dueAt.
func (p *Plan) dueAt(r *routines.Reminder) (time.Time, bool) {
	at, free := p.Holds.dueAt(r)
	c, ok := p.chosenFor(task{Task: &r.Task, reminder: r})
	if ok && c.Start.Equal(at) && r.LeewayAt(at) != (leeway.Rule{}) {
		at = c.At
	}
	return at, free
}

// routineNext is a routine's first fire at a time or later, as far as it is known. Until its moment
// is chosen, a fire counts as at the start of its window.
func (p *Plan) routineNext(t task, from time.Time) time.Time {
	zone := p.Now.Location()
	next := moment(nextFire(t.routine.Schedule, ceilSecond(from), zone), zone)
	c, ok := p.chosenFor(t)
	if ok && !c.At.Before(from) && (next.IsZero() || !next.Before(c.Start)) {
		return c.At.In(zone)
	}
	return next
}

// open is the end of a fire's window while its moment is not chosen, or why it has its moment.
func (p *Plan) open(f fire) (until time.Time, reason string) {
	if f.Leeway == (leeway.Rule{}) {
		return until, ""
	}
	if c, ok := p.chosenFor(f.task); ok && c.At.Equal(f.at) {
		return until, c.Why
	}
	at, rule := f.at.In(p.Now.Location()), f.Leeway
	if f.reminder != nil {
		rule = f.reminder.LeewayAt(at)
	}
	if end := rule.End(at); rule.Fits(at) && f.tag == "" && end.After(p.Now) && end.After(at) {
		until = end
	}
	return until, ""
}
