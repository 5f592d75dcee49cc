package chat

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/label"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/session"
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
		BriefPrompt:  o.host.BriefPrompt(),
		Settings:     o.settings.Settings(kind == policy.Interactive),
		Tools:        tools,
		Allowed:      allowed,
		Hooks:        hooks,
		Permission:   guard.Permission,
		Command:      guard.Command(o.commands),
		OnEngineTurn: func(events iter.Seq2[agent.Event, error]) { o.onEngineTurn(kind, events) },
	}
}

// knowledge is what a session knows of the profile: at first its system prompt, then also what a message has said.
type knowledge struct{ first, now prompt.Profile }

// knows returns it for a session that is about to be opened.
func (o *opener) knows() *knowledge {
	p := o.host.Profile()
	return &knowledge{first: p, now: p}
}

// adding appends what has changed to a message. took records that the session has the message.
func (k *knowledge) adding(p prompt.Profile, text string) (whole string, took func()) {
	if news := p.Changed(k.now); news != "" {
		text += "\n\n" + news
	}
	return text, func() { k.now = p }
}

// forget is called after a compaction: the system prompt is left, and what messages have said may not be.
func (k *knowledge) forget() { k.now = k.first }

// reading tracks which untrusted text the sessions of the conversation have read, and
// whether the user has answered it.
type reading struct {
	sessions *session.Store
	audit    *audit.Log
	log      *slog.Logger
	now      func() time.Time

	mu sync.Mutex
	// main is what the main session has read; loaded on first use.
	main *policy.Taint
	// shown is when the last turn ended: the user has seen everything before.
	shown time.Time
}

// ofMain returns what the main session has read, including before a restart.
func (r *reading) ofMain() *policy.Taint {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.main == nil {
		r.main = r.of(fromMain, r.sessions.Main)
	}
	return r.main
}

// of returns what a session has read so far. It calls id whenever that changes.
func (r *reading) of(name string, id func() string) *policy.Taint {
	t := policy.NewTaint(r.sessions.Labels().Of(id()))
	t.Changed = func(l label.Label) { r.changed(name, id(), l) }
	return t
}

// changed records that a session is about to read untrusted text, or that the user has
// answered it.
func (r *reading) changed(name, id string, l label.Label) {
	now, labels := r.now(), r.sessions.Labels()
	e := audit.Entry{Actor: audit.Bot, From: name, Action: audit.InputRead, Subject: id, Detail: string(l.Via(audit.ThisConversation))}
	keep := func() error { return labels.Read(now, id, l) }
	if l == "" {
		e.Actor, e.Action, e.Detail = audit.User, audit.InputAnswered, string(labels.Of(id))
		keep = func() error { return labels.Clear(now, id) }
	}
	if err := keep(); err != nil {
		r.log.Error("what the conversation has read was not recorded", "error", err)
	}
	r.audit.Record(now, e)
}

// ended records that a turn has ended, so that the user sees all of it.
func (r *reading) ended() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shown = r.now()
}

// answered clears what a session has read if the user wrote after it was shown. A zero time
// means that someone else wrote.
func (r *reading) answered(t *policy.Taint, id string, written time.Time) {
	r.mu.Lock()
	shown := r.shown
	r.mu.Unlock()
	if !written.IsZero() && !written.Before(shown) && !written.Before(r.sessions.Labels().Since(id)) {
		t.Clear()
	}
}

// becomes replaces what the main session has read with what a fork has, when the fork
// becomes the main session.
func (r *reading) becomes(fork *policy.Taint) {
	r.mu.Lock()
	r.main = r.of(fromMain, r.sessions.Main)
	main := r.main
	r.mu.Unlock()
	main.Read(fork.Label())
}

// forget drops what the main session has read, together with the session.
func (r *reading) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.main = nil
}
