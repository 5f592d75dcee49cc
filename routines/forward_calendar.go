package routines

import (
	"container/heap"
	"time"
)

// Calendar lists every fire from from to to, both included, by time: of
// foreground tasks too, and each fire of a routine, those that are held with
// their tag. It is for people; at most limit entries are returned, none when
// limit is not positive.
func (x *Index) Calendar(from, to time.Time, limit int) []Entry {
	if limit <= 0 || to.Before(from) {
		return nil
	}
	set, holds := x.Set(), x.Holds()
	h := x.firstFires(set, from, to)
	heap.Init(&h)
	var out []Entry
	for len(h) > 0 && len(out) < limit {
		one := h[0]
		if one.index >= len(set.Routines) {
			e := reminderEntry(set.Reminders[one.index-len(set.Routines)])
			e.FireTime = one.at.In(x.zone)
			out = append(out, holds.mark(e, from))
			heap.Pop(&h)
			continue
		}
		r := set.Routines[one.index]
		e := routineEntry(r)
		e.FireTime = one.at.In(x.zone)
		out = append(out, holds.mark(e, from))
		next := nextFire(r.Schedule, one.at.Unix()+1, x.zone)
		if next > to.Unix() {
			heap.Pop(&h)
			continue
		}
		h[0].at = time.Unix(next, 0)
		heap.Fix(&h, 0)
	}
	return out
}

// firstFires are the first fires of everything between from and to.
func (x *Index) firstFires(set *Set, from, to time.Time) candidates {
	var h candidates
	c := &x.forward
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(set)
	start, end := ceilSecond(from), to.Unix()
	for i, r := range set.Routines {
		if at := c.times[i].first(r, start, x.zone); at <= end {
			h = append(h, candidate{at: time.Unix(at, 0), index: i})
		}
	}
	for i, r := range set.Reminders {
		if at, _ := x.Holds().dueAt(r); !at.Before(from) && !at.After(to) {
			h = append(h, candidate{at: at, index: len(set.Routines) + i})
		}
	}
	return h
}

// first answers from what is known for agents where that fits; it keeps an
// answer of its own, so that looking far ahead costs the agents nothing.
func (f *fires) first(r *Routine, sec int64, zone *time.Location) int64 {
	if s := f.span; s != (span{}) && sec <= s.next && (s.from < sec || s.from == sec && !s.fired) {
		return s.next
	}
	return f.listed.at(r.Schedule, sec, zone)
}

// candidates is a heap by time.
type candidates []candidate

func (h candidates) Len() int           { return len(h) }
func (h candidates) Less(i, j int) bool { return byTime(h[i], h[j]) < 0 }
func (h candidates) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *candidates) Push(v any)        { *h = append(*h, v.(candidate)) }
func (h *candidates) Pop() any {
	last := len(*h) - 1
	v := (*h)[last]
	*h = (*h)[:last]
	return v
}
