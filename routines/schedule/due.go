package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"ollimbot/core/base/fault"
	"ollimbot/routines"
	"ollimbot/routines/account"
	"ollimbot/routines/cron"
	"ollimbot/routines/leeway"
)

// Due is one fire.
type Due struct {
	Kind     routines.Kind
	Routine  *routines.Routine  // of KindRoutine
	Reminder *routines.Reminder // of KindReminder
	Early    *routines.Early    // of a reminder: what it sends before it is due; nil at its own time
	At       time.Time          // the scheduled instant, in the configured zone
	own      time.Time          // of a routine: its time before the leeway was applied; zero if that is At
	Late     bool               // it starts well after At, which the agent is told
	Missed   int                // earlier missed fires of the routine that this one replaces, at most 99
	ByHand   bool               // the user fired it, regardless of the schedule
	// Broke is when there will be money for a model again; zero if there is now. Only
	// essential tasks fire without money.
	Broke time.Time
	// Finish uses up a reminder after a run in the conversation, before the run is recorded
	// as ended. If it is not called, that happens when Fire returns. It is nil outside a
	// fire.
	Finish func()
	Ticket string // the reservation made by Purse.Reserve, which the caller of the run settles
}

// Task returns the task that fires.
func (d Due) Task() routines.Task {
	if d.Kind == routines.KindRoutine {
		return d.Routine.Task
	}
	return d.Reminder.Task
}

// Fire identifies the fire: it is the same when the fire is repeated because its run was cut
// off, and empty if the user fired the task, which nothing repeats.
func (d Due) Fire() string {
	if d.ByHand {
		return ""
	}
	return fmt.Sprintf("%s %s %d", d.Kind, d.Task().ID, d.At.UnixNano())
}

// PutOffError is the error of a fire that was put off without a run because no provider
// was reachable.
type PutOffError struct {
	Why   string
	Until time.Time
	// Broke means that a spending cap was reached before the run began: a reminder waits for money,
	// as if the cap had been reached when it was due.
	Broke bool
}

func (p *PutOffError) Error() string { return "put off: " + p.Why }

// ownTime returns the due time before the leeway was applied, by which the account
// identifies it.
func (d Due) ownTime() time.Time {
	if d.own.IsZero() {
		return d.At
	}
	return d.own
}

func (d Due) key() key {
	t := d.Task()
	if d.Early != nil {
		return aheadKey(t.ID)
	}
	return key{t.Kind, t.ID}
}

// key identifies a task: a routine and a reminder may have the same id.
type key struct {
	kind routines.Kind
	id   string
}

func routineKey(id string) key  { return key{routines.KindRoutine, id} }
func reminderKey(id string) key { return key{routines.KindReminder, id} }

// Purse knows the costs of runs and the spending caps. Its methods must be safe for
// concurrent use. Reserve may write a file.
type Purse interface {
	// At returns a function for the cost of a run at a moment, and whether there is money
	// for it.
	At(now time.Time) func(t *routines.Task) Price
	// Reserve sets aside the cost of a run and returns a ticket for it, or else the time
	// until which there is no money. Firm runs always get a ticket.
	Reserve(t routines.Task, now time.Time, firm bool) (ticket string, until time.Time)
}

// Price is the expected cost of a run in dollars. Until is when there is money for it
// again; zero if there is now.
type Price struct {
	Dollars float64
	Until   time.Time
}

