package routines

import (
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/store"
	"ollimbot/routines/watch"
)

// Index knows every routine and reminder file of a data directory: what is in
// force, and what is wrong. It reads a file again only when it changed. A file
// that becomes invalid keeps its last good version in force.
//
// All methods may be called by several goroutines. Set never waits for the disk.
type Index struct {
	d    *store.Dir
	zone *time.Location

	// look orders the looks at the disk. It is held over reading, because the
	// answer of an older look must not replace that of a newer one.
	look      sync.Mutex
	routines  *folder[Routine]
	reminders *folder[Reminder]
	recalled  bool // the folders know what was in force when the program ended

	set     atomic.Pointer[Set]
	forward forwardCache
	holds   holdBook
	known   atomic.Pointer[Known] // what has become of fires; nil: nobody knows
	// why says why a task waits for the user, or ""; nil where none ever does.
	why func(*Task) string
}

// Change says what a look at the disk brought. Its ids are those of tasks in
// force; a routine and a reminder with the same id share one entry.
type Change struct {
	Added, Updated, Removed []string
	// Problems is true when the list of problems is another one.
	Problems bool
}

// Empty reports whether nothing changed.
func (c Change) Empty() bool {
	return !c.Problems && len(c.Added)+len(c.Updated)+len(c.Removed) == 0
}

// NewIndex makes an empty index; Scan fills it. Times without a zone of their
// own are read in zone.
func NewIndex(d *store.Dir, zone *time.Location) *Index {
	x := &Index{d: d, zone: zone}
	x.routines = newFolder(RoutineFolder, func(rel string, data []byte) (Routine, []Problem) {
		return ParseRoutine(rel, data, zone)
	}, func(r *Routine) *Task { return &r.Task })
	x.reminders = newFolder(ReminderFolder, func(rel string, data []byte) (Reminder, []Problem) {
		return ParseReminder(rel, data, zone)
	}, func(r *Reminder) *Task { return &r.Task })
	x.set.Store(&Set{})
	return x
}

// Set is what is in force now. It never changes: a later look makes a new one.
func (x *Index) Set() *Set { return x.set.Load() }

// Scan looks at every file and reads those that changed since the last look.
func (x *Index) Scan() Change {
	x.holds.peek(x.d)
	x.look.Lock()
	defer x.look.Unlock()
	if !x.recalled {
		x.recalled = true
		b, found := peekBook(x.d)
		x.routines.before, x.reminders.before = b.InForce, b.InForce
		if found && x.known.Load() == nil {
			x.known.Store(b.known(time.Now(), time.Time{}))
		}
	}
	return x.publish(x.routines.scan(x.d, all), x.reminders.scan(x.d, all))
}

// Sweep is a Scan that is allowed to be lazy, for the times when nothing points
// at a change: files that came, went or were replaced are found in any case,
// those written in place only in every tenth of them, another tenth each time.
//
// A stat of 10,000 files each minute alone takes half of what an idle program
// may use (0.02 % of a core). The time stamp of a folder tells of every file that
// came, went or was saved by renaming, in one call; a write in place is told by
// the watch, and where a watch is silent without saying so, as on a network
// drive, such a write is found within ten sweeps.
func (x *Index) Sweep() Change {
	x.look.Lock()
	defer x.look.Unlock()
	return x.publish(x.routines.scan(x.d, tenth), x.reminders.scan(x.d, tenth))
}

// Apply looks at what a batch of the watch points at.
func (x *Index) Apply(b watch.Batch) Change {
	switch {
	case b.Full && b.Idle:
		return x.Sweep()
	case b.Full:
		return x.Scan()
	}
	return x.Refresh(b.Names)
}

// refreshAtMost is the number of names beyond which a whole Scan costs less.
const refreshAtMost = 256

// Refresh looks at the named files only ("routines/a.md"). Names of other
// folders and names that are not task files are ignored.
func (x *Index) Refresh(names []string) Change {
	if len(names) > refreshAtMost {
		return x.Scan()
	}
	x.look.Lock()
	defer x.look.Unlock()
	var routines, reminders []string
	for _, rel := range names {
		if !IsTaskFile(rel) {
			continue
		}
		switch folder, name := path.Split(rel); folder {
		case RoutineFolder + "/":
			routines = append(routines, name)
		case ReminderFolder + "/":
			reminders = append(reminders, name)
		}
	}
	return x.publish(x.routines.refresh(x.d, routines), x.reminders.refresh(x.d, reminders))
}

// IsTaskFile reports whether a name ("routines/a.md" or "a.md") is that of a
// task file: markdown, and not one that an editor keeps for itself. ".md" is one:
// the original calls a text without an ASCII letter so.
func IsTaskFile(name string) bool {
	base := path.Base(name)
	return base == ".md" || strings.HasSuffix(base, ".md") && !strings.ContainsAny(base[:1], ".#~")
}

// publish turns the files that changed into a new Set, if it differs.
func (x *Index) publish(routines []*file[Routine], reminders []*file[Reminder]) Change {
	if len(routines)+len(reminders) == 0 {
		return Change{}
	}
	old := x.Set()
	next := &Set{}
	var c Change
	next.routines = x.routines.settle(routines, old.routines, &c)
	next.reminders = x.reminders.settle(reminders, old.reminders, &c)
	next.Routines, next.Reminders = next.routines.byPath, next.reminders.byPath
	c.unique()
	next.Problems = append(x.routines.troubles(), x.reminders.troubles()...)
	slices.SortStableFunc(next.Problems, byWeight)
	next.contested = append(x.reminders.contested(), x.routines.contested()...)
	slices.Sort(next.contested)
	c.Problems = !slices.Equal(old.Problems, next.Problems)
	x.judgeChanged(next, c)
	if !c.Empty() {
		x.set.Store(next)
	}
	return c
}

// unique sorts the lists and leaves each id once: as changed where a routine
// and a reminder of the same id came and went at the same time.
func (c *Change) unique() {
	for _, list := range []*[]string{&c.Added, &c.Updated, &c.Removed} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}

// byWeight puts errors before warnings, then goes by file and place.
func byWeight(a, b Problem) int {
	if (a.Severity == Error) != (b.Severity == Error) {
		if a.Severity == Error {
			return -1
		}
		return 1
	}
	if c := strings.Compare(a.File, b.File); c != 0 {
		return c
	}
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Column - b.Column
}
