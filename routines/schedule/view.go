package schedule

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ollimbot/routines"
	"ollimbot/routines/when"
)

const (
	// dayFires is the maximum number of fires listed for the next 24 hours.
	dayFires = 500
	// shortestView is the minimum range shown to people, if agents see less.
	shortestView = 3 * time.Hour
)

// View is the schedule as shown to people. It must not be modified.
type View struct {
	// Window is the heading: "next 3h", or "recent".
	Window string
	// Entries are those shown to agents (background only) plus, marked, the foreground tasks
	// of the same window and the next fires of held tasks, sorted by time.
	Entries []Entry
	// Last is the fire time of the last entry shown to agents; zero if there is none.
	Last time.Time
	// Until is the end of the range of Entries.
	Until time.Time
	// Problems lists files that need the user's attention, errors first.
	Problems []routines.Problem
	// Day lists all fires of the next 24 hours by time, at most 500, with foreground and
	// held ones marked. It is complete up to DayUntil.
	Day      []Entry
	DayUntil time.Time
	// Missed lists the last missed fires of routines within 24 hours, by time.
	Missed []Entry
	// Tasks lists all routines and reminders by their next fire.
	Tasks []TaskView
}

// TaskView is one routine or reminder in the list of all tasks.
type TaskView struct {
	ID, Title, Path string
	Kind            routines.Kind
	When            string    // the schedule in words; empty for a reminder
	Label           string    // of a reminder: see Entry; otherwise empty
	Next            time.Time // zero if it never fires again
	Ended           string    // "ended on 28 February 2027"; empty as long as it fires
	Until           time.Time // see Entry
	Reason          string    // see Entry
	Foreground      bool
	Silent          bool
	UntilDone       bool // a reminder that repeats until it is done
	Paused          bool
	Held            string // Hold.Words of what keeps it from firing now; empty if nothing does
	// Waits is why the task needs the user's approval, or "".
	Waits string
	// Stopped is the reason for which its own run has paused it, or "".
	Stopped string
	Says    bool   // it sends what its check prints, without a model
	Version string // of its file: routines.Task.Digest
	// Proposed is an edit that awaits approval while the text before it fires.
	Proposed routines.Proposal
	Snoozed  time.Time // end of the snooze; zero if it is not snoozed
	Broke    time.Time // when there is money for it again; zero if there is now
	Cost     float64   // see Entry
}

// View returns the plan as shown to people.
func (p *Plan) View() View {
	w := p.window()
	f := w.forward(p, "")
	v := View{Window: f.Window(p.Now), Last: f.Last, Until: p.Now.Add(shortestView), Problems: p.Set.Problems}
	if f.Last.After(v.Until) {
		v.Until = f.Last
	}
	v.Entries = p.entries(w, v.Until)
	v.DayUntil = p.Now.Add(24 * time.Hour)
	if v.Day = p.calendar(v.DayUntil, dayFires+1); len(v.Day) > dayFires {
		v.Day, v.DayUntil = v.Day[:dayFires], v.Day[dayFires].FireTime
	}
	v.Missed = p.missed()
	v.Tasks = p.list()
	return v
}

// entries returns the agents' entries, the next fires of foreground tasks up to a time,
// and those of held tasks, by time.
func (p *Plan) entries(w *window, until time.Time) []Entry {
	var all []Entry
	for _, one := range slices.Concat(w.recent, w.ahead, w.passed) {
		all = append(all, p.marked(one))
	}
	for t := range p.tasks() {
		hold := p.hold(t)
		waits := t.once() && p.lacksMoney(t)
		if t.once() && !waits && hold.Money {
			continue // its run is in progress and already listed
		}
		if first := p.next(t, p.Now); hold != (Hold{}) && !first.IsZero() && !first.After(until) {
			if e := p.marked(fire{task: t, at: first}); e.Held {
				all = append(all, e)
			}
		}
		if at := p.nextFree(t, hold, p.Now); !waits && !t.Background && t.early == nil && !at.IsZero() && !at.Before(p.Now) && !at.After(until) {
			all = append(all, p.marked(fire{task: t, at: at}))
		}
	}
	return sorted(all)
}

func (p *Plan) missed() (out []Entry) {
	if p.known == nil {
		return nil
	}
	for t := range p.tasks() {
		at, ok := p.known.missed[t.ID]
		if ok && t.routine != nil && p.Now.Sub(at) < missedFor && !at.After(p.Now) {
			out = append(out, p.entry(fire{t, at, tagMissed}))
		}
	}
	return sorted(out)
}

