package updates

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/updates"
	"ollimbot/tui/widget"
)

const (
	textTitle    = "Updates"
	textName     = "Updates  "
	textNone     = "none"
	textReadOnly = "read-only: updates cannot be discarded here"
	textNothing  = "there are no updates"

	textEmpty = "No updates."
	textTeach = "Background runs leave their findings here; the main session reads them with your next message."
)

// count is the state beside the title; nothing for nothing.
func count(n int) string {
	if n == 0 {
		return ""
	}
	return widget.Thousands(uint64(n))
}

// flat is a message on one line.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }

func pageTitle(s *core.Snapshot, u updates.Update) string {
	if age := s.At.Sub(u.At); age >= time.Minute {
		return "Update, " + widget.Age(age) + " old"
	}
	return "Update, just left"
}

// page is an update in full, and what will become of it.
func page(s *core.Snapshot, u updates.Update) string {
	zone := s.Zone
	if zone == nil {
		zone = time.UTC
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Left %s.\n\n%s\n", u.At.In(zone).Format("Monday 2 January 2006, 15:04 MST"), u.Message)
	if u.Dropped > 0 {
		fmt.Fprintf(&b, "\nIt stands for %s that went to keep the list at ten.\n", widget.Count(uint64(u.Dropped), "earlier update"))
	}
	b.WriteString("\nThe main session gets it with your next message, once. x discards it, u brings it back.\n")
	return b.String()
}
