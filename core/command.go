package core

import (
	"time"

	"ollimbot/core/chat"
	"ollimbot/core/policy"
	"ollimbot/core/post"
	"ollimbot/core/updates"
)

// Command is one thing that a user asks of the bot, as data. The types of this
// file are all there are.
type Command interface{ command() }

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

// FireNow runs a routine or reminder at once, beside its schedule. Of a reminder
// it is undoable: the run is not taken back, but the reminder stays.
type FireNow struct{ ID string }

// Preview builds the exact prompt of a task; Outcome.Body holds it. A zero At
// means now.
type Preview struct {
	ID   string
	At   time.Time
	Busy bool
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

// Pause keeps a task from firing until it is let go on. Undoable.
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

// MuteUntil refuses pings that are not critical until a time, like quiet hours;
// a zero time ends it. Undoable.
type MuteUntil struct{ Until time.Time }

// Describe is everything about a task: Outcome.Body holds what it is, its cron
// in words, its next ten fires and its file's text.
type Describe struct{ ID string }

// Costs compares what the runs of each task have cost; Outcome.Body holds a table.
type Costs struct{ Days int }

// AddTask writes a new routine (with Cron) or reminder (with At). Undoable.
type AddTask struct {
	Cron        string
	At          time.Time
	Description string
	Message     string
	Foreground  bool
	Silent      bool // may not ping
}

// RemoveTask removes the file of a task that AddTask has made: its inverse.
type RemoveTask struct{ ID string }

// RestoreTask puts back the file of a task that was removed within the last day,
// or lets a reminder that is being run stay in the schedule.
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
// also when they begin with "/".
type Receive chat.Message

// Reword changes words that were received and whose turn has not begun; Gone takes
// them back. Words whose turn has begun stay as they were, which is no error.
type Reword struct {
	From, Key string // as in Receive
	Text      string
	Gone      bool
}

// Slash carries out a command of the table that SlashCommands gives, such as
// "/model opus". Outcome.Message is the reply.
type Slash struct{ Line string }

// Click presses a button by its lasting id ("act:agent:1a2b3c4d"), on the
// message that shows it.
type Click struct {
	Message post.MessageID
	ID      string
}

// Exit is how an interactive fork ends.
type Exit = chat.Exit

// The exits of a fork.
const (
	ExitSave    = chat.ExitSave
	ExitReport  = chat.ExitReport
	ExitDiscard = chat.ExitDiscard
)

// ExitFork ends the interactive fork.
type ExitFork struct{ How Exit }

// ResumeFork goes on in a finished background run as an interactive fork.
type ResumeFork struct{ Run string }

// Answer answers an approval; whoever is first decides.
type Answer struct {
	ID      string
	Verdict policy.Verdict // policy.Allow, policy.Always or policy.Deny
}

// Login begins a login of the engine's account, whose address is Outcome.Body,
// or ends one with the code that its page has shown.
type Login struct{ Code string }

// Interrupt ends the main session's running turn.
type Interrupt struct{}

func (SetBudget) command()     {}
func (RestoreBudget) command() {}
func (FireNow) command()       {}
func (Preview) command()       {}
func (DiscardUpdate) command() {}
func (RestoreUpdate) command() {}
func (DeliverNow) command()    {}
func (Snooze) command()        {}
func (Pause) command()         {}
func (MuteUntil) command()     {}
func (AllowTask) command()     {}
func (Describe) command()      {}
func (Costs) command()         {}
func (AddTask) command()       {}
func (RemoveTask) command()    {}
func (RestoreTask) command()   {}
func (StopFork) command()      {}
func (Say) command()           {}
func (Receive) command()       {}
func (Reword) command()        {}
func (Slash) command()         {}
func (Click) command()         {}
func (ExitFork) command()      {}
func (ResumeFork) command()    {}
func (Answer) command()        {}
func (Interrupt) command()     {}
func (Login) command()         {}

// Outcome is what a command did.
type Outcome struct {
	Message string  // one line for a toast: "capacity 5 → 6, full at 19:40"
	Body    string  // a longer text, for Preview
	Undo    Command // the inverse, or nil
	// Costs is what Body says in a table, for the command Costs: the dearest first.
	Costs []TaskCost
	// Done is closed when words have been answered, or never will be; nil for
	// commands that answer nothing. After the bot's end it may stay open.
	Done <-chan struct{}
}
