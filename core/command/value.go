package command

import (
	"time"

	"ollimbot/core/safety/label"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/leeway"
)

// Value is a command of the user, as data. Only the types in this file implement it.
type Value interface {
	lane() Lane
}

// SetBudget changes capacity and refill rate. Nil fields stay unchanged.
// Capacity 0 mutes; a negative capacity or a rate below 1 is an error. Undoable.
type SetBudget struct {
	Capacity      *int
	RefillMinutes *int
}

// RestoreBudget undoes SetBudget. It restores the numbers, and the tokens if the
// change had clamped them.
type RestoreBudget struct {
	Capacity      int
	RefillMinutes int
	Available     float64
}

// FireNow runs a routine or reminder now, in addition to its schedule. A reminder is
// removed with its run unless Stays is set. Undo restores the reminder, but does not
// undo the run.
type FireNow struct {
	ID    string
	Stays bool
}

// DiscardUpdate removes a pending update. Undoable.
type DiscardUpdate struct{ Key string }

// RestoreUpdate undoes DiscardUpdate: the update returns to its old position.
type RestoreUpdate struct{ Update *updates.Discarded }

// DeliverNow starts a turn of the main session with the pending updates, without
// waiting for a message from the user.
type DeliverNow struct{}

// Snooze keeps a task from firing until a time; the zero time ends the snooze. Undoable.
type Snooze struct {
	ID    string
	Until time.Time
}

// Pause keeps a task from firing until it is resumed. Undoable.
type Pause struct {
	ID     string
	Paused bool
}

// AllowTask approves a task, skill or webhook that the agent has written, in one version
// of its file; Withdraw takes the approval back. ID is the ID of a task or a webhook, or
// the path of a file. Undoable.
type AllowTask struct {
	ID       string
	Version  string // the digest of the version that the user has seen; "" means the current one
	Withdraw bool
}

// RefuseEdit rejects the agent's pending edit of a task or webhook: the file is restored to
// the text in force. ID is as for AllowTask. Undoable for a task.
type RefuseEdit struct {
	ID      string
	Version string // the digest of the edit that the user has seen; "" means the current one
}

// MuteUntil refuses all but critical pings until a time, like quiet hours; the zero
// time ends the mute. Undoable.
type MuteUntil struct{ Until time.Time }

// LiftCaps suspends the spending caps until midnight, for runs and the conversation;
// Undo applies them again. Undoable.
type LiftCaps struct{ Undo bool }

// Mark is a cursor into the ledger of runs, for reading the next page.
type Mark = jsonl.Cursor

// Field is a key of a task's file and its new value; nil removes the key.
type Field = frontmatter.Entry

// MarkSeen records that the user has seen runs that failed.
type MarkSeen struct{ Runs []string }

// SetConfig changes a setting, as /config does; config.Set documents Value. If the change
// has a consequence that the user may not expect, nothing changes unless Sure is set, and
// Outcome.Follows describes the consequence. Undoable.
type SetConfig struct {
	Key, Value string
	Sure       bool
}

// SetLook records a change of the dashboard's appearance. The dashboard stores the
// setting itself. Undoable.
type SetLook struct{ Name, Value, Was string }

// UserActive records that the user is active in the dashboard.
type UserActive struct{}

// AddTask creates a routine (with Cron) or a reminder (with At). Undoable.
type AddTask struct {
	Cron        string
	At          time.Time
	Description string
	Message     string
	Foreground  bool
	Silent      bool // may not ping
	UntilDone   bool // a reminder that repeats until it is done
	Model       string
	Isolated    bool // without the conversation's history
	Critical    bool // also runs at a spending cap
	Window      leeway.Window
	Ahead       string // what a reminder says before it is due, for when.ReadAhead
}

// AddStarters installs the starter routines. Existing ones stay unchanged.
type AddStarters struct{}

// RemoveTask undoes AddTask: it removes the file, unless the file has changed since.
type RemoveTask struct {
	ID      string
	Version string // the file's routines.Task.Digest
	Made    AddTask
}

// EditTask changes fields of a task's file. The rest of the file stays unchanged,
// including comments and unknown keys. Undoable.
type EditTask struct {
	ID string
	// Version is the routines.Task.Digest of the file that the user has seen. If the file
	// has changed since, the edit fails with a *ChangedError.
	Version string
	Edit    routines.Edit
}

// RevertTask undoes EditTask: it restores the file's previous contents, unless the file
// has changed since. Undoable.
type RevertTask struct {
	ID      string
	Version string // of the current file
	File    []byte // the previous contents
}

// DeleteTask removes the file of a task. Undoable for a day.
type DeleteTask struct{ ID string }

// ChangedError means that a file has changed since the user last saw it.
type ChangedError struct{ Now TaskFile }

// Error names the file.
func (e *ChangedError) Error() string {
	return e.Now.Path + " has changed on disk since you last saw it"
}

