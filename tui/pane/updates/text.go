package updates

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/updates"
	"ollimbot/core/words"
	"ollimbot/tui/action"
)

const (
	textTitle    = "Updates"
	textName     = "Updates  "
	textNone     = "none"
	textReadOnly = "read-only: updates cannot be discarded or delivered here"
	textNothing  = "there are no updates"
	textEarlier  = "earlier"
	textOmitted  = "Earlier updates"

	textEmpty = "No updates."
	textTeach = "An update is what a background run reports without disturbing you: the main session reads it with your next message."
)

// count is the state beside the title; nothing for nothing.
func count(n int) string {
	if n == 0 {
		return ""
	}
	return words.Thousands(uint64(n))
}

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

func pageTitle(s *core.Snapshot, u updates.Update) string {
	if u.Dropped > 0 {
		return textOmitted
	}
	if age := s.At.Sub(u.At); age >= time.Minute {
		return "Update, " + words.Age(age) + " old"
	}
	return "Update, just left"
}

// page is an update in full, and what will become of it.
func page(s *core.Snapshot, u updates.Update, n action.Names) string {
	var b strings.Builder
	by := ""
	if from := s.Source(u); from != "" {
		by = " by " + from
	}
	if u.Dropped == 0 {
		fmt.Fprintf(&b, "Left %s%s.\n\n", s.Clock(u.At, "Monday 2 January 2006, 15:04 MST"), by)
	}
	b.WriteString(u.Message + "\n")
	if u.Dropped > 0 {
		fmt.Fprintf(&b, "\nIt stands for %s that went to keep the list at ten.\n", words.Grouped(uint64(u.Dropped), "earlier update"))
	}
	fmt.Fprintf(&b, "\nThe main session gets it with your next message, once. %s hands it over now; %s discards it, %s brings it back.\n",
		n.Opening(action.UpdatesDeliver), n.Name(action.UpdatesDiscard), n.Name(action.Undo))
	return b.String()
}
