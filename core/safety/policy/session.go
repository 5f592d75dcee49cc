package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/visible"
	"ollimbot/core/brief/skill"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/closed"
	"ollimbot/core/safety/label"
	"ollimbot/routines"
)

// Kind is the kind of session whose tools are decided.
type Kind int

// The kinds of sessions. Main and Interactive differ only in what is shown. Background never asks
// the user, whatever the mode.
const (
	Main Kind = iota
	Interactive
	Background
)

// Scope describes the session whose calls are decided.
type Scope struct {
	Kind Kind
	// Session is the name of the session as shown with an approval.
	Session string
	Rules   Rules
	// Mode is called for each call; nil means DontAsk. Background runs have no mode.
	Mode func() Mode
	// Turn is called for each call and returns the running turn of a conversation. If nil, the turn
	// is unattended. Background runs have no turns.
	Turn func() Turn
	// Taint is the label of what the session has read; if nil, a new one is created.
	Taint *Taint
}

// Turn describes what a turn of a conversation may do.
type Turn struct {
	// Limit restricts the turn to the rights of a background run; nil means no limit.
	Limit *Limit
	// Attended means that the user started it, with a message or a key, and can be asked.
	Attended bool
	// Trusted means that the file of its task lets it keep its tools whatever it reads.
	Trusted bool
}

// Session is the guard of one session. Its hooks and its permission callback are its methods, so
// the session of a call is known by the object that receives it. All methods may be called
// concurrently.
type Session struct {
	g     *Guard
	scope Scope
	set   func() *Set
	taint *Taint
	// same are versions that the session has overwritten with the same text: they stay the user's.
	same sync.Map

	// fenced means that its process was started with commands confined.
	fenced bool

	permits permits
	judged  judgements
}

// Session returns the guard of a session.
func (g *Guard) Session(s Scope) *Session {
	// Most sessions use no tool, so the patterns are compiled with the first call.
	if s.Taint == nil {
		s.Taint = &Taint{}
	}
	set := sync.OnceValue(func() *Set { return Compile(g.tree.root, s.Rules) })
	return &Session{g: g, scope: s, set: set, taint: s.Taint, fenced: g.o.Confined()}
}

// Scope returns the scope that the session was created with.
func (s *Session) Scope() Scope { return s.scope }

// outcome is the decision about a call without asking the user.
type outcome int

const (
	refused outcome = iota
	open            // the user decides
	allowed
)

// verdict is an outcome with the reason for a refusal, or for a question that no list and no mode
// would have asked. once is set if only this one call can be approved.
type verdict struct {
	is     outcome
	reason string
	once   bool
}

// judge decides about a call, in this order: closed places; the lists, what the user has allowed
// for this session, and the mode; and the contents that the call would write. A background run has
// what its rules name and nothing else.
func (s *Session) judge(x call) verdict {
	if reason := s.closed(x); reason != "" {
		return verdict{is: refused, reason: reason}
	}
	v := s.listed(x)
	if v.is == refused {
		return v
	}
	if reason := cmp.Or(x.unclear(), s.g.searches(x)); reason != "" {
		return verdict{is: refused, reason: reason}
	}
	switch reason, unsure := s.contents(x); {
	case reason == "":
		return v
	case unsure && s.asks():
		return verdict{is: open, reason: reason}
	default:
		return verdict{is: refused, reason: reason}
	}
}

// listed decides by the lists, the mode, and what the session has read.
func (s *Session) listed(x call) verdict {
	set := s.unattended()
	if set != nil {
		if reason := s.confined(x); reason != "" {
			return verdict{is: refused, reason: reason}
		}
	}
	read, asked := s.limits(x), false
	if read != "" && s.g.acts(x) {
		reason := fmt.Sprintf(answerLabeled, clean.Cut(clean.Line(x.Name), 80), read)
		if set != nil || !s.turn().Attended {
			return verdict{is: refused, reason: reason}
		}
		asked = s.mode() != BypassPermissions
	}
	if set != nil {
		return background(set, x, told(s.g, s.scope.Kind))
	}
	v := s.decide(x)
	if asked && v.is != refused {
		return verdict{is: open, reason: fmt.Sprintf(askLabeled, read), once: true}
	}
	return v
}

