// Package fork runs background tasks: the queue of runs, each run's life from its prompt
// to its ledger line, what a run may send and must report, and its tail. It must not know
// schedules, dashboards, surfaces or any particular engine.
//
// Manager owns the queue. A run has a status (shown to others), tools (called by the
// agent) and a talk (the session with the engine), none of which knows the run.
package fork

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"ollimbot/core/base/tail"
	"ollimbot/routines"
)

const (
	// keptRuns is the number of finished runs kept in memory with their tails, of ringLines
	// lines each.
	keptRuns  = 20
	ringLines = 10_000
	// ratedRuns is the number of runs from before the restart used for the rates.
	ratedRuns = 1000
	// grace is how long an interrupted run may take to end before it is killed. partingGrace
	// is the same at the end of the program, which takes ten seconds in all. Runs are then
	// interrupted at once, because they could not ping any more.
	grace        = 10 * time.Second
	partingGrace = 4 * time.Second
	// lookAgain is how often the head of the queue checks whether the limit has grown.
	lookAgain = 5 * time.Second

	defaultRunning = 4
	defaultTimeout = 30 * time.Minute
)

// ErrStopping is returned by Do if the manager stops before the run has ended.
var ErrStopping = errors.New("the bot is stopping")

// Manager runs jobs, a few at a time, first come first served.
type Manager struct {
	o Options
	// stop is closed when Run's context ends.
	stop chan struct{}
	// live counts the runs that have started and not yet ended.
	live sync.WaitGroup

	mu sync.Mutex
	// waiting is the queue; running is in order of start, finished is newest first.
	waiting, running, finished []*run
	// past are runs from before the restart, newest first.
	past []View
	// used are the reminder runs that had already ended when the program started.
	used []View
	// day are the runs that have ended within the last day, oldest first. Slices handed out
	// are never modified.
	day               []View
	rates             map[string]Rate // by task, over all known ended runs
	serving, stopping bool

	*failures
}

// NewManager reads the ledger of earlier runs. It starts and writes nothing: runs start
// once Run serves the queue.
func NewManager(o Options) (*Manager, error) {
	if o.Idle == nil {
		o.Idle = func() {}
	}
	m := &Manager{o: o, stop: make(chan struct{})}
	m.failures = &failures{o: &m.o}
	past, err := Ledger(o.Dir, ratedRuns)
	if err != nil {
		return nil, err
	}
	past = slices.DeleteFunc(past, func(v View) bool { return v.State == NothingNew })
	m.rates = Rates(past)
	for i := range past {
		past[i] = inZone(past[i], m.o.Zone)
		if v := past[i]; !v.Due.IsZero() && v.State.ended() {
			m.used = append(m.used, v)
		}
	}
	for _, v := range slices.Backward(past) {
		m.keepDay(v)
	}
	m.past = slices.Clone(past[:min(len(past), keptRuns)])
	return m, nil
}

// UsedUp reports whether a run of a reminder due at due, queued at or after since, ended
// before the restart. It must not be repeated, however it ended. An interrupted run is
// repeated.
func (m *Manager) UsedUp(reminder string, due, since time.Time) bool {
	return slices.ContainsFunc(m.used, func(v View) bool {
		return v.TaskID == reminder && v.Due.Equal(due) && !v.Queued.Before(since)
	})
}

// Run serves the queue until ctx ends. Then queued runs are dropped, running ones are
// interrupted at once and, after partingGrace, closed. Run returns when all have ended.
// It must be called once.
func (m *Manager) Run(ctx context.Context) error {
	m.closeOpen()
	m.recall()
	m.mu.Lock()
	m.serving = true
	m.dispatch()
	m.mu.Unlock()
	<-ctx.Done()
	m.mu.Lock()
	m.stopping = true
	close(m.stop)
	m.mu.Unlock()
	m.live.Wait()
	return nil
}

