// Package claude is the engine for the real "claude" command. It runs one process per session
// (package process) and talks to it in JSON lines (package wire). It owns how sessions are opened,
// resumed and forked, where a turn starts and ends, how lines become events, and what a process may
// use.
//
// It must not know forks, budgets, Discord or the bot's files: it reaches the bot only through a
// session's callbacks.
//
// Each session has one goroutine that reads its process (session.live). The engine owns it; all of
// them, and all processes, have ended when Run returns.
//
// # Processes are replaceable
//
// The bot holds a session, not a process. If the process ended while idle, the next message reopens
// the session from its transcript, or as it was first opened if it had no message yet. If the
// process ends during a turn, the turn fails: how much the model has read is unknown, and nothing
// is sent twice.
//
// Control requests (hooks, permissions, the bot's tools) are answered in their own goroutines. All
// other lines are translated to events in the reading goroutine and stay in the turn's queue until
// its reader takes them.
package claude

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/agent/claude/process"
	"ollimbot/core/base/fault"
	"ollimbot/core/safety/control"
	"ollimbot/core/safety/sandbox/shim"
	"ollimbot/core/storage/config"
)

// Options of the engine.
type Options struct {
	// Path is the command. If empty, process.Find looks for it in Env.
	Path string
	// Env is the environment to build on; nil means os.Environ. process.Environment selects what a
	// process gets.
	Env []string
	// Process is added to the environment.
	Process process.Env
	// Control is the socket that connects commands in a session's shell to the bot, which opens and
	// serves it. May be nil.
	Control *control.Server
	// Sandbox sandboxes a session's process before it starts; see process.Spec. May be nil.
	// Processes that run nothing for a model, such as a login, are not sandboxed.
	Sandbox func(*exec.Cmd) (done func())
	// MemoryLimit returns the resident bytes above which a process is ended. 0 or a nil function
	// means no limit.
	MemoryLimit func() int64
	// Price estimates the cost of a turn that has not ended. If nil, only its tokens are reported.
	Price Price
	// Log may be nil.
	Log *slog.Logger
}

// Price returns the cost in dollars of a model's usage.
type Price func(model string, u agent.Usage) float64

// Engine opens sessions with Claude. Use New.
type Engine struct {
	o Options
	// start starts a process; tests replace it with pipes.
	start func(process.Spec) (child, error)
	// begun is closed when Run has started.
	begun chan struct{}
	// examined is closed when the command's version is known or cannot be determined.
	examined chan struct{}
	// background counts the goroutines that outlive the call that started them: Run waits for them.
	background sync.WaitGroup
	ran        atomic.Bool // Run was called
	plan       atomic.Bool // the account is a subscription
	loginLimit time.Duration

	// ctx is Run's context, set before begun is closed. Sessions may be opened until it ends.
	ctx context.Context

	mu sync.Mutex
	// sessions are those whose process has not been reaped yet, by ID. An ID that is being opened
	// maps to nil.
	sessions map[string]*session
	status   agent.Status
	unusable bool     // the command must not be started
	seen     file     // the command whose version is known
	login    *attempt // waits for its code; nil if no login is in progress
	changed  func()
}

var (
	_ agent.Engine         = (*Engine)(nil)
	_ agent.Reporter       = (*Engine)(nil)
	_ agent.Runner         = (*Engine)(nil)
	_ agent.Account        = (*Engine)(nil)
	_ agent.HistoryChecker = (*Engine)(nil)
)

