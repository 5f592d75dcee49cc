package plain

import (
	"fmt"
	"slices"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/updates"
)

// updateTitle is how much of an update a list reads, in characters.
const updateTitle = 160

// updateThings are the pending updates, newest first.
func (m *machine) updateThings(s *core.Snapshot) []thing {
	list := make([]thing, 0, len(s.Updates))
	for _, u := range slices.Backward(s.Updates) {
		text := flat(updateText(s, u))
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
func (m *machine) namedUpdate(s *core.Snapshot, words, verb string) (updates.Update, bool) {
	if words == "" && len(s.Updates) == 1 {
		return s.Updates[0], true
	}
	t, ok := m.pick(choose{
		shelf: shelfUpdate, things: m.updateThings(s), what: fmt.Sprintf(textUpdateWhat, verb, verb), none: textNoUpdates,
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
	s := m.core.Snapshot()
	u, ok := m.namedUpdate(&s, rest, "update")
	if !ok {
		return
	}
	left := fmt.Sprintf(textUpdateLeft, u.At.In(m.ear.zone).Format("Monday 2 January, 15:04"))
	text := updateText(&s, u)
	if from := s.Source(u); from != "" && u.Dropped == 0 {
		left, text = left+" by "+from, u.Message
	}
	m.answer(kindUpdate, left)
	m.answer(kindUpdate, text)
	m.answer(kindUpdate, textUpdateNext)
}

func (m *machine) discard(rest string) {
	s := m.core.Snapshot()
	if u, ok := m.namedUpdate(&s, rest, "discard"); ok {
		m.do(command.DiscardUpdate{Key: u.Key})
	}
}
