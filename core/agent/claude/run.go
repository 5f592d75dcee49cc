package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/base/words"
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
	cancel() // no more sessions can be opened
	e.end()
	return err
}

// begin ends processes that an earlier run of the program left behind, then admits sessions: an
// orphan might still write to a session's history.
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

// Errors for misuse of the engine.
var (
	errNotRunning = errors.New(textNotRunning)
	errRanTwice   = errors.New("the engine was run twice")
)

const (
	// lookEvery is how often the processes are checked.
	lookEvery = 2 * time.Second
	// worthNoting is the fraction by which memory must change to be reported.
	worthNoting = 20 // 1/20 is 5 %
)

// watch checks all processes for their memory and for silent turns until ctx ends.
func (e *Engine) watch(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		e.checkProcesses(time.Now())
	}
}

// checkProcesses checks every process once.
func (e *Engine) checkProcesses(now time.Time) {
	limit := e.o.MemoryLimit()
	tell := false
	for _, s := range e.opened() {
		tell = s.checkMemory(limit) || tell
		s.checkSilence(now)
	}
	if tell {
		e.notify()
	}
}

// checkMemory reads the process's memory and ends the process if it uses too much. tell means that
// the change is worth reporting.
func (s *session) checkMemory(limit int64) (tell bool) {
	size, ok := s.child.Resident()
	if !ok {
		return false
	}
	s.mu.Lock()
	if diff := size - s.memory; max(diff, -diff) > s.memory/worthNoting {
		s.memory, tell = size, true
	}
	s.mu.Unlock()
	if limit > 0 && size > limit {
		s.log.Error("process uses too much memory and is ended", "bytes", size, "limit", limit)
		s.kill(fmt.Errorf(textTooMuch, words.Memory(size), words.Memory(limit)))
	}
	return tell
}

const (
	// stallAfter is how long a turn without known activity may be silent; a stalled stream is
	// silent for at least five minutes. Compactions and subagents get slowAfter.
	stallAfter = 2 * time.Minute
	slowAfter  = 10 * time.Minute
	// obeyWithin is how long the CLI may take to react to an interruption, and then to SIGINT.
	obeyWithin = 15 * time.Second
)

// checkSilence interrupts a turn that has become silent. If the CLI does not react, it sends
// SIGINT, then ends the process.
func (s *session) checkSilence(now time.Time) {
	heard, pending := s.conn.LastRead(), s.conn.Pending()
	s.mu.Lock()
	t := s.flow.current
	if t == nil {
		t = s.flow.waiting
	}
	if t == nil {
		s.mu.Unlock()
		return
	}
	step := t.silence(now, heard, pending)
	switch step {
	case stepInterrupt:
		t.forced, t.stopped = &agent.Result{IsError: true, Text: fmt.Sprintf(textStalled, words.Long(t.patience()))}, now
	case stepSignal:
		t.signalled = now
	}
	s.mu.Unlock()
	switch step {
	case stepInterrupt:
		s.log.Warn("silent turn is interrupted")
		s.later(s.requestInterrupt)
	case stepSignal:
		s.log.Warn("turn did not end when it was interrupted")
		if err := s.child.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
			s.log.Warn("process was not interrupted", "error", err)
		}
	case stepEnd:
		s.log.Error("process does not react and is ended")
		s.kill(errors.New(textDeaf))
	}
}
