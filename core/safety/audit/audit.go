// Package audit keeps the trace of decisions in state/audit.jsonl: what was
// asked and answered, what was allowed, and which settings and tasks were
// changed by whom. It must not know what the decisions mean, and it never
// keeps one from being made.
package audit

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
)

// File is the log's name in the data directory.
const File = store.StateDir + "/audit.jsonl"

const (
	// sizeLimit is how large the file may grow, in bytes. Then its older half goes:
	// some 5,000 decisions stay.
	sizeLimit = 3 << 20
	// How much of a field is kept, in runes.
	wordLimit, textLimit = 200, 4000
)

// The actions. They are part of the file: a name keeps its meaning.
const (
	ApprovalAsked    = "approval.asked"    // Subject is the tool, Detail the whole label
	ApprovalAnswered = "approval.answered" // the same, with the verdict in front
	ToolAlways       = "tool.always"       // a tool is allowed until the bot ends
	ModeChanged      = "mode.changed"      // the permission mode
	ConfigChanged    = "config.changed"    // Subject is the setting
	BudgetChanged    = "budget.changed"
	MuteChanged      = "mute.changed"
	CapsChanged      = "caps.changed" // lifted for a day, or back
	TaskAdded        = "task.added"   // Subject is the task's id
	TaskHeld         = "task.held"
	TaskReleased     = "task.released"
	TaskRemoved      = "task.removed"
	TaskRefused      = "task.refused" // an edit of the agent's
	TaskChanged      = "task.changed" // what its file says
	TaskMoved        = "task.moved"   // a reminder that was put off
	TaskFired        = "task.fired"   // by hand
	UpdateDiscarded  = "update.discarded"
	UpdateRestored   = "update.restored"
	ProposalAnswered = "proposal.answered" // Subject is its id, Detail the answer and the words
	ProposalReopened = "proposal.reopened"
	RunStopped       = "run.stopped"
	RunHeld          = "run.held"       // for money; Subject is the task's id
	RunInFront       = "run.foreground" // a task in the conversation has ended; Subject is its id
	PingedBeside     = "ping.essential" // Subject is the task's ID
	LeftQuietly      = "message.quiet"  // Subject is the task's ID
	FileSent         = "file.sent"      // Subject is its path
	NamesChanged     = "names.changed"
	CommandRun       = "command.run"    // a command of the agent
	InputRead        = "input.read"     // untrusted text; Subject is the task or session, Detail its path
	InputAnswered    = "input.answered" // the user has answered it: the session's label is gone
	LoginChanged     = "login.changed"
	ViewerAttached   = "viewer.attached" // Subject is what it sees, Detail what it may and its key
	FileOpened       = "file.opened"     // in the editor of a viewer elsewhere; Subject is its path
	ProgramReplaced  = "program.replaced"
	Noted            = "schedule.noted" // what the bot told by itself: missed and skipped fires, files with errors
)

// ThisRun and ThisConversation are the last steps of the path of an InputRead.
const (
	ThisRun          = "this run"
	ThisConversation = "this conversation"
)

// Entry is one decision.
type Entry struct {
	At      time.Time `json:"at"`
	Actor   string    `json:"actor"`             // who decided: User, Agent or Bot
	From    string    `json:"from,omitempty"`    // where: the surface, or the session of an agent
	Action  string    `json:"action"`            // one of the actions above
	Subject string    `json:"subject,omitempty"` // what it is about, in a word or an id
	Detail  string    `json:"detail,omitempty"`  // what exactly, with line breaks
}

// Options are the parts of a Log. Dir is required.
type Options struct {
	Dir *store.Dir
	Log *slog.Logger // told where an entry cannot be kept; nil: nobody
	// Hide takes secrets out of a text; nil leaves it as it is.
	Hide func(string) string
}

// Log writes and reads the file. Use New. Its methods are safe for several
// goroutines, and beside other processes of ours.
type Log struct {
	o        Options
	recorded atomic.Uint64
}

// New is the log of a data directory. Nothing is read or written yet.
func New(o Options) *Log {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Hide == nil {
		o.Hide = func(s string) string { return s }
	}
	return &Log{o: o}
}

// Record keeps an entry: it is on disk when Record returns. The texts are
// cleaned, secrets taken out, and what is very long is cut. A nil Log keeps
// nothing. An entry that cannot be kept is logged; a full disk must not decide
// what the user may do.
func (l *Log) Record(now time.Time, e Entry) {
	if l == nil {
		return
	}
	defer l.recorded.Add(1)
	if err := l.lines().Append(l.tidy(now, e)); err != nil {
		l.o.Log.Error("a decision is missing in the audit log", "action", e.Action, "error", err)
	}
}

// RecordBy records an entry with the origin that ctx carries.
func (l *Log) RecordBy(ctx context.Context, now time.Time, e Entry) {
	from := OriginOf(ctx)
	e.Actor, e.From = from.Actor, from.From
	l.Record(now, e)
}

// Recorded is how many entries this program has recorded: another number means that
// there is more to read.
func (l *Log) Recorded() uint64 { return l.recorded.Load() }

// tidy makes an entry fit to be kept.
func (l *Log) tidy(now time.Time, e Entry) Entry {
	word := func(s string) string { return clean.Cut(l.o.Hide(clean.Line(l.o.Hide(s))), wordLimit) }
	e.At = now.Round(0).Truncate(time.Millisecond)
	e.Actor, e.From, e.Action, e.Subject = word(e.Actor), word(e.From), word(e.Action), word(e.Subject)
	e.Detail = clean.Cut(l.o.Hide(clean.Text(l.o.Hide(e.Detail))), textLimit)
	return e
}

// Read gives the newest n entries, the oldest of them first, and how many lines
// of the file were no entries. A file that is not there holds none.
func (l *Log) Read(n int) (list []Entry, damaged int, err error) {
	all, damaged, err := l.lines().Newest(sizeLimit)
	if err != nil {
		return nil, 0, fmt.Errorf("read the audit log: %w", err)
	}
	for _, e := range all {
		if e.Action == "" || e.At.IsZero() {
			damaged++
			continue
		}
		list = append(list, l.tidy(e.At, e)) // somebody else may have written it
	}
	return list[max(0, len(list)-n):], damaged, nil
}

func (l *Log) lines() jsonl.Log[Entry] {
	return jsonl.Log[Entry]{Dir: l.o.Dir, Rel: File, Limit: sizeLimit, Keep: sizeLimit / 2}
}

// Who decides.
const (
	User  = "user"
	Agent = "agent"
	Bot   = "bot"
)

// Origin is who asks for something, and from where: a surface ("Discord",
// "dashboard", "command line") or the session of an agent ("main session",
// "run 1a2b3c4d").
type Origin struct{ Actor, From string }

// originKey is the key of the Origin in a context.
type originKey struct{}

// With notes in a context who asks for what is done under it.
func With(ctx context.Context, actor, from string) context.Context {
	return context.WithValue(ctx, originKey{}, Origin{Actor: actor, From: from})
}

// OriginOf is who asks. Where nobody has said it, it is the user.
func OriginOf(ctx context.Context) Origin {
	if o, ok := ctx.Value(originKey{}).(Origin); ok {
		return o
	}
	return Origin{Actor: User}
}
