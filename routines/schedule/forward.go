package schedule

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// The bounds of the forward schedule.
const (
	forwardGrace = 15 * time.Minute
	forwardBase  = 3 * time.Hour
	forwardMost  = 12 * time.Hour
	forwardLeast = 3 // entries ahead, if there are as many within forwardMost
)

// Forward is the schedule that an agent is shown: background tasks that have
// just fired, and those ahead.
type Forward struct {
	Entries []Entry // by time
	// Last is the time of the last entry that is not "just fired"; zero if there is none.
	Last time.Time

	told []Entry
}

// Told is the schedule as people are shown it: with the outcome of each past fire, and
// with those that did not run, by time.
func (f Forward) Told() []Entry { return slices.Clone(f.told) }

// Window says how far the schedule reaches, in hours that are begun: "next 3h", or "recent" if
// nothing is ahead.
func (f Forward) Window(now time.Time) string {
	if f.Last.IsZero() {
		return "recent"
	}
	return fmt.Sprintf("next %dh", max(1, int(math.Ceil(f.Last.Sub(now).Hours()))))
}

// RefillLine says how many tokens the bucket gains until the last entry, at one each
// rateMinutes; empty if it gains none.
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

// Forward is the schedule for an agent; current is the id of its own task, or empty. It
// lists the latest fire of each task in the last minutes, if it ran, and the first
// upcoming one; one at exactly now has fired. Held fires are left out, so that no agent
// plans with them.
func (p *Plan) Forward(current string) Forward { return p.window().forward(p, current) }

// window is the fires of background tasks around now, each list by time.
type window struct {
	recent []fire // that ran, or are running
	passed []fire // that did not run
	ahead  []fire
}

func (p *Plan) window() *window {
	w := &window{}
	for t := range p.tasks() {
		switch {
		case !t.Background:
		case t.routine != nil:
			w.addRoutine(p, t)
		default:
			w.addReminder(p, t)
		}
	}
	slices.SortFunc(w.recent, byTime)
	slices.SortFunc(w.passed, byTime)
	slices.SortFunc(w.ahead, byTime)
	near := 0
	for near < len(w.ahead) && (near < forwardLeast || !w.ahead[near].at.After(p.Now.Add(forwardBase))) {
		near++
	}
	w.ahead = w.ahead[:near]
	return w
}

// addRoutine adds the last fire of a routine and its next one.
func (w *window) addRoutine(p *Plan, t task) {
	hold := p.hold(t.Task)
	var free, held time.Time // the last fire of each kind
	at := p.next(t, p.Now.Add(-forwardGrace))
	for ; !at.IsZero() && !at.After(p.Now); at = p.next(t, after(at)) {
		if hold.covers(at) {
			held = at
		} else {
			free = at
		}
	}
	if !free.IsZero() {
		w.addPast(p, t, free)
	}
	if held.After(free) && hold.Why == "" {
		w.passed = append(w.passed, fire{t, held, tagHeld})
	}
	if hold != (Hold{}) {
		at = p.nextFree(t, hold, after(p.Now))
	}
	w.addAhead(p, t, at)
}

// addPast adds the last fire of a routine. If it did not run, the run before it is added too.
func (w *window) addPast(p *Plan, t task, at time.Time) {
	what, before := p.known.routine(t.ID, at)
	if what.ran() {
		w.recent = append(w.recent, fire{t, at, what.tag()})
		return
	}
	if what != outcomeNone {
		w.passed = append(w.passed, fire{t, at, what.tag()})
	}
	if before.Before(at) && !before.Before(p.Now.Add(-forwardGrace)) {
		what, _ := p.known.routine(t.ID, before)
		w.recent = append(w.recent, fire{t, before, what.tag()})
	}
}

func (w *window) addReminder(p *Plan, t task) {
	switch at, free := p.dueAt(t.reminder); {
	case !free, p.lacksMoney(t.reminder), at.Before(p.Now.Add(-forwardGrace)):
	case at.After(p.Now):
		w.addAhead(p, t, at)
	default:
		w.recent = append(w.recent, fire{t, at, p.known.reminder(t.ID, at).tag()})
	}
}

func (w *window) addAhead(p *Plan, t task, at time.Time) {
	if !at.IsZero() && !at.After(p.Now.Add(forwardMost)) {
		w.ahead = append(w.ahead, fire{task: t, at: at})
	}
}

// forward renders the window for an agent.
func (w *window) forward(p *Plan, current string) Forward {
	var f Forward
	for _, one := range slices.Concat(w.recent, w.ahead) {
		e := p.entry(one)
		told := e
		switch {
		case current != "" && e.ID == current:
			e.Tag, told.Tag = tagThisTask, tagThisTask
		case !one.at.After(p.Now):
			e.Tag = tagJustFired
		}
		if e.Tag != tagJustFired {
			f.Last = e.FireTime
		}
		f.Entries, f.told = append(f.Entries, e), append(f.told, told)
	}
	for _, one := range w.passed {
		f.told = append(f.told, p.entry(one))
	}
	f.told = sorted(f.told)
	return f
}
