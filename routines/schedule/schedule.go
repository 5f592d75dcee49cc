// Package schedule owns when tasks fire: the schedule ahead, what keeps a task from
// firing (holds), what was missed, and the loop that fires. It keeps all of that in
// the data directory, beside the files of the tasks, which package routines knows. It
// must not know agents, budgets or screens: what a fire does is a function in Options.
package schedule

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/base/fault"
	"ollimbot/core/storage/store"
	"ollimbot/routines"
	"ollimbot/routines/watch"
)

const (
	// longestSleep bounds every sleep: a timer stands still while the machine is
	// suspended, so the wall clock is looked at this often.
	longestSleep = 30 * time.Second
	// onTime is how late a fire may start and still count as on time.
	onTime = 60 * time.Second
	// runMissedFor is how old a fire may be that `missed: run` makes up for.
	runMissedFor = 12 * time.Hour
	// lateDelay and lateSpacing keep a backlog from starting in a burst.
	lateDelay   = 5 * time.Second
	lateSpacing = 2 * time.Second
	// retryDelay is the pause before a reminder whose run could not be recorded
	// is tried again.
	retryDelay = 5 * time.Minute
	// saveDelay is how long outcomes wait for each other before they are written.
	saveDelay = time.Second
)

// Due is one fire.
type Due struct {
	Kind     routines.Kind
	Routine  *routines.Routine  // of KindRoutine
	Reminder *routines.Reminder // of KindReminder
	At       time.Time          // the scheduled instant, in the configured zone
	Late     bool               // it starts well after At, and the agent should be told
	Missed   int                // earlier fires of the routine that this one stands for as well, at most 99
	ByHand   bool               // the user fired it: it runs whatever the schedule says
	Ticket   string             // what is set aside for the run, by Purse.Reserve; whoever runs it settles it
}

// Task is what fires.
func (d Due) Task() routines.Task {
	if d.Kind == routines.KindRoutine {
		return d.Routine.Task
	}
	return d.Reminder.Task
}

func (d Due) key() key {
	t := d.Task()
	return key{t.Kind, t.ID}
}

// Options are what a schedule works with and whom it tells. The log and the functions
// are for one that runs.
type Options struct {
	Dir   *store.Dir
	Index *routines.Index
	Zone  *time.Location
	Log   *slog.Logger
	// Fire runs a task to its end. It is called in a goroutine of its own and
	// should return soon after ctx has ended. Its error is logged by the loop.
	Fire func(ctx context.Context, d Due) error
	// Note takes a text for the main session and the user: what was missed or
	// skipped, files that are not in force. Called from the loop, after the
	// fires of the moment have started; it may write a file.
	Note func(text string)
	// Troubles takes what is wrong with the files of a kind, whenever that has
	// changed: words is told whether what was said before is still unread, and gives
	// the text that takes its place, or none.
	Troubles func(kind routines.Kind, words func(unread bool) string)
	// Inherit gives a reminder that comes back the rights of its file from before, whose
	// digest is old; an error keeps it from being moved.
	Inherit func(old, rel string, data []byte) error
	// Purse knows what runs cost; nil asks nobody.
	Purse Purse
	// Changed is called when what is scheduled or running has changed. It must
	// not block.
	Changed func()
	// Commits takes which files were written and removed. Nil is fine.
	Commits interface {
		Add(rel, message string)
		Remove(rel, message string)
	}
}

// Purse knows what runs cost and what may be spent. Its methods may be called by
// several goroutines; Reserve may write a file.
type Purse interface {
	// At is the purse at a moment: what a run of a task costs, and whether there is
	// money for it.
	At(now time.Time) func(t *routines.Task) Price
	// Reserve sets aside what a run costs and gives a ticket for it, or says until when
	// there is no money for it. Firm runs get theirs in any case.
	Reserve(t routines.Task, now time.Time, firm bool) (ticket string, until time.Time)
}

// Price is what a run is expected to cost, in dollars, and until when there is no money
// for it: the zero time where there is.
type Price struct {
	Dollars float64
	Until   time.Time
}

