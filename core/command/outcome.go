package command

import (
	"encoding/json"
	"errors"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/safety/audit"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/routines"
	"ollimbot/routines/account"
	"ollimbot/routines/recur"
	"ollimbot/routines/schedule"
	"ollimbot/routines/when"
)

// ErrInterrupted is the outcome of a message whose answer was stopped, by the user or by
// a newer message.
var ErrInterrupted = errors.New("the answer was interrupted")

// Outcome is the result of a command.
type Outcome struct {
	Message string // one line for a toast: "capacity 5 → 6, full at 19:40"
	Body    string // the address of a login
	// Printed is what a Line has printed, without the line break at its end: notes first, then the answer.
	Printed string
	// Card is the message as a card with buttons, for a surface that shows cards. A click on
	// one of its buttons returns the updated card. Nil for most commands.
	Card    *post.Embed
	Picture string // the name of a picture to show with the message, on surfaces with pictures (post.PictureDay)
	Undo    Value  // the inverse, or nil
	Follows string // the consequence because of which nothing was changed; Sure carries it out
	// Decision is the command's entry in the audit log, without its actor. An empty detail
	// is filled with Message. The zero value writes no entry.
	Decision audit.Entry
	// Done receives an error if a message could not be answered, and ErrInterrupted if its
	// answer was stopped. It is closed once the message has been answered or never will be.
	// Nil for other commands. It may stay open after the bot has stopped.
	Done <-chan error
}

// TaskCost is the cost of one task's runs.
type TaskCost struct {
	Kind    routines.Kind `json:"kind"`
	ID      string        `json:"id"`
	Title   string        `json:"title"` // from the newest run
	Runs    int           `json:"runs"`
	Tokens  int           `json:"tokens"`
	Dollars float64       `json:"usd"`
	Unknown int           `json:"unknown_requests"`   // requests whose cost is not in Dollars
	Share   float64       `json:"share"`              // of the cost of all runs, 0 to 1
	NoModel bool          `json:"no_model,omitempty"` // it sends what its check prints
	// Mean is the mean cost of a run, in dollars.
	Mean float64 `json:"usd_per_run"`
	// Trend compares the mean cost of the newer half of the runs with that of the older
	// half: 0.25 is a quarter more. It is 0 for fewer than four runs.
	Trend float64 `json:"trend"`
	// Quiet counts the successful runs without a ping or report, QuietDollars their cost.
	Quiet        int     `json:"quiet_runs"`
	QuietDollars float64 `json:"quiet_usd"`
	// Days are the dollars of each day of CostReport.Days.
	Days []float64 `json:"days_usd"`
}

// CostDay is the cost of one day, including the conversation.
type CostDay struct {
	Date    time.Time `json:"-"` // its midnight, in the bot's zone
	Dollars float64   `json:"usd"`
	Tokens  int       `json:"tokens"`
	Runs    int       `json:"runs"` // runs that ended on this day
	// NotExact is what an earlier version booked, which is in no sum.
	NotExact float64 `json:"not_exact_usd,omitempty"`
	Unknown  int     `json:"unknown_requests,omitempty"` // requests whose cost is not in Dollars
}

// MarshalJSON implements json.Marshaler. A day is a date there, without a time.
func (d CostDay) MarshalJSON() ([]byte, error) {
	type day CostDay
	return json.Marshal(struct {
		Date string `json:"date"`
		day
	}{d.Date.Format(time.DateOnly), day(d)})
}

// CostReport is the cost of some days, the caps, and the expected cost until midnight.
type CostReport struct {
	At    time.Time  `json:"-"`
	Days  []CostDay  `json:"days"` // every day, oldest first; the last is today
	Tasks []TaskCost `json:"tasks"`
	Total TaskCost   `json:"-"` // of all tasks
	// Advice lists changes to routines that would have saved money, largest saving first.
	Advice []Advice  `json:"advice"`
	Since  time.Time `json:"-"` // of the first known run, if it is later than the first day
	// Spent is what all rows of the ledger on those days come to, Parts what they were for.
	Spent money.Sum  `json:"-"`
	Parts []PartCost `json:"purposes"`
	// Used is the usage of those days, by price class.
	Used agent.Usage `json:"usage"`
	// Talk is the conversation's cost, with its forks, subagents and compactions.
	Talk float64 `json:"conversation_usd"`
	// Money has the caps and the spending that counts against them.
	Money money.State `json:"money"`
	// Ahead are the fires until midnight, by time, with their expected cost. Suspended
	// fires are marked as held.
	Ahead []schedule.Entry `json:"ahead"`
	// Expected is the cost in dollars of the fires that are not held. Projected is the
	// cost of today with those fires and what is set aside for runs under way; it stops at a cap.
	Expected  float64 `json:"expected_usd"`
	Projected float64 `json:"projected_usd"`
}

// PartCost is what the requests for one purpose have cost.
type PartCost struct {
	For      money.Purpose `json:"for"`
	Dollars  float64       `json:"usd"`
	NotExact float64       `json:"not_exact_usd,omitempty"`
	Requests int           `json:"requests"`
	Unknown  int           `json:"unknown_requests,omitempty"`
}

// TaskPast is the history of one task's runs and pings, and its next fires.
type TaskPast struct {
	File    TaskFile
	Runs    []fork.View // the newest 20 that have ended, oldest first
	Rate    fork.Rate   // of all stored runs
	Answers budget.Answers
	Next    []NextFire      // at most three
	Skipped []recur.Skipped // times of cron before the last of them that do not fire, at most two
}

// DueTimes are due times with their outcomes.
type DueTimes struct {
	account.Report
	Runs map[account.Key]fork.View // the runs of those that had one, as far as known
}

// TaskFile is the contents of a routine's or reminder's file.
type TaskFile struct {
	routines.Task
	Cron      string        // of a routine
	RunMissed bool          // of a routine
	Late      time.Duration // of a routine
	RunAt     time.Time     // of a reminder
	MaxChain  int           // of a reminder
	UntilDone bool          // of a reminder
	Ahead     []when.Ahead  // of a reminder
}

// NextFire is an upcoming fire, with the forecast for its ping.
type NextFire struct {
	At      time.Time
	Verdict Verdict
}

// Verdict says whether a token will be left for a fire's ping.
type Verdict string

// The verdicts. A fire has none if it is beyond the forecast or sends no ping that costs
// a token.
const (
	VerdictNone  Verdict = ""
	VerdictSure  Verdict = "a token is left"     // even if all tasks ping
	VerdictShort Verdict = "may run short"       // if all tasks ping, but not at their usual rate
	VerdictDry   Verdict = "likely out of pings" // at their usual rate
	VerdictQuiet Verdict = "in quiet hours"
)
