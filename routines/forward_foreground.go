package routines

import (
	"slices"
	"time"
)

// Foreground lists the next fire of each foreground task from from to to, both
// included, by time. Agents do not see these; people do. Fires
// that are held are left out.
func (x *Index) Foreground(from, to time.Time) []Entry {
	set, holds := x.Set(), x.Holds()
	start, end := ceilSecond(from), to.Unix()
	var found []candidate
	c := &x.forward
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(set)
	for i, r := range set.Routines {
		if r.Background {
			continue
		}
		var at int64
		if h, ok := holds.find(&r.Task); ok {
			at = h.firstFree(r, start, x.zone)
		} else {
			at = c.times[i].first(r, start, x.zone)
		}
		if at <= end {
			found = append(found, candidate{at: time.Unix(at, 0), index: i})
		}
	}
	for i, r := range set.Reminders {
		at, free := holds.dueAt(r)
		if free && !r.Background && !at.Before(from) && !at.After(to) {
			found = append(found, candidate{at: at, index: len(set.Routines) + i})
		}
	}
	slices.SortFunc(found, byTime)
	entries := make([]Entry, 0, len(found))
	for _, one := range found {
		entries = append(entries, x.entry(set, one))
	}
	return entries
}