// Permission is the permission callback of the session. It blocks while an approval is pending, and
// turns its own faults into denials.
func (s *Session) Permission(ctx context.Context, u agent.ToolUse) agent.Decision {
	x := s.g.tree.call(u)
	d := s.permission(ctx, x)
	if d.Allow {
		s.permits.grant(x)
		s.begins(x)
	}
	return d
}

func (s *Session) permission(ctx context.Context, x call) agent.Decision {
	return s.g.guarded(x, func() agent.Decision {
		v := s.judge(x)
		if v.is != refused {
			if d, asked := s.askRights(ctx, x); asked {
				return d
			}
		}
		switch v.is {
		case allowed:
			return x.allow()
		case open:
			d := s.g.ask(ctx, s.scope.Session, x, v)
			if d.Allow && v.once {
				s.approved(x)
			}
			return d
		default:
			return agent.Decision{Reason: v.reason}
		}
	})
}

// inForce returns the rules that apply now: those of the session, or of the task that the turn runs
// with fewer rights.
func (s *Session) inForce() *Set {
	if set := s.unattended(); set != nil {
		return set
	}
	return s.set()
}

// closed returns the objection to a call that no list, mode or user can override.
func (s *Session) closed(x call) string {
	write := writes(x.tool)
	switch {
	case write && x.path == "":
		return deny(answerNoFile, x).Reason
	case x.apart:
		return answerApart
	case x.tool == "Glob":
		x.path = fixedFolder(x.path) // only names are printed, not the contents behind them
	}
	for _, file := range []string{x.path, x.folder} {
		if file == "" {
			continue
		}
		if reason := s.closedTo(x, file, write); reason != "" {
			return reason
		}
	}
	for _, file := range x.others {
		if reason := s.closedTo(x, file, true); reason != "" {
			return reason
		}
	}
	return s.argued(x)
}

// closedTo returns the objection to a call that touches a file.
func (s *Session) closedTo(x call, file string, write bool) string {
	return s.g.tree.closed(file, write, func(c closed.Place) bool {
		x.path = file
		return s.inForce().opens(x, c)
	})
}

// argued returns the objection to a skill's arguments. The engine reads a file after "@" without
// calling a tool, and a skill's own text may put the "@" in front of any argument. It may also
// insert them into a command, where a shell interprets them.
func (s *Session) argued(x call) string {
	in := skill.Inspect([]byte(x.args))
	if len(in.Commands) > 0 || strings.ContainsFunc(x.args, shellMeans) && s.g.commandsTakeWords(x.arg) {
		return answerArguments
	}
	for _, file := range in.Mentions {
		if !s.mayRead(file) {
			return fmt.Sprintf(answerMention, clean.Cut(clean.Line(file), 80))
		}
	}
	for _, word := range strings.FieldsFunc(x.args, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\ufeff@\"'", r) }) {
		if reason := s.closedTo(call{tool: "Read"}, word, false); reason != "" {
			return reason
		}
	}
	return ""
}

// background decides for a run that cannot ask the user. The bot's own tools decide for themselves.
func background(set *Set, x call, told func(pattern) bool) verdict {
	switch {
	case set.forbids(x):
		return verdict{is: refused, reason: deny(answerForkDenied, x).Reason}
	case strings.HasPrefix(x.Name, toolset.Prefix) && x.Name != toolset.Prefix+updateNames, x.Name == toolset.Find, set.allows(x):
		return verdict{is: allowed}
	}
	return verdict{is: refused, reason: deny(answerUnavailable, x).Reason + set.wouldPass(x, told)}
}

