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
	Paused          bool
	// Waits is why the task does not fire until its user says so; "" for all others.
	Waits   string
	Version string    // of its file: routines.Task.Digest
	Snoozed time.Time // until when; zero when it is not
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
	known  *Known
	minute time.Time
}

// View is the schedule at now.
func (s *Schedule) View(now time.Time) View {
	c := &s.view
	c.mu.Lock()
	defer c.mu.Unlock()
	made := viewKey{s.Set(), s.Holds(), s.Known(), now.Truncate(time.Minute)}
	if c.made == made {
		return c.kept
	}
	f := s.Forward(now, "")
	v := View{Window: f.Window(now), Last: f.Last, Until: now.Add(shortestView), Problems: made.set.Problems}
	if f.Last.After(v.Until) {
		v.Until = f.Last
	}
	v.Entries = s.ForPeople(f, now, v.Until)
	v.DayUntil = now.Add(24 * time.Hour)
	if v.Day = s.Calendar(now, v.DayUntil, dayFires+1); len(v.Day) > dayFires {
		v.Day, v.DayUntil = v.Day[:dayFires], v.Day[dayFires].FireTime
	}
	v.Tasks = s.tasks(now)
	c.made, c.kept = made, v
	return v
}

// tasks lists all routines and reminders by their next fire, and then by file;
// those that have none stand at the end.
func (s *Schedule) tasks(now time.Time) []TaskView {
	set, next := s.NextFires(now)
	words := make(map[*routines.Routine]string, len(set.Routines))
	list := make([]TaskView, len(next))
	for i, at := range next {
		t := taskAt(set, i)
		v := TaskView{
			ID: t.ID, Path: t.Path, Kind: t.Kind, Title: t.Title(), Next: at,
			Foreground: !t.Background, Silent: !t.AllowPing, Version: t.Digest,
		}
		if h := s.Holds().Of(t); !h.Ended(now) {
			if v.Paused, v.Waits = h.Paused, h.Why; !v.Paused && !h.Until.IsZero() {
				v.Snoozed = h.Until.In(now.Location())
			}
		}
		if n := i - len(set.Routines); n >= 0 {
			v.Label = set.Reminders[n].Label()
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
