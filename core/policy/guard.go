package policy

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"ollimbot/core/agent"
	"ollimbot/core/clean"
	"ollimbot/core/toolset"
)

// Kind tells whose tools are decided.
type Kind int

// The kinds of sessions. Main and Interactive differ in nothing but what is
// shown; Background asks nobody, whatever the mode.
const (
	Main Kind = iota
	Interactive
	Background
)

// Scope is the session whose calls a permission callback decides.
type Scope struct {
	Kind Kind
	// Session is shown with an approval: who asks.
	Session string
	Rules   Rules
	// Mode is asked at each call; nil is DontAsk. Background runs have no mode.
	Mode func() Mode
	// Limit is asked at each call: while it is not nil, the session decides as a
	// background run with that limit does. Nil never limits.
	Limit func() *Limit
	// Taint is what a background run knows of strangers' words; nil makes one.
	Taint *Taint
}

// Session is the guard of one session: its hooks and its permission callback are
// methods of it, so that whose call is judged is known by the object that it
// arrives at. All methods may be called concurrently.
type Session struct {
	g     *Guard
	scope Scope
	set   func() *Set
	taint *Taint
	// same are versions that the session has written over themselves: they stay the
	// user's.
	same sync.Map
}

// Session returns the guard of a session.
func (g *Guard) Session(s Scope) *Session {
	// Most sessions ask for no tool: the patterns wait for the first that does.
	if s.Taint == nil {
		s.Taint = &Taint{}
	}
	return &Session{g: g, scope: s, set: sync.OnceValue(func() *Set { return Compile(g.tree.root, s.Rules) }), taint: s.Taint}
}

// Permission is the permission callback of the session. What is closed to
// everyone comes first; a background run has what its rules name and asks
// nobody; otherwise the rules, what the user has allowed for this session, and
// then the mode decide. It blocks while an approval waits, and turns a fault of
// its own into a denial.
func (s *Session) Permission(ctx context.Context, u agent.ToolUse) agent.Decision {
	d := s.g.guarded(u, func() agent.Decision {
		if d, ok := s.g.stateGuard(u); !ok {
			return d
		}
		if set, taint := s.alone(); set != nil {
			if d, ok := s.confined(u); !ok {
				return d
			}
			if d, ok := s.g.tainted(taint, u); !ok {
				return d
			}
			return background(set, u)
		}
		if d, asked := s.askRights(ctx, u); asked {
			return d
		}
		return s.g.decide(ctx, s.scope, s.set(), u)
	})
	if d.Allow {
		s.begins(u)
	}
	return d
}

// guarded runs a check; a fault in it is a denial.
func (g *Guard) guarded(u agent.ToolUse, check func() agent.Decision) (d agent.Decision) {
	defer func() {
		if p := recover(); p != nil {
			g.log.Error("permission check failed", "tool", clean.Line(u.Name), "fault", fmt.Sprint(p))
			d = agent.Decision{Reason: answerFault}
		}
	}()
	return check()
}

// stateGuard refuses writes under state/ (decisions, C13); ok means that the
// call is none of its business.
func (g *Guard) stateGuard(u agent.ToolUse) (d agent.Decision, ok bool) {
	if d, ok := g.ownFiles(u); !ok {
		return d, false
	}
	x := readUse(u)
	switch {
	case !writes(x.tool):
		return agent.Decision{}, true
	case x.path == "":
		return deny(answerNoFile, u), false
	case g.tree.protected(x.path):
		return agent.Decision{Reason: answerProtected}, false
	}
	return agent.Decision{}, true
}

// background decides for a run that can ask nobody. The bot's own tools decide
// for themselves (decisions, B4).
func background(s *Set, u agent.ToolUse) agent.Decision {
	x := readUse(u)
	switch {
	case s.forbids(x):
		return deny(answerForkDenied, u)
	case strings.HasPrefix(u.Name, toolset.Prefix) && u.Name != toolset.Prefix+updateNames, s.allows(x):
		return agent.Decision{Allow: true}
	}
	return deny(answerUnavailable, u)
}

// decide is for sessions with a user behind them.
func (g *Guard) decide(ctx context.Context, s Scope, set *Set, u agent.ToolUse) agent.Decision {
	x := readUse(u)
	mode := DontAsk
	if s.Mode != nil {
		mode = s.Mode()
	}
	switch {
	case set.forbids(x):
		return deny(answerDisallowed, u)
	case strings.HasPrefix(u.Name, toolset.Prefix), set.allows(x), g.sessionAllows(u.Name),
		mode == BypassPermissions, mode == AcceptEdits && g.editsHere(x):
		return agent.Decision{Allow: true}
	case mode == Ask || mode == AcceptEdits:
		return g.ask(ctx, s.Session, u)
	}
	g.noteDenied(toolset.Label(u.Name, u.Input))
	return deny(answerNotAsked, u)
}

// editsHere reports an edit of a file inside the data directory: acceptEdits
// does not reach further.
func (g *Guard) editsHere(x use) bool {
	if !writes(x.tool) {
		return false
	}
	places, ok := g.tree.places(x.path)
	if !ok {
		return false
	}
	for _, p := range places {
		if _, ok := g.tree.within(p); !ok {
			return false
		}
	}
	return true
}

// ask lets the user decide.
func (g *Guard) ask(ctx context.Context, session string, u agent.ToolUse) agent.Decision {
	label := toolset.Label(u.Name, u.Input)
	v, err := g.desk.Ask(ctx, Request{Label: toolset.Whole(u.Name, u.Input), Text: toolset.Full(u.Name, u.Input), Tool: u.Name, Session: session})
	if err != nil {
		g.log.Warn("nobody can be asked for permission", "tool", clean.Line(u.Name), "error", err)
	}
	if v.Allows() {
		return agent.Decision{Allow: true}
	}
	g.noteDenied(label)
	name := clean.Line(label)
	switch v {
	case Deny:
		return agent.Decision{Reason: fmt.Sprintf(answerDenied, name)}
	case Expired:
		return agent.Decision{Reason: fmt.Sprintf(answerExpired, name, int(Patience.Seconds()))}
	}
	return agent.Decision{Reason: fmt.Sprintf(answerCancelled, name)}
}

func deny(format string, u agent.ToolUse) agent.Decision {
	return agent.Decision{Reason: fmt.Sprintf(format, clean.Cut(clean.Line(u.Name), 80))}
}
