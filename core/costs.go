package core

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/fork"
	"ollimbot/routines"
)

const (
	// costDays is how many days are compared where nobody says so, and
	// mostCostDays how many at most.
	costDays     = 7
	mostCostDays = 366
	// everyRun asks the ledger for all runs that it still has.
	everyRun = 1 << 20
)

// taskCost is what the runs of one task have used.
type taskCost struct {
	kind    routines.Kind
	id      string
	title   string // of the newest run
	runs    int
	tokens  int
	dollars float64
	share   float64 // of all that was spent, 0 to 1
}

// compareCosts makes a table of what the runs of each task have cost.
func (b *Bot) compareCosts(c Costs) (Outcome, error) {
	days := c.Days
	if days <= 0 {
		days = costDays
	}
	days = min(days, mostCostDays)
	views, err := fork.Ledger(b.dir, everyRun)
	if err != nil {
		return Outcome{}, err
	}
	since := b.now().AddDate(0, 0, -days)
	list, total := sumCosts(views, since)
	if total.runs == 0 {
		return Outcome{Message: fmt.Sprintf(textNoRuns, counted(days, "day")), Body: fmt.Sprintf(textNoRuns, counted(days, "day")) + "\n"}, nil
	}
	head := fmt.Sprintf(textCosts, counted(days, "day"), counted(total.runs, "run"), tokens(total.tokens), dollars(total.dollars))
	// The ledger keeps what fits into it: where it begins later, that is said.
	if first := oldest(views).In(b.zone); first.After(since) {
		head += fmt.Sprintf(textCostsSince, first.Format(longClock))
	}
	return Outcome{Message: head, Body: head + "\n\n" + costTable(list, total)}, nil
}

// sumCosts adds up the runs that have ended since then, by task, the dearest
// first, and all of them together.
func sumCosts(views []fork.View, since time.Time) (list []taskCost, total taskCost) {
	type task struct {
		kind routines.Kind
		id   string
	}
	place := map[task]int{}
	for _, v := range views { // newest first
		if v.Live() || v.Ended.Before(since) {
			continue
		}
		i, known := place[task{v.Kind, v.TaskID}]
		if !known {
			i = len(list)
			place[task{v.Kind, v.TaskID}] = i
			list = append(list, taskCost{kind: v.Kind, id: v.TaskID, title: v.Title})
		}
		for _, t := range []*taskCost{&list[i], &total} {
			t.runs++
			t.tokens += max(0, v.Usage.Tokens())
			t.dollars += max(0, v.Usage.CostUSD)
		}
	}
	for i := range list {
		list[i].share = share(list[i], total)
	}
	total.share = share(total, total)
	slices.SortStableFunc(list, func(a, b taskCost) int {
		return cmp.Or(cmp.Compare(b.dollars, a.dollars), cmp.Compare(b.tokens, a.tokens), cmp.Compare(b.runs, a.runs), cmp.Compare(a.id, b.id))
	})
	return list, total
}

// share is a task's part of the dollars; of the tokens where nothing has a price.
func share(t, total taskCost) float64 {
	switch {
	case total.dollars > 0:
		return t.dollars / total.dollars
	case total.tokens > 0:
		return float64(t.tokens) / float64(total.tokens)
	}
	return 0
}

// costTable gives each task a line of its own, above its numbers: these stand
// below each other however wide the titles are, and fit on a narrow screen.
func costTable(list []taskCost, total taskCost) string {
	var out strings.Builder
	const form = "%5s %6s %8s %8s %5s\n"
	fmt.Fprintf(&out, form, "runs", "tokens", "cost", "per run", "share")
	total.title = "all"
	for _, t := range append([]taskCost{total}, list...) {
		title := clean.Cut(t.title, 60)
		if t.id != "" {
			title += " (" + t.id + ")"
		}
		fmt.Fprintf(&out, "%s\n"+form, title, strconv.Itoa(t.runs), tokens(t.tokens), dollars(t.dollars),
			dollars(t.dollars/float64(t.runs)), fmt.Sprintf("%.0f %%", 100*t.share))
	}
	return out.String()
}

// oldest is when the first of the runs ended, the newest standing first.
func oldest(views []fork.View) time.Time {
	for _, v := range slices.Backward(views) {
		if !v.Ended.IsZero() {
			return v.Ended
		}
	}
	return time.Time{}
}

// tokens is a number of tokens as people read it: "812", "45k", "1.2M".
func tokens(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 999_500:
		return thousands(n)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// dollars is an amount with as many digits as it takes to see something.
func dollars(v float64) string {
	if v > 0 && v < 0.1 {
		return fmt.Sprintf("$%.4f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