// onTime is the largest delay of a fire that counts as on time.
const onTime = 60 * time.Second

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
		case it.kind == aheadKind:
			d, ok = l.dueAhead(it, now)
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
	last, before, n := lastFires(&r.Schedule, it.at.Unix(), now.Unix(), l.zone)
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
		m = missedFire{routine: r, at: at, catchUp: r.RunMissed && now.Sub(at) <= r.Late}
		e.pass(at, outcomeMissed)
		l.teller.missed(r.Task, own)
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
	if l.o.Purse == nil || d.Early != nil { // no model is asked
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

// retryDelay is the pause before retrying a reminder whose run could not be recorded.
const retryDelay = 5 * time.Minute

// errKept keeps a reminder's file unchanged.
var errKept = errors.New("it was moved during its run")

// runner runs one fire in its own goroutine, and reports its end to the loop.
type runner struct {
	work   func(ctx context.Context, d Due) error
	log    *slog.Logger
	clock  func() time.Time
	orders *orders
	files  *taskFiles
}

func (r *runner) run(ctx context.Context, d Due) {
	k := d.key()
	e := ended{fire: d, outcome: outcomeDone}
	finish := sync.OnceFunc(func() {
		if r.orders.keeps(k) {
			return
		}
		if e.retry = !r.finish(d.Reminder); !e.retry {
			e.spent = d.Reminder.RunAt
		}
	})
	uses := d.Kind == routines.KindReminder && d.Early == nil // the file is used up
	if uses {
		d.Finish = finish
	}
	err := r.call(ctx, d)
	var put *PutOffError
	switch {
	case errors.As(err, &put):
		e.outcome, e.why, e.until, err = outcomeHeld, put.Why, put.Until, nil
	case err != nil && ctx.Err() != nil:
		e.outcome = outcomeCutOff
	case errors.Is(err, routines.ErrNothingNew), errors.Is(err, routines.ErrNothingSaid):
		e.outcome, e.why = outcomeNothing, err.Error()
	case errors.Is(err, routines.ErrCutOff):
		e.outcome, e.why = outcomeStopped, account.ByUser
	case err != nil:
		e.outcome, e.why = outcomeFailed, err.Error()
		r.log.Error("task failed", "kind", string(d.Kind), "task", k.id, "title", d.Task().Title(), "error", err)
	}
	switch {
	case !uses, e.outcome == outcomeCutOff:
	case put != nil && put.Broke:
		e.broke = true
	case errors.Is(err, routines.ErrUnrecorded):
		e.retry = true
	default:
		finish()
	}
	r.orders.end(e)
}

// call turns a panic in the work into an error.
func (r *runner) call(ctx context.Context, d Due) (err error) {
	t := d.Task()
	defer fault.Catch(fmt.Sprintf("%s %s", t.Kind, t.ID), &err)
	return r.work(ctx, d)
}

// finishCut uses up reminders that have run. cut are those whose run was in progress when
// the program last ended. If the run is recorded as ended, only the last step was
// missing. For the others, the file could not be removed.
func (l *loop) finishCut(cut map[string]time.Time) {
	for id, since := range cut {
		r, ok := l.set().ReminderByID(id)
		if !ok || since.IsZero() || l.o.Ended == nil || !l.o.Ended(id, r.RunAt, since) {
			continue
		}
		l.o.Log.Info("a reminder whose run had ended is used up", "task", id, "due", r.RunAt)
		l.record.Spent[id] = r.RunAt
	}
	for id, at := range l.record.Spent {
		if r, ok := l.set().ReminderByID(id); !ok || !r.RunAt.Equal(at) || !l.runner.finish(r) {
			delete(l.record.Spent, id)
		}
	}
}

// finish removes a reminder after its run or, if it repeats until done, moves it to the
// next check of its chain. A file that was edited during the run to another time, or is
// now unreadable, stays. An agent's pending edit is removed with its reminder. It returns
// false if the run must be retried.
func (r *runner) finish(ran *routines.Reminder) bool {
	inForce := r.files.inForce(routines.KindReminder, ran.ID)
	_, err := r.files.MoveReminder(ran.ID, func(now routines.Reminder) (routines.Move, error) {
		switch {
		case now.Digest == inForce.Proposed.Version && inForce.Digest == ran.Digest:
			return routines.Move{Gone: true}, nil
		case !now.RunAt.Equal(ran.RunAt):
			return routines.Move{}, errKept
		case !now.UntilDone, now.LastWord:
			return routines.Move{Gone: true}, nil
		}
		to := routines.Move{At: r.clock().Add(time.Duration(now.Again) * time.Minute).Truncate(time.Second), Depth: now.ChainDepth + 1}
		if to.Depth > now.MaxChain { // the answer to the last repetition has the same time
			to.Depth, to.Last = now.ChainDepth, true
		}
		return to, nil
	})
	switch {
	case err == nil, errors.Is(err, errKept), errors.Is(err, routines.ErrNoReminder), errors.Is(err, routines.ErrBroken):
		return true
	case ran.UntilDone:
		r.log.Error("a reminder that is not done could not be moved on; its run is tried again", "file", ran.Path, "error", err)
		return false
	}
	r.log.Error("the file of a reminder that has run could not be removed; it does not fire again",
		"file", ran.Path, "error", err)
	return true
}
