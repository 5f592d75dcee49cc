package claude

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/agent/claude/sessionfile"
	"ollimbot/core/base/clean"
)

// examine asks the command for its version and its login, once, so that the user learns of problems
// at startup and not from the first message.
func (e *Engine) examine(ctx context.Context) {
	path, err := e.path(ctx)
	if err == nil {
		err = e.checkVersion(ctx, path)
	}
	close(e.examined)
	if err == nil {
		e.checkLogin(ctx, path)
	}
}

// checkVersion asks the command for its version. A version newer than all tested ones is a warning, unless only its last
// number is: then the first session shows whether it differs. A version that is too old, a command that does not answer,
// one that works outside the sandbox only, and one that cannot store its sessions are problems.
func (e *Engine) checkVersion(ctx context.Context, path string) error {
	seen := lookAt(path)
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
	if err == nil && e.o.Sandbox != nil && process.Script(path) {
		if _, inside := process.VersionIn(ctx, path, e.env(), e.o.Sandbox); inside != nil && ctx.Err() == nil {
			err = fmt.Errorf(textOutside, clean.Line(path), inside)
		}
	}
	e.mu.Lock()
	e.unusable, e.seen = tooOld || unprepared != nil, seen
	e.mu.Unlock()
	e.setStatus(func(st *agent.Status) {
		if st.Version = version; err != nil {
			st.Problem = err.Error()
			return
		}
		if st.Warning = ""; !st.LoginNeeded {
			st.Problem = ""
		}
		if process.Untried(version) && !process.Patch(version) {
			st.Warning = fmt.Sprintf(textUntried, version, process.Oldest(), process.Newest())
		}
	})
	return err
}

// file identifies a command, which updates replace while the bot runs.
type file struct {
	size   int64
	at     time.Time
	target string
}

// removed is the path of a command that was there and is gone.
const removed = "removed"

// lookAt returns what a path leads to now; the zero value if it leads nowhere.
func lookAt(path string) file {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return file{}
	}
	info, err := os.Stat(target)
	if err != nil {
		return file{}
	}
	return file{size: info.Size(), at: info.ModTime(), target: target}
}

// differs warns of a newer release that has greeted in another way than those that were tested.
func (e *Engine) differs() {
	e.setStatus(func(st *agent.Status) {
		if process.Untried(st.Version) {
			st.Warning = fmt.Sprintf(textUntried, st.Version, process.Oldest(), process.Newest())
		}
	})
}

// refuseUnusable prevents the start of a command that is too old, which would fail with
// unknown flags, or that cannot store sessions. It checks again each time, so that a fix
// takes effect without a restart, and so that a command that was replaced is noticed.
func (e *Engine) refuseUnusable(ctx context.Context, path string) error {
	select {
	case <-e.examined:
	case <-ctx.Done():
		return ctx.Err()
	}
	e.mu.Lock()
	unusable, replaced := e.unusable, e.seen != file{} && e.seen != lookAt(path)
	e.mu.Unlock()
	if replaced {
		e.later("login", func() { e.checkLogin(e.ctx, path) })
	}
	if !unusable && !replaced { // the folder of its sessions may have been removed since
		return sessionfile.Prepare(e.env())
	}
	err := e.checkVersion(ctx, path)
	e.mu.Lock()
	unusable = e.unusable
	e.mu.Unlock()
	if !unusable && replaced { // a slow answer is no reason to refuse
		return nil
	}
	return err
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
