package claude

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/claude/wire"
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
// does not answer.
func (e *Engine) checkVersion(ctx context.Context, path string) error {
	version, err := process.Version(ctx, path, e.env())
	if err == nil {
		err = process.CheckVersion(version)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e.mu.Lock()
	e.tooOld = errors.Is(err, process.ErrTooOld)
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

// refuseOld keeps a command that is too old from being started: it would end with
// a word about flags that it does not know. Once another was installed, it goes on.
func (e *Engine) refuseOld(ctx context.Context, path string) error {
	select {
	case <-e.examined:
	case <-ctx.Done():
		return ctx.Err()
	}
	e.mu.Lock()
	tooOld := e.tooOld
	e.mu.Unlock()
	if !tooOld {
		return nil
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
