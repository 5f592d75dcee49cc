package routines

import (
	"math"
	"slices"
	"time"

	"ollimbot/routines/cron"
)

const (
	// farBack is how far ahead of the clock a last fire may lie and still be
	// waited for.
	farBack = 3 * time.Hour
	// farAhead is a leap of the clock that cannot be a suspension.
	farAhead = 366 * 24 * time.Hour
	// firstYearSet is the first year of a clock that somebody has set.
	firstYearSet = 1990
	// sightSlack makes a routine count that is saved in the second it is due.
	sightSlack = time.Second
	// mostMissed is where the counting of missed fires ends.
	mostMissed = 100
)

// begin plans everything from the book, as at a start.
func (l *Loop) begin(now time.Time) {
	l.wall = now
	if l.unset = now.Year() < firstYearSet; l.unset {
		l.notes = append(l.notes, clockUnset(now))
		l.o.Log.Warn("the clock has not been set; nothing fires until it is", "clock", now)
		l.noteProblems()
		return
	}
	l.book = readBook(l.o.Dir, l.o.Log)
	if err := l.o.Index.holds.read(l.o.Dir); err != nil {
		l.o.Log.Error("which tasks are paused or snoozed could not be read; all of them fire", "error", err)
	}
	set := l.o.Index.Set()
	for id, b := range l.book.Routines {
		if _, ok := set.RoutineByID(id); !ok && b.Removed.IsZero() {
			b.Removed = now
		}
	}
	l.book.prune(now)
	l.noteContested(now)
	l.replan(now)
	l.noteProblems()
}

// replan plans everything anew from what the book says.
func (l *Loop) replan(now time.Time) {
	l.plan, l.slot = plan{}, time.Time{}
	set := l.o.Index.Set()
	for _, r := range set.Routines {
		l.syncRoutine(r.ID, now)
	}
	for _, r := range set.Reminders {
		l.syncReminder(r.ID, now)
	}
	l.touched = true
}

// judgeClock compares the clock with the one of the last step.
func (l *Loop) judgeClock(now time.Time) {
	was := l.wall
	l.wall = now
	switch {
	case l.unset:
		if now.Year() >= firstYearSet {
			l.o.Log.Info("the clock has been set", "from", was, "to", now)
			l.begin(now)
		}
	case now.Year() < firstYearSet:
		l.save()
		l.begin(now)
	case now.Before(was.Add(-sightSlack)):
		l.o.Log.Warn("the clock was set back", "from", was, "to", now)
		l.replan(now)
	case now.Sub(was) > farAhead:
		l.o.Log.Warn("the clock leapt ahead", "from", was, "to", now)
		l.notes = append(l.notes, clockLeapt(was, now))
		for _, b := range l.book.Routines {
			b.notOwed(now)
		}
		l.laterSave(now)
		l.replan(now)
	}
}

// sync brings the plan in line with the files of one id.
func (l *Loop) sync(id string, now time.Time) {
	if l.unset {
		return // begin will look at all of them
	}
	l.touched = true
	l.syncRoutine(id, now)
	l.syncReminder(id, now)
}

// noteContested keeps in mind which of the files with one id is in force.
func (l *Loop) noteContested(now time.Time) {
	if list := l.o.Index.Set().contested; !l.unset && !slices.Equal(list, l.book.InForce) {
		l.book.InForce = list
		l.saveAt = now // commands beside the bot go by it
	}
}