// Schedule knows when tasks fire, and fires them when they are due while it runs. Make
// it with New and run it at most once. Its methods may be called by several goroutines.
//
// The wall clock alone counts. A fire that starts at most 60 s late is on time,
// whatever the delay came from. Anything older was missed: a routine is noted
// once (and runs once, late, with `missed: run`), a reminder runs late.
//
// When the clock is set back, no instant that has fired fires again, so a
// routine stays silent until the clock has passed its last fire. Where that
// would take more than 3 h (Vixie cron draws the line there too), the clock must
// have been wrong before: the routine goes on from the new time at once, and
// only its very last instant is not repeated. A clock before 1990 has not been
// set yet: nothing fires until it is, and then all goes on as after a start. A
// leap forward by more than a year is a correction as well, not a year of
// missed routines.
type Schedule struct {
	o     Options
	index *routines.Index
	holds holdStore
	known atomic.Pointer[fates] // what has become of fires; nil: nobody knows
	view  viewCache
	// purse counts what has changed with the money.
	purse atomic.Uint64
	// now is time.Now. It is a field because the clock of a testing/synctest
	// bubble only moves forward, as fast as the timers; tests of clocks that are
	// set and of suspended machines need one that jumps.
	now  func() time.Time
	wake chan struct{}

	mu      sync.Mutex // guards what follows, up to the empty line; never held over a call
	open    bool       // Run takes orders
	ran     bool       // it did, or does
	inbox   inbox
	running map[key]*run // tasks whose run is under way or waits

	// The rest belongs to the goroutine of Run.
	plan     plan // never nil
	book     book
	wall     time.Time // the wall clock at the last step
	unset    bool      // the clock has not been set yet
	adrift   bool      // the data directory is gone: nothing fires until it is back
	slot     time.Time // when the last late task was told to start
	notes    []string
	troubles []trouble
	reported map[string]bool // files whose errors were noted
	spent    map[string]time.Time
	saveAt   time.Time // when to write the book; zero when it is written
	holdEnd  time.Time // when the next hold ends; zero for never
	touched  bool      // Changed is due
}

// inbox is what other goroutines want from the loop.
type inbox struct {
	changed  map[string]bool // ids
	problems bool
	money    bool
	fire     []Due
	ended    []ended
	asked    []chan struct{} // closed behind the step
}

// run is one that is under way.
type run struct {
	keep bool // the file of the reminder stays
	told bool // it was said that a fire was skipped for it
}

// ended is the end of a run. at is zero where the book must not change.
type ended struct {
	key     key
	at      time.Time
	outcome fate
	spent   time.Time // of a reminder that may not fire again although its file is still there
	retry   bool      // of a reminder that failed and is tried again
}

// New makes a schedule that can be looked at once its index has been scanned; it
// fires nothing until Run.
func New(o Options) *Schedule {
	s := &Schedule{
		o: o, index: o.Index, now: time.Now, wake: make(chan struct{}, 1), running: map[key]*run{}, plan: plan{},
		inbox: inbox{changed: map[string]bool{}}, reported: map[string]bool{}, spent: map[string]time.Time{},
	}
	s.holds.peek(o.Dir)
	b, found := peekBook(o.Dir)
	s.index.Prefer(b.InForce)
	if found {
		s.known.Store(b.fatesSince(time.Now(), time.Time{}))
	}
	return s
}

// Files are the tasks of a data directory as a bot on it would have them in force.
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
	s.setOpen(true)
	var fires errgroup.Group
	s.loop(ctx, &fires)
	s.setOpen(false)
	_ = fires.Wait() // every error was logged where it happened
	s.noteEnded(s.drain().ended, s.clock())
	s.save()
	return nil
}

func (s *Schedule) setOpen(open bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open, s.ran = open, true
}

func (s *Schedule) loop(ctx context.Context, fires *errgroup.Group) {
	s.begin(s.clock())
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.wake:
		}
		if ctx.Err() != nil {
			return // both at once: nothing new starts
		}
		s.step(ctx, fires, s.clock())
		timer.Reset(s.sleep(s.clock()))
	}
}

