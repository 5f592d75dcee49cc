package schedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// step does everything that is due at now. The book is written before the fires
// start: after a crash in between, a run is lost at worst, never doubled.
func (s *Schedule) step(ctx context.Context, fires *errgroup.Group, now time.Time) {
	s.judgeClock(now)
	in := s.drain()
	s.noteEnded(in.ended, now)
	for id := range in.changed {
		s.sync(id, now)
	}
	if in.problems {
		s.noteProblems()
		s.noteContested(now)
	}
	start := in.fire
	for i, d := range in.fire {
		start[i].Ticket, _ = s.reserve(d, now, true) // the user has asked for it
		if d.Kind == routines.KindReminder {         // early, not twice
			s.begins(d)
			delete(s.plan, spot{key: d.key()})
		}
	}
	if in.money {
		s.reviewMoney(now)
	}
	s.adrift = s.o.Dir.Present() != nil
	if !s.unset && !s.adrift {
		start = append(start, s.due(now)...)
	}
	held := s.reviewHolds(now)
	if len(start) > 0 || len(held) > 0 || !s.saveAt.IsZero() && !now.Before(s.saveAt) {
		s.save()
	}
	s.keepHolds(held)
	if !s.unset && (len(start) > 0 || s.touched || !s.saveAt.IsZero()) {
		s.known.Store(s.book.fatesSince(now, now.Add(-knownFor)))
	}
	for _, d := range start {
		fires.Go(func() error { s.run(ctx, d); return nil })
	}
	s.notify(len(start) > 0)
	for _, done := range in.asked {
		close(done)
	}
}

// notify hands out what the step has to say.
func (s *Schedule) notify(started bool) {
	notes, troubles := s.notes, s.troubles
	s.notes, s.troubles = nil, nil
	for _, text := range notes {
		s.o.Note(text)
	}
	for _, t := range troubles {
		s.o.Troubles(t.kind, t.words)
	}
	if s.touched || started {
		s.touched = false
		s.o.Changed()
	}
}

// due takes what is due out of the plan, moves the plan on, and returns what
// starts now.
func (s *Schedule) due(now time.Time) []Due {
	var start []Due
	var missed []missedFire
	for _, it := range s.plan.which(func(it item) bool { return !it.when.After(now) }) {
		if _, ok := s.plan[it.spot]; !ok {
			continue // another fire stands for it
		}
		delete(s.plan, it.spot)
		var d Due
		var ok bool
		switch {
		case it.kind == routines.KindReminder:
			d, ok = s.dueReminder(it, now)
		case it.catchUp:
			d, ok = s.dueCatchUp(it, now)
		default:
			var m missedFire
			if d, m, ok = s.dueRoutine(it, now); m.routine != nil {
				missed = append(missed, m)
			}
		}
		if ok && s.claim(&d, now) {
			start = append(start, d)
		}
	}
	s.touched = s.touched || len(missed) > 0
	s.notes = append(s.notes, missedNotes(missed, now)...)
	return start
}

// dueRoutine moves a routine on to its next fire and says whether the one that
// has come starts now, and what was missed before it.
func (s *Schedule) dueRoutine(it item, now time.Time) (d Due, m missedFire, ok bool) {
	r, known := s.Set().RoutineByID(it.id)
	if !known || s.heldAt(&r.Task, now) {
		return d, m, false // its change is on the way to us
	}
	b := s.book.entry(it.id)
	last, before, n := lastFires(r.Schedule, it.at.Unix(), now.Unix(), s.o.Zone)
	at := s.time(last)
	b.After = at
	s.planRoutine(r, now)
	fresh := now.Sub(at) <= onTime
	switch old := s.time(before); {
	case !fresh:
		m = missedFire{routine: r, at: at, catchUp: r.RunMissed && now.Sub(at) <= runMissedFor}
		b.Passed, b.Why = at, fateMissed
	case n > 1 && now.Sub(old) > onTime:
		m = missedFire{routine: r, at: old}
	}
	s.laterSave(now)
	catchUp := spot{key: it.key, catchUp: true}
	if fresh {
		delete(s.plan, catchUp) // this fire stands for that one too
		b.Late = time.Time{}
		return Due{Kind: routines.KindRoutine, Routine: r, At: at, Missed: n - 1}, m, true
	}
	if m.catchUp {
		b.Late = at
		s.plan.put(item{spot: catchUp, at: at, when: s.nextSlot(now), missed: n - 1})
	}
	s.saveAt = now // noted once, even if the bot ends now
	return d, m, false
}

