package updates

import (
	"fmt"
	"strings"

	"ollimbot/core"
	"ollimbot/core/updates"
	"ollimbot/core/words"
	"ollimbot/tui/action"
)

const (
	textPage    = "Update"
	textName    = "Updates  "
	textUpdate  = "update"
	textNone    = "none"
	textNothing = "there are no updates"
	textEarlier = "earlier"

	textEmpty = "No updates."
	textTeach = "An update is what a background run reports without disturbing you: the main session reads it with your next message."
)

// flat is a message on one line.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

// ageOf is how long ago an update was left. One that stands for those that went
// is as old as the last time that one went, which says nothing about them.
func ageOf(s *core.Snapshot, u updates.Update) string {
	if u.Dropped > 0 {
		return textEarlier
	}
	return words.Age(s.At.Sub(u.At))
}

// Text is an update in full: when it was left and by whom, and what it says.
func Text(s *core.Snapshot, u updates.Update) string {
	if u.Dropped > 0 {
		return fmt.Sprintf("%s\n\nIt stands for %s that went to keep the list at ten.\n", u.Message, words.Grouped(uint64(u.Dropped), "earlier update"))
	}
	by := ""
	if from := s.Source(u); from != "" {
		by = " by " + from
	}
	return fmt.Sprintf("Left %s%s.\n\n%s\n", s.Clock(u.At, "Monday 2 January 2006, 15:04 MST"), by, u.Message)
}

// page is an update in full, and what will become of it.
func page(s *core.Snapshot, u updates.Update, n action.Names) string {
	return Text(s, u) + fmt.Sprintf("\nThe main session gets it with your next message, once. %s hands it over now; %s discards it, %s brings it back.\n",
		n.Opening(action.UpdatesDeliver), n.Name(action.UpdatesDiscard), n.Name(action.Undo))
}
