package core

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/audit"
	"ollimbot/core/command"
	"ollimbot/core/config"
	"ollimbot/core/policy"
	"ollimbot/core/sandbox"
)

// EngineStatus is the model's side of the top line.
type EngineStatus struct {
	Name  string // "script", "claude"
	Model string
	State string // "ready", "working", "waiting for the rate limit until 15:00"
	OK    bool
	// Version is that of the program behind the engine, Warning something about
	// it that works but may not; empty where there is nothing to say.
	Version, Warning string
	// LoginNeeded says that nobody is logged in, LoginURL where the user goes on
	// with a login that has begun.
	LoginNeeded bool
	LoginURL    string
	Processes   []agent.Process
	// Today is what all turns since midnight have used.
	Today agent.Usage
}

func (b *Bot) engineStatus() EngineStatus {
	s := EngineStatus{
		Name: b.o.EngineName, Model: b.runtime.Load().ModelMain, OK: true, State: "ready",
		Today: b.costs.Today(b.now()),
	}
	if r, ok := b.o.Engine.(agent.Reporter); ok {
		status := r.Status()
		s.Version, s.Warning, s.Processes = status.Version, status.Warning, status.Processes
		s.LoginNeeded, s.LoginURL = status.LoginNeeded, status.LoginURL
		if status.Problem != "" {
			s.State, s.OK = status.Problem, false
		}
	}
	b.main.mu.Lock()
	defer b.main.mu.Unlock()
	switch {
	case b.main.state != "":
		s.State, s.OK = b.main.state, false
	case !b.main.since.IsZero():
		s.State, s.OK = "answering", true
	}
	return s
}

// engineChanged shows how the engine stands; what it warns of is said once.
func (b *Bot) engineChanged(r agent.Reporter) func() {
	var said atomic.Value
	return func() {
		if w := r.Status().Warning; w != "" && said.Swap(w) != w {
			b.notice(Warn, w)
		}
		b.notify()
	}
}

// Runtime is the configuration in force, for parts beside the bot that read it
// live.
func (b *Bot) Runtime() config.Runtime { return *b.runtime.Load() }

// runEngine does an engine's work in the background, where it has any.
func (b *Bot) runEngine(ctx context.Context) error {
	r, ok := b.o.Engine.(agent.Runner)
	if !ok {
		return nil
	}
	return r.Run(ctx)
}

// openControl opens the socket for the agent's own commands, before the first
// session is told of it, and gives what serves it. The bot works without it.
func (b *Bot) openControl(ctx context.Context) func() error {
	c := b.o.Control
	if c == nil {
		return func() error { return nil }
	}
	if err := c.Open(); err != nil {
		b.log.Error("commands of the agent cannot reach the bot", "error", err)
		return func() error { return nil }
	}
	return func() error { return c.Serve(ctx) }
}

// openAhead opens the main session, so that the user's next message finds its
// process ready. Where that costs too much memory, claude_warm 0 leaves it to the
// message.
func (b *Bot) openAhead(ctx context.Context) error {
	if _, processes := b.o.Engine.(agent.Runner); !processes || b.runtime.Load().ClaudeWarm == 0 {
		return nil
	}
	err := b.main.locked(ctx, func(ctx context.Context) error {
		_, err := b.main.open(ctx)
		if r, tells := b.o.Engine.(agent.Reporter); tells && r.Status().LoginNeeded {
			b.main.drop() // a process would not hear of the login
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		b.log.Warn("the main session could not be opened ahead", "error", err)
	}
	return nil
}

// spent adds what a turn has used to the ledger.
func (b *Bot) spent(u agent.Usage) {
	if err := b.costs.Add(b.now(), u); err != nil {
		b.log.Error("what a turn has used could not be written down", "error", err)
	}
}

// approvalChanged shows a tool call that waits, or how it was settled.
func (b *Bot) approvalChanged(a policy.Approval) {
	b.recordApproval(a)
	b.notify()
	if b.o.Remote != nil {
		b.o.Remote.Approval(a)
	}
}

// login begins or ends a login of the engine's account.
func (b *Bot) login(ctx context.Context, c command.Login) (command.Outcome, error) {
	account, ok := b.o.Engine.(agent.Account)
	if !ok {
		return command.Outcome{}, errors.New(textNoLogin)
	}
	if c.Code != "" {
		if err := account.Finish(ctx, c.Code); err != nil {
			return command.Outcome{}, err
		}
		if b.o.Remote != nil {
			b.o.Remote.Small(textLoggedIn)
		}
		return command.Outcome{Message: textLoggedIn}, nil
	}
	url, err := account.Login(ctx)
	if err != nil {
		return command.Outcome{}, err
	}
	return command.Outcome{Message: textOpenLogin, Body: url}, nil
}

// surfaceStatus says where the bot's words go.
func (b *Bot) surfaceStatus() SurfaceStatus {
	if b.o.Remote != nil {
		return b.o.Remote.Status()
	}
	return SurfaceStatus{Name: textChatHere, State: b.o.NoRemote, OK: true}
}

// runRemote keeps the remote surface connected. Where it cannot go on, the bot
// does: the dashboard says why.
func (b *Bot) runRemote(ctx context.Context) error {
	if b.o.Remote == nil {
		return nil
	}
	ctx = audit.With(ctx, audit.User, b.o.Remote.Status().Name)
	if err := b.o.Remote.Run(ctx, b); err != nil && ctx.Err() == nil {
		b.log.Error("the connection to the user has stopped; the dashboard goes on", "surface", b.o.Remote.Status().Name, "error", err)
	}
	return nil
}

// farewell says goodbye where the user is.
func (b *Bot) farewell(ctx context.Context) {
	if b.o.Remote == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	b.o.Remote.Farewell(ctx)
}

// tellSandbox says once what keeps the commands of a model in. It is no concern
// of an engine that runs nothing.
func (b *Bot) tellSandbox() error {
	if _, runs := b.o.Engine.(agent.Runner); !runs || b.o.Sandbox == nil {
		return nil
	}
	state := b.o.Sandbox.State()
	b.log.Info("sandbox", "state", state.String())
	if state.Kind == sandbox.None {
		b.notice(Warn, state.String())
	} else {
		b.notice(Info, state.String())
	}
	return nil
}
