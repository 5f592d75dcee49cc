package routines

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"
)

// The bounds of the forward schedule (spec 03.6.1).
const (
	forwardGrace = 15 * time.Minute
	forwardBase  = 3 * time.Hour
	forwardMost  = 12 * time.Hour
	forwardLeast = 3 // entries ahead, if there are as many within forwardMost
)

// The tags of an entry.
const (
	TagThisTask  = "this task"
	TagJustFired = "just fired"
	TagPaused    = "paused"
	TagWaits     = "waits for you"
)

// Entry is one line of the forward schedule.
type Entry struct {
	ID          string    `json:"id"`
	FireTime    time.Time `json:"fire_time"` // in the configured zone
	Label       string    `json:"label"`
	Description string    `json:"description"` // cleaned; a prompt's first 60 characters and "..." where there is none
	FilePath    string    `json:"file_path"`   // relative to the data directory
	Silent      bool      `json:"silent"`      // may not ping
	Tag         string    `json:"tag"`         // TagThisTask, TagJustFired, for people also TagPaused, TagWaits or "snoozed until 15:00"; or empty
	Kind        Kind      `json:"kind"`
	Foreground  bool      `json:"foreground,omitempty"`
	Held        bool      `json:"held,omitempty"` // it will not fire: paused, snoozed, or waiting for the user. Agents are not shown these
	Why         string    `json:"why,omitempty"`  // of one that waits for the user: for what
}

// Forward is the schedule that an agent is shown: background tasks that have
// just fired, and those ahead.
type Forward struct {
	Entries []Entry // by time
	// Last is the time of the last entry that is not "just fired"; zero if none.
	Last time.Time
}

// Window says how far the schedule reaches: "next 3h", or "recent" when nothing
// lies ahead.
func (f Forward) Window(now time.Time) string {
	if f.Last.IsZero() {
		return "recent"
	}
	return windowWords(max(1, int(math.RoundToEven(f.Last.Sub(now).Hours()))))
}

// RefillLine says how many tokens the bucket gains until the last entry, when it
// gains one each rateMinutes; empty when it gains none.
func (f Forward) RefillLine(now time.Time, rateMinutes int) string {
	if f.Last.IsZero() || rateMinutes <= 0 {
		return ""
	}
	n := int(f.Last.Sub(now) / (time.Duration(rateMinutes) * time.Minute))
	if n <= 0 {
		return ""
	}
	return refillWords(n)
}

// Forward is the schedule as an agent sees it at now; current is the id of its
// own task, or empty. The rules are those of spec 03.6; a fire at exactly now,
// which both of its lookups find, is listed once. Fires that are held are left
// out: nobody must plan with them.
func (x *Index) Forward(now time.Time, current string) Forward {
	set, holds := x.Set(), x.Holds()
	w := window{now: now, base: now.Add(forwardBase), most: now.Add(forwardMost)}
	c := &x.forward
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(set)
	grace, at := ceilSecond(now.Add(-forwardGrace)), ceilSecond(now)
	nowSec, mostSec := now.Unix(), w.most.Unix()
	for i, r := range set.Routines {
		if !r.Background {
			continue
		}
		if h, ok := holds.find(&r.Task); ok {
			w.addHeld(r, h, x.zone, i)
			continue
		}
		t := &c.times[i]
		past := t.grace.at(r.Schedule, grace, x.zone)
		if past > nowSec { // nothing in between: one evaluation answers both
			t.ahead = lookup{asked: at, fire: past}
		} else {
			w.add(candidate{at: time.Unix(past, 0), index: i})
		}
		if ahead := t.ahead.at(r.Schedule, at, x.zone); ahead <= mostSec && (ahead != past || past > nowSec) {
			w.add(candidate{at: time.Unix(ahead, 0), index: i})
		}
	}
	for i, r := range set.Reminders {
		at, free := holds.dueAt(r)
		if free && r.Background && !at.Before(now.Add(-forwardGrace)) && !at.After(w.most) {
			w.add(candidate{at: at, index: len(set.Routines) + i})
		}
	}
	return x.render(set, w.take(), now, current)
}

// render turns the candidates that were taken into entries.
func (x *Index) render(set *Set, taken []candidate, now time.Time, current string) Forward {
	f := Forward{Entries: make([]Entry, 0, len(taken))}
	for _, one := range taken {
		var e Entry
		if one.index < len(set.Routines) {
			e = routineEntry(set.Routines[one.index])
		} else {
			e = reminderEntry(set.Reminders[one.index-len(set.Routines)])
		}
		e.FireTime = one.at.In(x.zone)
		switch {
		case current != "" && e.ID == current:
			e.Tag = TagThisTask
		case !one.at.After(now):
			e.Tag = TagJustFired
		}
		if e.Tag != TagJustFired {
			f.Last = e.FireTime
		}
		f.Entries = append(f.Entries, e)
	}
	return f
}

// candidate is a fire that may be listed; index counts through the routines and
// then the reminders, which is the order of equal times.
type candidate struct {
	at    time.Time
	index int
}

func byTime(a, b candidate) int {
	if c := a.at.Compare(b.at); c != 0 {
		return c
	}
	return cmp.Compare(a.index, b.index)
}

// window collects candidates and keeps only those that can still be taken.
type window struct {
	now, base, most time.Time
	recent, near    []candidate
	far             []candidate // the first forwardLeast behind base, sorted
}

func (w *window) add(c candidate) {
	switch {
	case !c.at.After(w.now):
		w.recent = append(w.recent, c)
	case !c.at.After(w.base):
		w.near = append(w.near, c)
	default:
		if len(w.far) == forwardLeast && byTime(c, w.far[forwardLeast-1]) > 0 {
			return
		}
		i, _ := slices.BinarySearchFunc(w.far, c, byTime)
		w.far = slices.Insert(w.far, i, c)
		w.far = w.far[:min(len(w.far), forwardLeast)]
	}
}

func (w *window) take() []candidate {
	slices.SortFunc(w.recent, byTime)
	slices.SortFunc(w.near, byTime)
	taken := append(w.recent, w.near...)
	if missing := forwardLeast - len(w.near); missing > 0 {
		taken = append(taken, w.far[:min(missing, len(w.far))]...)
	}
	return taken
}

// forwardCache remembers the fires of each routine, so that an expression is
// evaluated only when a fire has passed.
type forwardCache struct {
	mu    sync.Mutex
	set   *Set
	times []fires // beside set.Routines
}

// fires are the answers to the three questions that are asked of a routine.
type fires struct{ grace, ahead, listed lookup }

// follow takes over what is known of the routines that are still in force. Both
// lists are sorted by path, so one walk through them does.
func (c *forwardCache) follow(set *Set) {
	if c.set == set {
		return
	}
	var old []*Routine
	if c.set != nil {
		old = c.set.Routines
	}
	times := make([]fires, len(set.Routines))
	j := 0
	for i, r := range set.Routines {
		for j < len(old) && old[j] != r && old[j].Path < r.Path {
			j++
		}
		if j < len(old) && old[j] == r {
			times[i] = c.times[j]
			j++
		}
	}
	c.set, c.times = set, times
}
