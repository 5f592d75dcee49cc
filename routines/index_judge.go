package routines

import (
	"maps"
	"slices"
)

// JudgeBy makes why decide which tasks do not fire until the user says so: it is
// given a task and answers with the reason, "" for all that may fire. It is asked
// when a file changes and by Judge, by one caller at a time; it may read files and
// must not call the index. It is set before the first Scan.
func (x *Index) JudgeBy(why func(*Task) string) { x.why = why }

// Judge asks about every task anew and says which of them have another answer.
func (x *Index) Judge() Change {
	x.look.Lock()
	defer x.look.Unlock()
	if x.why == nil {
		return Change{}
	}
	set, next := x.Set(), map[key]string{}
	ask := func(t *Task) {
		if why := x.why(t); why != "" {
			next[key{t.Kind, t.ID}] = why
		}
	}
	for _, r := range set.Routines {
		ask(&r.Task)
	}
	for _, r := range set.Reminders {
		ask(&r.Task)
	}
	var c Change
	old := x.waits()
	for k, why := range old {
		if next[k] != why {
			c.Updated = append(c.Updated, k.id)
		}
	}
	for k := range next {
		if _, waited := old[k]; !waited {
			c.Updated = append(c.Updated, k.id)
		}
	}
	c.unique()
	if !c.Empty() {
		x.holds.wait(next)
	}
	return c
}

// judgeChanged asks about the tasks that are about to change, before they are in
// force. One file among 10,000 must not cost a walk through all of them.
func (x *Index) judgeChanged(next *Set, c Change) {
	if x.why == nil {
		return
	}
	waits := maps.Clone(x.waits())
	if waits == nil {
		waits = map[key]string{}
	}
	judge := func(kind Kind, id string, t *Task) {
		delete(waits, key{kind, id})
		if t == nil {
			return
		}
		if why := x.why(t); why != "" {
			waits[key{kind, id}] = why
		}
	}
	for _, id := range slices.Concat(c.Added, c.Updated, c.Removed) {
		routine, reminder := (*Task)(nil), (*Task)(nil)
		if r, ok := next.RoutineByID(id); ok {
			routine = &r.Task
		}
		if r, ok := next.ReminderByID(id); ok {
			reminder = &r.Task
		}
		judge(KindRoutine, id, routine)
		judge(KindReminder, id, reminder)
	}
	if !maps.Equal(waits, x.waits()) {
		x.holds.wait(waits)
	}
}

func (x *Index) waits() map[key]string {
	if h := x.Holds(); h != nil {
		return h.waits
	}
	return nil
}
