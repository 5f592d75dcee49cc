package claude

import (
	"context"
	"errors"
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/claude/sessionfile"
)

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
