// Package schedule owns when tasks fire: the schedule ahead, the holds that keep a task
// from firing, missed fires, and the loop that fires tasks. Its files are in the data
// directory, next to the task files of package routines. It must not know agents, budgets
// or screens: Options has the function that carries out a fire.
//
// # The loop
//
// A timer does not advance while a machine is suspended. One goroutine wakes at least
// every 30 seconds and compares the wall clock. It catches up after a suspend, and a
// clock that is set back does not fire the same moment twice. A fire is recorded before
// it starts and its outcome afterwards, so a restart neither loses a run nor repeats one
// that has ended. For a reminder whose run was in progress at the end, the record of runs
// says whether it had ended (Options.Ended).
//
// # Reminders that repeat until done
//
// After the run of such a reminder, its file gets the next run-at instead of being
// removed. A repetition is therefore an ordinary reminder, with all rules for holds,
// misses and edits. After the last repetition it is due once more, without a run, for a
// final notice. An answer changes the same file under the same lock, and a run that ends
// uses the current content of the file. The number of repetitions is in the journal of
// pings.
package schedule

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/storage/store"
	"ollimbot/core/storage/trash"
	"ollimbot/routines"
	"ollimbot/routines/account"
	"ollimbot/routines/leeway"
	"ollimbot/routines/watch"
)

// Options configure a schedule. The fields after Zone are needed only to run it.
type Options struct {
	Dir   *store.Dir
	Index *routines.Index
	Zone  *time.Location
	Log   *slog.Logger
	// Fire runs a task to its end. Each call has its own goroutine and should return soon
	// after ctx ends. The loop logs its error.
	Fire func(ctx context.Context, d Due) error
	// Ended reports whether the run of a reminder due at runAt, started at or after since,
	// finished. The schedule asks after a restart about runs that were still in progress.
	// May be nil.
	Ended func(id string, runAt, since time.Time) bool
	// Note receives messages for the main session and the user: missed or skipped fires and
	// files that are not in force. The loop calls it after starting the current fires. It
	// may write a file.
	Note func(text string)
	// Troubles receives the errors in the files of a kind whenever they change. words
	// returns the message, or "", given whether the previous one is still unread and so will
	// be replaced.
	Troubles func(kind routines.Kind, words func(unread bool) string)
	// Failing is called once, in its own goroutine, when a routine has failed mostFailures
	// times in a row. why is the last error, and paused is false for critical and essential
	// routines, which are not paused. If nil, routines may fail forever.
	Failing func(ctx context.Context, t routines.Task, why string, paused bool)
	// Inherit transfers the rights of a moved reminder's previous file, whose digest is old,
	// to the new one. An error prevents the move.
	Inherit func(old, rel string, data []byte) error
	// Facts returns when the user is usually active and when they are busy, from a moment
	// until the end of a window. The loop calls it, so it must not block. May be nil.
	Facts func(now, until time.Time) leeway.Facts
	// Purse knows the costs of runs; nil if nothing costs anything.
	Purse Purse
	// Changed is called when scheduled or running tasks have changed. It must not block.
	Changed func()
	Commits Commits // may be nil
}

// Schedule computes when tasks fire, and fires them while it runs. Create it with New and
// run it at most once. Its methods are safe for concurrent use.
//
// Only the wall clock counts. A fire that starts at most 60 s late is on time, whatever
// caused the delay. Anything later was missed: a routine is reported once (and runs once,
// late, with `missed: run`), a reminder runs late.
//
// If the clock is set back, no instant that has fired fires again, so a routine stays
// silent until the clock passes its last fire. If that would take more than 3 h (the same
// limit as in Vixie cron), the clock must have been wrong before: the routine continues
// from the new time at once, and only its very last instant is not repeated. A clock
// before 1990 has not been set yet: nothing fires until it is, and then everything
// continues as after a start. A leap forward by more than a year also counts as a
// correction, not as a year of missed routines.
type Schedule struct {
	*taskFiles
	o      Options
	orders *orders
	holds  holdStore
	known  atomic.Pointer[outcomes] // published by the loop; nil if no bot ever ran here
	purse  atomic.Uint64            // counts changes of the money
	// now is time.Now. It is a field because the clock in a testing/synctest bubble only
	// moves forward, in step with the timers. Tests of clock changes and suspended machines
	// need a clock that jumps.
	now func() time.Time

	viewing sync.Mutex // guards the fields below
	viewed  viewKey
	view    View
}

