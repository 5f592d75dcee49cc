// Package week sums up a week of the user: pings and their answers, promises, due times,
// costs, and the bot's suggestions. One Report feeds the command, plain mode, the
// dashboard page, the conversation and the picture, so that they always agree. It reads
// nothing itself; the caller provides the data.
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

// Most is the maximum number of weeks back: as far as costs are compared.
const Most = 51

// Days is how many days a week has.
const Days = 7

// Report is a week, starting on Monday in the user's zone.
type Report struct {
	Ago  int       `json:"weeks_ago"` // 0 is the current week
	From time.Time `json:"from"`
	// Until is the moment of the report, or the end of a past week.
	Until time.Time `json:"until"`
	// Days are all seven; future ones are empty.
	Days     []Day    `json:"days"`
	Pings    Pings    `json:"pings"`
	Promises Promises `json:"promises"`
	Due      int      `json:"due_times"`
	Ran      int      `json:"due_times_ran"`
	DueText  string   `json:"due_times_summary"` // their outcome
	Runs     int      `json:"runs"`
	Dollars  float64  `json:"usd"` // runs and the conversation
	// Dearest is the task whose runs cost the most; its title is empty if none cost
	// anything.
	Dearest Cost `json:"dearest"`
	// Suggestion is at most one open question by the bot; empty in past weeks.
	Suggestion string `json:"suggestion,omitempty"`
}

// Day is a day of a week.
type Day struct {
	Date     time.Time `json:"date"`  // its start
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
	Quiet    int `json:"quiet"` // silent messages, which need no answer; not included in Sent
	// Median is the median time to an answer, in seconds.
	Median int `json:"median_answer_seconds"`
}

// Promises counts what the user promised to do and accepted a reminder for.
type Promises struct {
	Made int `json:"made"`
	Kept int `json:"kept"` // done this week, including those made earlier
}

// Cost is the cost of a task's runs.
type Cost struct {
	Title   string  `json:"title"`
	Dollars float64 `json:"usd"`
}

// Begins returns the start of the week of now, or of the week that many weeks before.
func Begins(now time.Time, ago int) time.Time {
	return cron.Wall(now, -(int(now.Weekday())+6)%Days-Days*ago, 0, 0, now.Location())
}

// ends returns the end of a week.
func ends(from time.Time) time.Time { return cron.Wall(from, Days, 0, 0, from.Location()) }

// CostDays returns the number of days of costs, including today, that a report needs.
func CostDays(ago int) int { return Days * (ago + 1) }

// Sources are the data for a report. All may cover more than the week.
type Sources struct {
	Pings []budget.Ping
	Due   []account.Row
	Costs command.CostReport
	// Promises counts those of a period. Open are the open questions, oldest first, except
	// promises.
	Promises func(from, until time.Time) proposals.Counts
	Open     []proposals.Proposal
}

// Of sums up a week. Days start in the zone of now.
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
	if len(due) == 0 && r.Runs > 0 {
		r.DueText = textNotRecorded
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

// dearest returns the task that cost the most.
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

// Begun returns the number of days that have begun.
func (r *Report) Begun() int {
	n := 0
	for _, d := range r.Days {
		if d.Date.Before(r.Until) || n == 0 {
			n++
		}
	}
	return n
}

// Empty reports whether nothing happened.
func (r *Report) Empty() bool {
	return r.Pings.Sent+r.Pings.Refused+r.Pings.Quiet+r.Due+r.Runs+r.Promises.Made+r.Promises.Kept == 0 && r.Dollars == 0
}
