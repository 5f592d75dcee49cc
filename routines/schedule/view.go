package schedule

import (
	"cmp"
	"slices"
	"strings"
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
	mu    sync.Mutex
	made  viewKey
	kept  View
	words map[*routines.Routine]string // of their times: the costly text of a task
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
	known := s.known.Load()
	if known == nil {
		return nil
	}
	set := s.Set()
	for i := range set.Routines {
		if at, ok := known.missed[set.Routines[i].ID]; ok && now.Sub(at) < missedFor && !at.After(now) {
			e := s.entry(set, s.standing(now), candidate{at: at, index: i})
			e.Tag = fateMissed.tag()
			out = append(out, e)
		}
	}
	return sorted(out)
}

// tasks lists all routines and reminders by their next fire, and then by file;
// those that have none stand at the end.
func (s *Schedule) tasks(now time.Time) []TaskView {
	set, next := s.NextFires(now)
	stand := s.standing(now)
	words := make(map[*routines.Routine]string, len(set.Routines))
	list := make([]TaskView, len(next))
	for i, at := range next {
		t := taskAt(set, i)
		v := TaskView{
			ID: t.ID, Path: t.Path, Kind: t.Kind, Title: t.Title(), Next: at,
			Foreground: !t.Background, Silent: !t.AllowPing, Version: t.Digest, Cost: stand.price(t).Dollars,
		}
		if h := stand.Of(t); !h.Ended(now) {
			v.Paused, v.Waits = h.Paused, h.Why
			switch {
			case h.Money:
				v.Broke = h.Until.In(now.Location())
			case !v.Paused && !h.Until.IsZero():
				v.Snoozed = h.Until.In(now.Location())
			}
		}
		if n := i - len(set.Routines); n >= 0 {
			v.Label, v.UntilDone = set.Reminders[n].Label(), set.Reminders[n].UntilDone
		} else {
			r := set.Routines[i]
			if v.When = s.view.words[r]; v.When == "" {
				v.When = r.Schedule.Words()
			}
			words[r] = v.When
		}
		list[i] = v
	}
	s.view.words = words
	slices.SortStableFunc(list, func(a, b TaskView) int {
		if a.Next.IsZero() != b.Next.IsZero() {
			return cmp.Compare(b.Next.Unix(), a.Next.Unix()) // the zero time is the smallest
		}
		return a.Next.Compare(b.Next)
	})
	return list
}

