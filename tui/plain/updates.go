package plain

import (
	"slices"

	"ollimbot/core/base/clean"
	"ollimbot/core/work/updates"
	panes "ollimbot/tui/pane/updates"
)

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
