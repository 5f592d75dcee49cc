package routines

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/storage/store"
	"ollimbot/routines/watch"
)

// Index knows every routine and reminder file of a data directory (see Folder).
// All methods may be called by several goroutines. Set never waits for the disk.
type Index struct {
	routines  *Folder[Routine]
	reminders *Folder[Reminder]
	look      sync.Mutex // orders the looks, so that no older Set replaces a newer one
	set       atomic.Pointer[Set]
}

// NewIndex makes an empty index; Scan fills it. Times without a zone of their
// own are read in zone.
func NewIndex(d *store.Dir, zone *time.Location) *Index {
	x := &Index{}
	x.routines = NewFolder(d, RoutineFolder, ParseRoutine, func(r *Routine) *Task { return &r.Task })
	x.reminders = NewFolder(d, ReminderFolder, func(rel string, data []byte) (Reminder, []Problem) {
		return ParseReminder(rel, data, zone)
	}, func(r *Reminder) *Task { return &r.Task })
	x.set.Store(&Set{})
	return x
}

// JudgeBy makes why decide which tasks wait for the user; see Folder.JudgeBy.
func (x *Index) JudgeBy(why func(*Task) string) {
	x.routines.JudgeBy(why)
	x.reminders.JudgeBy(why)
}

// KeepBy makes previous tell which version was in force before one; see Folder.KeepBy.
func (x *Index) KeepBy(previous func(version string) string) {
	x.routines.KeepBy(previous)
	x.reminders.KeepBy(previous)
}

// Prefer names files that are in force although another one carries the same id.
// It is called before the first Scan.
func (x *Index) Prefer(paths []string) { x.routines.before, x.reminders.before = paths, paths }

// Set is what is in force now. It never changes: a later look makes a new one.
func (x *Index) Set() *Set { return x.set.Load() }

// Scan looks at every file and reads those that changed since the last look.
func (x *Index) Scan() Change {
	x.look.Lock()
	defer x.look.Unlock()
	return x.publish(x.routines.Scan().and(x.reminders.Scan()))
}

// Refresh looks at the named files only ("routines/a.md"). Names of other
// folders and names that are not task files are ignored.
func (x *Index) Refresh(names []string) Change {
	x.look.Lock()
	defer x.look.Unlock()
	return x.publish(x.routines.Refresh(names).and(x.reminders.Refresh(names)))
}

// Apply looks at what a batch of the watch points at.
func (x *Index) Apply(b watch.Batch) Change {
	x.look.Lock()
	defer x.look.Unlock()
	return x.publish(x.routines.Apply(b).and(x.reminders.Apply(b)))
}

// Judge asks about every task anew whether it waits for the user.
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
	next := &Set{routines: x.routines.Now(), reminders: x.reminders.Now()}
	next.Routines, next.Reminders = next.routines.InForce, next.reminders.InForce
	next.Problems = slices.Concat(next.routines.Problems, next.reminders.Problems)
	slices.SortFunc(next.Problems, ByWeight)
	next.Contested = slices.Concat(next.reminders.contested, next.routines.contested)
	next.Versions = slices.Concat(next.routines.Versions, next.reminders.Versions)
	x.set.Store(next)
	return c
}

// Set is everything in force at one moment, and what is wrong. Whoever holds it
// may keep it; nobody may change it or what it points to. The zero Set is empty.
type Set struct {
	Routines  []*Routine  // by path
	Reminders []*Reminder // by path
	Problems  []Problem   // errors first, then by file and place
	Contested []string    // paths in force whose id another file carries too
	Versions  []string    // Task.Digest of all files, in force or not

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

// Tasks are all tasks of the set, the routines first.
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

// RemindersByTime are the reminders in the order of their times; those of one
// moment go by path.
func (s *Set) RemindersByTime() []*Reminder {
	list := slices.Clone(s.Reminders)
	slices.SortStableFunc(list, func(a, b *Reminder) int { return a.RunAt.Compare(b.RunAt) })
	return list
}
