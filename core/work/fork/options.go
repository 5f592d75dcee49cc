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

// Limits are read when a run starts. Zero fields mean the defaults: 4 runs at
// once, 30 minutes, the engine's own model, which decides how much it thinks.
type Limits struct {
	MaxRunning int
	Timeout    time.Duration
	Model      string // for tasks that name none
	// Thinking is that of tasks that may think and continue the conversation, Alone that of
	// isolated ones.
	Thinking, Alone string
	// QuietMessages is how many messages without a sound runs may leave in a day; 0 allows none.
	QuietMessages int
	// TurnCap is what a run may cost, in dollars; 0 and +Inf are no limit.
	TurnCap float64
}

// Host is what runs need from the bot around them. Methods may be called
// concurrently; only Post may block for long, on a network.
type Host interface {
	// Post sends to the user.
	Post(ctx context.Context, p post.Post) (post.MessageID, error)
	// Busy returns whether a conversation is under way and until when quiet hours
	// last (zero outside of them). It is called whenever a ping is attempted.
	Busy() (busy bool, quietUntil time.Time)
	// Muted returns until when the user has muted pings; zero if they have not.
	Muted() time.Time
	Limits() Limits
	SystemPrompt() string
	// Reminders is the book that a run's reminder tools write in, with its rights.
	Reminders(policy.Writer) toolset.ReminderBook
}

// Options are the parts that runs need. All down to Guard are required.
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
	// Guard decides the tools of runs.
	Guard *policy.Guard
	// Messages records which run sent which message, so that replies can resume
	// it; nil records nothing.
	Messages *session.ForkMessages
	// Money counts what turns have used; nil counts nothing.
	Money *money.Purse
	// Audit records what untrusted text runs have read; nil records nothing.
	Audit *audit.Log
	// Tools returns what every session lists beside the bot's own; nil is nothing.
	Tools func() []agent.Tool
	// Warn tells the user about something that did not end the run; nil tells nobody. It must
	// not block.
	Warn func(text string)
	// Changed is called when a View has changed; it must not block.
	Changed func()
	// Idle is called when a run has ended and no other runs or waits: a moment to
	// tidy up. It may take a while. Nil does nothing.
	Idle func()
	// Commit records a markdown file that a run has written, by its path relative
	// to the data directory; it must not block. Nil records nothing.
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

// Job is one task to run in the background.
type Job struct {
	Task routines.Task
	// Reminder is the firing reminder, whose chain follow_up_chain continues.
	Reminder *routines.Reminder
	At       time.Time // when it was due
	Late     bool
	// Prompt builds the message when the run starts, so that budget, schedule
	// and busy state in it are those of that moment. It may block for as long as
	// the commands of skills take; ctx ends with the run.
	Prompt func(ctx context.Context) string
	// Allowed are the tool patterns of the run, Disallowed those that are removed from them.
	Allowed, Disallowed []string
	// Label is the label of what the run starts with; Trusted lets it keep its tools
	// whatever it reads.
	Label   label.Label
	Trusted bool
	// Plain is why an essential task sends its own words without asking a model; "" asks one.
	Plain string
	// Note is the first line of the tail, "" for none.
	Note string
	// Ticket is the money set aside for the run; the caller that queues the job settles it.
	Ticket money.Ticket
}