// viewKey is everything that a cached view depends on.
type viewKey struct {
	set    *routines.Set
	holds  *Holds
	known  *outcomes
	purse  uint64
	minute time.Time
}

// New creates a schedule. It can be read once its index has been scanned, and fires
// nothing until Run.
func New(o Options) *Schedule {
	s := &Schedule{o: o, orders: newOrders(), now: time.Now}
	s.taskFiles = &taskFiles{
		dir: o.Dir, index: o.Index, zone: o.Zone, clock: s.clock, orders: s.orders, inherit: o.Inherit, commits: o.Commits,
	}
	s.holds.peek(o.Dir)
	r, found := peekRecord(o.Dir)
	o.Index.Prefer(r.InForce)
	if found {
		s.known.Store(r.outcomesSince(time.Now(), time.Time{}))
	}
	return s
}

// Files returns the tasks that a bot would have in force in a data directory.
func Files(d *store.Dir, zone *time.Location) *routines.Set {
	s := New(Options{Dir: d, Zone: zone, Index: routines.NewIndex(d, zone)})
	s.index.Scan()
	return s.Set()
}

// Set returns the tasks in force.
func (s *Schedule) Set() *routines.Set { return s.index.Set() }

// Run fires due tasks until ctx ends, and returns when every Fire has returned. Errors of
// fires are only logged, so it always returns nil.
func (s *Schedule) Run(ctx context.Context) error {
	s.orders.setOpen(true)
	s.newLoop().run(ctx)
	return nil
}

func (s *Schedule) newLoop() *loop {
	return &loop{
		o: s.o, zone: s.o.Zone, clock: s.clock, holds: &s.holds, orders: s.orders, known: &s.known,
		runner: &runner{work: s.o.Fire, log: s.o.Log, clock: s.clock, orders: s.orders, files: s.taskFiles},
		agenda: newAgenda(), record: newRecorder(s.o.Dir, s.o.Log), teller: teller{book: account.New(s.o.Dir), log: s.o.Log, zone: s.o.Zone},
	}
}

// clock returns the wall clock time. Round strips the monotonic reading, which ignores
// suspension and clock changes.
func (s *Schedule) clock() time.Time { return s.now().Round(0).In(s.o.Zone) }

// Apply reads the files named in a batch from the watcher.
func (s *Schedule) Apply(b watch.Batch) { s.orders.change(s.index.Apply(b)) }

// Refresh reads the named files.
func (s *Schedule) Refresh(names ...string) { s.refresh(names...) }

// Judge decides again for every task whether it needs approval.
func (s *Schedule) Judge() { s.orders.change(s.index.Judge()) }

// MoneyChanged reports that the available money may have changed.
func (s *Schedule) MoneyChanged() {
	s.purse.Add(1)
	s.orders.add(func(b *batch) { b.money = true })
}

// FireNow fires a task at once, in addition to its schedule. A reminder is removed after
// its run as always, but one that repeats until done keeps its time and its repetitions.
// It fails if there is no such task, if the task needs approval or is running, or if the
// schedule is not running.
func (s *Schedule) FireNow(id string) error { return s.fireNow(id, false) }

// FireBeside is FireNow, but a reminder is kept and fires again at its time.
func (s *Schedule) FireBeside(id string) error { return s.fireNow(id, true) }

func (s *Schedule) fireNow(id string, keep bool) error {
	d, ok := s.DueAt(id, s.clock())
	if !ok {
		return fmt.Errorf(msgUnknown, id)
	}
	if t := d.Task(); t.Waits != "" {
		return fmt.Errorf(msgWaits, t.Title(), t.Waits)
	}
	d.ByHand = true
	return s.orders.fire(d, keep || d.Reminder != nil && d.Reminder.UntilDone)
}

// Keep preserves a reminder's file after its current run, so that it fires again at its
// time. It returns false if the reminder is not running.
func (s *Schedule) Keep(id string) bool { return s.orders.keep(reminderKey(id)) }

