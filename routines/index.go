package routines

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/storage/store"
	"ollimbot/routines/daysoff"
	"ollimbot/routines/watch"
)

// Index holds every routine and reminder file of a data directory (see Folder). All
// methods are safe for concurrent use. Set never waits for the disk.
type Index struct {
	routines  *Folder[Routine]
	reminders *Folder[Reminder]
	shelf     *daysoff.Shelf
	look      sync.Mutex // serialises scans, so that an older Set never replaces a newer one
	set       atomic.Pointer[Set]
}

// NewIndex returns an empty index; call Scan to fill it. Times without a zone are read in
// zone.
func NewIndex(d *store.Dir, zone *time.Location) *Index {
	x := &Index{shelf: daysoff.NewShelf(d)}
	x.routines = NewFolder(d, RoutineFolder, func(rel string, data []byte) (Routine, []Problem) {
		r, problems := ParseRoutine(rel, data)
		r.Schedule = r.Schedule.With(x.shelf.Calendar)
		return r, problems
	}, func(r *Routine) *Task { return &r.Task })
	x.reminders = NewFolder(d, ReminderFolder, func(rel string, data []byte) (Reminder, []Problem) {
		return ParseReminder(rel, data, zone)
	}, func(r *Reminder) *Task { return &r.Task })
	x.set.Store(&Set{})
	return x
}

// JudgeBy sets the function that decides which tasks need approval; see Folder.JudgeBy.
func (x *Index) JudgeBy(why func(*Task) string) {
	x.routines.JudgeBy(why)
	x.reminders.JudgeBy(why)
}

// KeepBy sets the function that returns the version in force before a given one; see
// Folder.KeepBy.
func (x *Index) KeepBy(previous func(version string) string) {
	x.routines.KeepBy(previous)
	x.reminders.KeepBy(previous)
}

// Prefer lists files that win over others with the same id. Call it before the first
// Scan.
func (x *Index) Prefer(paths []string) { x.routines.before, x.reminders.before = paths, paths }

// Set returns the tasks in force, as a value that never changes: a later scan creates a
// new one.
func (x *Index) Set() *Set { return x.set.Load() }

// Scan checks every file and reads those that changed since the last scan.
func (x *Index) Scan() Change {
	x.look.Lock()
	defer x.look.Unlock()
	return x.publish(x.routines.Scan().and(x.reminders.Scan()))
}

// Refresh checks only the named files ("routines/a.md"). It ignores names in other
// folders and names that are not task files.
func (x *Index) Refresh(names []string) Change {
	x.look.Lock()
	defer x.look.Unlock()
	return x.publish(x.routines.Refresh(names).and(x.reminders.Refresh(names)))
}

// Apply checks the files named in a batch from the watcher.
func (x *Index) Apply(b watch.Batch) Change {
	x.look.Lock()
	defer x.look.Unlock()
	return x.publish(x.routines.Apply(b).and(x.reminders.Apply(b)))
}

// Shelf returns the calendars that routines skip.
func (x *Index) Shelf() *daysoff.Shelf { return x.shelf }

// LookAtCalendars reads the calendars of routines again whose files have changed.
func (x *Index) LookAtCalendars() (c Change) {
	if !x.shelf.Look() {
		return c
	}
	x.look.Lock()
	defer x.look.Unlock()
	for _, r := range x.Set().Routines {
		if len(r.Schedule.Calendars) > 0 {
			c.IDs = append(c.IDs, r.ID)
		}
	}
	c.Problems = true
	x.renew()
	return c
}

// Judge decides again for every task whether it needs approval.
func (x *Index) Judge() Change {
	x.look.Lock()
	defer x.look.Unlock()
	return x.publish(x.routines.Judge().and(x.reminders.Judge()))
}

func (x *Index) publish(c Change) Change {
	old := x.Set()
	if old.routines == x.routines.Now() && old.reminders == x.reminders.Now() {
		return c
	}
	x.renew()
	return c
}

// CalendarProblems lists what is wrong with the calendars that a routine skips.
func CalendarProblems(r *Routine, shelf *daysoff.Shelf) (list []Problem) {
	for _, name := range r.Schedule.Calendars {
		c := shelf.Of(name)
		if why := cmp.Or(c.Trouble(), c.Odd()); why != "" {
			list = append(list, Problem{File: r.Path, Severity: Warning, Message: clean.Line(fmt.Sprintf(msgCalendar, why))})
		}
	}
	return list
}

// renew publishes what is in force.
func (x *Index) renew() {
	next := &Set{routines: x.routines.Now(), reminders: x.reminders.Now()}
	next.Routines, next.Reminders = next.routines.InForce, next.reminders.InForce
	next.Problems = slices.Concat(next.routines.Problems, next.reminders.Problems)
	for _, r := range next.Routines {
		next.Calendars = next.Calendars || len(r.Schedule.Calendars) > 0
		next.Problems = append(next.Problems, CalendarProblems(r, x.shelf)...)
	}
	slices.SortFunc(next.Problems, ByWeight)
	next.Contested = slices.Concat(next.reminders.contested, next.routines.contested)
	next.Versions = slices.Concat(next.routines.Versions, next.reminders.Versions)
	x.set.Store(next)
}

// Set is a snapshot of everything in force, with all problems. It may be kept but must
// not be modified, nor anything it points to. The zero Set is empty.
type Set struct {
	Routines  []*Routine  // by path
	Reminders []*Reminder // by path
	Problems  []Problem   // errors first, then by file and place
	Contested []string    // paths in force whose id also appears in another file
	Versions  []string    // Task.Digest of all files, in force or not
	Calendars bool        // whether a routine skips the days of calendars

	routines  *Listing[Routine]
	reminders *Listing[Reminder]
}

// Find returns the task with that id; the routine if a reminder shares the id.
func (s *Set) Find(id string) (Task, bool) {
	if r, ok := s.RoutineByID(id); ok {
		return r.Task, true
	}
	if r, ok := s.ReminderByID(id); ok {
		return r.Task, true
	}
	return Task{}, false
}

// RoutineByID returns the routine with that id.
func (s *Set) RoutineByID(id string) (*Routine, bool) { return s.routines.Find(id) }

// ReminderByID returns the reminder with that id.
func (s *Set) ReminderByID(id string) (*Reminder, bool) { return s.reminders.Find(id) }

// Tasks returns all tasks of the set, routines first.
func (s *Set) Tasks() []*Task {
	list := make([]*Task, 0, len(s.Routines)+len(s.Reminders))
	for _, r := range s.Routines {
		list = append(list, &r.Task)
	}
	for _, r := range s.Reminders {
		list = append(list, &r.Task)
	}
	return list
}

// RemindersByTime returns the reminders sorted by time, then by path.
func (s *Set) RemindersByTime() []*Reminder {
	list := slices.Clone(s.Reminders)
	slices.SortStableFunc(list, func(a, b *Reminder) int { return a.RunAt.Compare(b.RunAt) })
	return list
}
