package discord

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"ollimbot/core/fault"
)

// crew runs small works beside each other: at most some at once, each with the
// context of whoever opened it and waits for all of them in finish.
type crew struct {
	log   *slog.Logger
	limit int
	group sync.WaitGroup

	mu   sync.Mutex
	ctx  context.Context // handed to whoever begins; nil when nobody may
	busy int
	// freed has room for one: a work has ended.
	freed chan struct{}
}

func newCrew(log *slog.Logger, limit int) *crew {
	return &crew{log: log, limit: limit, freed: make(chan struct{}, 1)}
}

func (c *crew) open(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ctx = ctx
}

// begin starts a work, unless Run does not run, or too many are under way. The
// share is how much of the crew may be busy with it: 1 is all.
func (c *crew) begin(share int, f func(ctx context.Context)) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ctx := c.ctx
	if ctx == nil || ctx.Err() != nil || c.busy >= c.limit/share {
		return false
	}
	c.busy++
	c.group.Go(func() {
		defer c.over()
		defer fault.Rescue("the Discord surface", func(err *fault.Error) {
			c.log.Error("a work of the Discord surface broke", "error", err)
		})
		f(ctx)
	})
	return true
}

func (c *crew) over() {
	c.mu.Lock()
	c.busy--
	c.mu.Unlock()
	select {
	case c.freed <- struct{}{}:
	default:
	}
}

// idle waits until nothing is under way, and leaves the last of ctx's time, as
// much as keep, to others.
func (c *crew) idle(ctx context.Context, keep time.Duration) {
	if over, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, over.Add(-keep))
		defer cancel()
	}
	for ctx.Err() == nil {
		c.mu.Lock()
		busy := c.busy
		c.mu.Unlock()
		if busy == 0 {
			return
		}
		select {
		case <-c.freed:
		case <-ctx.Done():
		}
	}
}

// finish lets nothing more begin and waits for what is under way.
func (c *crew) finish() {
	c.mu.Lock()
	c.ctx = nil
	c.mu.Unlock()
	c.group.Wait()
}

// recent remembers the newest ids. Only one goroutine uses it.
type recent struct {
	seen map[string]bool
	list []string
	keep int
}

func newRecent(keep int) *recent { return &recent{seen: map[string]bool{}, keep: keep} }

// again notes an id and reports whether it was there before.
func (r *recent) again(id string) bool {
	if r.seen[id] {
		return true
	}
	r.seen[id] = true
	r.list = append(r.list, id)
	if len(r.list) > r.keep {
		delete(r.seen, r.list[0])
		r.list = append(r.list[:0], r.list[1:]...)
	}
	return false
}
