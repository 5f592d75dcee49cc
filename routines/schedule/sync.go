package schedule

import (
	"fmt"
	"slices"
	"time"

	"ollimbot/routines"
	"ollimbot/routines/leeway"
)

const (
	// maxRewind is how far ahead of the clock a last fire may be and still be waited for.
	maxRewind = 3 * time.Hour
	// maxLeap is the smallest jump of the clock that cannot be a suspension.
	maxLeap = 366 * 24 * time.Hour
	// firstYearSet is the first year in which a clock counts as set.
	firstYearSet = 1990
	// grace lets a routine fire that is saved in the second it is due.
	grace = time.Second
)

// begin plans everything from the record, as after a start.
func (l *loop) begin(now time.Time) {
	l.wall = now
	set := l.set()
	if l.unset = now.Year() < firstYearSet; l.unset {
		l.record.unload()
		l.report.note(fmt.Sprintf(msgClockUnset, now.Format(clockDate+", 15:04")))
		l.o.Log.Warn("the clock has not been set; nothing fires until it is", "clock", now)
		l.report.problems(set)
		return
	}
	cut := l.record.load()
	if err := l.holds.read(l.o.Dir); err != nil {
		l.o.Log.Error("which tasks are paused or snoozed could not be read; all of them fire", "error", err)
	}
	l.finishCut(cut)
	set = l.set()
	for id, e := range l.record.Routines {
		if _, ok := set.RoutineByID(id); !ok && e.Removed.IsZero() {
			e.Removed = now
		}
		if !e.Removed.IsZero() && now.Sub(e.Removed) > keepRemoved {
			delete(l.record.Routines, id)
		}
	}
	l.record.forgetMoments(now)
	l.noteContested(now)
	l.settleAccount(now)
	l.replan(now)
	l.report.problems(set)
}

// replan makes a new agenda from the record.
func (l *loop) replan(now time.Time) {
	l.agenda = newAgenda()
	set := l.set()
	for _, r := range set.Routines {
		l.syncRoutine(r.ID, now)
	}
	for _, r := range set.Reminders {
		l.syncReminder(r.ID, now)
	}
	l.report.changed = true
}

// judgeClock compares the clock with its value at the last step.
func (l *loop) judgeClock(now time.Time) {
	was := l.wall
	l.wall = now
	switch {
	case l.unset:
		if now.Year() >= firstYearSet {
			l.o.Log.Info("the clock has been set", "from", was, "to", now)
			l.begin(now)
		}
	case now.Year() < firstYearSet:
		l.record.save()
		l.begin(now)
	case now.Before(was.Add(-grace)):
		l.o.Log.Warn("the clock was set back", "from", was, "to", now)
		l.replan(now)
	case now.Sub(was) > maxLeap:
		l.o.Log.Warn("the clock leapt ahead", "from", was, "to", now)
		l.report.note(fmt.Sprintf(msgClockLeapt, was.Format(clockDate), now.Format(clockDate)))
		for _, e := range l.record.Routines {
			e.forgive(now)
		}
		l.record.saveSoon(now)
		l.replan(now)
	}
}

// sync updates the agenda after the files of one id have changed.
func (l *loop) sync(id string, now time.Time) {
	if l.unset {
		return // begin handles all of them
	}
	l.report.changed = true
	l.syncRoutine(id, now)
	l.syncReminder(id, now)
}

// noteContested records which of several files with the same id is in force.
func (l *loop) noteContested(now time.Time) {
	if list := l.set().Contested; !l.unset && !slices.Equal(list, l.record.InForce) {
		l.record.InForce = list
		l.record.saveAt = now // commands that run without the bot need it
	}
}

