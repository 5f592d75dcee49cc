package discord

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"ollimbot/core/base/fault"
)

// workerPool runs small jobs concurrently, up to a limit, with the context given to open.
// finish waits for all of them.
type workerPool struct {
	log   *slog.Logger
	limit int
	group sync.WaitGroup

	mu   sync.Mutex
	ctx  context.Context // given to jobs; nil when none may start
	busy int
	// freed has capacity 1 and signals that a job has ended.
	freed chan struct{}
}

func newPool(log *slog.Logger, limit int) *workerPool {
	return &workerPool{log: log, limit: limit, freed: make(chan struct{}, 1)}
}

func (p *workerPool) open(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ctx = ctx
}

// begin starts a job unless the pool is closed or full.
func (p *workerPool) begin(f func(ctx context.Context)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	ctx := p.ctx
	if ctx == nil || ctx.Err() != nil || p.busy >= p.limit {
		return false
	}
	p.busy++
	p.group.Go(func() {
		defer p.over()
		defer fault.Rescue("the Discord surface", func(err *fault.Error) {
			p.log.Error("job of the Discord surface panicked", "error", err)
		})
		f(ctx)
	})
	return true
}

func (p *workerPool) over() {
	p.mu.Lock()
	p.busy--
	p.mu.Unlock()
	signal(p.freed)
}

// idle waits until no job runs, but stops the duration keep before ctx's deadline.
func (p *workerPool) idle(ctx context.Context, keep time.Duration) {
	if over, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, over.Add(-keep))
		defer cancel()
	}
	for ctx.Err() == nil {
		p.mu.Lock()
		busy := p.busy
		p.mu.Unlock()
		if busy == 0 {
			return
		}
		select {
		case <-p.freed:
		case <-ctx.Done():
		}
	}
}

// finish closes the pool and waits for its jobs.
func (p *workerPool) finish() {
	p.mu.Lock()
	p.ctx = nil
	p.mu.Unlock()
	p.group.Wait()
}

// signal wakes the reader of a channel with capacity 1.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// recent remembers the newest IDs. It is used by one goroutine only.
type recent struct {
	keep int
	ids  []string
}

func (r *recent) has(id string) bool { return slices.Contains(r.ids, id) }

// add adds an ID; false if it is already there.
func (r *recent) add(id string) bool {
	if r.has(id) {
		return false
	}
	r.ids = append(r.ids, id)
	if len(r.ids) > r.keep {
		r.ids = slices.Delete(r.ids, 0, len(r.ids)-r.keep)
	}
	return true
}

// pauses is the next pause between tries. It doubles, up to a limit.
type pauses time.Duration

const (
	shortPause = 500 * time.Millisecond
	longPause  = 30 * time.Second
)

// wait sleeps for the next pause; its error is ctx's.
func (p *pauses) wait(ctx context.Context) error {
	d := max(time.Duration(*p), shortPause)
	*p = pauses(min(2*d, longPause))
	return sleep(ctx, d)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// linger returns a context for work that must continue after ctx ends: it lasts at most d, and at most lastWithin
// longer than ctx.
func linger(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithTimeout(context.WithoutCancel(ctx), d)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastWithin, cancel) })
	return out, func() {
		stop()
		cancel()
	}
}

// retry calls try until it succeeds, fails permanently, or ctx ends.
func retry(ctx context.Context, try func() error) error {
	var tries pauses
	for {
		err := try()
		if err == nil || ctx.Err() != nil || !passes(err) || tries.wait(ctx) != nil {
			return err
		}
	}
}
