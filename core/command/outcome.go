package command

import (
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/safety/audit"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// Outcome is what a command did.
type Outcome struct {
	Message string // one line for a toast: "capacity 5 → 6, full at 19:40"
	Body    string // the address of a login
	Undo    Value  // the inverse, or nil
	Follows string // why SetConfig has changed nothing: what would follow
	// Decision is what the audit log keeps of the command, but for who asked: Message is
	// its detail where it has none. The zero value is nothing.
	Decision audit.Entry
	// Done is closed when words have been answered, or never will be; nil for
	// commands that answer nothing. After the bot's end it may stay open.
	Done <-chan struct{}
}

// TaskCost is what the runs of one task have used.
type TaskCost struct {
	Kind    routines.Kind `json:"kind"`
	ID      string        `json:"id"`
	Title   string        `json:"title"` // of the newest run
	Runs    int           `json:"runs"`
	Tokens  int           `json:"tokens"`
	Dollars float64       `json:"usd"`
	Share   float64       `json:"share"` // of all that runs have cost, 0 to 1
	// Mean is what a run has cost, in dollars; Trend by how much the newer half of the
	// runs costs more than the older, each on its mean: 0.25 is a quarter more, and 0
	// also where fewer than four runs tell.
	Mean  float64 `json:"usd_per_run"`
	Trend float64 `json:"trend"`
	// Days are the dollars of each day, beside CostReport.Days.
	Days []float64 `json:"days_usd"`
}

// CostDay is what one day has cost, the conversation with it.
type CostDay struct {
	Date    time.Time // its midnight, in the bot's zone
	Dollars float64   // what may have been spent by runs that were cut off with it
	Tokens  int
	Runs    int // that have ended on it
}

// CostReport is what was spent, what is about to be, and what may be.
type CostReport struct {
	At    time.Time
	Days  []CostDay // one for each, also those that cost nothing, the oldest first; the last is today
	Tasks []TaskCost
	Total TaskCost  // of all tasks
	Since time.Time // when the first known run was, if that is later than the first day
	// Used is what those days have used, by block of prices.
	Used agent.Usage
	// Talk are the dollars of those days that no run has cost: the conversation's.
	Talk float64
	// Money are the caps, and what counts against them.
	Money money.State
	// Ahead are the fires until midnight, by time, with what each is expected to cost;
	// those that are held, for money too, say so.
	Ahead []schedule.Entry
	// Expected are the dollars of those that are not held, Projected what today costs
	// with them, and with what runs under way have not yet used of their share.
	Expected, Projected float64
}

// TaskPast is how the runs and the pings of one task went, and its next fires.
type TaskPast struct {
	File    TaskFile
	Runs    []fork.View // the newest 20 that have ended, the oldest first
	Rate    fork.Rate   // of all runs that are stored
	Answers budget.Answers
	Next    []NextFire // three at most
}

// TaskFile is what the file of a routine or a reminder says.
type TaskFile struct {
	routines.Task
	Cron      string    // of a routine
	RunMissed bool      // of a routine
	RunAt     time.Time // of a reminder
	MaxChain  int       // of a reminder
	UntilDone bool      // of a reminder
}

// NextFire is a fire to come, with what the forecast says of a ping of it.
type NextFire struct {
	At      time.Time
	Verdict Verdict
}

// Verdict says whether a fire's ping will find a token.
type Verdict string

// The verdicts. A fire that lies beyond the forecast, or sends no ping that costs
// anything, has none.
const (
	VerdictNone  Verdict = ""
	VerdictSure  Verdict = "a token is left"     // even if all pinged
	VerdictShort Verdict = "may run short"       // if all pinged, but not as they usually do
	VerdictDry   Verdict = "likely out of pings" // as they usually do
	VerdictQuiet Verdict = "in quiet hours"
)
