package plain

import (
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/updates"
	panes "ollimbot/tui/pane/updates"
)

// printNotices prints the newest notices, ten by default.
func printNotices(c *console, r request) {
	n, ok := howMany(r.rest, 10)
	if !ok {
		c.usage(r.Command)
		return
	}
	var lines []string
	for _, t := range slices.Backward(c.past.All()) {
		lines = append(lines, words.Joined(c.snap.Moment(t.At), string(t.Level), t.Text))
	}
	c.read(r.Name, lines[:min(n, len(lines))], textNoNotices)
}

// printCosts prints what the runs of each task have cost, in seven days by default.
func printCosts(c *console, r request) {
	days, ok := howMany(r.rest, 7)
	if !ok {
		c.usage(r.Command)
		return
	}
	if report, ok := call(c.executor, c.core.Costs, days); ok {
		c.read(r.Name, costsText(&report), "")
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

// updateTitle is how much of an update a list prints, in characters.
const updateTitle = 160

func (c *console) newestUpdates() []updates.Update {
	list := slices.Clone(c.snap.Updates)
	slices.Reverse(list)
	return list
}

func (c *console) updateThing(u updates.Update) thing {
	text := flat(updateText(c.snap, u))
	return thing{id: u.Key, title: text, line: c.snap.Moment(u.At) + ", " + clean.Cut(text, updateTitle)}
}

// findUpdate is the update that the words name; without words the only one.
func findUpdate(c *console, r request) (updates.Update, bool) {
	return pick(c.finder, r, allUpdates, c.newestUpdates(), c.updateThing)
}

// printUpdate prints all of an update, and what happens to it next.
func printUpdate(c *console, r request) {
	if u, ok := findUpdate(c, r); ok {
		c.answer(r.Name, panes.Text(c.snap, u)+textUpdateNext)
	}
}
