package schedule

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"ollimbot/routines"
)

// orders collects work that other goroutines leave for the loop, and tracks running
// tasks. All methods are safe for concurrent use.
type orders struct {
	wake chan struct{} // buffered, one slot

	mu      sync.Mutex // guards the fields below; never held during a call
	open    bool       // the loop accepts orders
	ran     bool       // the loop has run at some point
	next    batch
	running map[key]*run // tasks whose run is in progress or about to start
}

// batch is the work for one step of the loop.
type batch struct {
	changed  map[string]bool // ids
	problems bool
	money    bool
	fire     []Due
	ended    []ended
	kept     []key           // reminders whose file stays after their current run
	asked    []chan struct{} // closed after the step
}

// run is a run in progress.
type run struct {
	keep    bool // the file of the reminder stays
	skipped bool // a fire was skipped because of it, and reported
}

// ended is the end of a run.
type ended struct {
	fire    Due
	outcome outcome
	why     string    // the error of a failed run, or why it was put off
	until   time.Time // when it was put off to
	spent   time.Time // of a reminder that must not fire again although its file still exists
	broke   bool      // of a reminder that waits for money
	retry   bool      // of a reminder that failed and will be retried
}

func newOrders() *orders {
	return &orders{wake: make(chan struct{}, 1), next: batch{changed: map[string]bool{}}, running: map[key]*run{}}
}

func (o *orders) setOpen(open bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open, o.ran = open, true
}

// state reports whether the loop accepts orders, and whether it has ever run.
func (o *orders) state() (open, ran bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.open, o.ran
}

// add changes the next batch and wakes the loop.
func (o *orders) add(do func(*batch)) {
	o.mu.Lock()
	do(&o.next)
	o.mu.Unlock()
	o.rouse()
}

func (o *orders) rouse() {
	select {
	case o.wake <- struct{}{}:
	default: // already awake
	}
}

// change reports changed tasks to the loop, if there are any.
func (o *orders) change(c routines.Change) {
	if c.Empty() {
		return
	}
	o.add(func(b *batch) {
		for _, id := range c.IDs {
			b.changed[id] = true
		}
		b.problems = b.problems || c.Problems
	})
}

// fire orders a fire, unless the task is running. With keep, a reminder's file is kept.
func (o *orders) fire(d Due, keep bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case !o.open:
		return errors.New(msgClosed)
	case o.running[d.key()] != nil:
		return fmt.Errorf(msgStillRunning, d.Task().Title())
	}
	o.running[d.key()] = &run{keep: keep}
	o.next.fire = append(o.next.fire, d)
	o.rouse()
	return nil
}

// drain takes the current batch.
func (o *orders) drain() batch {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.next
	o.next = batch{changed: map[string]bool{}}
	return b
}

// claim marks a task as running. If it already is, first reports whether this is the
// first fire skipped because of that run.
func (o *orders) claim(k key) (ok, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.running[k]
	if now == nil {
		o.running[k] = &run{}
		return true, false
	}
	first, now.skipped = !now.skipped, true
	return false, first
}

// release undoes a claim.
func (o *orders) release(k key) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.running, k)
}

// end reports the end of a run.
func (o *orders) end(e ended) {
	o.add(func(b *batch) {
		delete(o.running, e.fire.key())
		b.ended = append(b.ended, e)
	})
}

func (o *orders) runs(k key) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.running[k] != nil
}

// keep preserves a reminder's file after its current run. It returns false if there is no
// run.
func (o *orders) keep(k key) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := o.running[k]
	if now == nil {
		return false
	}
	now.keep = true
	o.next.kept = append(o.next.kept, k)
	o.rouse()
	return true
}

func (o *orders) keeps(k key) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.running[k].keep
}