func (l *loop) syncRoutine(id string, now time.Time) {
	at, catchUp := itemKey{key: routineKey(id)}, itemKey{key: routineKey(id), catchUp: true}
	r, ok := l.set().RoutineByID(id)
	if !ok {
		l.agenda.drop(at)
		l.agenda.drop(catchUp)
		if e, known := l.record.Routines[id]; known && e.Removed.IsZero() {
			e.Removed = now
			l.record.saveSoon(now)
		}
		return
	}
	e, waits := l.record.entry(id), r.Waits != ""
	was := *e
	// A routine that is new, has new times, was away, or was just approved does not owe
	// earlier fires. Renaming a file makes it disappear for a moment.
	away := !e.Removed.IsZero() && now.Sub(e.Removed) > onTime
	if e.Waits && !waits && e.Cron == r.Cron && !away {
		l.accountHeld(r, Hold{Why: TagWaits}, now)
	}
	if e.Cron != r.Cron || away || e.Waits && !waits {
		e.forgive(now.Add(-grace).Truncate(time.Second))
		delete(l.record.Moments, chosenKey(at.key))
		l.agenda.drop(catchUp)
	}
	e.Cron, e.Removed, e.Waits = r.Cron, time.Time{}, waits
	if _, planned := l.agenda.get(catchUp); !e.Late.IsZero() {
		age := now.Sub(e.Late)
		switch {
		case l.heldAt(&r.Task, now):
			e.Late = time.Time{}
			l.agenda.drop(catchUp)
		case planned:
		case !r.RunMissed || age > runMissedFor || age < 0:
			e.Late = time.Time{}
		default:
			l.agenda.put(item{itemKey: catchUp, at: e.Late, when: l.agenda.nextSlot(now)})
		}
	}
	if *e != was {
		l.record.saveSoon(now)
	}
	l.planRoutine(r, now)
}

// planRoutine puts the routine's next fire on the agenda: the first after all that have
// fired, were missed or were held.
func (l *loop) planRoutine(r *routines.Routine, now time.Time) {
	e := l.record.entry(r.ID)
	after := e.After
	if after.After(now) {
		after = now.Add(-grace) // missed only because the clock was ahead
	}
	hold := l.hold(&r.Task)
	if !hold.Until.IsZero() && after.Before(hold.after()) {
		after = hold.after()
	}
	ahead := e.LastFire.Sub(now)
	if e.LastFire.After(after) && ahead <= maxRewind {
		after = e.LastFire
	}
	if c, ok := l.record.pending(r, after, now); ok && !hold.open() {
		l.agenda.put(item{itemKey: itemKey{key: routineKey(r.ID)}, at: c.Start, when: c.At})
		return
	}
	next := nextFire(r.Schedule, after.Unix()+1, l.zone)
	if next != never && ahead > maxRewind && next == e.LastFire.Unix() {
		next = nextFire(r.Schedule, next+1, l.zone)
	}
	k := itemKey{key: routineKey(r.ID)}
	if next == never || hold.open() {
		l.agenda.drop(k)
		return
	}
	at := moment(next, l.zone)
	l.agenda.put(item{itemKey: k, at: at, when: at})
}

func (l *loop) syncReminder(id string, now time.Time) {
	it := item{itemKey: itemKey{key: reminderKey(id)}}
	r, ok := l.set().ReminderByID(id)
	if !ok {
		delete(l.record.Spent, id)
		delete(l.record.Moments, chosenKey(it.key))
		l.agenda.drop(it.itemKey)
		return
	}
	// A running reminder is planned again when its run ends.
	if spent, had := l.record.Spent[id]; l.orders.runs(it.key) || had && spent.Equal(r.RunAt) {
		return
	}
	at, free := l.holds.now.Load().dueAt(r)
	if !free {
		l.agenda.drop(it.itemKey)
		return
	}
	if old, planned := l.agenda.get(it.itemKey); planned && old.at.Equal(at) && (old.late || r.Leeway == leeway.Rule{}) {
		return // it keeps its place among the late ones
	}
	it.at, it.when = at.Round(0), at.Round(0)
	if it.at.Before(now) && !reminderFire(r, at.In(l.zone)).Open(now) {
		it.late, it.when = true, l.agenda.nextSlot(now)
	}
	l.agenda.put(it)
}
