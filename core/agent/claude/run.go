package claude

import (
	"context"
	"errors"
	"sync"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/agent/claude/process"
)

// Run watches the processes until ctx ends. It returns when all sessions and their
// processes have ended.
func (e *Engine) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if err := e.begin(ctx); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return e.safely("version", func() { e.examine(ctx) }) })
	g.Go(func() error { return e.safely("watch", func() { e.watch(ctx) }) })
	err := g.Wait()
	cancel() // no session is opened from here on
	e.end()
	return err
}

// begin ends processes that an earlier run of the program left behind, then admits
// sessions: an orphan might still write to a session's history.
func (e *Engine) begin(ctx context.Context) error {
	if !e.ran.CompareAndSwap(false, true) {
		return errRanTwice
	}
	if mark := e.o.Process.Mark; mark != "" {
		if n, err := process.CollectOrphans(mark); n > 0 || err != nil {
			e.o.Log.Warn("processes of an earlier run were ended", "count", n, "error", err)
		}
	}
	e.ctx = ctx
	close(e.begun)
	return nil
}

// end closes all sessions concurrently and waits for all background work.
func (e *Engine) end() {
	var g sync.WaitGroup
	for _, s := range e.opened() {
		g.Go(func() {
			if err := s.Close(); err != nil {
				e.o.Log.Warn("session did not close cleanly", "session", s.ID(), "error", err)
			}
		})
	}
	g.Wait()
	e.background.Wait()
}

// Misuse of the engine.
var (
	errNotRunning = errors.New(textNotRunning)
	errRanTwice   = errors.New("the engine was run twice")
)
