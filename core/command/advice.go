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

// Thresholds for giving advice: with less data it would be a guess.
const (
	leastRuns   = 5    // runs in the report
	leastShare  = 0.05 // of everything that was spent
	leastSaving = 0.05 // dollars
	mostlyQuiet = 0.6  // the share of runs without a ping or report
	oftenADay   = 4    // fires per day from which fewer may be enough
)

// Advice is the cost of a routine and the saving that a change of its file would have
// brought in the period of a report.
type Advice struct {
	ID    string  `json:"id"`
	Title string  `json:"title"`
	Share float64 `json:"share"` // of the total cost, including the conversation
	// Change is the line for the file. Words is the saving and the reason. Both are empty if
	// there is no advice.
	Change string  `json:"change"`
	Words  string  `json:"words"`
	Saves  float64 `json:"saves_usd"` // at most
}

// Text returns the advice as a sentence.
func (a Advice) Text() string {
	head := fmt.Sprintf(textAdviceShare, a.Title, 100*a.Share)
	if a.Change == "" {
		return head + "."
	}
	return head + "; " + a.Words + "."
}

// advise returns one piece of advice for each routine that costs enough, largest saving
// first: the change that would have saved most. It uses neither a model nor estimated
// prices, only the costs of the report's runs.
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

// fewerFires advises halving the fires of a routine that fires often.
func fewerFires(t TaskCost, routine *routines.Routine) Advice {
	was := routine.Schedule.Cron.PerDay()
	half, ok := routine.Schedule.Cron.Sparser()
	if !ok || was < oftenADay {
		return Advice{}
	}
	saves := t.Dollars * (1 - float64(half.PerDay())/float64(was))
	return Advice{
		Change: fmt.Sprintf("cron: %q", half), Saves: saves,
		Words: fmt.Sprintf(textAdviceFewer, half.Words(), routine.Schedule.Cron.Words(), words.Dollars(saves)),
	}
}

// firstACheck advises a check for a background routine most of whose runs report nothing.
// For a routine that never reports, silence means nothing.
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

// Explained returns the advice as lines, each followed by the line for the file.
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
