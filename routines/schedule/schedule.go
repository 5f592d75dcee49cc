package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/storage/store"
	"ollimbot/routines"
	"ollimbot/routines/account"
	"ollimbot/routines/leeway"
	"ollimbot/routines/watch"
)

// Options are what a schedule needs. Those after Zone are for one that runs.
type Options struct {
	Dir   *store.Dir
	Index *routines.Index
	Zone  *time.Location
	Log   *slog.Logger
	// Fire runs a task to its end. It is called in a goroutine of its own and
	// should return soon after ctx has ended. Its error is logged by the loop.
	Fire func(ctx context.Context, d Due) error
	// Ended reports whether a run of a reminder for its time runAt, begun at since or
	// later, stands as ended in the record of runs. It is asked at a start about runs that
	// were under way when the program before ended; nil knows of none.
	Ended func(id string, runAt, since time.Time) bool
	// Note takes a message for the main session and the user: what was missed or
	// skipped, files that are not in force. It is called from the loop, after the
	// current fires have started; it may write a file.
	Note func(text string)
	// Troubles takes the errors in the files of a kind whenever they have changed: words
	// returns the message, which replaces the last one if that is still unread, or "".
	Troubles func(kind routines.Kind, words func(unread bool) string)
	// Failing is told once of a routine that has failed mostFailures times in a row, and is
	// paused unless it is critical or essential, with the last error. It is called in a goroutine of its
	// own; nil lets routines fail for ever.
	Failing func(ctx context.Context, t routines.Task, why string, paused bool)
	// Inherit gives a moved reminder the rights of its previous file, whose digest is old;
	// an error keeps it from being moved.
	Inherit func(old, rel string, data []byte) error
	// Facts are what is known of the user from a moment until the end of a window: when they are
	// usually active, and when they are busy. It is called from the loop, must not block, and may be nil.
	Facts func(now, until time.Time) leeway.Facts
	// Purse knows what runs cost; nil if nothing costs anything.
	Purse Purse
	// Changed is called when what is scheduled or running has changed. It must
	// not block.
	Changed func()
	Commits Commits // may be nil
}

// Schedule knows when tasks fire, and fires them when they are due while it runs. Make
// it with New and run it at most once. Its methods may be called by several goroutines.
//
// Only the wall clock counts. A fire that starts at most 60 s late is on time,
// whatever the cause of the delay. Anything older was missed: a routine is reported
// once (and runs once, late, with `missed: run`), a reminder runs late.
//
// When the clock is set back, no instant that has fired fires again, so a
// routine stays silent until the clock has passed its last fire. If that
// would take more than 3 h (Vixie cron draws the line there too), the clock must
// have been wrong before: the routine continues from the new time at once, and
// only its very last instant is not repeated. A clock before 1990 has not been
// set yet: nothing fires until it is, and then everything continues as after a
// start. A leap forward by more than a year is a correction as well, not a year of
// missed routines.
type Schedule struct {
	*taskFiles
	o      Options
	orders *orders
	holds  holdStore
	known  atomic.Pointer[outcomes] // what the loop publishes; nil if no bot ever ran here
	purse  atomic.Uint64            // counts the changes of the money
	// now is time.Now. It is a field because the clock of a testing/synctest
	// bubble only moves forward, as fast as the timers; tests of clocks that are
	// set and of suspended machines need one that jumps.
	now func() time.Time

	viewing sync.Mutex // guards what follows
	viewed  viewKey
	view    View
}

// viewKey is everything that the view of a minute depends on.
type viewKey struct {
	set    *routines.Set
	holds  *Holds
	known  *outcomes
	purse  uint64
	minute time.Time
}

// New makes a schedule that can be read once its index has been scanned; it fires
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

// Files are the tasks of a data directory that a bot would have in force.
func Files(d *store.Dir, zone *time.Location) *routines.Set {
	s := New(Options{Dir: d, Zone: zone, Index: routines.NewIndex(d, zone)})
	s.index.Scan()
	return s.Set()
}

// Set is what is in force now.
func (s *Schedule) Set() *routines.Set { return s.index.Set() }

// Run fires what is due until ctx ends, and returns when every Fire has
// returned. It returns nil: a fire's error is its own.
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

// clock is the wall clock. Without Round the time would carry a monotonic
// reading, which knows nothing of suspension or of a clock that was set.
func (s *Schedule) clock() time.Time { return s.now().Round(0).In(s.o.Zone) }

// Apply reads what a batch of the watch points at.
func (s *Schedule) Apply(b watch.Batch) { s.orders.change(s.index.Apply(b)) }

// Refresh reads the named files.
func (s *Schedule) Refresh(names ...string) { s.refresh(names...) }

// Judge decides again for every task whether it waits for the user.
func (s *Schedule) Judge() { s.orders.change(s.index.Judge()) }

// MoneyChanged reports that there may be more or less money than before.
func (s *Schedule) MoneyChanged() {
	s.purse.Add(1)
	s.orders.add(func(b *batch) { b.money = true })
}

// FireNow fires a task at once, in addition to its schedule. A reminder is removed after
// its run as always, but one that repeats until it is done keeps its time and its
// repetitions. Errors: no such task, it waits for approval, it is running, or the
// schedule is not.
func (s *Schedule) FireNow(id string) error { return s.fireNow(id, false) }

// FireBeside is FireNow, but a reminder stays, to fire at its time.
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

// Keep lets the file of a reminder stay after its current run, so that it fires at its
// time again. False means that it is not running.
func (s *Schedule) Keep(id string) bool { return s.orders.keep(reminderKey(id)) }

// Alive waits until the loop has made a step in answer to this call; ctx's error means
// that it did not. A loop that is not running makes none.
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

// Holds are the current holds.
func (s *Schedule) Holds() *Holds { return s.holds.now.Load() }

// Hold keeps a task from firing, or resumes it with the zero Hold, and returns the hold
// that was in force before (the zero Hold for none). If a routine and a reminder share
// the id, it applies to the routine. Fires of a routine while it is held are not missed;
// a reminder fires at the end of its snooze. FireNow fires held tasks too. If no bot
// runs, the file is changed for the next start. Errors: no such task, a time in the past,
// a file that cannot be written, or a schedule that another program runs.
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
		if err := s.holds.read(s.o.Dir); err != nil { // no loop has read it
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

// Plan is what is scheduled, as seen at now.
func (s *Schedule) Plan(now time.Time) *Plan {
	p := &Plan{Now: now.In(s.o.Zone), Set: s.Set(), Holds: s.Holds(), known: s.known.Load()}
	if s.o.Purse != nil {
		p.Price = s.o.Purse.At(now)
	}
	return p
}

// View is the schedule as people see it. That of the current minute is kept.
func (s *Schedule) View(now time.Time) View {
	s.viewing.Lock()
	defer s.viewing.Unlock()
	wanted := viewKey{s.Set(), s.Holds(), s.known.Load(), s.purse.Load(), now.Truncate(time.Minute)}
	if s.viewed != wanted {
		s.viewed, s.view = wanted, s.Plan(now).View()
	}
	return s.view
}

// Forward is the schedule for an agent; see Plan.Forward.
func (s *Schedule) Forward(now time.Time, current string) Forward {
	return s.Plan(now).Forward(current)
}

// NextOf are the next n fires of a task; see Plan.NextOf.
func (s *Schedule) NextOf(id string, now time.Time, n int) []Entry { return s.Plan(now).NextOf(id, n) }

// DueAt is a fire of a task that starts at now; see Plan.Due.
func (s *Schedule) DueAt(id string, now time.Time) (Due, bool) { return s.Plan(now).Due(id) }
