package schedule

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"ollimbot/routines"
)

const (
	// dayFires is how many fires of the next 24 hours are listed.
	dayFires = 500
	// shortestView is how far people see when agents see less.
	shortestView = 3 * time.Hour
)

// View is the schedule as people see it. Nobody may change what it points to.
type View struct {
	// Window is the heading's word: "next 3h", or "recent".
	Window string
	// Entries are what agents see (background only) plus, marked, the
	// foreground tasks of the same window and the next fires of tasks that are
	// held. Sorted by time.
	Entries []Entry
	// Last is when the last of the agents' entries fires; zero if there is none.
	Last time.Time
	// Until is how far Entries reach.
	Until time.Time
	// Refills is the line below, such as "~2 refills before last task.", or empty. It
	// is for whoever knows the budget to fill in.
	Refills string
	// Problems are files that need the user: errors first.
	Problems []routines.Problem
	// Day are all fires of the next 24 hours, foreground ones too and those that are
	// held, marked, by time; the first 500 at most. It is complete up to DayUntil.
	Day      []Entry
	DayUntil time.Time
	// Missed are the last fires of routines that nobody was there for, within 24
	// hours, by time.
	Missed []Entry
	// Tasks are all routines and reminders, by their next fire.
	Tasks []TaskView
}

// TaskView is one routine or reminder in the list of all.
type TaskView struct {
	ID, Title, Path string
	Kind            routines.Kind
	When            string    // the cron line in words, or empty for a reminder
	Label           string    // as Entry has it for a reminder, else empty
	Next            time.Time // zero when it never fires again
	Foreground      bool
	Silent          bool
	UntilDone       bool // a reminder that comes back until it is done
	Paused          bool
	// Waits is why the task does not fire until its user says so; "" for all others.
	Waits   string
	Version string    // of its file: routines.Task.Digest
	Snoozed time.Time // until when; zero when it is not
	Broke   time.Time // until when there is no money for it; zero when there is
	Cost    float64   // as Entry has it
}

// viewCache keeps the view of the current minute: it changes once a minute, or when
// a file or a hold does.
type viewCache struct {
	mu   sync.Mutex
	made viewKey
	kept View
}

// viewKey is everything that the view of a minute depends on.
type viewKey struct {
	set    *routines.Set
	holds  *Holds
	known  *fates
	purse  uint64
	minute time.Time
}

// View is the schedule at now.
func (s *Schedule) View(now time.Time) View {
	c := &s.view
	c.mu.Lock()
	defer c.mu.Unlock()
	made := viewKey{s.Set(), s.Holds(), s.known.Load(), s.purse.Load(), now.Truncate(time.Minute)}
	if c.made == made {
		return c.kept
	}
	f := s.Forward(now, "")
	v := View{Window: f.Window(now), Last: f.Last, Until: now.Add(shortestView), Problems: made.set.Problems}
	if f.Last.After(v.Until) {
		v.Until = f.Last
	}
	v.Entries = s.forPeople(f, now, v.Until)
	v.DayUntil = now.Add(24 * time.Hour)
	if v.Day = s.calendar(now, v.DayUntil, dayFires+1); len(v.Day) > dayFires {
		v.Day, v.DayUntil = v.Day[:dayFires], v.Day[dayFires].FireTime
	}
	v.Missed = s.missed(now)
	v.Tasks = s.tasks(now)
	c.made, c.kept = made, v
	return v
}

func (s *Schedule) missed(now time.Time) (out []Entry) {
	known, stand := s.known.Load(), s.standing(now)
	if known == nil {
		return nil
	}
	for t := range tasksOf(s.Set()) {
		at, ok := known.missed[t.ID]
		if ok && t.routine != nil && now.Sub(at) < missedFor && !at.After(now) {
			e := s.entry(stand, t, at)
			e.Tag = fateMissed.tag()
			out = append(out, e)
		}
	}
	return sorted(out)
}

// tasks lists all routines and reminders by their next fire, and then by file;
// those that have none stand at the end.
func (s *Schedule) tasks(now time.Time) []TaskView {
	stand := s.standing(now)
	var list []TaskView
	for t := range tasksOf(s.Set()) {
		h := stand.Of(t.Task)
		v := TaskView{
			ID: t.ID, Path: t.Path, Kind: t.Kind, Title: t.Title(), Next: s.free(t, h, now),
			Foreground: !t.Background, Silent: !t.AllowPing, Version: t.Digest, Cost: stand.price(t.Task).Dollars,
		}
		if !h.Ended(now) {
			v.Paused, v.Waits = h.Paused, h.Why
			switch {
			case h.Money:
				v.Broke = h.Until.In(now.Location())
			case !v.Paused && !h.Until.IsZero():
				v.Snoozed = h.Until.In(now.Location())
			}
		}
		if t.reminder != nil {
			v.Label, v.UntilDone = t.reminder.Label(), t.reminder.UntilDone
		} else {
			v.When = t.routine.Schedule.Words()
		}
		list = append(list, v)
	}
	slices.SortStableFunc(list, func(a, b TaskView) int {
		if a.Next.IsZero() != b.Next.IsZero() {
			return cmp.Compare(b.Next.Unix(), a.Next.Unix()) // the zero time is the smallest
		}
		return a.Next.Compare(b.Next)
	})
	return list
}

