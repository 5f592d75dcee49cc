package claude

import (
	"context"
	"errors"
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/claude/sessionfile"
)

// examine asks the command for its version and its login, once, so that the user learns of problems
// at startup and not from the first message.
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

// checkVersion asks the command for its version. A version newer than all tested ones is a warning.
// A version that is too old, a command that does not answer, and one that cannot store its sessions
// are problems.
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

// refuseUnusable prevents the start of a command that is too old, which would fail with
// unknown flags, or that cannot store sessions. It checks again each time, so that a fix
// takes effect without a restart.
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

// checkLogin asks the command whether the user is logged in. If it cannot tell, the first turn
// shows it.
func (e *Engine) checkLogin(ctx context.Context, path string) {
	auth, err := AuthStatus(ctx, path, e.env())
	if err != nil {
		if ctx.Err() == nil {
			e.o.Log.Info("login status is not known", "error", err)
		}
		return
	}
	e.setLogin(auth.LoggedIn)
}
