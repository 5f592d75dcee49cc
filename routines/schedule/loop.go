package schedule

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/fault"
	"ollimbot/routines"
	"ollimbot/routines/leeway"
)

// loop fires due tasks. It belongs to the goroutine of Schedule.Run; other goroutines
// leave orders for it and read the state it publishes.
type loop struct {
	o      Options
	zone   *time.Location
	clock  func() time.Time
	holds  *holdStore
	orders *orders
	runner *runner
	known  *atomic.Pointer[outcomes] // the published state
	fires  errgroup.Group

	agenda  agenda
	record  *recorder
	report  report
	teller  teller
	failing []failing // to be reported
	heldTo  time.Time // the minute up to which the due times of current holds are accounted for
	wall    time.Time // the wall clock at the last step
	unset   bool      // the clock has not been set yet
	adrift  bool      // the data directory is missing, so nothing fires until it returns
	holdEnd time.Time // when the next hold ends; zero if none does
	looked  time.Time // when the loop last asked for changed calendars
}

// set returns the tasks in force.
func (l *loop) set() *routines.Set { return l.o.Index.Set() }

// hold returns the current hold of a task.
func (l *loop) hold(t *routines.Task) Hold { return l.holds.now.Load().Of(t) }

// heldAt reports whether a hold keeps the task from firing at now.
func (l *loop) heldAt(t *routines.Task, now time.Time) bool { return !l.hold(t).Ended(now) }

const (
	// lateDelay and lateSpacing keep a backlog from starting in a burst.
	lateDelay   = 5 * time.Second
	lateSpacing = 2 * time.Second
)

// itemKey identifies an item of the agenda. A task has at most one next fire and, with
// catchUp, one late run of a missed routine.
type itemKey struct {
	key
	catchUp bool
}

// item is one upcoming fire.
type item struct {
	itemKey
	at       time.Time // the scheduled instant
	when     time.Time // when to act: at, or later if it queues up
	late     bool      // of a reminder: it was already overdue when planned
	missed   int
	forMoney bool // of a reminder: held until when by a spending cap
}

// compare orders items by when, then by scheduled instant, then by task, so that the
// order is deterministic.
func (it item) compare(o item) int {
	return cmp.Or(it.when.Compare(o.when), it.at.Compare(o.at), cmp.Compare(it.kind, o.kind), cmp.Compare(it.id, o.id))
}

// agenda holds the upcoming fires of the loop.
type agenda struct {
	items map[itemKey]item
	slot  time.Time // when the last late task starts
}

func newAgenda() agenda { return agenda{items: map[itemKey]item{}} }

func (a *agenda) put(it item)    { a.items[it.itemKey] = it }
func (a *agenda) drop(k itemKey) { delete(a.items, k) }

// get returns the item with a key, if it exists.
func (a *agenda) get(k itemKey) (item, bool) {
	it, ok := a.items[k]
	return it, ok
}

// next returns when the first item is due, or zero if there are no items.
func (a *agenda) next() (first time.Time) {
	for _, it := range a.items {
		if first.IsZero() || it.when.Before(first) {
			first = it.when
		}
	}
	return first
}

// filter returns the wanted items in order.
func (a *agenda) filter(wanted func(item) bool) (list []item) {
	for _, it := range a.items {
		if wanted(it) {
			list = append(list, it)
		}
	}
	slices.SortFunc(list, item.compare)
	return list
}

// nextSlot returns when the next late task may start.
func (a *agenda) nextSlot(now time.Time) time.Time {
	at := now.Add(lateDelay)
	if next := a.slot.Add(lateSpacing); !a.slot.IsZero() && next.After(at) {
		at = next
	}
	a.slot = at
	return at
}

// longestSleep bounds every sleep: a timer stops while the machine is suspended, so the
// wall clock is checked this often.
const longestSleep = 30 * time.Second

// run fires tasks until ctx ends, waits for every fire, and saves the record.
func (l *loop) run(ctx context.Context) {
	l.untilDone(ctx)
	l.orders.setOpen(false)
	_ = l.fires.Wait() // every error was already logged
	now := l.clock()
	l.noteEnded(l.orders.drain().ended, now)
	l.record.save()
	l.teller.write(now)
}

func (l *loop) untilDone(ctx context.Context) {
	l.begin(l.clock())
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-l.orders.wake:
		}
		if ctx.Err() != nil {
			return // both were ready; start nothing new
		}
		l.step(ctx, l.clock())
		timer.Reset(l.sleep(l.clock()))
	}
}

// sleep returns the time until something is due, at most longestSleep.
func (l *loop) sleep(now time.Time) time.Duration {
	d := longestSleep
	times := []time.Time{l.record.saveAt, l.holdEnd}
	if !l.unset && !l.adrift {
		times = append(times, l.agenda.next())
	}
	for _, at := range times {
		if !at.IsZero() {
			d = min(d, at.Sub(now))
		}
	}
	return max(d, 0)
}

