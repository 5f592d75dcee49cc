package routines

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/fault"
	"ollimbot/core/store"
)

const (
	// longestSleep bounds every sleep: a timer stands still while the machine is
	// suspended, so the wall clock is looked at this often.
	longestSleep = 30 * time.Second
	// fireGrace is how late a fire may start and still count as on time.
	fireGrace = 60 * time.Second
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

// ErrUnrecorded is part of what Fire returns for a run that failed and of which
// nothing could be written down, as on a full disk. The reminder is kept then,
// and tried again.
var ErrUnrecorded = errors.New("the run could not be recorded")

// Due is one fire.
type Due struct {
	Kind     Kind
	Routine  *Routine  // of KindRoutine
	Reminder *Reminder // of KindReminder
	At       time.Time // the scheduled instant, in the configured zone
	Late     bool      // it starts well after At, and the agent should be told
	Missed   int       // earlier fires of the routine that this one stands for as well, at most 99
}

// Task is what fires.
func (d Due) Task() Task {
	if d.Kind == KindRoutine {
		return d.Routine.Task
	}
	return d.Reminder.Task
}

// LoopOptions are what the loop works with and whom it tells.
type LoopOptions struct {
	Dir   *store.Dir
	Index *Index
	Zone  *time.Location
	Log   *slog.Logger // nil is silent
	// Fire runs a task to its end. It is called in a goroutine of its own and
	// should return soon after ctx has ended. Its error is logged by the loop.
	Fire func(ctx context.Context, d Due) error
	// Note takes a text for the main session and the user: what was missed or
	// skipped, files that are not in force. Called from the loop, after the
	// fires of the moment have started; it may write a file. Nil drops it.
	Note func(text string)
	// Changed is called when what is scheduled or running has changed. It must
	// not block. Nil is fine.
	Changed func()
	// Removed is called after a reminder's file was removed, for the commit. It
	// is called in the goroutine of the run. Nil is fine.
	Removed func(rel, id string)
}

// Loop fires routines and reminders when they are due. Make it with NewLoop and
// run it once. Its other methods may be called by several goroutines.
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
type Loop struct {
	o LoopOptions
	// now is time.Now. It is a field because the clock of a testing/synctest
	// bubble only moves forward, as fast as the timers; tests of clocks that are
	// set and of suspended machines need one that jumps.
	now  func() time.Time
	wake chan struct{}

	mu      sync.Mutex // guards what follows, up to the empty line; never held over a call
	open    bool       // Run takes orders
	orders  orders
	running map[key]bool
	kept    map[key]bool // running reminders whose file stays after the run

	// The rest belongs to the goroutine of Run.
	plan     plan
	book     book
	wall     time.Time // the wall clock at the last step
	unset    bool      // the clock has not been set yet
	adrift   bool      // the data directory is gone: nothing fires until it is back
	slot     time.Time // when the last late task was told to start
	notes    []string
	reported map[string]bool // files whose errors were noted
	said     map[key]bool    // tasks whose present run was already said to be skipped over
	spent    map[string]time.Time
	saveAt   time.Time // when to write the book; zero when it is written
	holdEnd  time.Time // when the next hold ends; zero for never
	touched  bool      // Changed is due
}

// key names a task: a routine and a reminder may share an id.
type key struct {
	kind Kind
	id   string
}

// orders is what other goroutines want from the loop.
type orders struct {
	changed  map[string]bool // ids
	problems bool
	fire     []Due
	ended    []ended
}

// ended is the end of a run. at is zero where the book must not change.
type ended struct {
	key     key
	at      time.Time
	outcome fate
	spent   time.Time // of a reminder that may not fire again although its file is still there
	retry   bool      // of a reminder that failed and is tried again
}

// NewLoop makes a loop. It does nothing until Run.
func NewLoop(o LoopOptions) *Loop {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Note == nil {
		o.Note = func(string) {}
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	if o.Removed == nil {
		o.Removed = func(string, string) {}
	}
	return &Loop{
		o: o, now: time.Now, wake: make(chan struct{}, 1),
		orders:  orders{changed: map[string]bool{}},
		running: map[key]bool{}, kept: map[key]bool{}, reported: map[string]bool{}, said: map[key]bool{}, spent: map[string]time.Time{},
	}
}

// Run fires what is due until ctx ends, and returns when every Fire has
// returned. It returns nil: a fire's error is its own.
func (l *Loop) Run(ctx context.Context) error {
	l.mu.Lock()
	l.open = true
	l.mu.Unlock()
	var fires errgroup.Group
	l.loop(ctx, &fires)
	l.mu.Lock()
	l.open = false
	l.mu.Unlock()
	_ = fires.Wait() // every error was logged where it happened
	l.settle(l.take().ended, l.clock())
	l.save()
	return nil
}

func (l *Loop) loop(ctx context.Context, fires *errgroup.Group) {
	l.begin(l.clock())
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-l.wake:
		}
		if ctx.Err() != nil {
			return // both at once: nothing new starts
		}
		l.step(ctx, fires, l.clock())
		timer.Reset(l.sleep(l.clock()))
	}
}

