package chat

import (
	"context"
	"iter"

	"ollimbot/core/agent"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/policy"
)

// rights are what the conversation's sessions may do.
type rights struct {
	guard    *policy.Guard
	policy   *policy.File
	settings *settings
	turn     *running
	reading  *reading
	fork     *forkState
}

// Guard judges the calls of the main session or of the open fork by the current list,
// which it also returns.
func (r *rights) Guard(kind policy.Kind) (guard *policy.Session, allowed []string) {
	return r.guardOf(kind, r.read(kind))
}

// read is what the main session or the open fork has read.
func (r *rights) read(kind policy.Kind) *policy.Taint {
	if f := r.fork.current(); f != nil && kind == policy.Interactive {
		return f.read
	}
	return r.reading.ofMain()
}

func (r *rights) guardOf(kind policy.Kind, read *policy.Taint) (guard *policy.Session, allowed []string) {
	tools, _ := r.policy.Load() // its problems are shown with those of the files
	allowed = policy.Strip(tools.Main())
	return r.guard.Session(policy.Scope{
		Kind: kind, Session: kindName(kind), Rules: policy.Rules{Allowed: allowed}, Mode: r.settings.Mode, Turn: r.turn.rights, Taint: read,
	}), allowed
}

func kindName(k policy.Kind) string {
	if k == policy.Interactive {
		return "fork"
	}
	return "main session"
}

// opener opens sessions of the engine.
type opener struct {
	engine   agent.Engine
	dir      string // the data directory
	host     Host
	rights   *rights
	settings *settings
	tools    toolset.Caller
	library  func() []agent.Tool
	renew    func(context.Context)
	commands policy.Runner
	commit   func(rel, message string)
	money    Money
	// onEngineTurn shows turns that a session starts by itself.
	onEngineTurn func(kind policy.Kind, events iter.Seq2[agent.Event, error])
}

// options returns the options of a new session; read is what it has read. The main
// session and forks have the same tools, so that an engine's prompt cache stays valid,
// and the same hooks and permissions.
func (o *opener) options(kind policy.Kind, read *policy.Taint) agent.SessionOptions {
	guard, allowed := o.rights.guardOf(kind, read)
	tools := toolset.Tools(o.tools)
	if o.library != nil {
		tools = append(tools, o.library()...)
	}
	hooks := guard.Hooks(o.commit)
	hooks.Afford = o.money.MayGoOn
	hooks.Charge = func(c agent.Charge) { o.money.Booked(kind == policy.Interactive, c) }
	return agent.SessionOptions{
		Dir:          o.dir,
		SystemPrompt: o.host.SystemPrompt(),
		Settings:     o.settings.Settings(kind == policy.Interactive),
		Tools:        tools,
		Allowed:      allowed,
		Hooks:        hooks,
		Permission:   guard.Permission,
		Command:      guard.Command(o.commands),
		OnEngineTurn: func(events iter.Seq2[agent.Event, error]) { o.onEngineTurn(kind, events) },
	}
}
