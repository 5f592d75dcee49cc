package schedule

import (
	"slices"
	"time"

	"ollimbot/core"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// seen is everything of a snapshot that the pane draws. Snapshots come thirty
// times a second while something streams, and the schedule is another one once a
// minute: nobody may change what a snapshot holds, so that the same list is known
// by where it stands. The pointers keep it there.
type seen struct {
	facts    facts
	problems []routines.Problem
}

type facts struct {
	second          int64 // distances in time are whole minutes, before whole seconds
	at              int   // the selected item
	files           int
	zone            *time.Location
	window, refills string
	until           time.Time
	entries, day    *schedule.Entry
	tasks           *schedule.TaskView
	counts          [3]int
}

// changed takes over what a snapshot shows and reports whether it looks different
// from the last one.
func (k *seen) changed(s *core.Snapshot, at int) bool {
	v := &s.Schedule
	now := facts{
		second: s.At.Unix(), at: at, files: s.Routines + s.Reminders, zone: s.Zone,
		window: v.Window, refills: v.Refills, until: v.DayUntil,
		entries: first(v.Entries), day: first(v.Day), tasks: first(v.Tasks),
		counts: [3]int{len(v.Entries), len(v.Day), len(v.Tasks)},
	}
	if now == k.facts && slices.Equal(k.problems, v.Problems) {
		return false
	}
	k.facts, k.problems = now, v.Problems
	return true
}

// first is where a list stands; nil for an empty one.
func first[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}
