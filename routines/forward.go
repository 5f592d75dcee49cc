package routines

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"
)

// The bounds of the forward schedule.
const (
	forwardGrace = 15 * time.Minute
	forwardBase  = 3 * time.Hour
	forwardMost  = 12 * time.Hour
	forwardLeast = 3 // entries ahead, if there are as many within forwardMost
)

// The tags of an entry. Agents know the first two; the others are for people, and
// most of them say what has become of a fire instead of TagJustFired.
const (
	TagThisTask  = "this task"
	TagJustFired = "just fired"
	TagPaused    = "paused"
	TagWaits     = "waits for you"
	TagRunning   = "running"
	TagFailed    = "failed"
	TagCutOff    = "cut off" // the program ended during the run
	TagMissed    = "missed"  // nobody was there for it
	TagHeld      = "held"    // the task was paused or snoozed then
	TagSkipped   = "skipped" // the run before it had not ended
	TagOverdue   = "overdue" // a reminder that has not begun
)

// Entry is one line of the forward schedule.
type Entry struct {
	ID          string    `json:"id"`
	FireTime    time.Time `json:"fire_time"` // in the configured zone
	Label       string    `json:"label"`
	Description string    `json:"description"` // cleaned; a prompt's first 60 characters and "..." where there is none
	FilePath    string    `json:"file_path"`   // relative to the data directory
	Silent      bool      `json:"silent"`      // may not ping
	Tag         string    `json:"tag"`         // one of those above, for people also "snoozed until 15:00"; or empty
	Kind        Kind      `json:"kind"`
	Foreground  bool      `json:"foreground,omitempty"`
	Held        bool      `json:"held,omitempty"` // it will not fire: paused, snoozed, or waiting for the user. Agents are not shown these
	Why         string    `json:"why,omitempty"`  // of one that waits for the user: for what
}

// Forward is the schedule that an agent is shown: background tasks that have
// just fired, and those ahead.
type Forward struct {
	Entries []Entry // by time
	// Passed are fires of the last minutes that did not happen, by time: agents are
	// not told of them here.
	Passed []Entry
	fates  []fate // beside Entries
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
// own task, or empty. Of each task the latest fire of the last minutes is listed,
// if it has happened, and the first to come; one at exactly now has happened. Fires
// that are held are left out: nobody must plan with them.
func (x *Index) Forward(now time.Time, current string) Forward {
	set, holds := x.Set(), x.Holds()
	w := window{now: now, base: now.Add(forwardBase), most: now.Add(forwardMost)}
	c := &x.forward
	c.mu.Lock()
	defer c.mu.Unlock()
	c.follow(set)
	grace, nowSec, mostSec := ceilSecond(now.Add(-forwardGrace)), now.Unix(), w.most.Unix()
	known := x.known.Load()
	for i, r := range set.Routines {
		if !r.Background {
			continue
		}
		if h, ok := holds.find(&r.Task); ok {
			w.addHeld(known, r, h, x.zone, i)
			continue
		}
		past, had, ahead := c.times[i].span.around(r.Schedule, grace, nowSec, x.zone)
		if had {
			w.addPast(known, r, time.Unix(past, 0), i)
		}
		if ahead <= mostSec {
			w.add(candidate{at: time.Unix(ahead, 0), index: i})
		}
	}
	for i, r := range set.Reminders {
		at, free := holds.dueAt(r)
		if free && r.Background && !at.Before(now.Add(-forwardGrace)) && !at.After(w.most) {
			w.add(candidate{at: at, index: len(set.Routines) + i, fate: known.reminder(r.ID, at)})
		}
	}
	return x.render(set, &w, now, current)
}

// render turns the candidates that were taken into entries.
func (x *Index) render(set *Set, w *window, now time.Time, current string) Forward {
	taken := w.take()
	f := Forward{Entries: make([]Entry, 0, len(taken))}
	for _, one := range w.passed {
		e := x.entry(set, one)
		e.Tag = one.fate.tag()
		f.Passed = append(f.Passed, e)
	}
	for _, one := range taken {
		e := x.entry(set, one)
		switch {
		case current != "" && e.ID == current:
			e.Tag = TagThisTask
		case !one.at.After(now):
			e.Tag = TagJustFired
		}
		if e.Tag != TagJustFired {
			f.Last = e.FireTime
		}
		f.Entries, f.fates = append(f.Entries, e), append(f.fates, one.fate)
	}
	return f
}

// Told is the schedule as people are told it: with what has become of each fire,
// and with those that did not happen, by time.
func (f Forward) Told() []Entry {
	list := slices.Concat(f.Entries, f.Passed)
	for i, e := range list {
		if e.Tag == TagJustFired && i < len(f.fates) {
			list[i].Tag = f.fates[i].tag()
		}
	}
	slices.SortStableFunc(list, func(a, b Entry) int { return a.FireTime.Compare(b.FireTime) })
	return list
}

// entry is a candidate with what people and agents read of its task.
func (x *Index) entry(set *Set, one candidate) Entry {
	var e Entry
	if one.index < len(set.Routines) {
		e = routineEntry(set.Routines[one.index])
	} else {
		e = reminderEntry(set.Reminders[one.index-len(set.Routines)])
	}
	e.FireTime = one.at.In(x.zone)
	return e
}

// candidate is a fire that may be listed; index counts through the routines and
// then the reminders, which is the order of equal times.
type candidate struct {
	at    time.Time
	index int
	fate  fate // of one that lies behind
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
	passed          []candidate // those that did not happen
}

// addPast adds the last fire of a routine, or what stands for it: where it did not
// happen, the run before it may have.
func (w *window) addPast(known *Known, r *Routine, at time.Time, index int) {
	what, before := known.routine(r.ID, at)
	if what.happened() {
		w.add(candidate{at: at, index: index, fate: what})
		return
	}
	if what != fateNone {
		w.passed = append(w.passed, candidate{at: at, index: index, fate: what})
	}
	if before.Before(at) && !before.Before(w.now.Add(-forwardGrace)) {
		what, _ := known.routine(r.ID, before)
		w.add(candidate{at: before, index: index, fate: what})
	}
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
	slices.SortFunc(w.passed, byTime)
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

// fires are the answers to the two questions that are asked of a routine.
type fires struct {
	span   span
	listed lookup
}

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
