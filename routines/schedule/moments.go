package schedule

import (
	"math"
	"time"

	"ollimbot/routines"
	"ollimbot/routines/leeway"
	"ollimbot/routines/recur"
)

// mostMissed is where counting missed fires stops.
const mostMissed = 100

// never marks a schedule without further fires, in Unix seconds.
const never = math.MaxInt64

// moment converts Unix seconds to a time; never becomes the zero time.
func moment(sec int64, zone *time.Location) time.Time {
	if sec == never {
		return time.Time{}
	}
	return time.Unix(sec, 0).In(zone)
}

// nextFire is the recurrence's Next in Unix seconds, or never.
func nextFire(s *recur.Recurrence, sec int64, zone *time.Location) int64 {
	next := s.Next(time.Unix(sec, 0).In(zone))
	if next.IsZero() {
		return never
	}
	return next.Unix()
}

// ceilSecond returns the first whole second at or after t.
func ceilSecond(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

// after returns the first whole second after t.
func after(t time.Time) time.Time { return time.Unix(t.Unix()+1, 0) }

// lastFires counts the fires from first, which is itself a fire, to now. It returns the
// last fire, the one before it, and the count, at most mostMissed.
func lastFires(s *recur.Recurrence, first, now int64, zone *time.Location) (last, before int64, n int) {
	last, before, n = first, first, 1
	walk := func(most int) bool {
		for ; n < most; n++ {
			next := nextFire(s, last+1, zone)
			if next > now {
				return true
			}
			before, last = last, next
		}
		return false
	}
	if walk(mostMissed) {
		return last, before, n
	}
	// Too many to count: find the last two from the end, with growing steps back.
	for back := int64(3600); ; back *= 4 {
		from := max(last, now-back)
		at := nextFire(s, from, zone)
		if at > now || from > last && nextFire(s, at+1, zone) > now {
			continue
		}
		if from > last {
			last, before = at, at
		}
		walk(math.MaxInt)
		return last, before, mostMissed
	}
}

// A fire with a window or jitter becomes due at its own time like any other. Its moment
// is then chosen and recorded, and it stays on the agenda until that moment. The record
// and the schedule show the chosen moment as its time; the account of due times uses its
// own time.

// keepChosen is how long the moment of a fire is kept: as long as it is shown in the
// past.
const keepChosen = 2 * 24 * time.Hour

// chosen is the chosen moment of a fire.
type chosen struct {
	Start time.Time `json:"start"` // the fire's own time
	At    time.Time `json:"at"`
	Why   string    `json:"why,omitempty"`
	Rule  string    `json:"rule"` // the leeway in effect at the choice
}

// chosenKey is the key of a task in the record.
func chosenKey(k key) string { return string(k.kind) + " " + k.id }

// of reports whether this is the moment of a given fire under a given rule.
func (c chosen) of(start time.Time, rule leeway.Rule) bool {
	return c.Start.Equal(start) && c.Rule == rule.String()
}

// settle returns when the fire that is due at start happens, and whether that is still
// ahead. After the window it returns the last known moment.
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
	l.record.saveAt, l.report.changed = now, true // save now, so that a restart does not choose again
	l.o.Log.Info("the moment of a fire was chosen", "task", k.id, "window", f.Rule.String(), "at", c.At, "why", c.Why)
	return c.At, c.At.After(now)
}

// factsOf returns the facts about the user until the end of a window.
func factsOf(l *loop, f leeway.Fire, now time.Time) leeway.Facts {
	if l.o.Facts == nil || f.Rule.Window.IsZero() {
		return leeway.Facts{}
	}
	return l.o.Facts(now, f.End)
}

// others returns the fires from which one with a window keeps its distance: those that
// may ping.
func (a *agenda) others(set *routines.Set, k key, f leeway.Fire) (list []time.Time) {
	for _, it := range a.items {
		t, ok := taskOf(set, it.key)
		if ok && it.key != k && t.AllowPing && t.Background && it.when.After(f.Start.Add(-time.Hour)) && it.when.Before(f.End.Add(time.Hour)) {
			list = append(list, it.when)
		}
	}
	return list
}

// taskOf returns the task in force with a key.
func taskOf(set *routines.Set, k key) (*routines.Task, bool) {
	if k.kind == routines.KindReminder || k.kind == aheadKind {
		if r, ok := set.ReminderByID(k.id); ok {
			return &r.Task, true
		}
	} else if r, ok := set.RoutineByID(k.id); ok {
		return &r.Task, true
	}
	return nil, false
}