// step processes everything that is due at now. The record is saved before the fires
// start: a crash in between can lose a run but never repeat one.
func (l *loop) step(ctx context.Context, now time.Time) {
	l.teller.gone = l.adrift
	l.judgeClock(now)
	in := l.orders.drain()
	l.takeOrders(in, now)
	start := in.fire
	l.adrift = l.o.Dir.Present() != nil
	if !l.unset && !l.adrift {
		l.accountHolds(now)
		start = append(start, l.due(now)...)
	}
	held := l.reviewHolds(now)
	if len(start) > 0 || len(held) > 0 || l.record.due(now) {
		l.record.save()
	}
	l.keepHolds(held)
	l.report.changed = l.report.changed || len(start) > 0
	if !l.unset && (l.report.changed || !l.record.saveAt.IsZero()) {
		l.known.Store(l.record.outcomesSince(now, now.Add(-knownFor)))
	}
	for _, d := range start {
		l.accountStart(d)
	}
	l.teller.write(now)
	for _, d := range start {
		l.fires.Go(func() error { l.runner.run(ctx, d); return nil })
	}
	reportFailing(ctx, l.o.Failing, l.fires.Go, l.failing)
	l.failing = nil
	l.lookAtCalendars(now)
	l.report.deliver(l.o)
	for _, done := range in.asked {
		close(done)
	}
}

// calendarsEvery is how often the files of calendars are checked.
const calendarsEvery = time.Minute

// lookAtCalendars reads changed calendars in the background.
func (l *loop) lookAtCalendars(now time.Time) {
	if !l.set().Calendars || now.Sub(l.looked).Abs() < calendarsEvery {
		return
	}
	l.looked = now
	l.fires.Go(fault.Guard("the calendars of tasks", func() error {
		if c := l.o.Index.LookAtCalendars(); !c.Empty() {
			l.orders.change(c)
		}
		return nil
	}))
}

// takeOrders updates the agenda with the orders of other goroutines.
func (l *loop) takeOrders(in batch, now time.Time) {
	l.noteEnded(in.ended, now)
	for _, k := range in.kept {
		if _, runs := l.record.Reminders[k.id]; runs {
			l.record.Reminders[k.id] = time.Time{}
			l.record.saveAt = now
		}
	}
	for id := range in.changed {
		l.sync(id, now)
	}
	if in.problems {
		l.report.problems(l.set())
		l.noteContested(now)
	}
	for i, d := range in.fire {
		in.fire[i].Ticket, _ = l.reserve(d, now, true) // the user asked for it
		if d.Kind == routines.KindReminder {           // early, but not twice
			l.record.start(d, now, l.orders.keeps(d.key()))
			l.agenda.drop(itemKey{key: d.key()})
		}
	}
	if in.money {
		l.reviewMoney(now)
	}
}

// noteEnded records the ends of runs.
func (l *loop) noteEnded(list []ended, now time.Time) {
	for _, e := range list {
		l.report.changed = true
		l.accountEnd(e)
		k := e.fire.key()
		if k.kind == routines.KindRoutine {
			if r, ok := l.record.Routines[k.id]; ok && r.LastFire.Equal(e.fire.At) {
				r.Outcome = e.outcome
				l.record.saveSoon(now)
				l.countFailure(r, e, now)
			}
			continue
		}
		if k.kind == aheadKind {
			l.endAhead(e, now)
			continue
		}
		if e.outcome == outcomeCutOff {
			continue // the next start checks whether the run had ended
		}
		delete(l.record.Reminders, k.id)
		l.record.saveSoon(now)
		if !e.spent.IsZero() {
			l.record.Spent[k.id] = e.spent
		}
		l.syncReminder(k.id, now)
		if _, known := l.set().ReminderByID(k.id); e.broke && known {
			l.agenda.put(item{itemKey: itemKey{key: k}, at: e.fire.At, when: e.until, late: true, forMoney: true})
			continue
		}
		if it, planned := l.agenda.get(itemKey{key: k}); e.retry && planned && it.when.Before(now.Add(retryDelay)) {
			it.late, it.when = true, now.Add(retryDelay)
			l.agenda.put(it)
		}
	}
}

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
	l.cutAhead()
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
	rule := r.Schedule.String()
	if e.Waits && !waits && e.Cron == rule && !away {
		l.accountHeld(r, Hold{Why: TagWaits}, now)
	}
	if e.Cron != rule || away || e.Waits && !waits {
		e.forgive(now.Add(-grace).Truncate(time.Second))
		delete(l.record.Moments, chosenKey(at.key))
		l.agenda.drop(catchUp)
	}
	e.Cron, e.Removed, e.Waits = rule, time.Time{}, waits
	if _, planned := l.agenda.get(catchUp); !e.Late.IsZero() {
		age := now.Sub(e.Late)
		switch {
		case l.heldAt(&r.Task, now):
			e.Late = time.Time{}
			l.agenda.drop(catchUp)
		case planned:
		case !r.RunMissed || age > r.Late || age < 0:
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
	next := nextFire(&r.Schedule, after.Unix()+1, l.zone)
	if next != never && ahead > maxRewind && next == e.LastFire.Unix() {
		next = nextFire(&r.Schedule, next+1, l.zone)
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
	l.syncAhead(id, now)
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