// clock is the wall clock. Without Round the time would carry a monotonic
// reading, which knows nothing of suspension or of a clock that was set.
func (s *Schedule) clock() time.Time { return s.now().Round(0).In(s.o.Zone) }

// sleep is how long nothing is due, at most longestSleep.
func (s *Schedule) sleep(now time.Time) time.Duration {
	d := longestSleep
	times := []time.Time{s.saveAt, s.holdEnd}
	if !s.unset && !s.adrift {
		times = append(times, s.plan.next())
	}
	for _, at := range times {
		if !at.IsZero() {
			d = min(d, at.Sub(now))
		}
	}
	return max(d, 0)
}

// Apply takes in what a batch of the watch points at.
func (s *Schedule) Apply(b watch.Batch) { s.kick(s.index.Apply(b)) }

// Refresh takes in the named files.
func (s *Schedule) Refresh(names ...string) { s.kick(s.index.Refresh(names)) }

// Judge asks about every task anew whether it waits for the user.
func (s *Schedule) Judge() { s.kick(s.index.Judge()) }

// MoneyChanged says that there may be more or less money than before: the view is
// made anew, and reminders that were held for money are looked at.
func (s *Schedule) MoneyChanged() {
	s.purse.Add(1)
	s.mu.Lock()
	s.inbox.money = true
	s.mu.Unlock()
	s.rouse()
}

// kick tells the loop that the index changed, if it did.
func (s *Schedule) kick(c routines.Change) {
	if c.Empty() {
		return
	}
	s.mu.Lock()
	for _, id := range c.IDs {
		s.inbox.changed[id] = true
	}
	s.inbox.problems = s.inbox.problems || c.Problems
	s.mu.Unlock()
	s.rouse()
}

// FireNow fires a task at once, beside its schedule. A reminder is removed after its
// run as always, but one that repeats until it is done keeps its time and its returns. Errors: no such task, it waits for the user's word, it
// is running, or the schedule is not.
func (s *Schedule) FireNow(id string) error { return s.fireNow(id, false) }

// FireBeside is FireNow, but a reminder stays, to fire at its time.
func (s *Schedule) FireBeside(id string) error { return s.fireNow(id, true) }

func (s *Schedule) fireNow(id string, stays bool) error {
	d, ok := s.DueAt(id, s.clock())
	if !ok {
		return fmt.Errorf(msgUnknown, id)
	}
	t := d.Task()
	if t.Waits != "" {
		return fmt.Errorf(msgWaits, t.Title(), t.Waits)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case !s.open:
		return errors.New(msgClosed)
	case s.running[d.key()] != nil:
		return fmt.Errorf(msgStillRunning, t.Title())
	}
	d.ByHand = true
	s.running[d.key()] = &run{keep: stays || d.Reminder != nil && d.Reminder.UntilDone}
	s.inbox.fire = append(s.inbox.fire, d)
	s.rouse()
	return nil
}

// Keep lets the file of a reminder stay after its present run, so that it fires
// at its time again. False means that no run of it is
// under way.
func (s *Schedule) Keep(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.running[reminderKey(id)]
	if one != nil {
		one.keep = true
	}
	return one != nil
}

func (s *Schedule) rouse() {
	select {
	case s.wake <- struct{}{}:
	default: // it is awake already
	}
}

// Alive waits until the loop has made a step for the sake of this question; ctx's
// error says that it did not. A loop that is not under way makes none.
func (s *Schedule) Alive(ctx context.Context) error {
	done := make(chan struct{})
	s.mu.Lock()
	s.inbox.asked = append(s.inbox.asked, done)
	s.mu.Unlock()
	s.rouse()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// drain empties the inbox.
func (s *Schedule) drain() inbox {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.inbox
	s.inbox = inbox{changed: map[string]bool{}}
	return in
}

// fire runs Fire and turns a panic into an error.
func (s *Schedule) fire(ctx context.Context, d Due) (err error) {
	t := d.Task()
	defer fault.Catch(fmt.Sprintf("%s %s", t.Kind, t.ID), &err)
	return s.o.Fire(ctx, d)
}
