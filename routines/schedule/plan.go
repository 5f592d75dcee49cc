package schedule

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode"

	"ollimbot/core/base/clean"
	"ollimbot/routines"
)

// Plan is the schedule at one moment, as shown to agents and people. It consists of
// immutable values, so it is safe for concurrent use.
type Plan struct {
	Now   time.Time     // in the zone of all times
	Set   *routines.Set // the tasks in force
	Holds *Holds        // what keeps tasks from firing; may be nil
	// Price returns the cost of a task's run and whether there is money for it. Nil means
	// that everything is free.
	Price func(*routines.Task) Price

	known *outcomes // of past fires; nil if unknown
}

// Entry is one line of the schedule.
type Entry struct {
	ID       string    `json:"id"`
	FireTime time.Time `json:"fire_time"` // in the configured zone
	// Until is the end of the window if the moment is not chosen yet. FireTime is then the
	// start.
	Until time.Time `json:"until,omitzero"`
	// Reason is the reason for the moment, if one was chosen.
	Reason      string `json:"reason,omitempty"`
	Label       string `json:"label"`
	Description string `json:"description"` // cleaned; without one, the prompt's first 60 characters and "..."
	Title       string `json:"-"`           // what people call the task
	// Prompt is the beginning of a routine's prompt if Label is its description. Models see
	// it after the label.
	Prompt     string        `json:"-"`
	FilePath   string        `json:"file_path"` // relative to the data directory
	Silent     bool          `json:"silent"`    // may not ping
	Tag        string        `json:"tag"`       // see the tags below; for people also "snoozed until 15:00"; may be empty
	Kind       routines.Kind `json:"kind"`
	Foreground bool          `json:"foreground,omitempty"`
	Held       bool          `json:"held,omitempty"` // it will not fire: paused, snoozed, or awaiting approval; not shown to agents
	Why        string        `json:"why,omitempty"`  // why it needs approval
	// Cost is the expected cost of the run in dollars: the mean of the task's most recent
	// runs, 0 if there are none.
	Cost float64 `json:"cost_usd,omitempty"`
	// Money means that a spending cap holds it.
	Money bool `json:"held_for_money,omitempty"`
}

// The tags of an entry. Those of a past fire are its outcome: tagJustFired if it ran to its end, or
// nothing is known of it.
const (
	tagThisTask  = "this task"
	tagJustFired = "just fired"
	TagPaused    = "paused"
	tagFailing   = "paused after failures"
	tagItself    = "paused by its own run"
	TagWaits     = "needs your approval"
	TagMoney     = "held for money" // followed by the end of the hold
	TagProposed  = "an edit waits"  // the text before the edit fires
	tagRunning   = "running"
	tagFailed    = "failed"
	tagCutOff    = "cut off"     // by the user or the end of the program
	tagMissed    = "missed"      // the bot was not running
	tagHeld      = "held"        // the task was paused or snoozed at the time
	tagNothing   = "nothing new" // its check found no reason to run
	tagSkipped   = "skipped"     // the previous run had not ended
	tagOverdue   = "overdue"     // a reminder that has not started
)

// task is a routine or a reminder in force; one of the two is set.
type task struct {
	*routines.Task
	routine  *routines.Routine
	reminder *routines.Reminder
	early    []routines.Early // set if this is only about what the reminder sends before it is due
	order    int              // order among tasks that fire at the same time
}

// fire is a past or upcoming fire of a task.
type fire struct {
	task
	at  time.Time
	tag string // of a past fire: its outcome
}

func byTime(a, b fire) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.order, b.order)) }

// tasks yields the routines, then the reminders, each with what it sends before it is due.
func (p *Plan) tasks() iter.Seq[task] {
	return func(yield func(task) bool) {
		for i, r := range p.Set.Routines {
			if !yield(task{Task: &r.Task, routine: r, order: i}) {
				return
			}
		}
		for i, r := range p.Set.Reminders {
			t := task{Task: &r.Task, reminder: r, order: len(p.Set.Routines) + i}
			if !yield(t) {
				return
			}
			if t.early = r.Early(); len(t.early) > 0 && !yield(t) {
				return
			}
		}
	}
}

// price returns the expected cost of a task's run, and whether there is money for it.
func (p *Plan) price(t *routines.Task) Price {
	if p.Price == nil {
		return Price{}
	}
	return p.Price(t)
}

// hold returns what keeps a task from firing: the user's hold if it is active, else a
// lack of money.
func (p *Plan) hold(t task) Hold {
	one := p.Holds.Of(t.Task)
	if t.Critical || t.Essential || t.early != nil || !one.Ended(p.Now) {
		return one
	}
	if until := p.price(t.Task).Until; !until.IsZero() {
		return Hold{Since: p.Now, Until: until, Money: true}
	}
	return one
}