// list returns all routines and reminders by next fire, then by file. Those that never
// fire come last.
func (p *Plan) list() []TaskView {
	var list []TaskView
	for t := range p.tasks() {
		if t.early != nil {
			continue
		}
		h := p.hold(t)
		v := TaskView{
			ID: t.ID, Path: t.Path, Kind: t.Kind, Title: t.Title(), Next: p.nextFree(t, h, p.Now),
			Foreground: !t.Background, Silent: !t.AllowPing, Version: cmp.Or(t.Script, t.Digest), Proposed: t.Proposed,
			Cost: p.price(t.Task).Dollars, Says: t.Says,
		}
		if !h.Ended(p.Now) {
			v.Paused, v.Waits, v.Held, v.Stopped = h.Paused, h.Why, h.Words(p.Now), h.Reason
			switch {
			case h.Money:
				v.Broke = h.Until.In(p.Now.Location())
			case !v.Paused && !h.Until.IsZero():
				v.Snoozed = h.Until.In(p.Now.Location())
			}
		}
		if t.reminder != nil {
			v.Label, v.UntilDone = t.reminder.Label(), t.reminder.UntilDone
		} else {
			v.When, v.Ended = t.routine.Schedule.Words(), t.routine.Schedule.EndWords(p.Now)
		}
		rules := []string{t.Leeway.String()}
		if t.reminder != nil {
			rules = append(rules, when.AheadWords(t.reminder.Ahead))
		}
		for _, rule := range rules {
			if rule != "" {
				v.When = strings.TrimPrefix(v.When+", "+rule, ", ")
			}
		}
		if !v.Next.IsZero() {
			v.Until, v.Reason = p.open(fire{task: t, at: v.Next})
		}
		list = append(list, v)
	}
	slices.SortStableFunc(list, func(a, b TaskView) int {
		if a.Next.IsZero() != b.Next.IsZero() {
			return cmp.Compare(b.Next.Unix(), a.Next.Unix()) // the zero time is the smallest value
		}
		return a.Next.Compare(b.Next)
	})
	return list
}

// calendar returns every fire from now to a time, inclusive, at most limit: foreground
// tasks too, and each fire of a routine. Held ones are marked.
func (p *Plan) calendar(to time.Time, limit int) []Entry {
	var next []fire // of each task
	for t := range p.tasks() {
		if at := p.next(t, p.Now); !at.IsZero() && !at.Before(p.Now) && !at.After(to) {
			next = append(next, fire{task: t, at: at})
		}
	}
	slices.SortFunc(next, byTime)
	var out []Entry
	for len(next) > 0 && len(out) < limit {
		one := next[0]
		next = next[1:]
		out = append(out, p.marked(one))
		if one.once() {
			continue
		}
		if one.at = p.next(one.task, after(one.at)); !one.at.IsZero() && !one.at.After(to) {
			i, _ := slices.BinarySearchFunc(next, one, byTime)
			next = slices.Insert(next, i, one)
		}
	}
	return out
}

// The bounds of the forward schedule.
const (
	forwardGrace = 15 * time.Minute
	forwardBase  = 3 * time.Hour
	forwardMost  = 12 * time.Hour
	forwardLeast = 3 // minimum number of entries ahead, if forwardMost contains that many
)

// Forward is the schedule shown to an agent: background tasks that have just fired, with the outcome, and
// upcoming ones.
type Forward struct {
	Entries []Entry // sorted by time
	// Last is the time of the last entry that is upcoming or the agent's own task; zero if there is none.
	Last time.Time

	told []Entry
}

// Told returns the schedule as shown to people, including past fires that did not run, sorted
// by time.
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
		case t.early != nil:
			w.addEarly(p, t)
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
	hold := p.hold(t)
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
	case !free, p.lacksMoney(t), at.Before(p.Now.Add(-forwardGrace)):
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
		if current != "" && e.ID == current {
			e.Tag = tagThisTask
		}
		f.told = append(f.told, e)
		if e.Tag == tagRunning { // a preview cannot know that another task of the same minute is already under way
			e.Tag = tagJustFired
		}
		if e.Tag == tagThisTask || one.at.After(p.Now) {
			f.Last = e.FireTime
		}
		f.Entries = append(f.Entries, e)
	}
	for _, one := range w.passed {
		f.told = append(f.told, p.entry(one))
	}
	f.told = sorted(f.told)
	return f
}
