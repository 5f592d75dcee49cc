package plain

import (
	"fmt"
	"slices"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/core/updates"
)

// updateTitle is how much of an update a list reads, in characters.
const updateTitle = 160

// updateThings are the pending updates, newest first.
func (m *machine) updateThings(s *core.Snapshot) []thing {
	list := make([]thing, 0, len(s.Updates))
	for _, u := range slices.Backward(s.Updates) {
		text := flat(updateText(u))
		list = append(list, thing{id: u.Key, title: text, line: clockText(u.At, s.At, m.ear.zone) + ", " + clean.Cut(text, updateTitle)})
	}
	return list
}

func (m *machine) updates(string) {
	s := m.core.Snapshot()
	if len(s.Updates) == 0 {
		m.answer(kindUpdate, textNoUpdates)
		return
	}
	m.list(shelfUpdate, kindUpdate, m.updateThings(&s))
}

// namedUpdate finds the update that the words name; the only one where none do.
func (m *machine) namedUpdate(words, verb string) (updates.Update, bool) {
	s := m.core.Snapshot()
	if words == "" && len(s.Updates) == 1 {
		return s.Updates[0], true
	}
	t, ok := m.pick(choose{
		shelf: shelfUpdate, things: m.updateThings(&s), what: fmt.Sprintf(textUpdateWhat, verb, verb), none: textNoUpdates,
	}, words)
	for _, u := range s.Updates {
		if ok && u.Key == t.id {
			return u, true
		}
	}
	return updates.Update{}, false
}

// update reads one in full, and says what will become of it.
func (m *machine) update(rest string) {
	u, ok := m.namedUpdate(rest, "update")
	if !ok {
		return
	}
	m.answer(kindUpdate, fmt.Sprintf(textUpdateLeft, u.At.In(m.ear.zone).Format("Monday 2 January, 15:04")))
	m.answer(kindUpdate, updateText(u))
	m.answer(kindUpdate, textUpdateNext)
}

func (m *machine) discard(rest string) {
	if u, ok := m.namedUpdate(rest, "discard"); ok {
		m.do(core.DiscardUpdate{Key: u.Key})
	}
}