// closeOpen marks runs without an end line as interrupted. It also keeps the ledger and
// the tail files small.
func (m *Manager) closeOpen() {
	open, err := cutOff(m.o.Dir)
	if err != nil {
		m.o.Log.Warn("interrupted runs could not be looked up", "error", err)
	}
	for _, v := range open {
		v = inZone(v, m.o.Zone)
		v.State, v.Ended, v.Error = Interrupted, m.o.now(), textProgramEnded
		if m.o.Money != nil { // what it had finished is in the ledger
			v.Usage = m.o.Money.Run(v.ID).Used()
		}
		if err := appendLedger(m.o.Dir, v); err != nil {
			m.o.Log.Warn("ledger line was not written", "run", v.ID, "error", err)
		}
		m.mu.Lock()
		m.keepDay(v)
		if i := slices.IndexFunc(m.past, func(p View) bool { return p.ID == v.ID }); i >= 0 {
			m.past = slices.Clone(m.past) // Views reads its copy of the list without the lock
			m.past[i] = v
		}
		m.mu.Unlock()
	}
	prune(m.o.Dir, m.o.Log)
}

// Do queues a job and waits for its end. A run that timed out or was stopped by the user
// is not an error. A failed run is, and so is the end of the program (ErrStopping). The
// View has the outcome.
func (m *Manager) Do(ctx context.Context, j Job) (View, error) {
	r, err := m.enqueue(j)
	if err != nil {
		return View{}, err
	}
	if !m.await(ctx, r) {
		v := r.status.snapshot()
		if v.State == Stopped {
			return v, nil
		}
		return v, ErrStopping
	}
	if err := m.afford(ctx, r); err != nil {
		v := r.status.snapshot()
		if v.State == Stopped && errors.Is(err, ErrStopping) { // by the user
			return v, nil
		}
		return v, err
	}
	func() {
		defer m.finish(r) // even after a panic, so that the next run gets its place
		r.execute(ctx)
	}()
	v := r.status.snapshot()
	switch v.State {
	case Failed:
		err := errors.New(v.Error)
		if r.unrecorded {
			err = fmt.Errorf("%w; %w", err, routines.ErrUnrecorded)
		}
		return v, err
	case Interrupted:
		return v, ErrStopping
	}
	return v, nil
}

func (m *Manager) enqueue(j Job) (*run, error) {
	r := newRun(&m.o, j, m.stop)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopping {
		return nil, ErrStopping
	}
	m.waiting = append(m.waiting, r)
	m.dispatch()
	m.o.Changed()
	return r, nil
}

// await blocks until it is the run's turn. It returns false if the run was dropped.
func (m *Manager) await(ctx context.Context, r *run) bool {
	timer := time.NewTimer(lookAgain)
	defer timer.Stop()
	for {
		select {
		case <-r.start:
			return true
		case <-ctx.Done():
			return !m.drop(r, Interrupted)
		case <-m.stop:
			return !m.drop(r, Interrupted)
		case <-r.stopped:
			return !m.drop(r, Stopped)
		case <-timer.C:
			m.mu.Lock()
			m.dispatch()
			m.mu.Unlock()
			timer.Reset(lookAgain)
		}
	}
}

// dispatch starts queued runs while there is room, and at once those that ask no model. mu must be held.
func (m *Manager) dispatch() {
	if !m.serving || m.stopping || len(m.waiting) == 0 {
		return
	}
	limit := m.limit()
	m.waiting = slices.DeleteFunc(m.waiting, func(r *run) bool {
		if len(m.running) >= limit && r.job.Said == nil {
			return false
		}
		m.running = append(m.running, r)
		m.live.Add(1)
		close(r.start)
		return true
	})
}

// limit is the maximum number of concurrent runs.
func (m *Manager) limit() int {
	if n := m.o.Host.Limits().MaxRunning; n > 0 {
		return n
	}
	return defaultRunning
}

// drop removes a run from the queue, or returns false if it has already started. A run
// stopped by the user is kept among the finished ones.
func (m *Manager) drop(r *run, s State) bool {
	m.mu.Lock()
	i := slices.Index(m.waiting, r)
	if i >= 0 {
		m.waiting = slices.Delete(m.waiting, i, i+1)
	}
	m.mu.Unlock()
	if i < 0 {
		return false
	}
	r.conclude(s, "")
	if s == Stopped {
		m.archive(r)
	}
	m.o.Changed()
	return true
}

// NoMoneyError means that a run whose turn had come was not begun, because of a spending cap.
type NoMoneyError struct {
	Why   string
	Until time.Time // when there will be money
}

