package core

import (
	"time"

	"ollimbot/core/budget"
	"ollimbot/routines"
)

// forecast is the bucket's level from now on if each of the fires sends a ping
// that is not critical: now, and at each fire to come after its ping. Fires are
// in order of time; those that have been are passed over. dry is the first fire
// that finds no whole token; zero when none does. A muted bucket (capacity 0)
// is muted and not dry.
func forecast(s budget.State, fires []routines.Entry, now time.Time) (levels []Tokens, dry time.Time) {
	s = s.At(now)
	levels = append(make([]Tokens, 0, len(fires)+1), Tokens{At: now, Left: s.Available})
	if s.Capacity == 0 {
		return levels, dry
	}
	for _, e := range fires {
		if !e.FireTime.After(now) {
			continue
		}
		s = s.At(e.FireTime)
		if s.Whole() >= 1 {
			s.Available = max(0, s.Available-1)
		} else if dry.IsZero() {
			dry = e.FireTime
		}
		levels = append(levels, Tokens{At: e.FireTime, Left: s.Available})
	}
	return levels, dry
}

// mayPing are the fires that can spend a token: of background tasks that are
// allowed to, outside of the times for which quiet says that it is quiet.
func mayPing(fires []routines.Entry, until time.Time, quiet func(time.Time) time.Time) []routines.Entry {
	var list []routines.Entry
	for _, e := range fires {
		if e.FireTime.After(until) {
			break
		}
		if !e.Held && !e.Silent && !e.Foreground && quiet(e.FireTime).IsZero() {
			list = append(list, e)
		}
	}
	return list
}