// dueCatchUp is the late run of a routine that was missed.
func (s *Schedule) dueCatchUp(it item, now time.Time) (Due, bool) {
	r, known := s.Set().RoutineByID(it.id)
	if !known || !r.RunMissed || s.heldAt(&r.Task, now) {
		return Due{}, false
	}
	s.book.entry(it.id).Late = time.Time{}
	s.laterSave(now)
	return Due{Kind: routines.KindRoutine, Routine: r, At: it.at, Late: true, Missed: it.missed}, true
}

// dueReminder says whether a reminder starts now. One that comes due late, as
// after a suspension, queues up behind the other late ones first.
func (s *Schedule) dueReminder(it item, now time.Time) (Due, bool) {
	r, known := s.Set().ReminderByID(it.id)
	if !known {
		return Due{}, false
	}
	at, free := s.Holds().dueAt(r)
	if !free || !at.Equal(it.at) {
		return Due{}, false // its change is on the way to us
	}
	if !it.late && now.Sub(at) > onTime {
		it.late, it.when = true, s.nextSlot(now)
		s.plan.put(it)
		return Due{}, false
	}
	return Due{Kind: routines.KindReminder, Reminder: r, At: at.In(s.o.Zone), Late: it.late}, true
}

// claim marks a task as running, unless it is: then this fire is skipped, which
// is said once per run. One for which there is no money is held.
func (s *Schedule) claim(d *Due, now time.Time) bool {
	k := d.key()
	s.mu.Lock()
	before := s.running[k]
	if before == nil {
		s.running[k] = &run{}
	}
	s.mu.Unlock()
	if before == nil {
		var until time.Time
		if d.Ticket, until = s.reserve(*d, now, d.Task().Critical); until.IsZero() {
			s.begins(*d)
			return true
		}
		s.mu.Lock()
		delete(s.running, k)
		s.mu.Unlock()
		s.holdForMoney(*d, until)
		return false
	}
	s.o.Log.Warn("fire skipped, the task is still running", "task", k.id, "due", d.At)
	if !before.told {
		before.told = true
		s.notes = append(s.notes, fmt.Sprintf(msgSkipped, d.Kind, d.Task().Title(), cron.Format(d.At, "15:04")))
	}
	if d.Kind == routines.KindRoutine {
		b := s.book.entry(k.id)
		b.Passed, b.Why, s.touched = d.At, fateSkipped, true
	}
	return false
}

// begins notes that a run is under way.
func (s *Schedule) begins(d Due) {
	if d.Kind == routines.KindReminder {
		s.book.Reminders[d.Reminder.ID] = d.At
		return
	}
	b := s.book.entry(d.Routine.ID)
	b.LastFire, b.Outcome = d.At, fateRunning
}

// knownFor is how far back it is told what has become of fires.
const knownFor = forwardGrace + 5*time.Minute

// run is the life of one fire, in its own goroutine.
func (s *Schedule) run(ctx context.Context, d Due) {
	err := s.fire(ctx, d)
	k := d.key()
	e := ended{key: k, outcome: fateDone}
	switch {
	case err != nil && ctx.Err() != nil:
		e.outcome = fateCutOff
	case err != nil:
		e.outcome = fateFailed
		s.o.Log.Error("task failed", "kind", string(d.Kind), "task", k.id, "error", err)
	}
	switch {
	case d.Kind == routines.KindRoutine:
		e.at = d.At
	case ctx.Err() != nil:
	case errors.Is(err, routines.ErrUnrecorded):
		e.retry = true
	case !s.keeps(k):
		if e.retry = !s.finish(d.Reminder); !e.retry {
			e.spent = d.Reminder.RunAt
		}
	}
	s.mu.Lock()
	delete(s.running, k)
	s.inbox.ended = append(s.inbox.ended, e)
	s.mu.Unlock()
	s.rouse()
}

func (s *Schedule) keeps(k key) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running[k].keep
}

// noteEnded notes the ends of runs.
func (s *Schedule) noteEnded(list []ended, now time.Time) {
	for _, e := range list {
		s.touched = true
		if e.key.kind == routines.KindRoutine {
			if b, ok := s.book.Routines[e.key.id]; ok && b.LastFire.Equal(e.at) {
				b.Outcome = e.outcome
				s.laterSave(now)
			}
			continue
		}
		delete(s.book.Reminders, e.key.id)
		s.laterSave(now)
		if !e.spent.IsZero() {
			s.spent[e.key.id] = e.spent
		}
		s.syncReminder(e.key.id, now)
		if it, planned := s.plan[spot{key: e.key}]; e.retry && planned && it.when.Before(now.Add(retryDelay)) {
			it.late, it.when = true, now.Add(retryDelay)
			s.plan.put(it)
		}
	}
}