// New returns an engine and starts nothing.
func New(o Options) *Engine {
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.MemoryLimit == nil {
		o.MemoryLimit = func() int64 { return 0 }
	}
	if o.Price == nil {
		o.Price = func(string, agent.Usage) float64 { return 0 }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Engine{
		o: o, begun: make(chan struct{}), examined: make(chan struct{}), sessions: map[string]*session{}, loginLimit: loginLimit,
		start: func(s process.Spec) (child, error) { return process.Start(s) },
	}
}

// subscribed reports whether the user has a subscription instead of paying for each request.
func (e *Engine) subscribed() bool { return e.plan.Load() }

// safely runs f and turns a panic into an error, which it logs.
func (e *Engine) safely(what string, f func()) error {
	err := fault.Guard("the engine: "+what, func() error { f(); return nil })()
	if err != nil {
		e.o.Log.Error("engine panicked", "error", err, "stack", fault.Stack(err))
	}
	return err
}

// later runs f in a goroutine that Run waits for. A panic in it is logged.
func (e *Engine) later(what string, f func()) {
	e.background.Go(func() { _ = e.safely(what, f) }) // safely has logged it
}

// waitBegun waits briefly for Run, which starts at the same time as the first Open.
func (e *Engine) waitBegun(ctx context.Context) error {
	limit := time.NewTimer(time.Second)
	defer limit.Stop()
	select {
	case <-e.begun:
	case <-limit.C:
		return errNotRunning
	case <-ctx.Done():
		return ctx.Err()
	}
	if e.ctx.Err() != nil {
		return errNotRunning
	}
	return nil
}

// ifRunning calls f, which may start background work, unless the engine has ended. f must not block
// because the lock is held.
func (e *Engine) ifRunning(f func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ctx.Err() != nil {
		return false
	}
	f()
	return true
}

// path returns the path of the command, and in a sandbox that of the one behind a version manager's wrapper. The error
// says how to install it, and is the engine's problem.
func (e *Engine) path(ctx context.Context) (path string, err error) {
	path = e.o.Path
	if path == "" {
		path, err = process.Find(func(name string) string { return config.Lookup(e.o.Env, name) })
	}
	if err == nil && e.o.Sandbox != nil {
		path, err = shim.Resolve(ctx, path, e.env())
	}
	e.mu.Lock()
	if err == nil && e.seen != (file{}) && lookAt(path) == (file{}) {
		err = &process.NotFoundError{Path: path}
		e.seen = file{target: removed} // the next one is looked at
	}
	e.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		e.setStatus(func(st *agent.Status) { st.Problem = err.Error() })
	}
	return path, err
}

// env returns the environment of a process plus the given variables.
func (e *Engine) env(own ...string) []string {
	o := e.o.Process
	o.Extra = slices.Concat(o.Extra, own)
	return process.Environment(e.o.Env, o)
}

// Status returns the current status of the engine.
func (e *Engine) Status() agent.Status {
	processes := e.processes()
	e.mu.Lock()
	defer e.mu.Unlock()
	st := e.status
	st.Processes = processes
	return st
}

// OnChange sets the function to call after the status has changed. It is called once, before Run.
// The function must not block.
func (e *Engine) OnChange(changed func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changed = changed
}

// processes returns the engine's processes, oldest first.
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

// opened returns the sessions whose processes have not been reaped yet.
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

// setStatus changes the status and calls notify if it differs. The lock is held during change.
func (e *Engine) setStatus(change func(*agent.Status)) {
	e.mu.Lock()
	before := e.status
	change(&e.status)
	e.status.Processes = nil // listed on demand
	now := e.status
	e.mu.Unlock()
	if before.Version != now.Version || before.Warning != now.Warning || before.Problem != now.Problem ||
		before.LoginNeeded != now.LoginNeeded || before.LoginURL != now.LoginURL {
		e.notify()
	}
}

// notify reports that the status has changed.
func (e *Engine) notify() {
	e.mu.Lock()
	changed := e.changed
	e.mu.Unlock()
	if changed != nil {
		changed()
	}
}

// setLogin records whether the user is logged in.
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

// forget frees the session's ID once its process has been reaped.
func (e *Engine) forget(s *session) {
	e.mu.Lock()
	delete(e.sessions, s.key)
	e.mu.Unlock()
	e.notify()
}
