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

// mostCostDays is how many days are compared at most.
const mostCostDays = 366

// Spending is what the report of costs is made of.
type Spending struct {
	Runs  []fork.View      // the ledger's, newest first
	Days  []money.Day      // those of which there is something to tell
	State money.State      // now
	Ahead []schedule.Entry // the fires until midnight, with their costs
}

// Report compares what the runs of each task have cost in as many days with today, 366 at most,
// until now, which is in the bot's zone.
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
	r.Projected = s.State.Today.Spent + s.State.Reserved + r.Expected
	if first := oldest(s.Runs).In(now.Location()); first.After(r.Days[0].Date) { // the ledger keeps what fits
		r.Since = first
	}
	return r
}

// Head is the report in one line.
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

// Text is the head and, if there were runs, a table of the tasks.
func (r *CostReport) Text() string {
	if r.Total.Runs == 0 {
		return r.Head()
	}
	return r.Head() + "\n\n" + r.table()
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
func (r *CostReport) sum(views []fork.View) {
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
		for _, t := range []*TaskCost{&r.Tasks[i], &r.Total} {
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
		t.Share, t.Mean, t.Trend = share(*t, r.Total), t.Dollars/float64(t.Runs), trend(costs[i])
	}
	r.Total.Share = share(r.Total, r.Total)
	slices.SortStableFunc(r.Tasks, func(a, b TaskCost) int {
		return cmp.Or(cmp.Compare(b.Dollars, a.Dollars), cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.ID, b.ID))
	})
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

// table gives each task a line of its own, above its numbers: these stand
// below each other however wide the titles are, and fit on a narrow screen.
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
