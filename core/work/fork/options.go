package fork

import (
	"context"
	"log/slog"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/label"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/money"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
)

// Limits are read when a run starts. Zero fields mean the defaults: 4 concurrent runs, 30
// minutes, and the engine's own model and thinking.
type Limits struct {
	MaxRunning int
	Timeout    time.Duration
	Model      string // the default model of tasks
	// Thinking is the thinking level of thinking tasks that continue the conversation, Alone
	// that of isolated ones.
	Thinking, Alone string
	// QuietMessages is how many silent messages runs may send per day; 0 allows none.
	QuietMessages int
	// TurnCap is the maximum cost of a run in dollars; 0 and +Inf mean no limit.
	TurnCap float64
}

// Host is what runs need from the bot. Methods must be safe for concurrent use. Only Post
// may block for long, on the network.
type Host interface {
	// Post sends a message to the user.
	Post(ctx context.Context, p post.Post) (post.MessageID, error)
	// Busy returns whether a conversation is in progress and until when quiet hours last
	// (zero outside of them). It is called for every attempted ping.
	Busy() (busy bool, quietUntil time.Time)
	// Muted returns until when the user has muted pings; zero if they have not.
	Muted() time.Time
	Limits() Limits
	SystemPrompt() string
	BriefPrompt() string
	// Reminders returns the book that a run's reminder tools write to, with the run's
	// rights.
	Reminders(policy.Writer) toolset.ReminderBook
	// Stop pauses or ends a routine for a run of it, and informs the user.
	Stop(by policy.Writer, routine string, s toolset.Stop) (toolset.Stopped, error)
}

// Options configure runs. All down to Guard are required.
type Options struct {
	Dir      *store.Dir
	Zone     *time.Location
	Log      *slog.Logger
	Engine   agent.Engine
	Host     Host
	Budget   *budget.Bucket
	Tally    *budget.Tally
	Journal  *budget.Journal
	Updates  *updates.Queue
	Sessions *session.Store
	// Guard decides which tools runs may use.
	Guard *policy.Guard
	// Messages records which run sent which message, so that replies can resume it. May be
	// nil.
	Messages *session.ForkMessages
	// Money records the usage of turns. May be nil.
	Money *money.Purse
	// Audit records the untrusted text that runs have read. May be nil.
	Audit *audit.Log
	// Tools returns the tools of every session besides the bot's own. May be nil.
	Tools func() []agent.Tool
	// Warn tells the user about a problem that did not end the run. It must not block. May
	// be nil.
	Warn func(text string)
	// Changed is called after a View changes. It must not block.
	Changed func()
	// Idle is called when a run has ended and none is running or queued, as a chance to tidy
	// up. It may take a while. May be nil.
	Idle func()
	// Commit records a markdown file written by a run, by its path relative to the data
	// directory. It must not block. May be nil.
	Commit func(rel, message string)
	// Commands runs the program's own commands for a run; nil refuses them.
	Commands policy.Runner
}

func (o *Options) now() time.Time { return time.Now().In(o.Zone) }

func (o *Options) warn(text string) {
	if o.Warn != nil {
		o.Warn(text)
	}
}

// Said is a message that no model writes: what the check of a task with `say: check` printed, or why it printed none, or
// what a reminder says before it is due.
type Said struct {
	Text, Failed string
	Early        bool // by a reminder that is still ahead: a ping and nothing else
}

// Job is one task to run in the background.
type Job struct {
	Task routines.Task
	// Reminder is the firing reminder, whose chain follow_up_chain continues.
	Reminder *routines.Reminder
	At       time.Time // when it was due
	Late     bool
	// Prompt builds the message when the run starts, so that its budget, schedule and busy
	// state are current. It may block while the commands of skills run; ctx ends with the
	// run.
	Prompt func(ctx context.Context) string
	// Allowed are the tool patterns of the run, Disallowed those removed from them.
	Allowed, Disallowed []string
	// Label is the run's initial label. Trusted lets it keep its tools whatever it reads.
	Label   label.Label
	Trusted bool
	// Delivery identifies the delivery that the run is for, or "". The start of its run is in
	// the ledger once the model is about to be asked, and not earlier: see Deliveries.
	Delivery string
	// Fire identifies the fire, the same for the run that repeats it after it was cut off; empty
	// if nothing repeats it.
	Fire string
	// Plain is why an essential task sends its own text without asking a model, or "".
	Plain string
	// Said is the message of a task that asks no model; nil for all others.
	Said *Said
	// Note is the first line of the tail, or "".
	Note string
	// Ticket is the reservation for the run, which the caller settles.
	Ticket money.Ticket
}

// early reports whether a reminder speaks before it is due.
func (j *Job) early() bool { return j.Said != nil && j.Said.Early }

// asks reports whether a model is asked.
func (j *Job) asks() bool { return j.Plain == "" && j.Said == nil }