// Remind answers a pending reminder, usually one that repeats until it is done. Done
// removes it. Later makes it due at Until, or in an hour if Until is zero. NotToday makes
// it due tomorrow, at the time of day at which it was first due. The agent is informed.
// Undoable.
type Remind struct {
	ID    string
	Word  Word
	Until time.Time
}

// AnswerProposal answers a question that the bot asked on its own initiative
// (core/work/proposals) with one of its buttons. Value is the user's text for a button
// that asks for a time. Undoable, unless the effect of the answer is irreversible.
type AnswerProposal struct{ ID, Button, Value string }

// ReopenProposal undoes AnswerProposal; Button and Value are those of the answer.
type ReopenProposal struct{ ID, Button, Value string }

// Word is an answer to a reminder.
type Word string

// The answers.
const (
	Done     Word = "done"
	Later    Word = "later"
	NotToday Word = "not-today"
)

// RestoreTask restores the file of a task that was removed within the last day, or keeps
// a running reminder in the schedule. Without an ID, it restores the task removed last.
type RestoreTask struct{ ID string }

// StopFork stops a waiting or running fork by its run ID. Not undoable.
type StopFork struct{ Run string }

// Say sends the user's message from the dashboard to the open fork, or to the main
// session if no fork is open, with the files attached so far. A line that begins with "/"
// is a command (Slash). ReplyTo is the message being replied to, or empty.
type Say struct {
	Text    string
	ReplyTo post.MessageID
	Sure    bool
}

// Receive is Say for a message from another surface, on which "/" does not start a
// command. Key identifies the message on that surface. Keys of a surface increase in
// length, then in order, like snowflakes. A message is received once;
// Bot.LastReceived returns the newest key.
type Receive struct {
	From    string // the surface's name: "Discord"
	Key     string
	Text    string
	ReplyTo post.MessageID
	// Quoted is the surface's text of the message being replied to. It is quoted if the
	// bot no longer has that message.
	Quoted string
	Files  []File
	// Label is set if someone else wrote the message, for example a forwarded one.
	Label label.Label
	// At is when the message was written; zero means now.
	At time.Time
	// More means that another message follows at once, for example after the bot was
	// offline. Such messages share one turn, which the last of them starts. Those without
	// files may be written to disk together: until then a program that ends has not
	// received them.
	More bool
}

// Reword edits a received message whose turn has not started; Gone deletes it. Once the
// turn has started, the message stays unchanged, without an error.
type Reword struct {
	From, Key string // as in Receive
	Text      string
	Gone      bool
}

// File is a file from the user, under its original name.
type File struct {
	Name string
	Data []byte
}

// Slash runs a slash command such as "/model opus". Outcome.Message is the reply. A line with no command is a
// *NoLineError. Sure carries out what would ask first.
type Slash struct {
	Line string
	Sure bool
}

// Line carries out a line of the command line in the running bot: "snooze email until 18:30". Quotes keep words together,
// as in a shell. Outcome.Printed is what it prints. An error is a *NoLineError if the words are no command line. Undoable
// where the command is. Without Sure, a command that asks (Command.Asks) changes nothing: Outcome.Follows is what it would do.
type Line struct {
	Text string
	Sure bool
}

// Sure returns the command that is carried out once the user has said yes to Outcome.Follows.
func Sure(v Value) Value {
	switch c := v.(type) {
	case SetConfig:
		c.Sure = true
		return c
	case Say:
		c.Sure = true
		return c
	case Slash:
		c.Sure = true
		return c
	case Line:
		c.Sure = true
		return c
	}
	return v
}

// Click presses a button of a message. ID is the button's persistent ID, such as
// "act:agent:1a2b3c4d". Value is the choice from a menu or the single line of a form,
// Words the text field of a form; both are empty for a button.
type Click struct {
	Message post.MessageID
	ID      string
	Value   string
	Words   string
	Fields  Fields
}

// Fields are the other fields of a form.
type Fields struct{ User, Bot, Quiet, Capacity, Refill string }

// Exit is how an interactive fork ends.
type Exit string

// The exits of a fork.
const (
	ExitSave    Exit = "save"    // the fork becomes the main session
	ExitReport  Exit = "report"  // its findings are queued for the main session
	ExitDiscard Exit = "discard" // nothing is kept
)

// ExitFork ends the interactive fork.
type ExitFork struct{ How Exit }

// ResumeFork continues a finished background run as an interactive fork.
type ResumeFork struct{ Run string }

// Answer answers an approval request. The first answer counts.
type Answer struct {
	ID      string
	Verdict policy.Verdict // policy.Allow, policy.Always or policy.Deny
}

// Login starts a login to the engine's account and returns its address in Outcome.Body.
// With Code, it completes the login with the code from the login page.
type Login struct{ Code string }

// Interrupt stops the main session's current turn.
type Interrupt struct{}
