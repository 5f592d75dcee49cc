package schedule

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
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
	return fmt.Sprintf("next %dh", max(1, int(math.RoundToEven(f.Last.Sub(now).Hours()))))
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

// task is a routine or a reminder in force; one of the two is set.
type task struct {
	*routines.Task
	routine  *routines.Routine
	reminder *routines.Reminder
	order    int // of those that fire at the same time
}

// tasksOf are the routines of a set, and then its reminders.
func tasksOf(set *routines.Set) iter.Seq[task] {
	return func(yield func(task) bool) {
		for i, r := range set.Routines {
			if !yield(task{Task: &r.Task, routine: r, order: i}) {
				return
			}
		}
		for i, r := range set.Reminders {
			if !yield(task{Task: &r.Task, reminder: r, order: len(set.Routines) + i}) {
				return
			}
		}
	}
}

// from is the first fire of a task at a time or later, whatever holds it; of a
// reminder it is its only one. Zero is never.
func (s *Schedule) from(t task, at time.Time) time.Time {
	if t.reminder != nil {
		due, _ := s.Holds().dueAt(t.reminder)
		return due
	}
	return s.time(nextFire(t.routine.Schedule, ceilSecond(at), s.o.Zone))
}

// free is from without the fires that are held. An overdue reminder gives its time
// in the past.
func (s *Schedule) free(t task, hold Hold, at time.Time) time.Time {
	if t.routine != nil {
		return s.time(hold.firstFree(t.routine, ceilSecond(at), s.o.Zone))
	}
	if due, free := s.Holds().dueAt(t.reminder); free && !hold.open() {
		return due.In(s.o.Zone)
	}
	return time.Time{}
}

// candidate is a fire that may be listed.
type candidate struct {
	task
	at   time.Time
	fate fate // of one that lies behind
}

// Forward is the schedule as an agent sees it at now; current is the id of its
// own task, or empty. Of each task the latest fire of the last minutes is listed,
// if it has happened, and the first to come; one at exactly now has happened. Fires
// that are held are left out: nobody must plan with them.
func (s *Schedule) Forward(now time.Time, current string) Forward {
	stand := s.standing(now)
	w := window{now: now, known: s.known.Load()}
	for t := range tasksOf(s.Set()) {
		switch {
		case !t.Background:
		case t.routine != nil:
			s.addRoutine(&w, t, stand.Of(t.Task))
		case !stand.broke(t.reminder, w.known):
			at, free := stand.dueAt(t.reminder)
			if free && !at.Before(now.Add(-forwardGrace)) {
				w.add(candidate{t, at, w.known.reminder(t.ID, at)})
			}
		}
	}
	return s.render(stand, &w, current)
}

// window collects candidates.
type window struct {
	now    time.Time
	known  *fates
	recent []candidate // at now or before
	ahead  []candidate
	passed []candidate // those that did not happen
}

// addRoutine adds the last fire of a routine and its next one.
func (s *Schedule) addRoutine(w *window, t task, hold Hold) {
	var free, held time.Time // the last fire of each kind
	at := s.from(t, w.now.Add(-forwardGrace))
	for ; !at.IsZero() && !at.After(w.now); at = s.from(t, after(at)) {
		if hold.covers(at) {
			held = at
		} else {
			free = at
		}
	}
	if !free.IsZero() {
		w.addPast(candidate{task: t, at: free})
	}
	if held.After(free) && hold.Why == "" {
		w.passed = append(w.passed, candidate{t, held, fateHeld})
	}
	if hold != (Hold{}) {
		at = s.free(t, hold, after(w.now))
	}
	if !at.IsZero() {
		w.add(candidate{task: t, at: at})
	}
}

// addPast adds the last fire of a routine, or what stands for it: where it did not
// happen, the run before it may have.
func (w *window) addPast(c candidate) {
	what, before := w.known.routine(c.ID, c.at)
	if c.fate = what; what.happened() {
		w.recent = append(w.recent, c)
		return
	}
	if what != fateNone {
		w.passed = append(w.passed, c)
	}
	if before.Before(c.at) && !before.Before(w.now.Add(-forwardGrace)) {
		what, _ := w.known.routine(c.ID, before)
		w.recent = append(w.recent, candidate{c.task, before, what})
	}
}

func (w *window) add(c candidate) {
	switch {
	case !c.at.After(w.now):
		w.recent = append(w.recent, c)
	case !c.at.After(w.now.Add(forwardMost)):
		w.ahead = append(w.ahead, c)
	}
}

// render turns the candidates that are taken into entries: all of the next hours, or
// the first few beyond.
func (s *Schedule) render(stand standing, w *window, current string) Forward {
	var f Forward
	slices.SortFunc(w.passed, byTime)
	for _, one := range w.passed {
		e := s.entry(stand, one.task, one.at)
		e.Tag = one.fate.tag()
		f.Passed = append(f.Passed, e)
	}
	slices.SortFunc(w.recent, byTime)
	slices.SortFunc(w.ahead, byTime)
	near := 0
	for near < len(w.ahead) && (near < forwardLeast || !w.ahead[near].at.After(w.now.Add(forwardBase))) {
		near++
	}
	for _, one := range append(w.recent, w.ahead[:near]...) {
		e := s.entry(stand, one.task, one.at)
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

func byTime(a, b candidate) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order, b.order)) }

// entry is a fire with what people and agents read of its task.
func (s *Schedule) entry(stand standing, t task, at time.Time) Entry {
	label := cmp.Or(t.Description, labelRoutine)
	if t.reminder != nil {
		label = t.reminder.Label()
	}
	return Entry{
		ID: t.ID, FireTime: at.In(s.o.Zone), Label: label, Description: briefly(t.Task), FilePath: t.Path, Kind: t.Kind,
		Silent: !t.AllowPing, Foreground: !t.Background, Cost: stand.price(t.Task).Dollars,
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
		head, cut = strings.ToValidUTF8(head[:most], ""), true
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
