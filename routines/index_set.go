package routines

import (
	"slices"
	"strings"
)

// Set is everything in force at one moment, and what is wrong. Whoever holds it
// may keep it; nobody may change it or what it points to. The zero Set is empty.
type Set struct {
	Routines  []*Routine  // by path
	Reminders []*Reminder // by path
	Problems  []Problem   // errors first, then by file and place

	// contested are the files in force whose id another file carries too, by path.
	contested []string

	routines  shelf[Routine]
	reminders shelf[Reminder]
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
func (s *Set) RoutineByID(id string) (*Routine, bool) {
	return s.routines.find(id, func(r *Routine) *Task { return &r.Task })
}

// ReminderByID returns the reminder with that id.
func (s *Set) ReminderByID(id string) (*Reminder, bool) {
	return s.reminders.find(id, func(r *Reminder) *Task { return &r.Task })
}

// RemindersByTime are the reminders in the order of their times; those of one
// moment go by path.
func (s *Set) RemindersByTime() []*Reminder {
	list := slices.Clone(s.Reminders)
	slices.SortStableFunc(list, func(a, b *Reminder) int { return a.RunAt.Compare(b.RunAt) })
	return list
}

// shelf is an immutable list of tasks in two orders. Sorted slices instead of a
// map: replacing one of 10,000 copies two slices, which a map cannot do in 100 µs.
type shelf[T any] struct {
	byPath, byID []*T
}

// swap replaces one task in force by another; nil where it came or went.
type swap[T any] struct{ old, new *T }

func (s shelf[T]) find(id string, task func(*T) *Task) (*T, bool) {
	i, ok := slices.BinarySearchFunc(s.byID, id, func(t *T, id string) int { return strings.Compare(task(t).ID, id) })
	if !ok {
		return nil, false
	}
	return s.byID[i], true
}

// sortInstead is the number of swaps from which sorting anew costs less than
// moving the tail of the slices for each.
const sortInstead = 64

// with returns the shelf after the swaps.
func (s shelf[T]) with(swaps []swap[T], task func(*T) *Task) shelf[T] {
	if len(swaps) == 0 {
		return s
	}
	return shelf[T]{
		byPath: replace(s.byPath, swaps, func(a, b *T) int { return strings.Compare(task(a).Path, task(b).Path) }),
		byID:   replace(s.byID, swaps, func(a, b *T) int { return strings.Compare(task(a).ID, task(b).ID) }),
	}
}

func replace[T any](list []*T, swaps []swap[T], order func(a, b *T) int) []*T {
	out := make([]*T, len(list), len(list)+len(swaps))
	copy(out, list)
	if len(swaps) < sortInstead {
		// All that goes first: a file that changed its id may take another's place.
		for _, w := range swaps {
			if i, ok := position(out, w.old, order); ok {
				out = slices.Delete(out, i, i+1)
			}
		}
		for _, w := range swaps {
			if w.new != nil {
				i, _ := slices.BinarySearchFunc(out, w.new, order)
				out = slices.Insert(out, i, w.new)
			}
		}
		return out
	}
	going := make(map[*T]bool, len(swaps))
	for _, w := range swaps {
		going[w.old] = true
	}
	out = slices.DeleteFunc(out, func(t *T) bool { return going[t] })
	for _, w := range swaps {
		if w.new != nil {
			out = append(out, w.new)
		}
	}
	slices.SortFunc(out, order)
	return out
}

func position[T any](list []*T, t *T, order func(a, b *T) int) (int, bool) {
	if t == nil {
		return 0, false
	}
	return slices.BinarySearchFunc(list, t, order)
}
