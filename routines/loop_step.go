package routines

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"
)

// step does everything that is due at now. The book is written before the fires
// start: after a crash in between, a run is lost at worst, never doubled.
func (l *Loop) step(ctx context.Context, fires *errgroup.Group, now time.Time) {
	l.judgeClock(now)
	o := l.take()
	l.settle(o.ended, now)
	for id := range o.changed {
		l.sync(id, now)
	}
	if o.problems {
		l.noteProblems()
		l.noteContested(now)
	}
	start := o.fire
	for _, d := range o.fire {
		if d.Kind == KindReminder { // early, not twice
			l.begins(d)
			l.plan.drop(item{key: key{KindReminder, d.Task().ID}}.spot())
		}
	}
	l.adrift = l.o.Dir.Present() != nil
	if !l.unset && !l.adrift {
		start = append(start, l.due(now)...)
	}
	turns := l.turnHolds(now)
	if len(start) > 0 || len(turns) > 0 || !l.saveAt.IsZero() && !now.Before(l.saveAt) {
		l.save()
	}
	l.keepHolds(turns)
	if len(start) > 0 || l.touched || !l.saveAt.IsZero() {
		l.tellKnown(now)
	}
	for _, d := range start {
		fires.Go(func() error {
			l.run(ctx, d)
			return nil
		})
	}
	notes := l.notes
	l.notes = nil
	for _, text := range notes {
		l.o.Note(text)
	}
	if l.touched || len(start) > 0 {
		l.touched = false
		l.o.Changed()
	}
}

// due takes what is due out of the plan, moves the plan on, and returns what
// starts now.
func (l *Loop) due(now time.Time) []Due {
	var start []Due
	var missed []missedFire
	for {
		it, ok := l.plan.pop(now)
		if !ok {
			break
		}
		var d Due
		switch {
		case it.kind == KindReminder:
			d, ok = l.dueReminder(it, now)
		case it.makeup:
			d, ok = l.dueMakeup(it, now)
		default:
			var m missedFire
			if d, m, ok = l.dueRoutine(it, now); m.routine != nil {
				missed = append(missed, m)
			}
		}
		if ok && l.claim(d) {
			start = append(start, d)
		}
	}
	l.touched = l.touched || len(missed) > 0
	l.notes = append(l.notes, missedNotes(missed, now)...)
	return start
}

// dueRoutine moves a routine on to its next fire and says whether the one that
// has come starts now, and what was missed before it.
func (l *Loop) dueRoutine(it item, now time.Time) (d Due, m missedFire, ok bool) {
	r, known := l.o.Index.Set().RoutineByID(it.id)
	if !known || l.heldAt(it.key, now) {
		return d, m, false // its change is on the way to us
	}
	b := l.book.entry(it.id)
	last, before, n := lastFires(r.Schedule, it.at.Unix(), now.Unix(), l.o.Zone)
	at := l.time(last)
	b.After = at
	l.planRoutine(r, now)
	fresh := now.Sub(at) <= fireGrace
	switch old := l.time(before); {
	case !fresh:
		m = missedFire{routine: r, at: at, makeup: r.RunMissed && now.Sub(at) <= runMissedFor}
		b.Passed, b.Why = at, fateMissed
	case n > 1 && now.Sub(old) > fireGrace:
		m = missedFire{routine: r, at: old}
	}
	l.laterSave(now)
	if fresh {
		l.plan.drop(item{key: it.key, makeup: true}.spot()) // this fire stands for that one too
		b.Late = time.Time{}
		return Due{Kind: KindRoutine, Routine: r, At: at, Missed: n - 1}, m, true
	}
	if m.makeup {
		b.Late = at
		l.plan.put(item{key: it.key, at: at, when: l.nextSlot(now), makeup: true, missed: n - 1})
	}
	l.saveAt = now // noted once, even if the bot ends now
	return d, m, false
}

// dueMakeup is the late run of a routine that was missed.
func (l *Loop) dueMakeup(it item, now time.Time) (Due, bool) {
	r, known := l.o.Index.Set().RoutineByID(it.id)
	if !known || !r.RunMissed || l.heldAt(it.key, now) {
		return Due{}, false
	}
	l.book.entry(it.id).Late = time.Time{}
	l.laterSave(now)
	return Due{Kind: KindRoutine, Routine: r, At: it.at, Late: true, Missed: it.missed}, true
}

