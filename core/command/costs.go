package command

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/money"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// mostCostDays is the maximum length of a report.
const mostCostDays = 366

// Spending is the input of a cost report.
type Spending struct {
	Runs  []fork.View      // from the ledger, newest first
	Days  []money.Day      // days without spending may be missing
	State money.State      // now
	Ahead []schedule.Entry // the fires until midnight, with their costs
	// Routines are the routines in force.
	Routines []*routines.Routine
}

// Report adds up the costs of each task over the given number of days, at most 366, the
// last of which is today. now must be in the bot's zone.
func (s Spending) Report(days int, now time.Time) CostReport {
	days = min(max(1, days), mostCostDays)
	r := CostReport{At: now, Days: make([]CostDay, days), Money: s.State, Ahead: s.Ahead}
	place := make(map[string]int, days)
	for i := range r.Days {
		r.Days[i].Date = cron.Wall(now, i-days+1, 0, 0, now.Location())
		place[now.AddDate(0, 0, i-days+1).Format(time.DateOnly)] = i
	}
	for _, d := range s.Days {
		if i, ok := place[d.Date]; ok {
			r.Days[i].Dollars, r.Days[i].Tokens = d.Spent(), d.Tokens()
			r.Used, r.Talk = r.Used.Add(d.Usage), r.Talk+d.Spent()
		}
	}
	for _, e := range s.Ahead {
		if !e.Held {
			r.Expected += e.Cost
		}
	}
	r.sum(s.Runs)
	r.Talk = max(0, r.Talk-r.Total.Dollars)
	r.Advice = r.advise(s.Routines)
	r.Projected = s.State.Today.Spent + s.State.Reserved + r.Expected
	if first := oldest(s.Runs).In(now.Location()); first.After(r.Days[0].Date) { // the ledger has dropped older runs
		r.Since = first
	}
	return r
}

// Head returns the report in one line.
func (r *CostReport) Head() string {
	days, t := words.Count(len(r.Days), "day"), r.Total
	if t.Runs == 0 {
		return fmt.Sprintf(textNoRuns, days)
	}
	head := fmt.Sprintf(textCosts, days, words.Count(t.Runs, "run"), words.Tokens(t.Tokens), words.Dollars(t.Dollars))
	if !r.Since.IsZero() {
		head += fmt.Sprintf(textCostsSince, r.Since.Format("Mon 2006-01-02 15:04"))
	}
	return head
}

// Text returns the head and, if there were runs, a table of the tasks.
func (r *CostReport) Text() string {
	if r.Total.Runs == 0 {
		return r.Head()
	}
	return r.Head() + "\n\n" + r.table()
}

// Blocks describes a usage by price class: prompt tokens, the cached share, and answer
// tokens. It is empty for no tokens.
func Blocks(u agent.Usage) string {
	if u.Tokens() == 0 {
		return ""
	}
	cached := ""
	if share, ok := u.Cached(); ok {
		cached = fmt.Sprintf(textCached, 100*share)
	}
	return fmt.Sprintf(textBlocks, words.Tokens(u.Prompt()), cached, words.Tokens(u.OutputTokens))
}

// trend compares the means of the newer and the older half. costs is newest first.
func trend(costs []float64) float64 {
	if len(costs) < 4 {
		return 0
	}
	half := len(costs) / 2
	newer, older := sum(costs[:half])/float64(half), sum(costs[half:])/float64(len(costs)-half)
	if older <= 0 {
		return 0
	}
	return newer/older - 1
}

func sum(list []float64) float64 {
	s := 0.0
	for _, v := range list {
		s += v
	}
	return s
}

// sum adds up the runs that ended on the days of the report: in total, by day and by
// task, the most expensive task first.
func (r *CostReport) sum(views []fork.View) {
	type task struct {
		kind routines.Kind
		id   string
	}
	place := map[task]int{}
	var costs [][]float64 // of each task, newest first
	for _, v := range views {
		// The day is the last one that starts at or before the end of the run.
		day, _ := slices.BinarySearchFunc(r.Days, v.Ended, func(d CostDay, at time.Time) int {
			if d.Date.After(at) {
				return 1
			}
			return -1
		})
		if v.Live() || v.State == fork.NothingNew || day == 0 {
			continue
		}
		i, known := place[task{v.Kind, v.TaskID}]
		if !known {
			i = len(r.Tasks)
			place[task{v.Kind, v.TaskID}] = i
			r.Tasks = append(r.Tasks, TaskCost{Kind: v.Kind, ID: v.TaskID, Title: v.Title, Days: make([]float64, len(r.Days))})
			costs = append(costs, nil)
		}
		cost := max(0, v.Usage.CostUSD)
		for _, t := range []*TaskCost{&r.Tasks[i], &r.Total} {
			t.Runs++
			t.Tokens += max(0, v.Usage.Tokens())
			t.Dollars += cost
			if v.State == fork.Done && v.Pings+v.Refused+v.Reports == 0 {
				t.Quiet, t.QuietDollars = t.Quiet+1, t.QuietDollars+cost
			}
		}
		r.Days[day-1].Runs++
		r.Tasks[i].Days[day-1] += cost
		costs[i] = append(costs[i], cost)
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		t.Share, t.Mean, t.Trend = share(*t, r.Total), t.Dollars/float64(t.Runs), trend(costs[i])
	}
	r.Total.Share = share(r.Total, r.Total)
	slices.SortStableFunc(r.Tasks, func(a, b TaskCost) int {
		return cmp.Or(cmp.Compare(b.Dollars, a.Dollars), cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.ID, b.ID))
	})
}

// share is a task's share of the dollars, or of the tokens if nothing has a price.
func share(t, total TaskCost) float64 {
	switch {
	case total.Dollars > 0:
		return t.Dollars / total.Dollars
	case total.Tokens > 0:
		return float64(t.Tokens) / float64(total.Tokens)
	}
	return 0
}

// table puts each task's title on a line above its numbers. The columns align whatever
// the titles' width, and fit on a narrow screen.
func (r *CostReport) table() string {
	var out strings.Builder
	const form = "%5s %6s %8s %8s %5s\n"
	fmt.Fprintf(&out, form, "runs", "tokens", "cost", "per run", "share")
	all := r.Total
	all.Title = "all"
	for _, t := range append([]TaskCost{all}, r.Tasks...) {
		title := clean.Cut(t.Title, 60)
		if t.ID != "" {
			title += " (" + t.ID + ")"
		}
		fmt.Fprintf(&out, "%s\n"+form, title, strconv.Itoa(t.Runs), words.Tokens(t.Tokens), words.Dollars(t.Dollars),
			words.Dollars(t.Dollars/float64(t.Runs)), fmt.Sprintf("%.0f %%", 100*t.Share))
	}
	return out.String()
}

// oldest returns the start of the first ended run. views is newest first.
func oldest(views []fork.View) time.Time {
	for _, v := range slices.Backward(views) {
		switch {
		case v.Ended.IsZero():
		case v.Started.IsZero(): // it never started
			return v.Ended
		default:
			return v.Started
		}
	}
	return time.Time{}
}