// lacksMoney reports whether a reminder waits for money and is not running.
func (p *Plan) lacksMoney(t task) bool {
	at, _ := p.dueAt(t.reminder)
	return p.hold(t).Money && p.known.reminder(t.ID, at) != outcomeRunning
}

// once reports whether the task has only one fire: it is a reminder at its own time.
func (t task) once() bool { return t.reminder != nil && t.early == nil }

// next returns a task's first fire at or after a time, held or not; a reminder has only
// one. The zero time means never.
func (p *Plan) next(t task, from time.Time) time.Time {
	switch {
	case t.routine != nil:
		return p.routineNext(t, from)
	case t.early != nil:
		return p.earlyNext(t, from)
	}
	at, _ := p.dueAt(t.reminder)
	return at.In(p.Now.Location())
}

// nextFree is next without fires that a hold prevents. For an overdue reminder it returns
// a past time.
func (p *Plan) nextFree(t task, hold Hold, from time.Time) time.Time {
	if !t.once() {
		if hold.open() {
			return time.Time{}
		}
		if hold.Until.After(from) {
			from = hold.Until
		}
		return p.next(t, from)
	}
	if at, free := p.dueAt(t.reminder); free {
		return at.In(p.Now.Location())
	}
	return time.Time{}
}

// NextOf returns the next n fires of a task, with held ones marked.
func (p *Plan) NextOf(id string, n int) []Entry {
	var list []Entry
	for t := range p.tasks() {
		if t.ID != id {
			continue
		}
		i := 0
		for at := p.next(t, after(p.Now)); !at.IsZero() && i < n; at = p.next(t, after(at)) {
			i++
			list = append(list, p.marked(fire{task: t, at: at}))
			if t.once() {
				break
			}
		}
	}
	list = sorted(list)
	return list[:min(n, len(list))]
}

// Due returns a fire of a task that starts now, regardless of its schedule. An overdue
// reminder is late. It returns false if there is no such task.
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
		ID: f.ID, FireTime: f.at.In(p.Now.Location()), Label: label, Prompt: prompt, Title: f.Title(), Description: briefly(f.Task), FilePath: f.Path, Kind: f.Kind,
		Silent: !f.AllowPing, Foreground: !f.Background, Cost: p.price(f.Task).Dollars, Tag: f.tag,
	}
	if f.early != nil {
		early := f.earlyAt(f.at)
		e.Title += earlyTitle(early)
		e.Label, e.Foreground, e.Cost = labelReminder+earlyTitle(early), false, 0
		e.Description = cmp.Or(early.Text, e.Description)
	}
	e.Until, e.Reason = p.open(f)
	return e
}

// marked describes a fire for people: it is marked if it is held or was moved by a
// snooze. A reminder has a single fire, so it is held whatever its time, even if overdue.
func (p *Plan) marked(f fire) Entry {
	e, hold := p.entry(f), p.hold(f.task)
	covered, reminder := hold.covers(e.FireTime), f.once()
	switch {
	case hold.Why != "":
		e.Held, e.Tag, e.Why = true, hold.Words(p.Now), hold.Why
	case hold.Ended(p.Now):
	case hold.Money:
		waits := reminder && (e.Tag == "" || e.Tag == tagOverdue) && e.FireTime.Before(hold.Until)
		if covered || waits {
			e.Held, e.Money, e.Tag = true, true, hold.Words(p.Now)
		}
	case covered, hold.Paused && reminder:
		e.Held, e.Tag = true, hold.Words(p.Now)
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

// promptRunes is the length of the prompt excerpt that replaces a missing description.
const promptRunes = 60

// briefly returns the description, or else the beginning of the prompt on one line.
func briefly(t *routines.Task) string {
	if t.Description != "" {
		return t.Description
	}
	return beginning(t.Body)
}

// beginning returns the beginning of a prompt on one line.
func beginning(body string) string {
	// A prompt may be megabytes, so only its head is examined. The prompt is already
	// trimmed, so the first rune is not white space.
	head, cut := routines.Opening(body), false
	if most := 8 * promptRunes; len(head) > most {
		head, cut = strings.ToValidUTF8(head[:most], ""), true
	}
	line := strings.TrimSpace(strings.ReplaceAll(clean.Text(head), "\n", " "))
	if runes := []rune(line); len(runes) > promptRunes {
		end := promptRunes
		for end > 0 && joined(runes[end-1], runes[end]) {
			end--
		}
		return string(runes[:end]) + "..."
	}
	if cut {
		return line + "..."
	}
	return line
}

// joined reports whether two runes are parts of one character, such as a family of emoji.
func joined(a, b rune) bool {
	const zeroWidthJoiner = '\u200d'
	return a == zeroWidthJoiner || b == zeroWidthJoiner || unicode.Is(unicode.M, b) || b >= 0x1f3fb && b <= 0x1f3ff
}
