package command

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"ollimbot/core/base/words"
	"ollimbot/routines"
)

// What a routine must have before anything is advised: less would be a guess.
const (
	leastRuns   = 5    // runs in the report
	leastShare  = 0.05 // of everything that was spent
	leastSaving = 0.05 // dollars
	mostlyQuiet = 0.6  // the share of runs without a ping or report
	oftenADay   = 4    // fires a day from which on fewer may do
)

// Advice is what a routine costs and what a change of its file would have saved, over the
// days of a report.
type Advice struct {
	ID    string  `json:"id"`
	Title string  `json:"title"`
	Share float64 `json:"share"` // of everything that was spent, with the conversation
	// Change is the line for the file, Words what it would have saved and why; both are ""
	// for none.
	Change string  `json:"change"`
	Words  string  `json:"words"`
	Saves  float64 `json:"saves_usd"` // at most
}

// Text is the advice as a sentence.
func (a Advice) Text() string {
	head := fmt.Sprintf(textAdviceShare, a.Title, 100*a.Share)
	if a.Change == "" {
		return head + "."
	}
	return head + "; " + a.Words + "."
}

// advise is one advice for each routine that costs enough to be worth one, what saves most
// first: the change that would have saved most. It uses no model and no guess about prices:
// only what the runs of the report have cost.
func (r *CostReport) advise(list []*routines.Routine) []Advice {
	all := r.Total.Dollars + r.Talk
	var out []Advice
	for _, t := range r.Tasks {
		i := slices.IndexFunc(list, func(one *routines.Routine) bool { return one.ID == t.ID })
		if t.Kind != routines.KindRoutine || i < 0 || t.Runs < leastRuns || all <= 0 || t.Dollars < leastShare*all {
			continue
		}
		a := Advice{ID: t.ID, Title: t.Title, Share: t.Dollars / all}
		for _, better := range []Advice{fewerFires(t, list[i]), firstACheck(t, list[i])} {
			if better.Saves >= leastSaving && better.Saves > a.Saves {
				a.Change, a.Words, a.Saves = better.Change, better.Words, better.Saves
			}
		}
		out = append(out, a)
	}
	slices.SortStableFunc(out, func(a, b Advice) int {
		return cmp.Or(cmp.Compare(b.Saves, a.Saves), cmp.Compare(b.Share, a.Share))
	})
	return out
}

// fewerFires is half as many fires of a routine that fires often.
func fewerFires(t TaskCost, routine *routines.Routine) Advice {
	was := routine.Schedule.PerDay()
	half, ok := routine.Schedule.Sparser()
	if !ok || was < oftenADay {
		return Advice{}
	}
	saves := t.Dollars * (1 - float64(half.PerDay())/float64(was))
	return Advice{
		Change: fmt.Sprintf("cron: %q", half), Saves: saves,
		Words: fmt.Sprintf(textAdviceFewer, half.Words(), routine.Schedule.Words(), words.Dollars(saves)),
	}
}

// firstACheck is a check for a background routine most of whose runs have nothing to say. Of
// one that never reports, silence says nothing.
func firstACheck(t TaskCost, routine *routines.Routine) Advice {
	quiet := float64(t.Quiet) >= mostlyQuiet*float64(t.Runs)
	if !quiet || !routine.Background || routine.Check != "" || routine.Mode == routines.Blocked {
		return Advice{}
	}
	return Advice{
		Change: "check: COMMAND", Saves: t.QuietDollars,
		Words: fmt.Sprintf(textAdviceCheck, words.Dollars(t.QuietDollars), t.Quiet, words.Count(t.Runs, "run")),
	}
}

// Explained is the advice as lines, each with the line for the file below it.
func (r *CostReport) Explained() []string {
	if len(r.Advice) == 0 {
		return []string{fmt.Sprintf(textNoAdvice, int(math.Round(100*leastShare)), leastRuns)}
	}
	var lines []string
	for _, a := range r.Advice {
		lines = append(lines, a.Text())
		if a.Change != "" {
			lines = append(lines, strings.Repeat(" ", 4)+a.Change+"   # "+a.ID)
		}
	}
	return lines
}
