package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// Patience is Stop's default: how long a session may take to end by itself once its input is
// closed.
const Patience = 2 * time.Second

const (
	termPatience = time.Second     // between SIGTERM and SIGKILL
	killPatience = 5 * time.Second // for the system to release a killed process
)

// Stop ends the process: it closes the input, waits for patience, sends SIGINT, waits again, then
// sends SIGTERM, waits a second, and sends SIGKILL. A patience of zero or less means Patience; the
// end of ctx skips to SIGKILL. Stop returns when the process has been reaped and its orphans have
// been collected. It may be called again and concurrently: the first call's patience applies, and
// any caller's ctx can cut it short. Err returns how the process ended; Stop returns a one-line
// error if something is still running.
func (p *Process) Stop(ctx context.Context, patience time.Duration) error {
	if patience <= 0 {
		patience = Patience
	}
	if !p.end(ctx, patience) {
		return fmt.Errorf(msgImmortal, p.PID())
	}
	<-p.collected
	p.watcher.Wait()
	return p.left
}

// Signal sends a signal to the command alone. After the command has ended it returns
// os.ErrProcessDone. It reaches the command in a sandbox too, except SIGKILL, which ends the
// sandbox with everything in it.
func (p *Process) Signal(sig os.Signal) error {
	var err error
	pid, number := p.command(), syscall.Signal(0)
	if sig != os.Kill && pid != p.PID() {
		number, _ = sig.(syscall.Signal)
	}
	select {
	case <-p.done:
		err = os.ErrProcessDone
	default:
		if number != 0 {
			err = syscall.Kill(pid, number)
		} else {
			err = p.cmd.Process.Signal(sig)
		}
	}
	if err != nil {
		return fmt.Errorf("signal %v: %w", sig, err)
	}
	return nil
}

// stopStep is one step of Stop and how long it may take.
type stopStep struct {
	act  func()
	wait time.Duration
}

// stopSteps returns the steps of Stop, mildest first. A signal fails only if the process is gone,
// so there is nothing to wait for.
func (p *Process) stopSteps(patience time.Duration) []stopStep {
	send := func(sig os.Signal) func() {
		return func() { _ = p.Signal(sig) }
	}
	return []stopStep{
		{func() { _ = p.stdin.Close() }, patience},
		{send(os.Interrupt), patience},
		{send(syscall.SIGTERM), termPatience},
		{send(os.Kill), killPatience},
	}
}

// end ends the process, or waits if another Stop is already doing so. It reports whether the
// process has ended.
func (p *Process) end(ctx context.Context, patience time.Duration) bool {
	if p.stopping.CompareAndSwap(false, true) {
		return takeSteps(ctx, p.done, p.stopSteps(patience))
	}
	select {
	case <-p.done:
		return true
	case <-ctx.Done():
	}
	steps := p.stopSteps(0)
	return takeSteps(ctx, p.done, steps[len(steps)-1:])
}

// takeSteps takes the steps until done is closed, skipping to the last one when ctx ends.
// It reports whether done was closed.
func takeSteps(ctx context.Context, done <-chan struct{}, steps []stopStep) bool {
	for i, r := range steps {
		cancelled := ctx.Done()
		if last := i == len(steps)-1; last {
			cancelled = nil
		} else if ctx.Err() != nil {
			continue
		}
		r.act()
		if waitFor(done, cancelled, r.wait) {
			return true
		}
	}
	return false
}

// waitFor reports whether done was closed before cancelled and before the limit.
func waitFor(done, cancelled <-chan struct{}, limit time.Duration) bool {
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-done:
		return true
	case <-cancelled:
	case <-t.C:
	}
	return false
}

// ErrSlow means that a command exceeded its time limit.
var ErrSlow = errors.New("it took too long")

// Answer is the output of a command that ran to completion.
type Answer struct {
	Stdout []byte
	Stderr string // see Process.StderrTail
	Err    error  // how it ended; see Process.Err
}

// Run starts a command without input, reads at most most bytes of its output, and ends it with its
// orphans. The error is Start's, ErrSlow after limit, ctx's, or reports that something is still
// running.
func Run(ctx context.Context, s Spec, limit time.Duration, most int64) (Answer, error) {
	p, err := Start(s)
	if err != nil {
		return Answer{}, err
	}
	_ = p.Stdin().Close()
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	// The kill and the collection of orphans also end the reading.
	stop := context.AfterFunc(within, func() { _ = p.Signal(os.Kill) })
	said, readErr := io.ReadAll(io.LimitReader(p.Stdout(), most))
	if int64(len(said)) < most {
		waitFor(p.Done(), within.Done(), limit)
	}
	stop()
	late := within.Err() != nil
	cancel()
	err = p.Stop(within, 0)
	switch {
	case err != nil:
		return Answer{}, err
	case ctx.Err() != nil:
		return Answer{}, ctx.Err()
	case late:
		return Answer{}, ErrSlow
	case readErr != nil:
		return Answer{}, readErr
	}
	return Answer{Stdout: said, Stderr: p.StderrTail(), Err: p.Err()}, nil
}