// decide decides for sessions with a user.
func (s *Session) decide(x call) verdict {
	set, mode := s.set(), s.mode()
	switch {
	case set.forbids(x):
		return verdict{is: refused, reason: deny(answerDisallowed, x).Reason}
	case strings.HasPrefix(x.Name, toolset.Prefix), x.Name == toolset.Find, set.allows(x), s.g.sessionAllows(x.Name), s.g.sessionAllows(x.exact()),
		mode == BypassPermissions, mode == AcceptEdits && s.g.editsHere(x):
		return verdict{is: allowed}
	case s.asks():
		return verdict{is: open}
	}
	return verdict{is: refused, reason: deny(answerNotAsked, x).Reason + set.wouldPass(x, told(s.g, s.scope.Kind))}
}

// mode returns the permission mode of the session.
func (s *Session) mode() Mode {
	if s.scope.Mode == nil || s.scope.Kind == Background || s.turn().Limit != nil {
		return DontAsk
	}
	return s.scope.Mode()
}

// asks reports whether the user is asked about calls that are still undecided. If permissions are
// bypassed, those are only calls that cannot be checked.
func (s *Session) asks() bool {
	switch s.mode() {
	case Ask, AcceptEdits, BypassPermissions:
		return true
	}
	return false
}

// editsHere reports whether a call edits a file inside the data directory: acceptEdits does not
// apply elsewhere.
func (g *Guard) editsHere(x call) bool {
	if !writes(x.tool) {
		return false
	}
	places, ok := g.tree.places(x.path)
	return ok && !slices.ContainsFunc(places, func(p string) bool { _, inside := g.tree.within(p); return !inside })
}

// Limit restricts a session during a turn to less than it may otherwise do: the turn of a
// foreground task that a background run has written.
type Limit struct {
	Rules
	set *Set
}

// newLimit compiles a limit. File patterns are relative to the guard's directory.
func (g *Guard) newLimit(r Rules) *Limit {
	return &Limit{Rules: r, set: Compile(g.tree.root, r)}
}

// unattended returns the rules that decide if the user cannot be asked: a background run's own
// rules, or those of the running turn. It is nil if the user is present.
func (s *Session) unattended() *Set {
	if s.scope.Kind == Background {
		return s.set()
	}
	if l := s.turn().Limit; l != nil {
		return l.set
	}
	return nil
}

func (s *Session) turn() Turn {
	if s.scope.Turn == nil {
		return Turn{}
	}
	return s.scope.Turn()
}

// Label returns the label of everything that the session has read.
func (s *Session) Label() label.Label { return s.taint.Label() }

// Reads records that the session is about to read text with a label.
func (s *Session) Reads(l label.Label) { s.taint.Read(l) }

// ReadsTasks records that the session reads texts of tasks, skills and webhooks.
func (s *Session) ReadsTasks() { s.Reads(s.g.reach.tasksLabel()) }

// ReadsMail records that the session reads mail.
func (s *Session) ReadsMail() { s.Reads(label.From(labelMail)) }

// ReadsUnknown records that the session reads text whose author is not known.
func (s *Session) ReadsUnknown() { s.Reads(label.From(labelUnknown)) }

// approved records that the user has approved a call of a session with a label: the text it writes
// counts as the user's own.
func (s *Session) approved(x call) {
	s.taint.approve(strings.TrimPrefix(x.Name, toolset.Prefix))
	if _, data, ok := s.g.proposed(x); ok {
		if err := s.g.provenance.unlabel(routines.Digest(data)); err != nil {
			s.g.o.Log.Error("approval not saved; the file keeps its label", "error", err)
		}
	}
}

// confined refuses the tools that would lead out of a limited turn.
func (s *Session) confined(x call) string {
	if s.scope.Kind == Background || s.turn().Limit == nil {
		return ""
	}
	switch strings.TrimPrefix(x.Name, toolset.Prefix) {
	case toolset.EnterFork, toolset.ExitFork, toolset.SaveContext:
		return deny(answerLimited, x).Reason
	}
	return ""
}