// routineFire returns a fire of a routine, which must happen before the next one.
func routineFire(r *routines.Routine, start time.Time) leeway.Fire {
	f := leeway.Fire{ID: r.ID, Rule: r.Leeway, Start: start, End: r.Leeway.End(r.Schedule.In(start)).In(start.Location())}
	if f.Rule == (leeway.Rule{}) {
		return f
	}
	if next := nextFire(&r.Schedule, start.Unix()+1, start.Location()); next != never && !f.End.Before(moment(next, start.Location())) {
		f.End = moment(next, start.Location()).Add(-time.Minute)
	}
	return f
}

// reminderFire returns the fire of a reminder at its time or at the end of a snooze.
func reminderFire(r *routines.Reminder, at time.Time) leeway.Fire {
	rule := r.LeewayAt(at)
	return leeway.Fire{ID: r.ID, Rule: rule, Start: at, End: rule.End(at)}
}

// pending returns the chosen moment of a routine's fire whose window has opened, if it is
// later than everything already decided.
func (r *record) pending(t *routines.Routine, after, now time.Time) (c chosen, ok bool) {
	c, ok = r.Moments[chosenKey(routineKey(t.ID))]
	return c, ok && c.Rule == t.Leeway.String() && c.At.After(after) && !c.Start.After(now)
}

// momentOf returns the moment of a routine's fire if it was chosen, else its own time.
func (r *record) momentOf(t *routines.Routine, own time.Time) time.Time {
	if c, ok := r.Moments[chosenKey(routineKey(t.ID))]; ok && c.of(own, t.Leeway) {
		return c.At
	}
	return own
}

// ownTime returns the own time of a fire that has a moment.
func (r *record) ownTime(k key, at time.Time) time.Time {
	if c, ok := r.Moments[chosenKey(k)]; ok && c.At.Equal(at) {
		return c.Start
	}
	return at
}

// forgetMoments drops the moments of fires long past.
func (r *record) forgetMoments(now time.Time) {
	for name, c := range r.Moments {
		if now.Sub(c.At) > keepChosen {
			delete(r.Moments, name)
		}
	}
}

// chosenFor returns the last chosen moment of a task.
func (p *Plan) chosenFor(t task) (chosen, bool) {
	if p.known == nil || t.Leeway == (leeway.Rule{}) {
		return chosen{}, false
	}
	c, ok := p.known.moments[chosenKey(key{t.Kind, t.ID})]
	return c, ok && c.Rule == t.Leeway.String()
}

// dueAt returns when a reminder fires, as far as known; see Holds.dueAt.
func (p *Plan) dueAt(r *routines.Reminder) (time.Time, bool) {
	at, free := p.Holds.dueAt(r)
	c, ok := p.chosenFor(task{Task: &r.Task, reminder: r})
	if ok && c.Start.Equal(at) && r.LeewayAt(at) != (leeway.Rule{}) {
		at = c.At
	}
	return at, free
}

// routineNext returns a routine's first fire at or after a time, as far as known. A fire
// without a chosen moment counts as at the start of its window.
func (p *Plan) routineNext(t task, from time.Time) time.Time {
	zone := p.Now.Location()
	next := moment(nextFire(&t.routine.Schedule, ceilSecond(from), zone), zone)
	c, ok := p.chosenFor(t)
	if ok && !c.At.Before(from) && (next.IsZero() || !next.Before(c.Start)) {
		return c.At.In(zone)
	}
	return next
}

// open returns the end of a fire's window if its moment is not chosen yet, else the
// reason for the moment.
func (p *Plan) open(f fire) (until time.Time, reason string) {
	if f.Leeway == (leeway.Rule{}) || f.early != nil {
		return until, ""
	}
	if c, ok := p.chosenFor(f.task); ok && c.At.Equal(f.at) {
		return until, c.Why
	}
	at, rule := f.at.In(p.Now.Location()), f.Leeway
	if f.reminder != nil {
		rule = f.reminder.LeewayAt(at)
	} else {
		at = f.routine.Schedule.In(at)
	}
	if end := rule.End(at); rule.Fits(at) && f.tag == "" && end.After(p.Now) && end.After(at) {
		until = end.In(p.Now.Location())
	}
	return until, ""
}
