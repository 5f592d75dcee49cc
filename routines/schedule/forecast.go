package schedule

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"ollimbot/core/clean"
	"ollimbot/routines"
)

// The bounds of the forward schedule.
const (
	forwardGrace = 15 * time.Minute
	forwardBase  = 3 * time.Hour
	forwardMost  = 12 * time.Hour
	forwardLeast = 3 // entries ahead, if there are as many within forwardMost
)

// The tags of an entry. Agents know the first two; the others are for people, and
// most of them say what has become of a fire instead of tagJustFired.
const (
	tagThisTask  = "this task"
	tagJustFired = "just fired"
	TagPaused    = "paused"
	TagWaits     = "waits for you"
	TagMoney     = "held for money" // followed by until when
	tagRunning   = "running"
	tagFailed    = "failed"
	tagCutOff    = "cut off" // the program ended during the run
	tagMissed    = "missed"  // nobody was there for it
	tagHeld      = "held"    // the task was paused or snoozed then
	tagSkipped   = "skipped" // the run before it had not ended
	tagOverdue   = "overdue" // a reminder that has not begun
)

// Entry is one line of the schedule.
type Entry struct {
	ID          string        `json:"id"`
	FireTime    time.Time     `json:"fire_time"` // in the configured zone
	Label       string        `json:"label"`
	Description string        `json:"description"` // cleaned; a prompt's first 60 characters and "..." where there is none
	FilePath    string        `json:"file_path"`   // relative to the data directory
	Silent      bool          `json:"silent"`      // may not ping
	Tag         string        `json:"tag"`         // one of those above, for people also "snoozed until 15:00"; or empty
	Kind        routines.Kind `json:"kind"`
	Foreground  bool          `json:"foreground,omitempty"`
	Held        bool          `json:"held,omitempty"` // it will not fire: paused, snoozed, or waiting for the user. Agents are not shown these
	Why         string        `json:"why,omitempty"`  // of one that waits for the user: for what
	// Cost is what the run is expected to cost, in dollars: the mean of the task's
	// newest runs. It is 0 where that is nothing, and where nobody asks.
	Cost float64 `json:"cost_usd,omitempty"`
	// Money says that it is held because a cap is reached.
	Money bool `json:"held_for_money,omitempty"`
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

// Told is the schedule as people are told it: with what has become of each fire,
// and with those that did not happen, by time.
func (f Forward) Told() []Entry {
	list := slices.Concat(f.Entries, f.Passed)
	for i, e := range list {
		if e.Tag == tagJustFired && i < len(f.fates) {
			list[i].Tag = f.fates[i].tag()
		}
	}
	return sorted(list)
}

func sorted(list []Entry) []Entry {
	slices.SortStableFunc(list, func(a, b Entry) int { return a.FireTime.Compare(b.FireTime) })
	return list
}

// candidate is a fire that may be listed; index counts through the routines and
// then the reminders, which is the order of equal times.
type candidate struct {
	at    time.Time
	index int
	fate  fate // of one that lies behind
}

func (c candidate) compare(o candidate) int {
	return cmp.Or(c.at.Compare(o.at), cmp.Compare(c.index, o.index))
}

// Forward is the schedule as an agent sees it at now; current is the id of its
// own task, or empty. Of each task the latest fire of the last minutes is listed,
// if it has happened, and the first to come; one at exactly now has happened. Fires
// that are held are left out: nobody must plan with them.
func (s *Schedule) Forward(now time.Time, current string) Forward {
	set, holds, known := s.Set(), s.standing(now), s.known.Load()
	most := now.Add(forwardMost)
	w := window{now: now, known: known}
	s.fires.mu.Lock()
	defer s.fires.mu.Unlock()
	s.fires.follow(set)
	for i, r := range set.Routines {
		if !r.Background {
			continue
		}
		hold := holds.Of(&r.Task)
		var free, held int64 // the last fire of each kind
		at := s.fires.next(r, ceilSecond(now.Add(-forwardGrace)), s.o.Zone)
		for ; at <= now.Unix(); at = s.fires.next(r, at+1, s.o.Zone) {
			if hold != (Hold{}) && hold.covers(time.Unix(at, 0)) {
				held = at
			} else {
				free = at
			}
		}
		if free > 0 {
			w.addPast(r, time.Unix(free, 0), i)
		}
		if held > free && hold.Why == "" {
			w.passed = append(w.passed, candidate{at: time.Unix(held, 0), index: i, fate: fateHeld})
		}
		if hold != (Hold{}) {
			at = hold.firstFree(r, now.Unix()+1, s.o.Zone)
		}
		if at <= most.Unix() {
			w.ahead = append(w.ahead, candidate{at: time.Unix(at, 0), index: i})
		}
	}
	for i, r := range set.Reminders {
		at, free := holds.dueAt(r)
		if holds.broke(r, known) {
			continue
		}
		if free && r.Background && !at.Before(now.Add(-forwardGrace)) && !at.After(most) {
			w.add(candidate{at: at, index: len(set.Routines) + i, fate: known.reminder(r.ID, at)})
		}
	}
	return s.render(set, holds, &w, current)
}

// window collects candidates.
type window struct {
	now    time.Time
	known  *fates
	recent []candidate // at now or before
	ahead  []candidate
	passed []candidate // those that did not happen
}

// addPast adds the last fire of a routine, or what stands for it: where it did not
// happen, the run before it may have.
func (w *window) addPast(r *routines.Routine, at time.Time, index int) {
	what, before := w.known.routine(r.ID, at)
	if what.happened() {
		w.recent = append(w.recent, candidate{at: at, index: index, fate: what})
		return
	}
	if what != fateNone {
		w.passed = append(w.passed, candidate{at: at, index: index, fate: what})
	}
	if before.Before(at) && !before.Before(w.now.Add(-forwardGrace)) {
		what, _ := w.known.routine(r.ID, before)
		w.recent = append(w.recent, candidate{at: before, index: index, fate: what})
	}
}

func (w *window) add(c candidate) {
	if c.at.After(w.now) {
		w.ahead = append(w.ahead, c)
	} else {
		w.recent = append(w.recent, c)
	}
}

// chosen is what is listed: all of the next hours, or the first few beyond.
func (w *window) chosen() []candidate {
	for _, list := range [][]candidate{w.recent, w.ahead, w.passed} {
		slices.SortFunc(list, candidate.compare)
	}
	base := w.now.Add(forwardBase)
	near, _ := slices.BinarySearchFunc(w.ahead, base, func(c candidate, base time.Time) int {
		if c.at.After(base) {
			return 1
		}
		return -1
	})
	return append(w.recent, w.ahead[:min(len(w.ahead), max(near, forwardLeast))]...)
}

// render turns the candidates that were taken into entries.
func (s *Schedule) render(set *routines.Set, stand standing, w *window, current string) Forward {
	taken := w.chosen()
	f := Forward{Entries: make([]Entry, 0, len(taken))}
	for _, one := range w.passed {
		e := s.entry(set, stand, one)
		e.Tag = one.fate.tag()
		f.Passed = append(f.Passed, e)
	}
	for _, one := range taken {
		e := s.entry(set, stand, one)
		switch {
		case current != "" && e.ID == current:
			e.Tag = tagThisTask
		case !one.at.After(w.now):
			e.Tag = tagJustFired
		}
		if e.Tag != tagJustFired {
			f.Last = e.FireTime
		}
		f.Entries, f.fates = append(f.Entries, e), append(f.fates, one.fate)
	}
	return f
}

// entry is a candidate with what people and agents read of its task.
func (s *Schedule) entry(set *routines.Set, stand standing, one candidate) Entry {
	t := taskAt(set, one.index)
	label := cmp.Or(t.Description, labelRoutine)
	if i := one.index - len(set.Routines); i >= 0 {
		label = set.Reminders[i].Label()
	}
	return Entry{
		ID: t.ID, FireTime: one.at.In(s.o.Zone), Label: label, Description: briefly(t), FilePath: t.Path, Kind: t.Kind,
		Silent: !t.AllowPing, Foreground: !t.Background, Cost: stand.price(t).Dollars,
	}
}

// promptRunes is how much of a prompt stands in for a missing description.
const promptRunes = 60

// briefly is the description, else the beginning of the prompt on one line.
func briefly(t *routines.Task) string {
	if t.Description != "" {
		return t.Description
	}
	// A prompt may be megabytes; more than this is never looked at. The ends
	// are trimmed already, so the first rune is no white space.
	head, cut := t.Body, false
	if most := 8 * promptRunes; len(head) > most {
		for most > 0 && !utf8.RuneStart(head[most]) {
			most--
		}
		head, cut = head[:most], true
	}
	line := strings.TrimSpace(strings.ReplaceAll(clean.Text(head), "\n", " "))
	if runes := []rune(line); len(runes) > promptRunes {
		return string(runes[:promptRunes]) + "..."
	}
	if cut {
		return line + "..."
	}
	return line
}

// fireCache remembers the next fire of each routine, so that an expression is
// evaluated only when a fire has passed.
type fireCache struct {
	mu  sync.Mutex
	set *routines.Set
	of  map[*routines.Routine]answer
}

// answer is the first fire at or after asked, both in unix seconds. Fires lie on
// whole seconds, so it holds for every question between the two.
type answer struct{ asked, fire int64 }

// follow forgets the routines of another set.
func (c *fireCache) follow(set *routines.Set) {
	if c.set != set {
		c.set, c.of = set, make(map[*routines.Routine]answer, len(set.Routines))
	}
}

// next is the first fire at or after sec, in unix seconds.
func (c *fireCache) next(r *routines.Routine, sec int64, zone *time.Location) int64 {
	a, known := c.of[r]
	if !known || sec < a.asked || sec > a.fire {
		a = answer{sec, nextFire(r.Schedule, sec, zone)}
		c.of[r] = a
	}
	return a.fire
}
