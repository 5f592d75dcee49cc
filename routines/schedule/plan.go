package schedule

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/routines"
)

// Plan is what is scheduled at one moment, as agents and people see it. It is made of
// values that never change, so it may be read by several goroutines.
type Plan struct {
	Now   time.Time     // in the zone of all times
	Set   *routines.Set // the tasks in force
	Holds *Holds        // what keeps them from firing; nil for nothing
	// Price is the cost of a task's run and whether there is money for it; nil if
	// nothing costs anything.
	Price func(*routines.Task) Price

	known *outcomes // of past fires; nil if unknown
}

// Entry is one line of the schedule.
type Entry struct {
	ID       string    `json:"id"`
	FireTime time.Time `json:"fire_time"` // in the configured zone
	// Until is the end of its window while the moment is not chosen; FireTime is the start then.
	Until time.Time `json:"until,omitzero"`
	// Reason is why it has its moment, if that was chosen.
	Reason      string `json:"reason,omitempty"`
	Label       string `json:"label"`
	Description string `json:"description"` // cleaned; without one, the prompt's first 60 characters and "..."
	// Prompt is the beginning of a routine's prompt if Label is its description: what a model
	// is told behind the label.
	Prompt     string        `json:"-"`
	FilePath   string        `json:"file_path"` // relative to the data directory
	Silent     bool          `json:"silent"`    // may not ping
	Tag        string        `json:"tag"`       // see the tags below, for people also "snoozed until 15:00"; or empty
	Kind       routines.Kind `json:"kind"`
	Foreground bool          `json:"foreground,omitempty"`
	Held       bool          `json:"held,omitempty"` // it will not fire: paused, snoozed, or waiting for the user. Agents are not shown these
	Why        string        `json:"why,omitempty"`  // why it waits for the user
	// Cost is the expected cost of the run in dollars: the mean of the task's newest
	// runs. It is 0 if there are none.
	Cost float64 `json:"cost_usd,omitempty"`
	// Money says that a spending cap holds it.
	Money bool `json:"held_for_money,omitempty"`
}

// The tags of an entry. Agents know the first two; the others are for people, and
// most of them replace tagJustFired by the outcome of the fire.
const (
	tagThisTask  = "this task"
	tagJustFired = "just fired"
	TagPaused    = "paused"
	TagWaits     = "needs your approval"
	TagMoney     = "held for money" // followed by until when
	TagProposed  = "an edit waits"  // the text before it fires
	tagRunning   = "running"
	tagFailed    = "failed"
	tagCutOff    = "cut off"     // the program ended during the run
	tagMissed    = "missed"      // the bot was not running
	tagHeld      = "held"        // the task was paused or snoozed then
	tagNothing   = "nothing new" // its check found nothing to run for
	tagSkipped   = "skipped"     // the run before it had not ended
	tagOverdue   = "overdue"     // a reminder that has not started
)

// task is a routine or a reminder in force; one of the two is set.
type task struct {
	*routines.Task
	routine  *routines.Routine
	reminder *routines.Reminder
	order    int // of those that fire at the same time
}

// fire is a past or upcoming fire of a task.
type fire struct {
	task
	at  time.Time
	tag string // of a past one: its outcome
}

func byTime(a, b fire) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order, b.order)) }

// tasks are the routines, and then the reminders.
func (p *Plan) tasks() iter.Seq[task] {
	return func(yield func(task) bool) {
		for i, r := range p.Set.Routines {
			if !yield(task{Task: &r.Task, routine: r, order: i}) {
				return
			}
		}
		for i, r := range p.Set.Reminders {
			if !yield(task{Task: &r.Task, reminder: r, order: len(p.Set.Routines) + i}) {
				return
			}
		}
	}
}

// price is the expected cost of a task's run, and whether there is money for it.
func (p *Plan) price(t *routines.Task) Price {
	if p.Price == nil {
		return Price{}
	}
	return p.Price(t)
}

// hold is what keeps a task from firing: the user's hold if it has not ended, else a
// lack of money.
func (p *Plan) hold(t *routines.Task) Hold {
	one := p.Holds.Of(t)
	if t.Critical || t.Essential || !one.Ended(p.Now) {
		return one
	}
	if until := p.price(t).Until; !until.IsZero() {
		return Hold{Since: p.Now, Until: until, Money: true}
	}
	return one
}

// lacksMoney reports whether a reminder waits for money: its run is not under way.
func (p *Plan) lacksMoney(r *routines.Reminder) bool {
	at, _ := p.dueAt(r)
	return p.hold(&r.Task).Money && p.known.reminder(r.ID, at) != outcomeRunning
}