// Hooks returns the guards that run before every call, including those that an engine allows by
// itself. After a call that wrote a markdown file, commit is called with its path relative to the
// data directory; a nil commit is skipped. commit must not block. The caller sets Stop.
func (s *Session) Hooks(commit func(rel, msg string)) agent.Hooks {
	g := s.g
	h := agent.Hooks{PreTool: s.PreTool}
	h.PostTool = func(_ context.Context, u agent.ToolUse) {
		defer func() {
			if p := recover(); p != nil {
				g.o.Log.Error("written file was not recorded", "tool", clean.Line(u.Name), "fault", fmt.Sprint(p))
			}
		}()
		x := g.tree.call(u)
		s.judged.forget(x)
		s.authored(x)
		if commit != nil {
			if rel, ok := g.written(x); ok {
				commit(rel, "auto: "+strings.ToLower(u.Name)+" "+clean.Line(rel))
			}
		}
	}
	return h
}

// PreTool is the hook before a call. It decides every case that does not require asking, and
// refuses by itself, because no setting and no other hook of an engine overrules a hook's refusal.
// If the user has to be asked, it makes sure that Permission is called, even if the engine would
// allow the call.
func (s *Session) PreTool(_ context.Context, u agent.ToolUse) agent.Decision {
	x := s.g.tree.call(u)
	s.judged.forget(x)
	return s.g.guarded(x, func() agent.Decision {
		if d, is := proposesServers(s, x); is {
			return d
		}
		v := s.judge(x)
		if v.is == refused {
			return agent.Decision{Reason: v.reason}
		}
		s.judged.note(x, s.limits(x))
		s.taint.Read(s.g.reach.reads(x)) // first, because an edit writes with the label of the text it changes
		d := s.author(x)
		if !d.Allow {
			return d
		}
		if d.Ask = d.Ask || v.is == open; !d.Ask {
			s.begins(x) // an engine may run it without asking Permission
		}
		d.Reason = v.reason
		return d
	})
}

// written returns the markdown file inside the data directory that a call has written, with links
// followed.
func (g *Guard) written(x call) (rel string, ok bool) {
	switch x.tool {
	case "Write", "Edit", "MultiEdit":
	default:
		return "", false
	}
	if g.tree.closed(x.path, true, nil) != "" {
		return "", false
	}
	places, ok := g.tree.places(x.path)
	if !ok {
		return "", false
	}
	for _, place := range places {
		rel, ok := g.tree.within(place)
		if !ok || path.Ext(rel) != ".md" {
			continue
		}
		if info, err := os.Stat(place); err == nil && info.Mode().IsRegular() {
			return rel, true
		}
	}
	return "", false
}

// Send returns the objection to sending a file to the user, or "". full is its real path. A session
// may send the files in the data directory that its list allows it to read. For all others the user
// is asked and sees where the file is; "always" applies within the directory only. It blocks while
// the approval is pending.
func (s *Session) Send(ctx context.Context, full string) (refusal string) {
	input, err := json.Marshal(map[string]string{"file_path": full})
	sent := call{ToolUse: agent.ToolUse{Name: toolset.Prefix + toolset.SendFile, Input: input}}
	d := s.g.guarded(sent, func() agent.Decision {
		x, set := call{tool: "Read", arg: full, path: full}, s.inForce()
		alone := s.unattended()
		closed := s.closedTo(x, full, false)
		_, inside := s.g.tree.within(full)
		switch {
		case err != nil:
			return agent.Decision{Reason: answerFault}
		case closed != "":
			return agent.Decision{Reason: closed}
		case visible.Hidden(full) != "":
			return agent.Decision{Reason: fmt.Sprintf(answerHidden, visible.Hidden(full))}
		case set.forbids(x):
			return agent.Decision{Reason: answerSendUnread}
		case inside && set.allows(x):
			return x.allow()
		case alone != nil && inside:
			return agent.Decision{Reason: answerSendUnread}
		case alone != nil:
			return agent.Decision{Reason: answerSendOutside}
		case inside && (s.mode() == BypassPermissions || s.g.sessionAllows("Read") || s.g.sessionAllows(sent.Name)):
			return x.allow()
		}
		return s.g.ask(ctx, s.scope.Session, sent, verdict{once: !inside})
	})
	return d.Reason
}
