package plain

import (
	"slices"

	"ollimbot/core/base/clean"
	"ollimbot/core/work/updates"
	panes "ollimbot/tui/pane/updates"
)

// updateTitle is how much of an update a list prints, in characters.
const updateTitle = 160

// updateCommands are the commands about pending updates.
type updateCommands struct{ *console }

func (c updateCommands) handlers() map[string]func(request) {
	return map[string]func(request){
		"updates": func(r request) { c.list(r.Name, allUpdates, each(c.newest(), c.thing)) },
		"update":  c.print,
	}
}

func (c updateCommands) newest() []updates.Update {
	list := slices.Clone(c.snap.Updates)
	slices.Reverse(list)
	return list
}

func (c updateCommands) thing(u updates.Update) thing {
	text := flat(updateText(c.snap, u))
	return thing{id: u.Key, title: text, line: c.snap.Moment(u.At) + ", " + clean.Cut(text, updateTitle)}
}

// find is the update that the words name; without words the only one.
func (c updateCommands) find(r request) (updates.Update, bool) {
	return pick(c.finder, r, allUpdates, c.newest(), c.thing)
}

// print prints all of an update, and what happens to it next.
func (c updateCommands) print(r request) {
	if u, ok := c.find(r); ok {
		c.answer(r.Name, panes.Text(c.snap, u)+textUpdateNext)
	}
}
