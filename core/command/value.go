package command

import (
	"time"

	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
)

// Value is one thing that a user asks of the bot, as data. The types of this file are the
// only ones.
type Value interface {
	lane() Lane
}

// SetBudget changes capacity and refill rate. Nil fields stay as they are.
// Capacity 0 mutes; negatives and a rate below 1 are refused. Undoable.
type SetBudget struct {
	Capacity      *int
	RefillMinutes *int
}

// RestoreBudget is the inverse of SetBudget: the numbers and, where the change
// had clamped them, the tokens.
type RestoreBudget struct {
	Capacity      int
	RefillMinutes int
	Available     float64
}

// FireNow runs a routine or reminder at once, beside its schedule. A reminder goes with
// its run unless it Stays, and that is undoable: the run is not taken back, but the
// reminder stays.
type FireNow struct {
	ID    string
	Stays bool
}

// DiscardUpdate removes a pending update. Undoable.
type DiscardUpdate struct{ Key string }

// RestoreUpdate puts a discarded update back in its place.
type RestoreUpdate struct{ Update *updates.Discarded }

// DeliverNow begins a turn of the main session that hands it the pending
// updates at once, without a message of the user.
type DeliverNow struct{}

// Snooze keeps a task from firing until a time; a zero time ends it. Undoable.
type Snooze struct {
	ID    string
	Until time.Time
}

// Pause keeps a task from firing until it is resumed. Undoable.
type Pause struct {
	ID     string
	Paused bool
}

// AllowTask lets a task, skill or webhook that the agent has written have all that
// its file says, in the version that is there now; with Withdraw it waits again.
// ID is a task's or a webhook's id, or the path of a file. Undoable.
type AllowTask struct {
	ID       string
	Version  string // the digest of what the user has seen; "" takes what is there
	Withdraw bool
}

// RefuseEdit restores the file of a task or webhook to the text in force, which an edit of
// the agent's waits to replace. ID is as for AllowTask. The edit of a task is undoable.
type RefuseEdit struct {
	ID      string
	Version string // the digest of the edit that the user has seen; "" takes what is there
}

// MuteUntil refuses pings that are not critical until a time, like quiet hours;
// a zero time ends it. Undoable.
type MuteUntil struct{ Until time.Time }

// LiftCaps lets runs start and the conversation go on above the caps on money until
// midnight; with Undo they hold again. Undoable.
type LiftCaps struct{ Undo bool }

// Mark is a place in the ledger of runs, which a surface hands back.
type Mark = jsonl.Cursor

// Field is a field of a task's file and its new value; nil takes it out.
type Field = frontmatter.Entry

// Looked notes that the user has looked at runs that failed.
type Looked struct{ Runs []string }

// SetConfig changes a setting, as /config does: Value is what config.Set takes. Where
// something follows that the user may not have meant, nothing is changed and
// Outcome.Follows says it, unless they are Sure. Undoable.
type SetConfig struct {
	Key, Value string
	Sure       bool
}

// SetLook changes how the dashboard looks, which it keeps itself: the bot writes the
// change down. Undoable.
type SetLook struct{ Name, Value, Was string }

// Here notes that the user does something in the dashboard now.
type Here struct{}

// AddTask writes a new routine (with Cron) or reminder (with At). Undoable.
type AddTask struct {
	Cron        string
	At          time.Time
	Description string
	Message     string
	Foreground  bool
	Silent      bool // may not ping
	UntilDone   bool // a reminder that comes back until it is done
}

// AddStarters installs the starter routines. Those that are installed stay unchanged.
type AddStarters struct{}

// RemoveTask removes the file of a task that AddTask has made, as long as nobody has
// touched it: its inverse.
type RemoveTask struct {
	ID      string
	Version string // of the file: routines.Task.Digest
	Made    AddTask
}

// EditTask changes what the file of a task says; everything else in it stays as it is,
// comments and unknown keys too. Undoable.
type EditTask struct {
	ID string
	// Version is that of the file that the user has seen: routines.Task.Digest. A file
	// that says something else by now is refused with a *ChangedError.
	Version string
	Edit    routines.Edit
}

