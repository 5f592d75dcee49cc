package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/agent/claude/wire"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
)

// Status is how the engine stands now.
func (e *Engine) Status() agent.Status {
	processes := e.processes()
	e.mu.Lock()
	defer e.mu.Unlock()
	st := e.status
	st.Processes = processes
	return st
}

// OnChange sets what is called after the status has changed. It is set once,
// before Run, and must not block.
func (e *Engine) OnChange(changed func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changed = changed
}

// processes are the processes of the engine, oldest first.
func (e *Engine) processes() []agent.Process {
	var list []agent.Process
	for _, s := range e.opened() {
		s.mu.Lock()
		p := agent.Process{PID: s.child.PID(), Session: s.id, Memory: s.memory, Started: s.started}
		s.mu.Unlock()
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b agent.Process) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.PID, b.PID))
	})
	return list
}

// opened are the sessions whose processes were not reaped yet.
func (e *Engine) opened() []*session {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]*session, 0, len(e.sessions))
	for _, s := range e.sessions {
		if s != nil {
			list = append(list, s)
		}
	}
	return list
}

// setStatus changes the status and tells of it where something is new.
func (e *Engine) setStatus(change func(*agent.Status)) {
	e.mu.Lock()
	before := e.status
	change(&e.status)
	e.status.Processes = nil // they are counted when somebody looks
	now := e.status
	e.mu.Unlock()
	if before.Version != now.Version || before.Warning != now.Warning || before.Problem != now.Problem ||
		before.LoginNeeded != now.LoginNeeded || before.LoginURL != now.LoginURL {
		e.notify()
	}
}

// notify tells whoever watches that the status has changed.
func (e *Engine) notify() {
	e.mu.Lock()
	changed := e.changed
	e.mu.Unlock()
	if changed != nil {
		changed()
	}
}

// setLogin notes whether somebody is logged in.
func (e *Engine) setLogin(ok bool) {
	e.setStatus(func(st *agent.Status) {
		switch {
		case !ok:
			st.LoginNeeded, st.Problem = true, textLoggedOut
		case st.LoginNeeded:
			st.LoginNeeded, st.Problem, st.LoginURL = false, "", ""
		}
	})
}

// noteAuth learns from a turn whether the login is good: where the class of its
// failure says so it is not, and an answer of the model proves that it is.
func (s *session) noteAuth(failure string, r wire.Result) {
	switch {
	case r.IsError && failure == notLoggedIn && r.APIErrorStatus == 0:
		s.e.later("status", func() { s.e.setLogin(false) })
	case !r.IsError && r.NumTurns > 0:
		s.e.later("status", func() { s.e.setLogin(true) })
	}
}

// examine asks the command for its version and its login, once, so that a user
// learns of them at the start and not from their first message.
func (e *Engine) examine(ctx context.Context) {
	path, err := e.path()
	if err == nil {
		err = e.checkVersion(ctx, path)
	} else {
		e.setStatus(func(st *agent.Status) { st.Problem = err.Error() })
	}
	close(e.examined)
	if err == nil {
		e.checkLogin(ctx, path)
	}
}

// checkVersion asks the command for its version. One that is newer than all that
// were tried is a warning, one that is too old a problem, as is a command that
// does not answer or has nowhere to keep its sessions.
func (e *Engine) checkVersion(ctx context.Context, path string) error {
	version, err := process.Version(ctx, path, e.env())
	if err == nil {
		err = process.CheckVersion(version)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	tooOld := errors.Is(err, process.ErrTooOld)
	var unprepared error
	if err == nil {
		unprepared = sessionfile.Prepare(e.env())
		err = unprepared
	}
	e.mu.Lock()
	e.unusable = tooOld || unprepared != nil
	e.mu.Unlock()
	e.setStatus(func(st *agent.Status) {
		if st.Version = version; err != nil {
			st.Problem = err.Error()
			return
		}
		if st.Warning = ""; !st.LoginNeeded {
			st.Problem = ""
		}
		if process.Untried(version) {
			st.Warning = fmt.Sprintf(textUntried, version, process.Oldest(), process.Newest())
		}
	})
	return err
}

// refuseUnusable keeps a command from being started that is too old, which would end
// with an error about unknown flags, or that cannot keep sessions. It looks again each
// time, so that a cure takes effect without a restart.
func (e *Engine) refuseUnusable(ctx context.Context, path string) error {
	select {
	case <-e.examined:
	case <-ctx.Done():
		return ctx.Err()
	}
	e.mu.Lock()
	unusable := e.unusable
	e.mu.Unlock()
	if !unusable { // the folder of its sessions may have been removed since
		return sessionfile.Prepare(e.env())
	}
	return e.checkVersion(ctx, path)
}

// checkLogin asks the command whether somebody is logged in. What it cannot tell,
// the first turn will.
func (e *Engine) checkLogin(ctx context.Context, path string) {
	auth, err := AuthStatus(ctx, path, e.env())
	if err != nil {
		if ctx.Err() == nil {
			e.o.Log.Info("claude did not say how it is logged in", "error", err)
		}
		return
	}
	e.setLogin(auth.LoggedIn)
}

const (
	// lookEvery is how often the processes are looked at.
	lookEvery = 2 * time.Second
	// worthNoting is the part by which memory must change before anybody is
	// told: it never stands still.
	worthNoting = 20 // 1/20 is 5 %
)

// watch looks at all processes until ctx ends: at their memory, and at turns
// that have become silent.
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

// checkProcesses looks at every process once.
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

// checkMemory looks at the process's memory and ends it where it has too much. tell
// says that the change is worth telling.
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
	// stallAfter is how long a turn may be silent while nothing is known to be
	// going on (a stream that has stalled is silent for five
	// minutes at least). Compactions and subagents work in silence.
	stallAfter = 2 * time.Minute
	slowAfter  = 10 * time.Minute
	// obeyWithin is how long an interruption, and then SIGINT, may take.
	obeyWithin = 15 * time.Second
)

func stalledText() string { return fmt.Sprintf(textStalled, "two minutes") }

// checkSilence interrupts a turn that has become silent, and goes further where
// the CLI does not obey: SIGINT, then the end of the process.
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
		t.stalled, t.stopped = true, now
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
		s.log.Error("process does not obey and is ended")
		s.kill(errors.New(clean.Line(stalledText())))
	}
}

// step is what is due with a turn that does not go on.
type step int

const (
	stepNone step = iota
	stepInterrupt
	stepSignal
	stepEnd
)

// silence says what is due. heard is when the last line came, pending how many
// callbacks of the bot are being answered.
func (t *turn) silence(now, heard time.Time, pending int) step {
	switch {
	case !t.signalled.IsZero():
		return due(now, t.signalled, obeyWithin, stepEnd)
	case !t.stopped.IsZero():
		return due(now, newer(t.stopped, heard), obeyWithin, stepSignal)
	case pending > 0:
		return stepNone
	}
	tools, subagents := t.tr.working()
	if tools {
		return stepNone
	}
	limit := stallAfter
	if subagents || t.tr.compacting || t.command != "" {
		limit = slowAfter
	}
	return due(now, newer(t.since, heard).Add(t.tr.retry.Delay()), limit, stepInterrupt)
}

func due(now, since time.Time, limit time.Duration, s step) step {
	if now.Sub(since) < limit {
		return stepNone
	}
	return s
}

func newer(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
