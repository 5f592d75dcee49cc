package schedule

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"ollimbot/routines"
)

// orders collects work that other goroutines leave for the loop, and tracks which
// tasks run. All methods may be called by several goroutines.
type orders struct {
	wake chan struct{} // has room for one

	mu      sync.Mutex // guards what follows; never held over a call
	open    bool       // the loop takes orders
	ran     bool       // it did, or does
	next    batch
	running map[key]*run // tasks whose run is under way or about to start
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

// run is a run that is under way.
type run struct {
	keep    bool // the file of the reminder stays
	skipped bool // a fire was skipped because of it, and that was reported
}

// ended is the end of a run.
type ended struct {
	fire    Due
	outcome outcome
	why     string    // the error of one that failed, and why one was put off
	until   time.Time // until when it was put off
	spent   time.Time // of a reminder that must not fire again although its file is still there
	retry   bool      // of a reminder that failed and is tried again
}

func newOrders() *orders {
	return &orders{wake: make(chan struct{}, 1), next: batch{changed: map[string]bool{}}, running: map[key]*run{}}
}

func (o *orders) setOpen(open bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open, o.ran = open, true
}

// state reports whether the loop takes orders, and whether it ever did.
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
	default: // it is awake already
	}
}

// change tells the loop which tasks changed, if any did.
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

// fire orders a fire, unless the task is running; with keep the file of a reminder stays.
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

// drain takes the batch.
func (o *orders) drain() batch {
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.next
	o.next = batch{changed: map[string]bool{}}
	return b
}

// claim marks a task as running. If it is running already, first reports whether this is
// the first fire that is skipped because of that run.
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

// release takes a claim back.
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

// keep lets the file of a reminder stay after its current run; false if there is no run.
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