// dueReminder says whether a reminder starts now. One that comes due late, as
// after a suspension, queues up behind the other late ones first.
func (l *Loop) dueReminder(it item, now time.Time) (Due, bool) {
	r, known := l.o.Index.Set().ReminderByID(it.id)
	if !known {
		return Due{}, false
	}
	at, free := l.o.Index.Holds().Of(KindReminder, it.id).dueAt(r)
	if !free || !at.Equal(it.at) {
		return Due{}, false // its change is on the way to us
	}
	if !it.late && now.Sub(at) > fireGrace {
		it.late, it.when = true, l.nextSlot(now)
		l.plan.put(it)
		return Due{}, false
	}
	return Due{Kind: KindReminder, Reminder: r, At: at.In(l.o.Zone), Late: it.late}, true
}

// claim marks a task as running, unless it is: then this fire is skipped, which
// is said once per run.
func (l *Loop) claim(d Due) bool {
	k := key{d.Kind, d.Task().ID}
	l.mu.Lock()
	busy := l.running[k]
	l.running[k] = true
	l.mu.Unlock()
	if busy {
		l.o.Log.Warn("fire skipped, the task is still running", "task", k.id, "due", d.At)
		if !l.said[k] {
			l.said[k] = true
			l.notes = append(l.notes, skippedNote(d))
		}
		if d.Kind == KindRoutine {
			b := l.book.entry(k.id)
			b.Passed, b.Why, l.touched = d.At, fateSkipped, true
		}
		return false
	}
	l.begins(d)
	return true
}

// begins notes that a run is under way.
func (l *Loop) begins(d Due) {
	id := d.Task().ID
	if d.Kind == KindRoutine {
		b := l.book.entry(id)
		b.LastFire, b.Outcome = d.At, fateRunning
		return
	}
	if l.book.Reminders == nil {
		l.book.Reminders = map[string]time.Time{}
	}
	l.book.Reminders[id] = d.At
}

// knownFor is how far back it is told what has become of fires.
const knownFor = forwardGrace + 5*time.Minute

// tellKnown lets the schedule know what has become of the latest fires.
func (l *Loop) tellKnown(now time.Time) {
	if !l.unset {
		l.o.Index.known.Store(l.book.known(now, now.Add(-knownFor)))
	}
}

// run is the life of one fire, in its own goroutine.
func (l *Loop) run(ctx context.Context, d Due) {
	err := l.call(ctx, d)
	k := key{d.Kind, d.Task().ID}
	e := ended{key: k, outcome: fateDone}
	switch {
	case err != nil && ctx.Err() != nil:
		e.outcome = fateCutOff
	case err != nil:
		e.outcome = fateFailed
		l.o.Log.Error("task failed", "kind", string(d.Kind), "task", k.id, "error", err)
	}
	switch {
	case d.Kind == KindRoutine:
		e.at = d.At
	case ctx.Err() != nil:
	case errors.Is(err, ErrUnrecorded):
		e.retry = true
	case !l.keeps(k):
		e.spent = d.Reminder.RunAt
		l.discard(d.Reminder)
	}
	l.mu.Lock()
	delete(l.running, k)
	delete(l.kept, k)
	l.orders.ended = append(l.orders.ended, e)
	l.mu.Unlock()
	l.rouse()
}

func (l *Loop) keeps(k key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.kept[k]
}

// settle notes the ends of runs.
func (l *Loop) settle(list []ended, now time.Time) {
	for _, e := range list {
		l.touched = true
		delete(l.said, e.key)
		if e.key.kind == KindReminder {
			delete(l.book.Reminders, e.key.id)
			l.laterSave(now)
			if !e.spent.IsZero() {
				l.spent[e.key.id] = e.spent
			}
			l.syncReminder(e.key.id, now)
			if it, planned := l.plan.get(item{key: e.key}.spot()); e.retry && planned && it.when.Before(now.Add(retryDelay)) {
				it.late, it.when = true, now.Add(retryDelay)
				l.plan.put(it)
			}
			continue
		}
		if b, ok := l.book.Routines[e.key.id]; ok && b.LastFire.Equal(e.at) {
			b.Outcome = e.outcome
			l.laterSave(now)
		}
	}
}