// next is a task's first fire at a time or later, held or not; a reminder has only one.
// The zero time means never.
func (p *Plan) next(t task, from time.Time) time.Time {
	if t.reminder != nil {
		at, _ := p.dueAt(t.reminder)
		return at.In(p.Now.Location())
	}
	return p.routineNext(t, from)
}

// nextFree is next without the fires that a hold prevents. An overdue reminder gives its
// time in the past.
func (p *Plan) nextFree(t task, hold Hold, from time.Time) time.Time {
	if t.routine != nil {
		if hold.open() {
			return time.Time{}
		}
		if hold.Until.After(from) {
			from = hold.Until
		}
		return p.routineNext(t, from)
	}
	if at, free := p.dueAt(t.reminder); free {
		return at.In(p.Now.Location())
	}
	return time.Time{}
}

// NextOf returns the next n fires of a task, those that are held marked.
func (p *Plan) NextOf(id string, n int) []Entry {
	var list []Entry
	for t := range p.tasks() {
		if t.ID != id {
			continue
		}
		for at := p.next(t, after(p.Now)); !at.IsZero() && len(list) < n; at = p.next(t, after(at)) {
			list = append(list, p.marked(fire{task: t, at: at}))
			if t.reminder != nil {
				break
			}
		}
	}
	return list
}

// Due is a fire of a task that starts now, regardless of its schedule: an overdue
// reminder is late. False means that there is no such task.
func (p *Plan) Due(id string) (Due, bool) {
	for t := range p.tasks() {
		switch {
		case t.ID != id:
		case t.routine != nil:
			return Due{Kind: routines.KindRoutine, Routine: t.routine, At: p.Now}, true
		default:
			d := Due{Kind: routines.KindReminder, Reminder: t.reminder, At: p.Now}
			if at := p.next(t, p.Now); p.Now.Sub(at) > grace {
				d.At, d.Late = at, true
			}
			return d, true
		}
	}
	return Due{}, false
}

// entry describes a fire.
func (p *Plan) entry(f fire) Entry {
	label, prompt := labelRoutine, ""
	switch {
	case f.reminder != nil:
		label = f.reminder.Label()
	case f.Description != "":
		label, prompt = f.Description, beginning(f.Body)
	}
	e := Entry{
		ID: f.ID, FireTime: f.at.In(p.Now.Location()), Label: label, Prompt: prompt, Description: briefly(f.Task), FilePath: f.Path, Kind: f.Kind,
		Silent: !f.AllowPing, Foreground: !f.Background, Cost: p.price(f.Task).Dollars, Tag: f.tag,
	}
	e.Until, e.Reason = p.open(f)
	return e
}

// marked describes a fire for people: marked if it is held, or if a snooze has moved it.
// A reminder has one fire, whose time does not count: it is held even if it is overdue.
func (p *Plan) marked(f fire) Entry {
	e, hold := p.entry(f), p.hold(f.Task)
	covered, reminder := hold.covers(e.FireTime), e.Kind == routines.KindReminder
	switch {
	case hold.Why != "":
		e.Held, e.Tag, e.Why = true, TagWaits, hold.Why
	case hold.Ended(p.Now):
	case hold.Money:
		waits := reminder && (e.Tag == "" || e.Tag == tagOverdue) && e.FireTime.Before(hold.Until)
		if covered || waits {
			e.Held, e.Money, e.Tag = true, true, TagMoney+" until "+untilWords(hold.Until, p.Now)
		}
	case hold.Paused && (covered || reminder):
		e.Held, e.Tag = true, TagPaused
	case covered:
		e.Held, e.Tag = true, snoozedTag(hold.Until, p.Now)
	case reminder && e.FireTime.Equal(hold.Until) && e.Tag == "":
		e.Tag = snoozedTag(hold.Until, p.Now)
	}
	if e.Tag == "" && f.Proposed.Version != "" {
		e.Tag = TagProposed
	}
	return e
}

func sorted(list []Entry) []Entry {
	slices.SortStableFunc(list, func(a, b Entry) int { return a.FireTime.Compare(b.FireTime) })
	return list
}

// promptRunes is how much of a prompt replaces a missing description.
const promptRunes = 60

// briefly is the description, else the beginning of the prompt on one line.
func briefly(t *routines.Task) string {
	if t.Description != "" {
		return t.Description
	}
	return beginning(t.Body)
}

// beginning is the beginning of a prompt on one line.
func beginning(body string) string {
	// A prompt may be megabytes; more than this is never looked at. The ends
	// are trimmed already, so the first rune is no white space.
	head, cut := body, false
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
