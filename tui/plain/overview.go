package plain

import (
	"strconv"
	"strings"

	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/tui/dialog"
)

// overviewCommands are the commands about everything else: the program, money and pings.
type overviewCommands struct {
	*console
	past *notices
}

func (c overviewCommands) handlers() map[string]func(request) {
	return map[string]func(request){
		"status":   func(r request) { c.read(r.Name, statusText(c.snap), "") },
		"engine":   func(r request) { c.read(r.Name, rowsText(dialog.EngineRows(c.snap)), "") },
		"webhooks": func(r request) { c.read(r.Name, rowsText(dialog.DeliveryRows(c.snap)), "") },
		"problems": func(r request) { c.read(r.Name, each(c.snap.Schedule.Problems, problemText), textNoProblems) },
		"notices":  c.notices, "costs": c.costs, "budget": c.budget,
	}
}

// notices prints the newest notices, ten by default.
func (c overviewCommands) notices(r request) {
	n, ok := howMany(r.rest, 10)
	if !ok {
		c.usage(r.Command)
		return
	}
	lines := each(c.past.newest(n), func(e event) string { return words.Joined(c.snap.Moment(e.at), e.kind, flat(e.words)) })
	c.read(r.Name, lines, textNoNotices)
}

// costs prints what the runs of each task have cost, in seven days by default.
func (c overviewCommands) costs(r request) {
	days, ok := howMany(r.rest, 7)
	if !ok {
		c.usage(r.Command)
		return
	}
	if o, ok := c.carryOut(command.Costs{Days: days}); ok {
		c.read(r.Name, costsText(o), "")
	}
}

// budget prints the budget, or changes it: "+1", "-1", "6", "refill 60", "refill +5".
func (c overviewCommands) budget(r request) {
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
