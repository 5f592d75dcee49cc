// Package policy is the one room where it is decided what the agent's tools may
// do: tool patterns and lists, tool-policy.yaml, the permission modes, what the
// user has allowed for this session, approvals that wait for an answer, and the
// hooks that guard the data directory.
//
// It must not know forks, conversations, surfaces or any particular engine: it
// answers agent.ToolUse with agent.Decision, and approvals are values that any
// surface may show and answer.
package policy

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/storage/store"
)

// Mode is a permission mode.
type Mode string

// The permission modes. DontAsk is the default, and what an unknown word means.
const (
	DontAsk           Mode = "dontAsk"
	Ask               Mode = "default"
	AcceptEdits       Mode = "acceptEdits"
	BypassPermissions Mode = "bypassPermissions"
)

// Engine is the mode that an engine is told: engines know no DontAsk, which is
// a rule of ours on top of their default.
func (m Mode) Engine() string {
	switch m {
	case AcceptEdits, BypassPermissions:
		return string(m)
	}
	return string(Ask)
}

// Options are the parts of a Guard. Dir and Log are required; a nil Zone is UTC.
type Options struct {
	Dir  *store.Dir
	Zone *time.Location
	Log  *slog.Logger
	// Base are the patterns that every background run begins with; nil is
	// BackgroundTools.
	Base func() []string
	// Waits is told of a file that an agent has written and that does nothing until
	// the user says so: its path and why. It must not block; nil tells nobody.
	Waits func(rel, why string)
	// Confined reports whether commands run where the system keeps them from
	// writing tasks, skills and webhooks; nil for nowhere.
	Confined func() bool
}

// Guard decides tool calls. All methods may be called concurrently; only the
// function that Permission returns may block, while it waits for an approval.
type Guard struct {
	o         Options
	tree      tree
	approvals *ApprovalQueue
	// provenance is where it is noted who writes tasks.
	provenance *Provenance
	// commands are the shell commands that sessions run now.
	commands commands

	mu sync.Mutex
	// allowed are the tools that the user has always allowed, by bare name.
	allowed map[string]bool
}

// New returns a guard for a data directory. It reads nothing yet.
func New(o Options) *Guard {
	if o.Zone == nil {
		o.Zone = time.UTC
	}
	if o.Base == nil {
		o.Base = BackgroundTools
	}
	if o.Waits == nil {
		o.Waits = func(string, string) {}
	}
	if o.Confined == nil {
		o.Confined = func() bool { return false }
	}
	g := &Guard{o: o, provenance: newProvenance(o.Dir), tree: tree{o.Dir.Root()}, allowed: map[string]bool{}}
	g.approvals = &ApprovalQueue{always: g.Allow}
	return g
}

// Approvals is where this guard's approvals wait for the user.
func (g *Guard) Approvals() *ApprovalQueue { return g.approvals }

// Allow allows a tool, by its bare name, until Reset: allowing "Bash" allows
// every command.
func (g *Guard) Allow(tool string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.allowed[toolName(tool)] = true
}

func (g *Guard) sessionAllows(tool string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.allowed[toolName(tool)]
}

// Reset is a new conversation: what waits is cancelled, what was allowed is not
// any more.
func (g *Guard) Reset() {
	g.approvals.CancelAll()
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.allowed)
}

// guarded runs a check; a fault in it is a denial.
func (g *Guard) guarded(x call, check func() agent.Decision) (d agent.Decision) {
	defer func() {
		if p := recover(); p != nil {
			g.o.Log.Error("permission check failed", "tool", clean.Line(x.Name), "fault", fmt.Sprint(p))
			d = agent.Decision{Reason: answerFault}
		}
	}()
	return check()
}

// ask lets the user decide.
func (g *Guard) ask(ctx context.Context, session string, x call) agent.Decision {
	v, err := g.approvals.Ask(ctx, Request{Label: toolset.Whole(x.Name, x.Input), Text: toolset.Full(x.Name, x.Input), Tool: x.Name, Session: session})
	if err != nil {
		g.o.Log.Warn("nobody can be asked for permission", "tool", clean.Line(x.Name), "error", err)
	}
	if v.Allows() {
		return agent.Decision{Allow: true}
	}
	name := clean.Line(toolset.Label(x.Name, x.Input))
	switch v {
	case Deny:
		return agent.Decision{Reason: fmt.Sprintf(answerDenied, name)}
	case Expired:
		return agent.Decision{Reason: fmt.Sprintf(answerExpired, name, int(Patience.Seconds()))}
	}
	return agent.Decision{Reason: fmt.Sprintf(answerCancelled, name)}
}

func deny(format string, x call) agent.Decision {
	return agent.Decision{Reason: fmt.Sprintf(format, clean.Cut(clean.Line(x.Name), 80))}
}
