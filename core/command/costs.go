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

const (
	// costDays is how many days are compared where nobody says so, and
	// mostCostDays how many at most.
	costDays     = 7
	mostCostDays = 366
)

// Spending is what the report of costs is made of.
type Spending struct {
	Runs  []fork.View      // the ledger's, newest first
	Days  []money.Day      // those of which there is something to tell
	State money.State      // now
	Ahead []schedule.Entry // the fires until midnight, with their costs
}

// Of compares what the runs of each task have cost until now, which is in the bot's
// zone.
func (c Costs) Of(s Spending, now time.Time) Outcome {
	days := c.Days
	if days <= 0 {
		days = costDays
	}
	days = min(days, mostCostDays)
	report := s.report(days, now)
	total := report.sum(s.Runs)
	for _, d := range report.Days {
		report.Talk += d.Dollars
	}
	report.Talk = max(0, report.Talk-total.Dollars)
	if total.Runs == 0 {
		none := fmt.Sprintf(textNoRuns, words.Count(days, "day"))
		return Outcome{Message: none, Body: none + "\n", Costs: &report}
	}
	head := fmt.Sprintf(textCosts, words.Count(days, "day"), words.Count(total.Runs, "run"), words.Tokens(total.Tokens), words.Dollars(total.Dollars))
	// The ledger keeps what fits into it: where it begins later, that is said.
	if first := oldest(s.Runs).In(now.Location()); first.After(report.Days[0].Date) {
		head += fmt.Sprintf(textCostsSince, first.Format("Mon 2006-01-02 15:04"))
	}
	return Outcome{Message: head, Body: head + "\n\n" + costTable(report.Tasks, total), Costs: &report}
}

// report is all but the runs.
func (s Spending) report(days int, now time.Time) CostReport {
	r := CostReport{At: now, Days: make([]CostDay, days), Money: s.State, Ahead: s.Ahead}
	place := make(map[string]int, days)
	for i := range r.Days {
		r.Days[i].Date = cron.Wall(now, i-days+1, 0, 0, now.Location())
		place[now.AddDate(0, 0, i-days+1).Format(time.DateOnly)] = i
	}
	for _, d := range s.Days {
		if i, ok := place[d.Date]; ok {
			r.Days[i].Dollars, r.Days[i].Tokens = d.Spent(), d.Tokens()
			r.Used = r.Used.Add(d.Usage)
		}
	}
	for _, e := range s.Ahead {
		if !e.Held {
			r.Expected += e.Cost
		}
	}
	r.Projected = s.State.Today.Spent + s.State.Reserved + r.Expected
	return r
}

// Blocks says how the tokens of a usage divide into those that differ in price; empty
// where there are none.
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

// trend compares the means of the newer and the older half.
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

// sum adds up the runs that have ended on the days of the report: by day, by task, the
// dearest first, and all of them together.
func (r *CostReport) sum(views []fork.View) (total TaskCost) {
	type task struct {
		kind routines.Kind
		id   string
	}
	place := map[task]int{}
	var costs [][]float64 // of each task, newest first
	for _, v := range views {
		// The day is the last one that has begun by then.
		day, _ := slices.BinarySearchFunc(r.Days, v.Ended, func(d CostDay, at time.Time) int {
			if d.Date.After(at) {
				return 1
			}
			return -1
		})
		if v.Live() || day == 0 {
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
		for _, t := range []*TaskCost{&r.Tasks[i], &total} {
			t.Runs++
			t.Tokens += max(0, v.Usage.Tokens())
			t.Dollars += cost
		}
		r.Days[day-1].Runs++
		r.Tasks[i].Days[day-1] += cost
		costs[i] = append(costs[i], cost)
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		t.Share, t.Mean, t.Trend = share(*t, total), t.Dollars/float64(t.Runs), trend(costs[i])
	}
	total.Share = share(total, total)
	slices.SortStableFunc(r.Tasks, func(a, b TaskCost) int {
		return cmp.Or(cmp.Compare(b.Dollars, a.Dollars), cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.ID, b.ID))
	})
	return total
}

// share is a task's part of the dollars; of the tokens where nothing has a price.
func share(t, total TaskCost) float64 {
	switch {
	case total.Dollars > 0:
		return t.Dollars / total.Dollars
	case total.Tokens > 0:
		return float64(t.Tokens) / float64(total.Tokens)
	}
	return 0
}

// costTable gives each task a line of its own, above its numbers: these stand
// below each other however wide the titles are, and fit on a narrow screen.
func costTable(list []TaskCost, total TaskCost) string {
	var out strings.Builder
	const form = "%5s %6s %8s %8s %5s\n"
	fmt.Fprintf(&out, form, "runs", "tokens", "cost", "per run", "share")
	total.Title = "all"
	for _, t := range append([]TaskCost{total}, list...) {
		title := clean.Cut(t.Title, 60)
		if t.ID != "" {
			title += " (" + t.ID + ")"
		}
		fmt.Fprintf(&out, "%s\n"+form, title, strconv.Itoa(t.Runs), words.Tokens(t.Tokens), words.Dollars(t.Dollars),
			words.Dollars(t.Dollars/float64(t.Runs)), fmt.Sprintf("%.0f %%", 100*t.Share))
	}
	return out.String()
}

// oldest is when the first of the runs that have ended began, the newest standing
// first.
func oldest(views []fork.View) time.Time {
	for _, v := range slices.Backward(views) {
		switch {
		case v.Ended.IsZero():
		case v.Started.IsZero(): // it never came to run
			return v.Ended
		default:
			return v.Started
		}
	}
	return time.Time{}
}
