package core

import (
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/updates"
)

// Source is the title of the run that has left an update: the only one that has
// reported and was running then. The file of updates keeps no names, so that it
// is empty where no run or more than one fits, and for what the program itself
// has left, which it tells as a notice too.
func (s *Snapshot) Source(u updates.Update) string {
	line := clean.Line(u.Message)
	for _, n := range s.Notices {
		if n.Text == line {
			return ""
		}
	}
	found := ""
	for i := range s.Forks {
		f := &s.Forks[i] // a run is large, and there are many
		// Updates have the time to the second.
		if f.Reports == 0 || f.Started.IsZero() || u.At.Before(f.Started.Truncate(time.Second)) || !f.Ended.IsZero() && u.At.After(f.Ended) {
			continue
		}
		if found != "" && found != f.Title {
			return ""
		}
		found = f.Title
	}
	return found
}

// Sourced is the text of an update behind its source, unless it names that itself.
func (s *Snapshot) Sourced(u updates.Update) string {
	from := s.Source(u)
	if from == "" || u.Dropped > 0 || strings.Contains(strings.ToLower(u.Message), strings.ToLower(from)) {
		return u.Message
	}
	return from + ": " + u.Message
}