// Alive waits until the loop has made a step in response, or returns ctx's error. A loop
// that is not running makes no steps.
func (s *Schedule) Alive(ctx context.Context) error {
	done := make(chan struct{})
	s.orders.add(func(b *batch) { b.asked = append(b.asked, done) })
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Holds returns the current holds.
func (s *Schedule) Holds() *Holds { return s.holds.now.Load() }

// Hold keeps a task from firing, or resumes it with the zero Hold. It returns the
// previously active hold, or the zero Hold. If a routine and a reminder share the id, it
// applies to the routine. Fires of a held routine do not count as missed; a reminder
// fires at the end of its snooze. FireNow fires held tasks too. If no bot is running, the
// file is changed for the next start. It fails if there is no such task, the time is in
// the past, the file cannot be written, or another program runs the schedule.
func (s *Schedule) Hold(id string, h Hold) (before Hold, err error) {
	t, ok := s.Set().Find(id)
	if !ok {
		return Hold{}, fmt.Errorf(msgUnknown, id)
	}
	now, k := s.clock(), key{t.Kind, id}
	if open, ran := s.orders.state(); !open {
		if _, running := s.o.Dir.Running(); running || ran {
			return Hold{}, errors.New(msgClosed)
		}
		if err := s.holds.read(s.o.Dir); err != nil { // not loaded yet, because no loop runs
			return Hold{}, err
		}
	}
	if !h.Until.IsZero() {
		h.Until = h.Until.Round(0).Truncate(time.Second).In(s.o.Zone)
		if !h.Paused && h.Ended(now) {
			return Hold{}, fmt.Errorf(msgHoldPassed, dueWords(h.Until, now))
		}
	}
	err = s.holds.change(s.o.Dir, false, func(all map[key]held) { before = replaceHold(all, k, h, now) })
	if err != nil {
		return Hold{}, fmt.Errorf("hold %s %s: %w", k.kind, id, err)
	}
	s.orders.change(routines.Change{IDs: []string{id}})
	return before, nil
}

// Plan returns the schedule as of now.
func (s *Schedule) Plan(now time.Time) *Plan {
	p := &Plan{Now: now.In(s.o.Zone), Set: s.Set(), Holds: s.Holds(), known: s.known.Load()}
	if s.o.Purse != nil {
		p.Price = s.o.Purse.At(now)
	}
	return p
}

// View returns the schedule for people. The view of the current minute is cached.
func (s *Schedule) View(now time.Time) View {
	s.viewing.Lock()
	defer s.viewing.Unlock()
	wanted := viewKey{s.Set(), s.Holds(), s.known.Load(), s.purse.Load(), now.Truncate(time.Minute)}
	if s.viewed != wanted {
		s.viewed, s.view = wanted, s.Plan(now).View()
	}
	return s.view
}

// Forward returns the schedule for an agent; see Plan.Forward.
func (s *Schedule) Forward(now time.Time, current string) Forward {
	return s.Plan(now).Forward(current)
}

// NextOf returns the next n fires of a task; see Plan.NextOf.
func (s *Schedule) NextOf(id string, now time.Time, n int) []Entry { return s.Plan(now).NextOf(id, n) }

// DueAt returns a fire of a task that starts at now; see Plan.Due.
func (s *Schedule) DueAt(id string, now time.Time) (Due, bool) { return s.Plan(now).Due(id) }

// taskFiles changes task files: it commits each change and notifies the loop.
type taskFiles struct {
	dir     *store.Dir
	index   *routines.Index
	zone    *time.Location
	clock   func() time.Time
	orders  *orders
	inherit func(old, rel string, data []byte) error
	commits Commits // may be nil
}

// Commits is notified of every file that was written or removed.
type Commits interface {
	Add(rel, message string)
	Remove(rel, message string)
}

// The errors of Withdraw.
var (
	ErrGone   = errors.New("the file has already been removed")
	ErrEdited = errors.New("the file has been edited since")
)

// AddRoutine writes the file of a new routine and schedules it; see routines.AddRoutine.
func (f *taskFiles) AddRoutine(r routines.Routine, before ...routines.Before) (routines.Routine, error) {
	r, err := routines.AddRoutine(f.dir, r, before...)
	if err == nil {
		f.written(r.Task, "add")
	}
	return r, err
}

// AddStarters installs the starter routines; see routines.AddStarters.
func (f *taskFiles) AddStarters() ([]routines.Routine, error) {
	added, err := routines.AddStarters(f.dir, f.index.Set())
	for _, r := range added {
		f.written(r.Task, "add")
	}
	return added, err
}

// AddReminder is AddRoutine for reminders.
func (f *taskFiles) AddReminder(r routines.Reminder, before ...routines.Before) (routines.Reminder, error) {
	r, err := routines.AddReminder(f.dir, r, before...)
	if err == nil {
		f.written(r.Task, "add")
	}
	return r, err
}

// Remove removes the file of a task, the one in force if several have its id; see
// routines.RemoveTask.
func (f *taskFiles) Remove(kind routines.Kind, id string) (rel string, found bool, err error) {
	rel, found, err = routines.RemoveTask(f.dir, kind, id, f.inForce(kind, id))
	if err == nil && found {
		f.removed(rel, kind, id)
	}
	return rel, found, err
}

// Withdraw removes the file of a task if it still has the given version, and returns the
// task. Errors: ErrGone, ErrEdited.
func (f *taskFiles) Withdraw(id, version string) (routines.Task, error) {
	t, ok := f.index.Set().Find(id)
	if !ok {
		return t, ErrGone
	}
	folder, err := routines.FolderOf(t.Kind)
	if err != nil {
		return t, err
	}
	err = f.dir.WithLock(folder, func() error {
		data, err := f.dir.Read(t.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return ErrGone
		case err != nil:
			return err
		case routines.Digest(data) != version:
			return ErrEdited
		}
		return trash.Put(f.dir, f.clock(), t.Path)
	})
	if err == nil {
		f.removed(t.Path, t.Kind, id)
	}
	return t, err
}

// Restore restores the file of a task that was removed within the last day; see
// routines.RestoreTask.
func (f *taskFiles) Restore(id string) (routines.Task, error) {
	t, err := routines.RestoreTask(f.dir, f.clock(), id)
	if err == nil {
		f.written(t, "restore")
	}
	return t, err
}

func (f *taskFiles) written(t routines.Task, done string) {
	if f.commits != nil {
		f.commits.Add(t.Path, fmt.Sprintf("%s %s %s", done, t.Kind, t.ID))
	}
	f.refresh(t.Path)
}

func (f *taskFiles) removed(rel string, kind routines.Kind, id string) {
	if f.commits != nil {
		f.commits.Remove(rel, fmt.Sprintf("remove %s %s", kind, id))
	}
	f.refresh(rel)
}

// Edit changes the file of a task and returns its previous content; see routines.EditTask.
func (f *taskFiles) Edit(t routines.Task, version string, zone *time.Location, e routines.Edit) (before []byte, err error) {
	before, err = routines.EditTask(f.dir, t, version, zone, e)
	if err == nil {
		f.written(t, "change")
	}
	return before, err
}

// Revert writes the previous content of a task's file; see routines.RevertTask.
func (f *taskFiles) Revert(t routines.Task, version string, file []byte) (before []byte, err error) {
	before, err = routines.RevertTask(f.dir, t, version, file)
	if err == nil {
		f.written(t, "change")
	}
	return before, err
}

// Refuse overwrites the proposal in a task's file with the text in force; see
// routines.RefuseProposal.
func (f *taskFiles) Refuse(t routines.Task) (refused []byte, err error) {
	refused, err = routines.RefuseProposal(f.dir, f.clock(), t)
	if err == nil {
		f.written(t, "restore")
	}
	return refused, err
}

// MoveReminder changes when a pending reminder is due, or removes it; see routines.Mover.
func (f *taskFiles) MoveReminder(id string, next func(routines.Reminder) (routines.Move, error)) (routines.Reminder, error) {
	m := routines.Mover{Dir: f.dir, Zone: f.zone, Inherit: f.inherit}
	gone := false
	// The file may have been renamed during the reminder's run.
	r, err := m.Move(f.clock(), id, f.inForce(routines.KindReminder, id), func(r routines.Reminder) (routines.Move, error) {
		to, err := next(r)
		gone = to.Gone
		return to, err
	})
	switch {
	case err != nil:
	case gone:
		f.removed(r.Path, r.Kind, id)
	default:
		f.written(r.Task, "move")
	}
	return r, err
}

// inForce returns the task of a kind with an id, or the zero Task if none is in force.
func (f *taskFiles) inForce(kind routines.Kind, id string) routines.Task {
	if kind == routines.KindReminder {
		if r, ok := f.index.Set().ReminderByID(id); ok {
			return r.Task
		}
	} else if r, ok := f.index.Set().RoutineByID(id); ok {
		return r.Task
	}
	return routines.Task{}
}

// refresh rereads the named files.
func (f *taskFiles) refresh(names ...string) { f.orders.change(f.index.Refresh(names)) }