// markHeld says in an entry that people see whether its fire is held at now, or is
// where it is because of a snooze. A reminder has one fire, whose time does not
// count: it is held even when it was due before.
func markHeld(e Entry, hold Hold, now time.Time) Entry {
	covered, reminder := hold.covers(e.FireTime), e.Kind == routines.KindReminder
	switch {
	case hold.Why != "":
		e.Held, e.Tag, e.Why = true, TagWaits, hold.Why
	case hold.Ended(now):
	case hold.Money:
		waits := reminder && (e.Tag == "" || e.Tag == tagOverdue) && e.FireTime.Before(hold.Until)
		if covered || waits {
			e.Held, e.Money, e.Tag = true, true, TagMoney+" until "+untilWords(hold.Until, now)
		}
	case hold.Paused && (covered || reminder):
		e.Held, e.Tag = true, TagPaused
	case covered:
		e.Held, e.Tag = true, snoozedTag(hold.Until, now)
	case reminder && e.FireTime.Equal(hold.Until) && e.Tag == "":
		e.Tag = snoozedTag(hold.Until, now)
	}
	return e
}

// held is the entry of a fire, marked where something holds it at now.
func (s *Schedule) held(stand standing, t task, at time.Time) Entry {
	return markHeld(s.entry(stand, t, at), stand.Of(t.Task), stand.now)
}

// forPeople is what a dashboard shows at now: the schedule that agents see, the next
// fires of foreground tasks up to a time, and those of tasks that are held, by time.
func (s *Schedule) forPeople(f Forward, now, until time.Time) []Entry {
	set, stand, known := s.Set(), s.standing(now), s.known.Load()
	all := f.Told()
	for i, e := range all {
		if t, ok := taskOf(set, e.Kind, e.ID); ok {
			all[i] = markHeld(e, stand.Of(t), now)
		}
	}
	for t := range tasksOf(set) {
		hold := stand.Of(t.Task)
		broke := t.reminder != nil && stand.broke(t.reminder, known)
		if t.reminder != nil && !broke && hold.Money {
			continue // its run is under way, and listed
		}
		if first := s.from(t, now); hold != (Hold{}) && !first.IsZero() && !first.After(until) {
			if e := s.held(stand, t, first); e.Held {
				all = append(all, e)
			}
		}
		if at := s.free(t, hold, now); !broke && !t.Background && !at.IsZero() && !at.Before(now) && !at.After(until) {
			all = append(all, s.held(stand, t, at))
		}
	}
	return sorted(all)
}

func taskOf(set *routines.Set, kind routines.Kind, id string) (*routines.Task, bool) {
	if kind == routines.KindRoutine {
		if r, ok := set.RoutineByID(id); ok {
			return &r.Task, true
		}
		return nil, false
	}
	if r, ok := set.ReminderByID(id); ok {
		return &r.Task, true
	}
	return nil, false
}

// calendar lists every fire from from to to, both included, by time: of
// foreground tasks too, and each fire of a routine, those that are held with
// their tag. It is for people; at most limit entries are returned.
func (s *Schedule) calendar(from, to time.Time, limit int) []Entry {
	stand := s.standing(from)
	var next []candidate // the next fire of each task
	for t := range tasksOf(s.Set()) {
		if at := s.from(t, from); !at.IsZero() && !at.Before(from) && !at.After(to) {
			next = append(next, candidate{task: t, at: at})
		}
	}
	slices.SortFunc(next, byTime)
	var out []Entry
	for len(next) > 0 && len(out) < limit {
		one := next[0]
		next = next[1:]
		out = append(out, s.held(stand, one.task, one.at))
		if one.reminder != nil {
			continue
		}
		if one.at = s.from(one.task, after(one.at)); !one.at.IsZero() && !one.at.After(to) {
			i, _ := slices.BinarySearchFunc(next, one, byTime)
			next = slices.Insert(next, i, one)
		}
	}
	return out
}

// NextOf are the next n fires of one task behind now, by time, those that are held
// marked as Calendar does.
func (s *Schedule) NextOf(id string, now time.Time, n int) []Entry {
	stand := s.standing(now)
	var list []Entry
	for t := range tasksOf(s.Set()) {
		if t.ID != id {
			continue
		}
		for at := s.from(t, after(now)); !at.IsZero() && len(list) < n; at = s.from(t, after(at)) {
			list = append(list, s.held(stand, t, at))
			if t.reminder != nil {
				break
			}
		}
	}
	return list
}

// NextFires is when each task fires next, at from or later: the routines first, then
// the reminders. It is zero for what never does, as things stand: paused tasks among
// them. An overdue reminder gives its time in the past.
func (s *Schedule) NextFires(from time.Time) ([]*routines.Task, []time.Time) {
	stand := s.standing(from)
	var tasks []*routines.Task
	var next []time.Time
	for t := range tasksOf(s.Set()) {
		tasks, next = append(tasks, t.Task), append(next, s.free(t, stand.Of(t.Task), from))
	}
	return tasks, next
}

// DueAt is the fire of a task that starts at now, whatever its schedule says: a
// reminder that was due before is late, as the loop marks it. False means that there is no such task.
func (s *Schedule) DueAt(id string, now time.Time) (Due, bool) {
	set := s.Set()
	if r, ok := set.RoutineByID(id); ok {
		return Due{Kind: routines.KindRoutine, Routine: r, At: now}, true
	}
	r, ok := set.ReminderByID(id)
	if !ok {
		return Due{}, false
	}
	d := Due{Kind: routines.KindReminder, Reminder: r, At: now}
	if at, _ := s.Holds().dueAt(r); now.Sub(at) > grace {
		d.At, d.Late = at.In(s.o.Zone), true
	}
	return d, true
}
