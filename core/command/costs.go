package command

import (
	"cmp"
	"fmt"
	"slices"
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
	Rows  []money.Row      // the ledger of money, from which every amount comes
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
	byDay := make([][]money.Row, days)
	var rows []money.Row
	for _, row := range s.Rows {
		if i, ok := place[row.At.In(now.Location()).Format(time.DateOnly)]; ok {
			byDay[i], rows = append(byDay[i], row), append(rows, row)
		}
	}
	for i, list := range byDay {
		spent := money.Total(list...)
		r.Days[i].Dollars, r.Days[i].NotExact, r.Days[i].Unknown = spent.Dollars(), spent.NotExact(), spent.Unknown()
		r.Days[i].Tokens = spent.Used().Tokens()
	}
	r.Spent = money.Total(rows...)
	r.Used = r.Spent.Used()
	for _, e := range s.Ahead {
		if !e.Held {
			r.Expected += e.Cost
		}
	}
	r.sum(s.Runs, rows)
	r.Parts = partsOf(rows)
	r.Talk = money.Total(slices.DeleteFunc(slices.Clone(rows), func(row money.Row) bool {
		return row.Task != (money.Task{}) || row.For == money.Screening || row.For == money.Transcribing
	})...).Dollars()
	r.Advice = r.advise(s.Routines)
	r.Projected = projected(s.State, s.State.Reserved+r.Expected)
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
	return r.Head() + "\n" + r.table()
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

// projected returns what today comes to if that much more is spent. Runs are held at a cap, so it
// stops there.
func projected(s money.State, more float64) float64 {
	spent := s.Today.Spent.Dollars()
	if !s.Lifted {
		for _, span := range []money.Span{s.Today, s.Month} {
			more = min(more, max(0, span.Cap-span.Spent.Dollars()))
		}
	}
	return spent + more
}

// partsOf adds up what the rows were for, the most expensive first.
func partsOf(rows []money.Row) (parts []PartCost) {
	by := map[money.Purpose][]money.Row{}
	for _, row := range rows {
		by[row.For] = append(by[row.For], row)
	}
	for what, list := range by {
		s := money.Total(list...)
		parts = append(parts, PartCost{For: what, Dollars: s.Dollars(), NotExact: s.NotExact(), Requests: s.Requests(), Unknown: s.Unknown()})
	}
	slices.SortFunc(parts, func(a, b PartCost) int {
		return cmp.Or(cmp.Compare(b.Dollars, a.Dollars), cmp.Compare(a.For, b.For))
	})
	return parts
}

// taskCosts collects the costs of tasks.
type taskCosts struct {
	r     *CostReport
	place map[money.Task]int
	costs [][]float64 // of the runs of each task, newest first
}

// at returns the position of a task.
func (t *taskCosts) at(task money.Task, title string) int {
	i, known := t.place[task]
	if !known {
		i = len(t.r.Tasks)
		t.place[task] = i
		t.r.Tasks = append(t.r.Tasks, TaskCost{Kind: task.Kind, ID: task.ID, Title: title, Days: make([]float64, len(t.r.Days))})
		t.costs = append(t.costs, nil)
	}
	return i
}

// day returns the position of the last day that starts at or before a moment; 0 if there is none,
// counted from 1.
func (r *CostReport) day(at time.Time) int {
	day, _ := slices.BinarySearchFunc(r.Days, at, func(d CostDay, at time.Time) int {
		if d.Date.After(at) {
			return 1
		}
		return -1
	})
	return day
}

// sum adds up, in total, by day and by task, the runs that ended on the days of the report, and what
// the rows of those days say that runs cost. The most expensive task comes first.
func (r *CostReport) sum(views []fork.View, rows []money.Row) {
	list := &taskCosts{r: r, place: map[money.Task]int{}}
	runs := map[string][]money.Row{}
	for _, row := range rows {
		runs[row.Run] = append(runs[row.Run], row)
	}
	for _, v := range views {
		day := r.day(v.Ended)
		if v.Live() || v.State == fork.NothingNew || day == 0 {
			continue
		}
		i := list.at(money.Task{Kind: v.Kind, ID: v.TaskID}, v.Title)
		r.Tasks[i].NoModel = r.Tasks[i].NoModel || v.NoModel
		cost := money.Total(runs[v.ID]...).Dollars()
		for _, t := range []*TaskCost{&r.Tasks[i], &r.Total} {
			t.Runs++
			if v.State == fork.Done && v.Pings+v.Refused+v.Reports == 0 {
				t.Quiet, t.QuietDollars = t.Quiet+1, t.QuietDollars+cost
			}
		}
		r.Days[day-1].Runs++
		list.costs[i] = append(list.costs[i], cost)
	}
	for _, row := range rows {
		if row.Task == (money.Task{}) {
			continue
		}
		i, s := list.at(row.Task, row.Task.ID), money.Total(row)
		for _, t := range []*TaskCost{&r.Tasks[i], &r.Total} {
			t.Tokens, t.Dollars, t.Unknown = t.Tokens+s.Used().Tokens(), t.Dollars+s.Dollars(), t.Unknown+s.Unknown()
		}
		if day := r.day(row.At); day > 0 {
			r.Tasks[i].Days[day-1] += s.Dollars()
		}
	}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		t.Share, t.Mean, t.Trend = share(*t, r.Total), t.Dollars/float64(max(1, t.Runs)), trend(list.costs[i])
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

// table is a sentence for each task. Columns would be unreadable for those who listen to them.
func (r *CostReport) table() string {
	var out strings.Builder
	for _, t := range r.Tasks {
		fmt.Fprintf(&out, textTaskCost, clean.Cut(t.Title, 60), t.ID, words.Count(t.Runs, "run"), words.Tokens(t.Tokens), words.Dollars(t.Dollars),
			words.Dollars(t.Dollars/float64(max(1, t.Runs))), 100*t.Share, t.Missing())
	}
	return out.String()
}

// Missing says that the cost of some requests is not known, or why there are none; else it is empty.
func (t TaskCost) Missing() string {
	switch {
	case t.NoModel && t.Tokens == 0:
		return textWithoutModel
	case t.Unknown == 0:
		return ""
	}
	return fmt.Sprintf(textMissing, words.Count(t.Unknown, "request"))
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

// MoneyLines describe the spending of today and of this month, with the caps.
func MoneyLines(s money.State) []string {
	line := func(name string, span money.Span) string {
		text := name + span.Spent.Text()
		if span.Capped() {
			text += fmt.Sprintf(textOfCap, words.Dollars(span.Cap))
		}
		return text
	}
	lines := []string{line(textTodayIs, s.Today), line(textMonthIs, s.Month)}
	if s.Reserved > 0 {
		lines[0] += fmt.Sprintf(textSetAside, words.Dollars(s.Reserved))
	}
	if s.Lifted {
		lines[0] += textCapsLifted
	}
	return lines
}

// PartLines describe what the requests of the report were for.
func (r *CostReport) PartLines() (lines []string) {
	for _, p := range r.Parts {
		text := fmt.Sprintf(textPart, textParts[p.For], words.Dollars(p.Dollars), words.Count(p.Requests, "request"))
		if p.Unknown > 0 {
			text += fmt.Sprintf(textPartUnknown, p.Unknown)
		}
		if p.For != money.Before {
			lines = append(lines, text)
		}
	}
	if n := r.Spent.About(); n > 0 {
		lines = append(lines, fmt.Sprintf(textEstimated, words.Count(n, "request")))
	}
	if models := r.Spent.Unpriced(); len(models) > 0 {
		lines = append(lines, fmt.Sprintf(textNoPrice, strings.Join(models, ", ")))
	}
	return lines
}
