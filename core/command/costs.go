package command

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/fork"
	"ollimbot/core/store"
	"ollimbot/core/words"
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

// Compare makes a table of what the runs of each task have cost until now, by the
// ledger of a data directory.
func (c Costs) Compare(dir *store.Dir, now time.Time) (Outcome, error) {
	days := c.Days
	if days <= 0 {
		days = costDays
	}
	days = min(days, mostCostDays)
	views, err := fork.Ledger(dir, everyRun)
	if err != nil {
		return Outcome{}, err
	}
	since := now.AddDate(0, 0, -days)
	list, total := sumCosts(views, since)
	if total.Runs == 0 {
		none := fmt.Sprintf(textNoRuns, words.Count(days, "day"))
		return Outcome{Message: none, Body: none + "\n"}, nil
	}
	head := fmt.Sprintf(textCosts, words.Count(days, "day"), words.Count(total.Runs, "run"), words.Tokens(total.Tokens), words.Dollars(total.Dollars))
	// The ledger keeps what fits into it: where it begins later, that is said.
	if first := oldest(views).In(now.Location()); first.After(since) {
		head += fmt.Sprintf(textCostsSince, first.Format(longClock))
	}
	return Outcome{Message: head, Body: head + "\n\n" + costTable(list, total), Costs: list}, nil
}

// sumCosts adds up the runs that have ended since then, by task, the dearest
// first, and all of them together.
func sumCosts(views []fork.View, since time.Time) (list []TaskCost, total TaskCost) {
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
			list = append(list, TaskCost{Kind: v.Kind, ID: v.TaskID, Title: v.Title})
		}
		for _, t := range []*TaskCost{&list[i], &total} {
			t.Runs++
			t.Tokens += max(0, v.Usage.Tokens())
			t.Dollars += max(0, v.Usage.CostUSD)
		}
	}
	for i := range list {
		list[i].Share = share(list[i], total)
	}
	total.Share = share(total, total)
	slices.SortStableFunc(list, func(a, b TaskCost) int {
		return cmp.Or(cmp.Compare(b.Dollars, a.Dollars), cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(b.Runs, a.Runs), cmp.Compare(a.ID, b.ID))
	})
	return list, total
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
