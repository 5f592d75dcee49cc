package routines

import (
	"slices"
	"time"
)

// Foreground lists the next fire of each foreground task from from to to, both
// included, by time. Agents do not see these (spec 03.6.2); people do.
func (x *Index) Foreground(from, to time.Time) []Entry {
	set := x.Set()
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
		if at := c.times[i].first(r, start, x.zone); at <= end {
			found = append(found, candidate{at: time.Unix(at, 0), index: i})
		}
	}
	for i, r := range set.Reminders {
		if !r.Background && !r.RunAt.Before(from) && !r.RunAt.After(to) {
			found = append(found, candidate{at: r.RunAt, index: len(set.Routines) + i})
		}
	}
	slices.SortFunc(found, byTime)
	return x.render(set, found, from, "").Entries
}
