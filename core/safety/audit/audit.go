// Package audit records decisions in state/audit.jsonl: questions and answers, permissions, and
// changes of settings and tasks with their authors. It must not know what the decisions mean, and a
// failure to record never blocks a decision.
package audit

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/visible"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
)

// File is the log's name in the data directory.
const File = store.StateDir + "/audit.jsonl"

const (
	// sizeLimit is the maximum size of the file in bytes. At that size its older half is dropped,
	// which leaves about 5,000 decisions.
	sizeLimit = 3 << 20
	// Limits of a field's length, in runes and in UTF-16 units.
	wordLimit, textLimit = 200, 4000
)

// The actions. They are stored in the file, so a name must keep its meaning.
const (
	ApprovalAsked    = "approval.asked"    // Subject is the tool, Detail the whole label
	ApprovalAnswered = "approval.answered" // the same, preceded by the verdict
	ToolAlways       = "tool.always"       // a tool is allowed until the bot ends
	ModeChanged      = "mode.changed"      // the permission mode
	ConfigChanged    = "config.changed"    // Subject is the setting
	BudgetChanged    = "budget.changed"
	MuteChanged      = "mute.changed"
	CapsChanged      = "caps.changed" // lifted for a day, or restored
	TaskAdded        = "task.added"   // Subject is the task's ID
	TaskHeld         = "task.held"
	TaskReleased     = "task.released"
	ApprovalEnded    = "approval.ended" // of a file that has gone or changed; Subject is its path
	TaskRemoved      = "task.removed"
	TaskRefused      = "task.refused" // an edit by the agent
	TaskChanged      = "task.changed" // by a change of its file
	TaskMoved        = "task.moved"   // a reminder was postponed
	TaskFired        = "task.fired"   // manually
	UpdateDiscarded  = "update.discarded"
	UpdateRestored   = "update.restored"
	ProposalAnswered = "proposal.answered" // Subject is its ID, Detail the answer and the text
	ProposalReopened = "proposal.reopened"
	RunStopped       = "run.stopped"
	RunHeld          = "run.held"       // for lack of money; Subject is the task's ID
	RunInFront       = "run.foreground" // a task in the conversation has ended; Subject is its ID
	PingedBeside     = "ping.essential" // Subject is the task's ID
	LeftQuietly      = "message.quiet"  // Subject is the task's ID
	FileSent         = "file.sent"      // Subject is its path
	NamesChanged     = "names.changed"
	CommandRun       = "command.run"    // a command run by the agent
	InputRead        = "input.read"     // untrusted text; Subject is the task or session, Detail its path
	InputAnswered    = "input.answered" // the user has answered it, so the session's label was removed
	LoginChanged     = "login.changed"
	ViewerAttached   = "viewer.attached" // Subject is its view, Detail its rights and its key
	FileOpened       = "file.opened"     // in the editor of a remote viewer; Subject is its path
	Noted            = "schedule.noted"  // a notice by the bot itself: missed and skipped fires, files with errors
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
	From    string    `json:"from,omitempty"`    // the front end, or the session of an agent
	Action  string    `json:"action"`            // one of the actions above
	Subject string    `json:"subject,omitempty"` // the subject, as a word or an ID
	Detail  string    `json:"detail,omitempty"`  // the details, with line breaks
	Digest  string    `json:"digest,omitempty"`  // of the whole call that Detail shows, if it is one
}

// Options configure a Log. Dir is required.
type Options struct {
	Dir *store.Dir
	Log *slog.Logger // logs entries that cannot be recorded; may be nil
	// Hide removes secrets from a text. If nil, texts are not changed.
	Hide func(string) string
}

// Log writes and reads the file. Use New. Its methods are safe for concurrent use, even with other
// ollim-bot processes.
type Log struct {
	o        Options
	recorded atomic.Uint64
}

// New returns the log of a data directory. It reads and writes nothing yet.
func New(o Options) *Log {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Hide == nil {
		o.Hide = func(s string) string { return s }
	}
	return &Log{o: o}
}

// Record writes an entry, which is on disk when Record returns. Texts are cleaned, secrets removed,
// and of a very long text the middle is left out. A nil Log records nothing. A write error is only logged, because a full
// disk must not decide what the user may do.
func (l *Log) Record(now time.Time, e Entry) {
	if l == nil {
		return
	}
	defer l.recorded.Add(1)
	if err := l.lines().Append(l.tidy(now, e)); err != nil {
		l.o.Log.Error("a decision is missing in the audit log", "action", e.Action, "error", err)
	}
}

// RecordBy records an entry with the origin in ctx.
func (l *Log) RecordBy(ctx context.Context, now time.Time, e Entry) {
	from := OriginOf(ctx)
	e.Actor, e.From = from.Actor, from.From
	l.Record(now, e)
}

// Recorded returns how many entries this program has recorded. A different number means that there
// are new entries.
func (l *Log) Recorded() uint64 { return l.recorded.Load() }

// tidy returns an entry ready for storage.
func (l *Log) tidy(now time.Time, e Entry) Entry {
	word := func(s string) string { return clean.Cut(l.o.Hide(clean.Line(l.o.Hide(s))), wordLimit) }
	e.At = now.Round(0).Truncate(time.Millisecond)
	e.Actor, e.From, e.Action, e.Subject = word(e.Actor), word(e.From), word(e.Action), word(e.Subject)
	e.Detail, _ = visible.Excerpt(l.o.Hide(clean.Text(l.o.Hide(e.Detail))), textLimit)
	return e
}

// Read returns the newest n entries, oldest first, and the number of lines that are not valid
// entries. A missing file has no entries.
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
		list = append(list, l.tidy(e.At, e)) // another program may have written it
	}
	return list[max(0, len(list)-n):], damaged, nil
}

func (l *Log) lines() jsonl.Log[Entry] {
	return jsonl.Log[Entry]{Dir: l.o.Dir, Rel: File, Limit: sizeLimit, Keep: sizeLimit / 2}
}

// Actors.
const (
	User  = "user"
	Agent = "agent"
	Bot   = "bot"
)

// Origin is who asks for something, and where: a front end ("Discord", "dashboard", "command line")
// or the session of an agent ("main session", "run 1a2b3c4d").
type Origin struct{ Actor, From string }

// originKey is the key of the Origin in a context.
type originKey struct{}

// With returns a context that carries the origin of everything done under it.
func With(ctx context.Context, actor, from string) context.Context {
	return context.WithValue(ctx, originKey{}, Origin{Actor: actor, From: from})
}

// OriginOf returns the origin in ctx, by default the user.
func OriginOf(ctx context.Context) Origin {
	if o, ok := ctx.Value(originKey{}).(Origin); ok {
		return o
	}
	return Origin{Actor: User}
}
