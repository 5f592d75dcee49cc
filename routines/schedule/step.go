package schedule

import (
	"context"
	"time"

	"ollimbot/routines"
)

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
	l.report.deliver(l.o)
	for _, done := range in.asked {
		close(done)
	}
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
