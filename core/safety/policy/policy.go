// Package policy decides what the agent's tools may do: tool patterns, tool-policy.yaml, permission
// modes, approvals, the closed places of the data directory, and the rights of the files that
// agents write. It must not know forks, conversations, surfaces or engines.
//
// Start with session.go: judge answers one call. Patterns and lists are in patterns.go and
// shell.go, closed places in paths.go and search.go, untrusted input in taint.go, and the rights of
// written files in grants.go, authors.go, running.go and provenance.go; before.go keeps the texts
// that stay in force while edits wait.
//
// # A tool call
//
// The hook (Session.PreTool) and the permission callback (Session.Permission) precede every tool
// call. Both ask Session.judge, which checks protected paths, the patterns of the run (command
// lines parsed as bash parses them), what the user allowed for this process, the permission mode,
// and what a written task, skill or webhook would contain. A call that is still undecided waits in
// the approval queue: the first answer from any surface counts, and after a minute without one the
// call is denied.
//
// # Rights are bound to bytes
//
// The author of a task is recorded by the digest of the file's bytes, not by its path. So a move, a
// link, a copy or another spelling changes nothing, and a change by the user makes the bytes
// theirs. The digest is recorded before the file exists, so that the schedule never sees a version
// of unknown origin. Whether a task waits for approval is derived from that and from the author's
// rights on every check, so there is no second file to keep consistent. The decision is repeated
// when a task fires (Guard.Bound): a pattern counts only if it is provably covered by one of the
// author's. `ollim-bot allow` is not a subcommand of `reminder`, because the agent may run those.
//
// # The bot's own globs
//
// In tool patterns, ** matches anything, even part of a name: ./**.md is every Markdown file at any
// depth, as in the original program. doublestar lets ** match only whole path elements, so such a
// list would forbid what it allows. tool-policy.yaml is parsed with positions and not into structs:
// every problem is reported with its line, and a bad pattern leaves the others in force.
package policy

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/storage/store"
)

// Mode is a permission mode.
type Mode string

// The permission modes. DontAsk is the default, even for an unknown mode.
const (
	DontAsk           Mode = "dontAsk"
	Ask               Mode = "default"
	AcceptEdits       Mode = "acceptEdits"
	BypassPermissions Mode = "bypassPermissions"
)

// Engine returns the mode for an engine. Engines do not know DontAsk, which the bot implements on
// top of their default.
func (m Mode) Engine() string {
	switch m {
	case AcceptEdits, BypassPermissions:
		return string(m)
	}
	return string(Ask)
}

// Options configure a Guard. Dir and Log are required; a nil Zone means UTC.
type Options struct {
	Dir  *store.Dir
	Zone *time.Location
	Log  *slog.Logger
	// Base returns the patterns of every background run; nil means BackgroundTools.
	Base func() []string
	// Reading are the names of the bot's own commands that change nothing, such as "tasks list". Every other command
	// counts as one that acts.
	Reading []string
	// Waits is called with the writer and the path of a file that has no effect until the user
	// approves it, and the reason. It must not block; may be nil.
	Waits func(w Writer, rel, why string)
	// Ended is called with the path of a file whose approval has ended because an agent writes it
	// again; may be nil.
	Ended func(rel string)
	// Confined reports whether a sandbox keeps commands from writing tasks, skills and
	// webhooks; nil means no.
	Confined func() bool
	// Google reports whether the user's account is connected; nil means no.
	Google func() bool
	// Network reports whether commands can reach the network; nil means no.
	Network func() bool
	// Trusted reports whether the user trusts the results of an MCP server like their own text; nil
	// means no.
	Trusted func(server string) bool
	// Propose stores an edit of the MCP servers' file for the user's approval, and returns the
	// answer for the agent. It must not block. If nil, such edits are refused.
	Propose func(w Writer, text []byte) (answer string)
}

// Guard decides about tool calls. All methods may be called concurrently. Only the function that
// Permission returns may block, while it waits for an approval.
type Guard struct {
	o          Options
	tree       tree
	approvals  *ApprovalQueue
	provenance *Provenance
	reach      *reach
	reading    []pattern // calls of the commands of Options.Reading
	// commands are the running shell commands of sessions.
	commands commands

	mu sync.Mutex
	// allowed are the user's "always" answers: the bare names of tools, and the rules of commands
	// (call.exact).
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
		o.Waits = func(Writer, string, string) {}
	}
	if o.Ended == nil {
		o.Ended = func(string) {}
	}
	if o.Confined == nil {
		o.Confined = func() bool { return false }
	}
	if o.Google == nil {
		o.Google = func() bool { return false }
	}
	if o.Network == nil {
		o.Network = func() bool { return false }
	}
	if o.Trusted == nil {
		o.Trusted = func(string) bool { return false }
	}
	g := &Guard{o: o, provenance: newProvenance(o.Dir), tree: tree{o.Dir.Root()}, allowed: map[string]bool{}}
	for _, name := range o.Reading {
		for _, arguments := range []string{"", " *"} {
			g.reading = append(g.reading, parsePattern(g.tree, "Bash("+ownProgram+" "+name+arguments+")"))
		}
	}
	g.reach = &reach{dir: o.Dir, tree: g.tree, provenance: g.provenance, network: o.Network, trusted: o.Trusted}
	g.approvals = &ApprovalQueue{always: func(a Approval) { g.Allow(cmp.Or(a.Command, a.Tool)) }}
	return g
}

// Approvals returns the queue of approvals that are waiting for the user.
func (g *Guard) Approvals() *ApprovalQueue { return g.approvals }

// Allow allows a tool, by its bare name, or one command, by its rule, until Reset. Allowing "Bash"
// allows every command.
func (g *Guard) Allow(rule string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.allowed[toolName(rule)] = true
}

func (g *Guard) sessionAllows(rule string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.allowed[toolName(rule)]
}

// Reset starts a new conversation: it cancels pending approvals and forgets the tools that were
// allowed.
func (g *Guard) Reset() {
	g.approvals.CancelAll()
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.allowed)
}

// maxPicture is the maximum length of a question's text, in bytes: nothing is cut from it.
const maxPicture = 1 << 20

// told returns a test for the patterns that refusals show in that kind of session.
func told(g *Guard, kind Kind) func(pattern) bool {
	return func(p pattern) bool { return p.told(kind, g.o.Google()) }
}

// guarded runs a check. A panic in it is a denial.
func (g *Guard) guarded(x call, check func() agent.Decision) (d agent.Decision) {
	defer func() {
		if p := recover(); p != nil {
			g.o.Log.Error("permission check failed", "tool", clean.Line(x.Name), "fault", fmt.Sprint(p))
			d = agent.Decision{Reason: answerFault}
		}
	}()
	return check()
}

// ask lets the user decide about a call. why is the reason shown.
func (g *Guard) ask(ctx context.Context, session string, x call, why verdict) agent.Decision {
	r := g.tree.request(x, session)
	if why.once {
		r.Question, r.Tool, r.Command = strings.TrimSpace(why.reason+" "+r.Question), "", ""
	}
	if len(r.Text) > maxPicture {
		return deny(answerTooLong, x)
	}
	v, err := g.approvals.Ask(ctx, r)
	if err != nil {
		g.o.Log.Warn("cannot ask for permission", "tool", clean.Line(x.Name), "error", err)
	}
	if v.Allows() {
		return x.allow()
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
