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
	forwardLeast = 3 // minimum number of entries ahead, if forwardMost contains that many
)

// Forward is the schedule shown to an agent: background tasks that have just fired, and
// upcoming ones.
type Forward struct {
	Entries []Entry // sorted by time
	// Last is the time of the last entry that is not "just fired"; zero if there is none.
	Last time.Time

	told []Entry
}

// Told returns the schedule as shown to people: with the outcome of each past fire and
// including those that did not run, sorted by time.
func (f Forward) Told() []Entry { return slices.Clone(f.told) }

// Window describes the range of the schedule in hours, rounded up: "next 3h", or "recent"
// if nothing is upcoming.
func (f Forward) Window(now time.Time) string {
	if f.Last.IsZero() {
		return "recent"
	}
	return fmt.Sprintf("next %dh", max(1, int(math.Ceil(f.Last.Sub(now).Hours()))))
}

// RefillLine describes how many tokens the bucket gains until the last entry, at one per
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

// Forward returns the schedule for an agent; current is the id of its own task, or empty.
// It lists each task's latest fire in the last minutes, if it ran, and its first upcoming
// one. A fire at exactly now has fired. Held fires are left out, so that no agent plans
// around them.
func (p *Plan) Forward(current string) Forward { return p.window().forward(p, current) }

// window holds the fires of background tasks around now, each list sorted by time.
type window struct {
	recent []fire // that ran or are running
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

// addRoutine adds the last and the next fire of a routine.
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
