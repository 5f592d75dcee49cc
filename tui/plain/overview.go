package plain

import (
	"strconv"
	"strings"

	"ollimbot/core/base/words"
	"ollimbot/core/command"
)

// printNotices prints the newest notices, ten by default.
func printNotices(c *console, r request) {
	n, ok := howMany(r.rest, 10)
	if !ok {
		c.usage(r.Command)
		return
	}
	lines := each(c.past.newest(n), func(e event) string { return words.Joined(c.snap.Moment(e.at), e.kind, flat(e.words)) })
	c.read(r.Name, lines, textNoNotices)
}

// printCosts prints what the runs of each task have cost, in seven days by default.
func printCosts(c *console, r request) {
	days, ok := howMany(r.rest, 7)
	if !ok {
		c.usage(r.Command)
		return
	}
	if o, ok := c.carryOut(command.Costs{Days: days}); ok {
		c.read(r.Name, costsText(o), "")
	}
}

// printOrSetBudget prints the budget, or changes it: "+1", "-1", "6", "refill 60", "refill +5".
func printOrSetBudget(c *console, r request) {
	state, given := c.snap.Budget.State, strings.Fields(r.rest)
	var set command.SetBudget
	switch {
	case len(given) == 0:
		c.answer(kindBudget, c.snap.BudgetText())
		if !c.snap.Budget.Muted.IsZero() {
			c.answer(kindBudget, c.snap.MutedText())
		}
		return
	case len(given) == 1:
		set.Capacity = changed(given[0], state.Capacity)
	case len(given) == 2 && given[0] == "refill":
		set.RefillMinutes = changed(given[1], state.RefillRateMinutes)
	}
	if set.Capacity == nil && set.RefillMinutes == nil {
		c.usage(r.Command)
		return
	}
	c.do(r, set)
}

// changed reads a number, or a step from the current one: "+1". Nil means that it is neither.
func changed(word string, now int) *int {
	n, err := strconv.Atoi(word)
	if err != nil {
		return nil
	}
	if word[0] == '+' || word[0] == '-' {
		n += now
	}
	return &n
}