// clock is the wall clock. Without Round the time would carry a monotonic
// reading, which knows nothing of suspension or of a clock that was set.
func (l *Loop) clock() time.Time { return l.now().Round(0).In(l.o.Zone) }

// sleep is how long nothing is due, at most longestSleep.
func (l *Loop) sleep(now time.Time) time.Duration {
	d := longestSleep
	if at, ok := l.plan.next(); ok && !l.unset && !l.adrift {
		d = min(d, at.Sub(now))
	}
	if !l.saveAt.IsZero() {
		d = min(d, l.saveAt.Sub(now))
	}
	if !l.holdEnd.IsZero() {
		d = min(d, l.holdEnd.Sub(now))
	}
	return max(d, 0)
}

// Kick tells the loop that the index changed.
func (l *Loop) Kick(c Change) {
	if c.Empty() {
		return
	}
	l.mu.Lock()
	for _, ids := range [][]string{c.Added, c.Updated, c.Removed} {
		for _, id := range ids {
			l.orders.changed[id] = true
		}
	}
	l.orders.problems = l.orders.problems || c.Problems
	l.mu.Unlock()
	l.rouse()
}

// FireNow fires a task at once, beside its schedule; a reminder is removed
// after its run as always. Errors: no such task, it waits for the user's word, it
// is running, or the loop is not.
func (l *Loop) FireNow(id string) error {
	d, ok := l.o.Index.DueAt(id, l.clock())
	if !ok {
		return errors.New(unknownTask(id))
	}
	if why := l.o.Index.Holds().Of(d.Kind, id).Why; why != "" {
		return errors.New(stillWaits(d.Task().Title(), why))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := key{d.Kind, id}
	switch {
	case !l.open:
		return errors.New(msgLoopClosed)
	case l.running[k]:
		return errors.New(stillRunning(d.Task().Title()))
	}
	l.running[k] = true
	l.orders.fire = append(l.orders.fire, d)
	l.rouse()
	return nil
}

// Keep lets the file of a reminder stay after its present run, so that it fires
// at its time again: the undoing of FireNow. False means that no run of it is
// under way.
func (l *Loop) Keep(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := key{KindReminder, id}
	if l.running[k] {
		l.kept[k] = true
	}
	return l.running[k]
}

// Running reports whether a run of the task is under way, waiting ones included.
func (l *Loop) Running(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running[key{KindRoutine, id}] || l.running[key{KindReminder, id}]
}

func (l *Loop) rouse() {
	select {
	case l.wake <- struct{}{}:
	default: // it is awake already
	}
}

// take empties the orders.
func (l *Loop) take() orders {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.orders
	l.orders = orders{changed: map[string]bool{}}
	return o
}

// call runs Fire and turns a panic into an error.
func (l *Loop) call(ctx context.Context, d Due) (err error) {
	defer fault.Catch(fmt.Sprintf("%s %s", d.Kind, d.Task().ID), &err)
	return l.o.Fire(ctx, d)
}