func (l *Loop) syncRoutine(id string, now time.Time) {
	r, ok := l.o.Index.Set().RoutineByID(id)
	if !ok {
		l.plan.drop(item{key: key{KindRoutine, id}}.spot())
		l.plan.drop(item{key: key{KindRoutine, id}, makeup: true}.spot())
		if b, known := l.book.Routines[id]; known && b.Removed.IsZero() {
			b.Removed = now
			l.laterSave(now)
		}
		return
	}
	b := l.book.entry(id)
	// A routine that is new, that has new times, or that was away does not owe
	// the fires from before. A file that is renamed is away for a moment.
	away := !b.Removed.IsZero() && now.Sub(b.Removed) > fireGrace
	if b.Cron != r.Cron || away {
		b.notOwed(now.Add(-sightSlack).Truncate(time.Second))
		l.plan.drop(item{key: key{KindRoutine, id}, makeup: true}.spot())
	}
	if b.Cron != r.Cron || !b.Removed.IsZero() {
		b.Cron, b.Removed = r.Cron, time.Time{}
		l.laterSave(now)
	}
	if waits := l.o.Index.Holds().Of(KindRoutine, id).Why != ""; waits != b.Waits {
		if !waits { // let go on: nothing from before is owed
			b.notOwed(now.Add(-sightSlack).Truncate(time.Second))
			l.plan.drop(item{key: key{KindRoutine, id}, makeup: true}.spot())
		}
		b.Waits = waits
		l.laterSave(now)
	}
	l.planRoutine(r, now)
	if l.heldAt(key{KindRoutine, id}, now) && !b.Late.IsZero() {
		b.Late = time.Time{}
		l.plan.drop(item{key: key{KindRoutine, id}, makeup: true}.spot())
		l.laterSave(now)
	}
	makeup := item{key: key{KindRoutine, id}, at: b.Late, makeup: true}
	if !b.Late.IsZero() && !l.plan.has(makeup.spot()) {
		if age := now.Sub(b.Late); !r.RunMissed || age > runMissedFor || age < 0 {
			b.Late = time.Time{}
			return
		}
		makeup.when = l.nextSlot(now)
		l.plan.put(makeup)
	}
}

// planRoutine puts the routine's next fire into the plan: the first after
// everything that was fired, missed or held before.
func (l *Loop) planRoutine(r *Routine, now time.Time) {
	b := l.book.entry(r.ID)
	after := b.After
	if after.After(now) {
		after = now.Add(-sightSlack) // missed under a clock that ran ahead: not really
	}
	hold := l.o.Index.Holds().Of(KindRoutine, r.ID)
	if !hold.Until.IsZero() && after.Before(hold.after()) {
		after = hold.after()
	}
	ahead := b.LastFire.Sub(now)
	if b.LastFire.After(after) && ahead <= farBack {
		after = b.LastFire
	}
	next := nextFire(r.Schedule, after.Unix()+1, l.o.Zone)
	if next != never && ahead > farBack && next == b.LastFire.Unix() {
		next = nextFire(r.Schedule, next+1, l.o.Zone)
	}
	it := item{key: key{KindRoutine, r.ID}}
	if next == never || hold.open() {
		l.plan.drop(it.spot())
		return
	}
	it.at = l.time(next)
	it.when = it.at
	l.plan.put(it)
}

func (l *Loop) syncReminder(id string, now time.Time) {
	it := item{key: key{KindReminder, id}}
	r, ok := l.o.Index.Set().ReminderByID(id)
	if !ok {
		delete(l.spent, id)
		l.plan.drop(it.spot())
		return
	}
	l.mu.Lock()
	busy := l.running[it.key]
	l.mu.Unlock()
	// A running one is looked at again when it has ended.
	if spent, had := l.spent[id]; busy || had && spent.Equal(r.RunAt) {
		return
	}
	at, free := l.o.Index.Holds().Of(KindReminder, id).dueAt(r)
	if !free {
		l.plan.drop(it.spot())
		return
	}
	if old, planned := l.plan.get(it.spot()); planned && old.at.Equal(at) {
		return // it keeps its place among the late ones
	}
	it.at, it.when = at.Round(0), at.Round(0)
	if it.at.Before(now) {
		it.late, it.when = true, l.nextSlot(now)
	}
	l.plan.put(it)
}

// nextSlot is when the next late task may start.
func (l *Loop) nextSlot(now time.Time) time.Time {
	at := now.Add(lateDelay)
	if next := l.slot.Add(lateSpacing); !l.slot.IsZero() && next.After(at) {
		at = next
	}
	l.slot = at
	return at
}

func (l *Loop) time(sec int64) time.Time { return time.Unix(sec, 0).In(l.o.Zone) }

// lastFires counts the fires from first, which is one, to now: the last, the one
// before it, and how many there are, at most mostMissed.
func lastFires(s cron.Schedule, first, now int64, zone *time.Location) (last, before int64, n int) {
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
	// Too many to count. The last one is found from behind, looking back ever further.
	for back := int64(3600); ; back *= 4 {
		from := max(last, now-back)
		if at := nextFire(s, from, zone); at <= now {
			last, before = at, at
			walk(math.MaxInt)
			return last, before, mostMissed
		}
	}
}