// RevertTask puts back what a file said before an EditTask, as long as nobody has
// touched it: its inverse. It is undoable, too.
type RevertTask struct {
	ID      string
	Version string // of the file as it is
	File    []byte // as it was
}

// DeleteTask removes the file of a task. Undoable for a day.
type DeleteTask struct{ ID string }

// ChangedError says that a file is not what the user has seen.
type ChangedError struct{ Now TaskFile }

// Error is a sentence for people.
func (e *ChangedError) Error() string { return e.Now.Path + " was changed on the disk meanwhile" }

// Remind answers a pending reminder, most of all one that comes back until it is done.
// What is done is gone; Later is due again at Until, or in an hour where that is zero;
// NotToday is due tomorrow, at the time of day at which it was due first. The agent is
// told. Undoable.
type Remind struct {
	ID    string
	Word  Word
	Until time.Time
}

// Word is an answer to a reminder.
type Word string

// The answers.
const (
	Done     Word = "done"
	Later    Word = "later"
	NotToday Word = "not-today"
)

// RestoreTask puts back the file of a task that was removed within the last day,
// or lets a reminder that is being run stay in the schedule. Without an ID it is the
// one that was removed last.
type RestoreTask struct{ ID string }

// StopFork ends a waiting or running fork by its run id. Not undoable.
type StopFork struct{ Run string }

// Say sends what the user wrote in the dashboard to the conversation: the fork
// where there is one, else the main session, with the files that were attached
// before. A line that begins with "/" is a command. ReplyTo is the message that
// is answered, or empty.
type Say struct {
	Text    string
	ReplyTo post.MessageID
}

// Receive is Say for words that came over another surface: words are words there,
// also when they begin with "/". Key names the message on that surface, and
// Bot.LastReceived gives the newest one back: keys of one surface grow in length,
// then in order, as snowflakes do, and a key that was heard is not taken again.
type Receive struct {
	From    string // the surface's name: "Discord"
	Key     string
	Text    string
	ReplyTo post.MessageID
	// Quoted is what the message that is answered said, as the surface knows it:
	// it is quoted where the bot has forgotten that message.
	Quoted string
	Files  []File
	// At is when they were written; zero is now.
	At time.Time
	// More says that another message follows at once, such as of those that came
	// while the bot was away: all of them have one turn, which the last one begins.
	More bool
}

// Reword changes words that were heard and whose turn has not begun; Gone takes
// them back. Words whose turn has begun stay as they were, which is no error.
type Reword struct {
	From, Key string // as in Receive
	Text      string
	Gone      bool
}

// File is a file of the user: its own name for it, and its bytes.
type File struct {
	Name string
	Data []byte
}

// Slash carries out a command that begins with a slash, such as "/model opus". Outcome.Message is the reply.
type Slash struct{ Line string }

// Click presses a button by its lasting id ("act:agent:1a2b3c4d"), on the
// message that shows it.
type Click struct {
	Message post.MessageID
	ID      string
}

// Exit is how an interactive fork ends.
type Exit string

// The exits of a fork.
const (
	ExitSave    Exit = "save"    // the fork becomes the main session
	ExitReport  Exit = "report"  // what it found is queued for the main session
	ExitDiscard Exit = "discard" // nothing is kept
)

// ExitFork ends the interactive fork.
type ExitFork struct{ How Exit }

// ResumeFork continues a finished background run as an interactive fork.
type ResumeFork struct{ Run string }

// Answer answers an approval; the first answer counts.
type Answer struct {
	ID      string
	Verdict policy.Verdict // policy.Allow, policy.Always or policy.Deny
}

// Login begins a login of the engine's account, whose address is Outcome.Body,
// or ends one with the code that its page has shown.
type Login struct{ Code string }

// Interrupt ends the main session's running turn.
type Interrupt struct{}