func (e *NoMoneyError) Error() string { return e.Why }

// asideAgain is how often a run looks whether money that is set aside for others has become free.
const asideAgain = time.Second

// afford asks for the money of a run whose turn has come. It waits while others have set aside what
// is left. An error means that the run has not begun and its place is free again.
func (m *Manager) afford(ctx context.Context, r *run) error {
	if m.o.Money == nil || r.job.Said != nil {
		return nil
	}
	for told := false; ; told = true {
		until, wait, err := m.o.Money.Start(m.o.now(), r.job.Ticket, r.id)
		if err != nil {
			m.o.Log.Error("what is set aside for a run could not be saved", "run", r.id, "error", err)
		}
		why := m.o.Money.State(m.o.now()).Reached()
		switch {
		case !until.IsZero() && r.job.Task.Essential:
			r.job.Plain = cmp.Or(why, textNoMoney)
			return nil
		case !until.IsZero():
			m.leave(r, Stopped)
			return &NoMoneyError{Why: cmp.Or(why, textNoMoney), Until: until}
		case !wait:
			r.status.update(func(v *View) { v.Aside = false })
			return nil
		}
		if !told {
			r.status.update(func(v *View) { v.Aside = true })
			r.status.line(tail.Note, textAside)
		}
		select {
		case <-time.After(asideAgain):
		case <-r.stopped:
			m.archive(m.leave(r, Stopped))
			return ErrStopping
		case <-ctx.Done():
			m.leave(r, Interrupted)
			return ErrStopping
		case <-m.stop:
			m.leave(r, Interrupted)
			return ErrStopping
		}
	}
}

// leave ends a run that has not begun, and frees its place.
func (m *Manager) leave(r *run, s State) *run {
	r.conclude(s, "")
	m.free(r)
	return r
}

// finish archives a run and starts the next one.
func (m *Manager) finish(r *run) {
	m.archive(r)
	m.add(r.status.snapshot())
	m.free(r)
}

// free starts the next run in a run's place.
func (m *Manager) free(r *run) {
	m.mu.Lock()
	m.running = slices.DeleteFunc(m.running, func(x *run) bool { return x == r })
	m.dispatch()
	idle := len(m.running) == 0 && len(m.waiting) == 0
	m.mu.Unlock()
	prune(m.o.Dir, m.o.Log)
	m.o.Changed()
	if idle {
		m.o.Idle()
	}
	m.live.Done()
}

func (m *Manager) archive(r *run) {
	v := r.status.snapshot()
	if v.State == Interrupted && v.Delivery != r.job.Delivery { // it has not begun, and will be another run
		return
	}
	if err := appendLedger(m.o.Dir, v); err != nil {
		r.unrecorded = true
		m.o.Log.Warn("ledger line was not written", "run", r.id, "error", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keepDay(v)
	m.finished = slices.Insert(m.finished, 0, r)
	m.finished = m.finished[:min(len(m.finished), keptRuns)]
	count(m.rates, v)
}

// Put shows a run that is managed elsewhere, replacing its previous view. A run that has
// ended is added to the ledger.
func (m *Manager) Put(v View) error {
	v = inZone(v, m.o.Zone)
	if v.State == NothingNew { // only in the ledger; in memory it would push out runs that did something
		m.o.Changed()
		return appendLedger(m.o.Dir, v)
	}
	m.mu.Lock()
	past := slices.DeleteFunc(slices.Clone(m.past), func(p View) bool { return p.ID == v.ID })
	m.past = slices.Insert(past, 0, v)
	if !v.Live() {
		m.keepDay(v)
		count(m.rates, v)
	}
	m.mu.Unlock()
	m.o.Changed()
	if v.Live() {
		return nil
	}
	return appendLedger(m.o.Dir, v)
}

// keepDay adds an ended run to those of the last day. mu must be held.
func (m *Manager) keepDay(v View) {
	since := m.o.now().Add(-oneDay)
	if v.Live() || v.Ended.Before(since) {
		return
	}
	for len(m.day) > 0 && m.day[0].Ended.Before(since) {
		m.day = m.day[1:]
	}
	m.day = append(m.day, v)
}
