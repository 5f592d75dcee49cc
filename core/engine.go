package core

import (
	"cmp"
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/safety/sandbox"
	"ollimbot/core/storage/live"
	"ollimbot/core/talk/chat"
	"ollimbot/core/talk/notice"
	"ollimbot/core/work/money"
)

// EngineStatus is the state of the model in the top line.
type EngineStatus struct {
	Name  string // "script", "claude"
	Model string
	State string // "ready", "working", "waiting for the rate limit until 15:00"
	OK    bool
	// Version is the version of the program behind the engine. Warning describes a possible
	// problem with it. Either may be empty.
	Version, Warning string
	// Offline means that no model is connected and scripted replies answer. In the demo this
	// is intended, and Offline is false.
	Offline bool
	// LoginNeeded means that no one is logged in. LoginURL is the page to continue a login
	// in progress.
	LoginNeeded bool
	LoginURL    string
	Processes   []agent.Process
	// Today is the usage of all turns since midnight.
	Today agent.Usage
}

// offlineEngine is the name of the engine without a model.
const offlineEngine = "script"

// engine is the bot's connection to a model.
type engine struct {
	of       agent.Engine
	name     string
	demo     bool
	log      *slog.Logger
	zone     *time.Location
	settings *live.Settings
	purse    *money.Purse
	notices  *notice.Board
	chat     *chat.Conversation
}

// status returns the state for the top line.
func (e *engine) status() EngineStatus {
	s := EngineStatus{
		Name: e.name, Model: e.settings.Load().ModelMain, OK: true, State: "ready",
		Today: e.purse.Today(time.Now().In(e.zone)).Used(),
	}
	if r, ok := e.of.(agent.Reporter); ok {
		status := r.Status()
		s.Name = cmp.Or(status.Name, s.Name)
		s.Version, s.Warning, s.Processes = status.Version, status.Warning, status.Processes
		s.LoginNeeded, s.LoginURL = status.LoginNeeded, status.LoginURL
		if status.Problem != "" {
			s.State, s.OK = status.Problem, false
		}
	}
	s.Offline = s.Name == offlineEngine && !e.demo
	if busy, _ := e.chat.Busy(); busy && !s.LoginNeeded { // a message to an engine that is logged out is tried in vain
		s.State, s.OK = "answering", true
	}
	if state := e.chat.Status(); state != "" {
		s.State, s.OK = state, false
	}
	return s
}

// changed returns a callback for the engine's status changes. It turns a new warning into
// a notice.
func (e *engine) changed(r agent.Reporter, notify func()) func() {
	var said atomic.Value
	return func() {
		if w := r.Status().Warning; said.Swap(w) != w && w != "" {
			e.notices.Add(notice.Warn, w)
		}
		notify()
	}
}

// run does the engine's background work, if it has any.
func (e *engine) run(ctx context.Context) error {
	r, ok := e.of.(agent.Runner)
	if !ok {
		return nil
	}
	return r.Run(ctx)
}

// reportSandbox logs the sandbox used for commands of a model, of skills and of git. It
// warns the user if a model's commands run without one.
func (e *engine) reportSandbox(box *sandbox.Box) error {
	if box == nil {
		return nil
	}
	state := box.State()
	e.log.Info("sandbox", "state", state.String())
	if _, runs := e.of.(agent.Runner); runs && state.Kind == sandbox.None {
		e.notices.Add(notice.Warn, state.String())
	}
	return nil
}
