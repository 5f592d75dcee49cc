package plain

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/talk/absence"
	"ollimbot/core/work/updates"
	"ollimbot/tui/pane/away"
	"ollimbot/tui/toast"
	"ollimbot/tui/widget/query"
)

// printNotices prints the newest notices first.
func printNotices(c *console, r request) {
	n, filter := countFirst(r.rest, mostListed)
	notices := kept(c.printer, c.past.All(), filter, func(t toast.Toast) query.Facts {
		return query.Facts{Text: t.Text, Is: []string{string(t.Level)}, At: c.snap.Local(t.At), Now: c.now()}
	})
	slices.Reverse(notices)
	lines := each(notices, func(t toast.Toast) string { return words.Joined(c.snap.Moment(t.At), string(t.Level), t.Text) })
	c.read("", lines[:min(n, len(lines))], c.noneOf(r, "no notices yet"))
}

// noneOf returns the text for an empty list: that nothing matches the filter, or none.
func (c *console) noneOf(r request, none string) string {
	if r.rest == "" {
		return none
	}
	return fmt.Sprintf(textNoneMatches, r.rest)
}

// printAway prints the events during the user's absence.
func printAway(c *console, r request) {
	got, ok := call(c.executor, func(ctx context.Context, _ struct{}) (absence.Report, error) { return c.core.Away(ctx) }, struct{}{})
	if !ok {
		return
	}
	head, lines := away.Lines(c.snap, &got)
	lines = kept(c.printer, lines, r.rest, func(l away.Line) query.Facts { return l.Facts })
	c.answer(spoken(head) + "\n" + strings.Join(each(lines, func(l away.Line) string { return flat(spoken(l.Text)) }), "\n"))
	if len(lines) == 0 && c.missed == "" {
		c.answer(c.noneOf(r, ""))
	}
}

// setBudget changes the capacity or the refill rate: "6", "+1", "-5".
func setBudget(c *console, r request) {
	state, set := c.snap.Budget.State, command.SetBudget{}
	if r.Name == "capacity" {
		set.Capacity = changed(r.rest, state.Capacity)
	} else {
		set.RefillMinutes = changed(r.rest, state.RefillRateMinutes)
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

// updateTitle is the length of an update in a list, in characters.
const updateTitle = 160

func (c *console) newestUpdates() []updates.Update {
	list := slices.Clone(c.snap.Updates)
	slices.Reverse(list)
	return list
}

func (c *console) updateThing(u updates.Update) thing {
	text := flat(c.snap.UpdateText(u))
	return thing{id: u.Key, title: text, line: c.snap.Moment(u.At) + ", " + clean.Cut(text, updateTitle)}
}

// findUpdate returns the named update, or the only one.
func findUpdate(c *console, r request) (updates.Update, bool) {
	return pick(c.finder, r, allUpdates, c.newestUpdates(), c.updateThing)
}
