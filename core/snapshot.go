package core

import (
	"time"

	"ollimbot/core/budget"
	"ollimbot/core/fork"
	"ollimbot/core/policy"
	"ollimbot/core/transcript"
	"ollimbot/core/updates"
	"ollimbot/core/webhook"
	"ollimbot/routines/schedule"
)

// Snapshot is everything a dashboard shows, as one immutable value: whoever
// holds it may keep it, nobody may change what its slices hold. Times are in
// Zone. Texts are cleaned.
type Snapshot struct {
	At      time.Time // the moment the snapshot describes
	Started time.Time // when the bot started; zero when it does not run
	Zone    *time.Location
	Dir     string // the data directory, with ~ for the home directory
	Root    string // the same as an absolute path, for an editor

	Engine  EngineStatus
	Surface SurfaceStatus

	Routines  int // valid routine files
	Reminders int // valid reminder files
	// Busy says that a conversation is under way, and since when.
	Busy      bool
	BusySince time.Time

	Budget   BudgetView
	Schedule ScheduleView
	Updates  []updates.Update // oldest first
	Forks    []fork.View      // running, then waiting, then finished (newest first)
	// MaxForks is how many forks may run at once.
	MaxForks int
	Chat     []transcript.Entry // oldest first
	ChatMore bool               // more was said before it
	Notices  []Notice           // oldest first, the newest 100
	// Fork is the interactive fork that the chat stands in, or nil.
	Fork *Banner
	// Approvals are tool calls that wait for the user, oldest first.
	Approvals []policy.Approval
	// Attached are the names of files that go with the next message.
	Attached []string
	// Webhooks is how many valid webhook files there are, Deliveries what came in,
	// newest first; empty where triggers are not taken.
	Webhooks   int
	Deliveries []webhook.Delivery
	LogLines   uint64 // log lines ever written: a change means new ones
}

// SurfaceStatus is where the bot's words go.
type SurfaceStatus struct {
	Name  string // "chat here", "Discord"
	State string // "up 42 ms", "no token: set DISCORD_TOKEN"
	OK    bool
}

// BudgetView is the bucket at the snapshot's moment.
type BudgetView struct {
	State    budget.State // refilled to the moment
	Status   string       // "3/5 available (refills 1 every 90 min, next in 45 min)"
	Reserved int          // tokens of messages on their way
	NextAt   time.Time    // when the next token is whole; zero when full or muted
	FullAt   time.Time    // when the bucket is full; zero when it is
	// Hours are the pings (critical ones too) of the last 24 hours, oldest first.
	Hours [24]int
	// Quiet is until when pings that are not critical are refused, for quiet hours
	// or because the user has muted them; zero when they are not.
	Quiet time.Time
	// Muted is until when the user has muted pings; zero when they have not.
	Muted time.Time
	// Forecast is the bucket's level over the schedule's window if every task that
	// may ping does: a point at each fire, after its ping, the first is now.
	Forecast []Tokens
	// Dry is the first fire that would find no whole token; zero if none does.
	Dry time.Time
}

// What the snapshot takes over from the rooms that make it.
type (
	Tokens       = budget.Level
	ScheduleView = schedule.View
	TaskView     = schedule.TaskView
)

// Notice is a short message of the program to its user: a toast.
type Notice struct {
	Seq   uint64 // grows by one with each notice
	At    time.Time
	Level Level
	Text  string
}

// Level of a notice.
type Level string

// The levels of a notice.
const (
	Info  Level = "info"
	Warn  Level = "warning"
	Alert Level = "error"
)
