package chat

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/base/fault"
)

// job is work that needs exclusive use of the conversation, such as a turn. Its error is
// shown to the user.
type job func(ctx context.Context) error

// maxJobs is the maximum number of waiting jobs.
const maxJobs = 64

// queue runs jobs one at a time, in the order they were added. Its methods are safe for
// concurrent use.
type queue struct {
	jobs chan job
	// done is closed when run has ended; no further job starts.
	done chan struct{}
	// heard is when a job started or a turn last showed a sign of life, in
	// nanoseconds since 1970.
	heard atomic.Int64

	mu sync.Mutex
	// probe is closed by a job added by alive; nil if none is waiting.
	probe chan struct{}
}

func newQueue() *queue {
	return &queue{jobs: make(chan job, maxJobs), done: make(chan struct{})}
}

// run works until ctx ends. idle is a job that runs every minute; failed receives the
// errors of jobs that no caller waits for.
func (q *queue) run(ctx context.Context, idle job, failed func(error)) {
	defer close(q.done)
	tick := time.NewTicker(idleCheck)
	defer tick.Stop()
	for {
		var j job
		select {
		case <-ctx.Done():
		case j = <-q.jobs:
		case <-tick.C:
			j = idle
		}
		if ctx.Err() != nil {
			return
		}
		q.hear()
		if err := fault.Guard("a turn", func() error { return j(ctx) })(); err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
}

// do runs a job in its turn and waits for it. Its context ends with the caller's and with
// the queue's. do waits even then for a job that has started.
func (q *queue) do(ctx context.Context, f job) error {
	var claimed atomic.Bool // by run, or by a caller that gives up
	result := make(chan error, 1)
	j := func(run context.Context) error {
		if !claimed.CompareAndSwap(false, true) {
			return nil
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(run, cancel)()
		result <- fault.Guard("a turn", func() error { return f(ctx) })()
		return nil
	}
	select {
	case q.jobs <- j:
	case <-ctx.Done():
		return notDoneError{textStillBusy, ctx.Err()}
	case <-q.done:
		return notDoneError{textStopping, context.Canceled}
	}
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
	case <-q.done:
	}
	switch {
	case !claimed.CompareAndSwap(false, true):
		return <-result
	case ctx.Err() != nil:
		return notDoneError{textStillBusy, ctx.Err()}
	}
	return notDoneError{textStopping, context.Canceled}
}

// notDoneError explains why a job never started.
type notDoneError struct {
	text  string
	cause error
}

func (e notDoneError) Error() string { return e.text }

func (e notDoneError) Unwrap() error { return e.cause }

// later adds a job without waiting for it. It fails if the queue is full.
func (q *queue) later(j job) error {
	select {
	case q.jobs <- j:
		return nil
	default:
		return errors.New(textTooManyMessages)
	}
}

// hear records a sign of life.
func (q *queue) hear() { q.heard.Store(time.Now().UnixNano()) }

// alive waits until the queue has run a job added by this call. If another job is still
// running when ctx ends, a sign of life within quiet is enough. The error says how long
// ago the last one was.
func (q *queue) alive(ctx context.Context, quiet func() time.Duration) error {
	select {
	case <-q.ask():
		return nil
	case <-ctx.Done():
	}
	if since := time.Since(time.Unix(0, q.heard.Load())); since > quiet() {
		return fmt.Errorf("the conversation's queue is stuck: its job has shown no sign of life for %s", since.Round(time.Second))
	}
	return nil
}

// ask adds a job that closes the channel. One at a time is enough: a long turn must not
// fill the queue with probes.
func (q *queue) ask() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.probe != nil {
		return q.probe
	}
	probe := make(chan struct{})
	job := func(context.Context) error {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.probe = nil
		close(probe)
		return nil
	}
	if q.later(job) == nil {
		q.probe = probe
	}
	return probe
}
