// Package week sums up a week of the user: pings and their answers, promises, due times, costs,
// and what the bot suggests. One Report feeds the command, plain mode, the page of the dashboard,
// the conversation and the picture, so that they never differ. It reads nothing: its caller does.
package week

import (
	"slices"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/proposals"
	"ollimbot/routines/account"
	"ollimbot/routines/cron"
)

// Most is how many weeks back a report can be: as far as costs are compared.
const Most = 51

// Days is how many days a week has.
const Days = 7

// Report is a week. It begins on Monday, in the user's zone.
type Report struct {
	Ago  int       `json:"weeks_ago"` // 0 is the week of today
	From time.Time `json:"from"`
	// Until is the moment of the report, or the end of a week that is over.
	Until time.Time `json:"until"`
	// Days are all seven; those that have not begun are empty.
	Days     []Day    `json:"days"`
	Pings    Pings    `json:"pings"`
	Promises Promises `json:"promises"`
	Due      int      `json:"due_times"`
	Ran      int      `json:"due_times_ran"`
	DueText  string   `json:"due_times_summary"` // what became of them
	Runs     int      `json:"runs"`
	Dollars  float64  `json:"usd"` // runs and the conversation
	// Dearest is the task whose runs have cost most; its title is empty if none has cost anything.
	Dearest Cost `json:"dearest"`
	// Suggestion is at most one question of the bot's that waits for an answer; empty in weeks
	// that are over.
	Suggestion string `json:"suggestion,omitempty"`
}

// Day is a day of a week.
type Day struct {
	Date     time.Time `json:"date"`  // its first moment
	Hours    int       `json:"hours"` // 23 or 25 when the clocks change
	Sent     int       `json:"pings"`
	Answered int       `json:"answered"`
	Due      int       `json:"due_times"`
	Ran      int       `json:"due_times_ran"`
	Runs     int       `json:"runs"`
	Dollars  float64   `json:"usd"`
}

// Pings are the messages of runs to the user.
type Pings struct {
	Sent     int `json:"sent"`
	Answered int `json:"answered"`
	Useless  int `json:"not_useful"`
	Refused  int `json:"refused"`
	Quiet    int `json:"quiet"` // messages without a sound, which ask for no answer; not among those sent
	// Median is the middle of the times to the answer, in seconds.
	Median int `json:"median_answer_seconds"`
}

// Promises are what the user has said they would do, and let the bot remind them of.
type Promises struct {
	Made int `json:"made"`
	Kept int `json:"kept"` // in this week, also those of earlier weeks
}

// Cost is what the runs of a task have cost.
type Cost struct {
	Title   string  `json:"title"`
	Dollars float64 `json:"usd"`
}

// Begins is when a week begins: that of now, or one that many weeks before.
func Begins(now time.Time, ago int) time.Time {
	return cron.Wall(now, -(int(now.Weekday())+6)%Days-Days*ago, 0, 0, now.Location())
}

// ends is when a week ends.
func ends(from time.Time) time.Time { return cron.Wall(from, Days, 0, 0, from.Location()) }

// CostDays is how many days of costs, with today, a report needs.
func CostDays(ago int) int { return Days * (ago + 1) }

// Sources are what a report is made of. All may contain more than the week.
type Sources struct {
	Pings []budget.Ping
	Due   []account.Row
	Costs command.CostReport
	// Promises counts those of a span, Open are the questions that wait, the oldest first,
	// without promises.
	Promises func(from, until time.Time) proposals.Counts
	Open     []proposals.Proposal
}

// Of sums up a week. The zone of now tells when days begin.
func Of(now time.Time, ago int, of Sources) Report {
	r := Report{Ago: ago, From: Begins(now, ago)}
	end := ends(r.From)
	r.Until = end
	if now.Before(end) {
		r.Until = now
	}
	var pings []budget.Ping
	for _, p := range of.Pings {
		if r.has(p.At) {
			pings = append(pings, p)
		}
	}
	var due []account.Row
	for _, row := range of.Due {
		if r.has(row.Due) {
			due = append(due, row)
		}
	}
	for i := range Days {
		r.Days = append(r.Days, r.day(i, pings, due, of.Costs.Days))
	}
	sum := budget.SumAnswers(pings)
	r.Pings = Pings{Sent: sum.Pings, Answered: sum.Answered, Useless: sum.Useless, Median: int(sum.Median / time.Second)}
	for _, p := range pings {
		switch {
		case p.Refused != "":
			r.Pings.Refused++
		case p.Quiet:
			r.Pings.Quiet++
		}
	}
	r.DueText = account.Summary(due)
	for _, d := range r.Days {
		r.Due, r.Ran, r.Runs, r.Dollars = r.Due+d.Due, r.Ran+d.Ran, r.Runs+d.Runs, r.Dollars+d.Dollars
	}
	r.Dearest = r.dearest(of.Costs)
	counts := of.Promises(r.From, end)
	r.Promises = Promises{counts.Accepted, counts.Kept}
	if n := len(of.Open); n > 0 && ago == 0 {
		r.Suggestion = of.Open[n-1].Text
	}
	return r
}

// has reports whether a moment is in the week.
func (r *Report) has(t time.Time) bool { return !t.Before(r.From) && t.Before(ends(r.From)) }

// day sums up a day: i is 0 for Monday.
func (r *Report) day(i int, pings []budget.Ping, due []account.Row, costs []command.CostDay) Day {
	zone := r.From.Location()
	d := Day{Date: cron.Wall(r.From, i, 0, 0, zone)}
	next := cron.Wall(r.From, i+1, 0, 0, zone)
	d.Hours = int(next.Sub(d.Date).Round(time.Hour) / time.Hour)
	within := func(t time.Time) bool { return !t.Before(d.Date) && t.Before(next) }
	of := budget.SumAnswers(slices.DeleteFunc(slices.Clone(pings), func(p budget.Ping) bool { return !within(p.At) }))
	d.Sent, d.Answered = of.Pings, of.Answered
	for _, row := range due {
		if within(row.Due) {
			d.Due++
			if row.Fate == account.Ran {
				d.Ran++
			}
		}
	}
	for _, c := range costs {
		if within(c.Date) {
			d.Runs, d.Dollars = d.Runs+c.Runs, d.Dollars+c.Dollars
		}
	}
	return d
}

// dearest is the task that has cost most.
func (r *Report) dearest(of command.CostReport) (most Cost) {
	for _, t := range of.Tasks {
		sum := 0.0
		for i, dollars := range t.Days {
			if i < len(of.Days) && r.has(of.Days[i].Date) {
				sum += dollars
			}
		}
		if sum > most.Dollars {
			most = Cost{t.Title, sum}
		}
	}
	return most
}

// Begun is how many days have begun.
func (r *Report) Begun() int {
	n := 0
	for _, d := range r.Days {
		if d.Date.Before(r.Until) || n == 0 {
			n++
		}
	}
	return n
}

// Empty reports whether nothing has happened.
func (r *Report) Empty() bool {
	return r.Pings.Sent+r.Pings.Refused+r.Pings.Quiet+r.Due+r.Runs+r.Promises.Made+r.Promises.Kept == 0 && r.Dollars == 0
}