// taskAt is the task of that place: the routines first, then the reminders.
func taskAt(set *routines.Set, index int) *routines.Task {
	if i := index - len(set.Routines); i >= 0 {
		return &set.Reminders[i].Task
	}
	return &set.Routines[index].Task
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
			e.Held, e.Money, e.Tag = true, true, moneyTag(hold.Until, now)
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

// forPeople is what a dashboard shows at now: the schedule that agents see, the next
// fires of foreground tasks up to a time, and those of tasks that are held, by time.
func (s *Schedule) forPeople(f Forward, now, until time.Time) []Entry {
	set, holds := s.Set(), s.standing(now)
	all := f.Told()
	for i, e := range all {
		if t, ok := taskOf(set, e.Kind, e.ID); ok {
			all[i] = markHeld(e, holds.Of(t), now)
		}
	}
	_, next := s.NextFires(now)
	var heldOnes []Entry
	for i, at := range next {
		t := taskAt(set, i)
		n := i - len(set.Routines)
		broke := n >= 0 && holds.broke(set.Reminders[n], s.known.Load())
		if n >= 0 && !broke && holds.Of(t).Money {
			continue // its run is under way, and listed
		}
		if hold := holds.Of(t); hold != (Hold{}) {
			if first := s.firstFire(set, i, now); !first.IsZero() && !first.After(until) {
				if e := markHeld(s.entry(set, holds, candidate{at: first, index: i}), hold, now); e.Held {
					heldOnes = append(heldOnes, e)
				}
			}
		}
		if !broke && !t.Background && !at.IsZero() && !at.Before(now) && !at.After(until) {
			all = append(all, markHeld(s.entry(set, holds, candidate{at: at, index: i}), holds.Of(t), now))
		}
	}
	slices.SortStableFunc(heldOnes, func(a, b Entry) int { return strings.Compare(a.FilePath, b.FilePath) })
	return sorted(append(all, heldOnes...))
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

// firstFire is when a task fires next at now or later, whatever holds it; zero for never.
func (s *Schedule) firstFire(set *routines.Set, index int, now time.Time) time.Time {
	if i := index - len(set.Routines); i >= 0 {
		at, _ := s.Holds().dueAt(set.Reminders[i])
		return at
	}
	at := nextFire(set.Routines[index].Schedule, ceilSecond(now), s.o.Zone)
	if at == never {
		return time.Time{}
	}
	return time.Unix(at, 0)
}

// calendar lists every fire from from to to, both included, by time: of
// foreground tasks too, and each fire of a routine, those that are held with
// their tag. It is for people; at most limit entries are returned.
func (s *Schedule) calendar(from, to time.Time, limit int) []Entry {
	set, holds := s.Set(), s.standing(from)
	s.fires.mu.Lock()
	defer s.fires.mu.Unlock()
	s.fires.follow(set)
	var next []candidate // the next fire of each task
	for i, r := range set.Routines {
		if at := s.fires.next(r, ceilSecond(from), s.o.Zone); at <= to.Unix() {
			next = append(next, candidate{at: time.Unix(at, 0), index: i})
		}
	}
	for i, r := range set.Reminders {
		if at, _ := holds.dueAt(r); !at.Before(from) && !at.After(to) {
			next = append(next, candidate{at: at, index: len(set.Routines) + i})
		}
	}
	slices.SortFunc(next, candidate.compare)
	var out []Entry
	for len(next) > 0 && len(out) < limit {
		one := next[0]
		next = next[1:]
		out = append(out, markHeld(s.entry(set, holds, one), holds.Of(taskAt(set, one.index)), from))
		if one.index >= len(set.Routines) {
			continue
		}
		if at := nextFire(set.Routines[one.index].Schedule, one.at.Unix()+1, s.o.Zone); at <= to.Unix() {
			one.at = time.Unix(at, 0)
			i, _ := slices.BinarySearchFunc(next, one, candidate.compare)
			next = slices.Insert(next, i, one)
		}
	}
	return out
}

// NextOf are the next n fires of one task behind now, by time, those that are held
// marked as Calendar does.
func (s *Schedule) NextOf(id string, now time.Time, n int) []Entry {
	set, holds := s.Set(), s.standing(now)
	var list []Entry
	for i, r := range set.Routines {
		if r.ID != id {
			continue
		}
		for at := nextFire(r.Schedule, now.Unix()+1, s.o.Zone); at != never && len(list) < n; at = nextFire(r.Schedule, at+1, s.o.Zone) {
			list = append(list, markHeld(s.entry(set, holds, candidate{at: time.Unix(at, 0), index: i}), holds.Of(&r.Task), now))
		}
	}
	for i, r := range set.Reminders {
		if r.ID == id && len(list) < n {
			at, _ := holds.dueAt(r)
			list = append(list, markHeld(s.entry(set, holds, candidate{at: at, index: len(set.Routines) + i}), holds.Of(&r.Task), now))
		}
	}
	return list
}

// NextFires is when each task fires next, at from or later: beside the routines
// of the set that is returned with them, and then its reminders. It is zero for
// what never does, as things stand: paused tasks among them. An overdue reminder
// gives its time in the past.
func (s *Schedule) NextFires(from time.Time) (*routines.Set, []time.Time) {
	set, holds := s.Set(), s.standing(from)
	next := make([]time.Time, len(set.Routines)+len(set.Reminders))
	s.fires.mu.Lock()
	defer s.fires.mu.Unlock()
	s.fires.follow(set)
	for i, r := range set.Routines {
		var at int64
		if hold := holds.Of(&r.Task); hold != (Hold{}) {
			at = hold.firstFree(r, ceilSecond(from), s.o.Zone)
		} else {
			at = s.fires.next(r, ceilSecond(from), s.o.Zone)
		}
		if at != never {
			next[i] = time.Unix(at, 0).In(s.o.Zone)
		}
	}
	for i, r := range set.Reminders {
		if at, free := holds.dueAt(r); free {
			next[len(set.Routines)+i] = at.In(s.o.Zone)
		}
	}
	return set, next
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
