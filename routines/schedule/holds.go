package schedule

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// holdsFile is private to this program; the original program does not use it.
const holdsFile = store.StateDir + "/holds.json"

// keepGone is how long the hold of a removed task is kept: a file that is moved away
// while being edited must not fire when it returns.
const keepGone = 24 * time.Hour

// Hold keeps a task from firing: until a time (a snooze), or with Paused until it is
// resumed. The zero Hold has no effect.
type Hold struct {
	Since  time.Time // when the task was first held; Schedule.Hold sets it
	Until  time.Time // the first moment at which it may fire again; zero while Paused
	Paused bool
	// Why is why the task needs the user's approval (routines.Task.Waits). It is not saved
	// with the holds.
	Why string
	// Money means that a spending cap holds the task. It is not saved with the holds.
	Money bool
}

// Ended reports whether the hold is over at now. The zero Hold always is.
func (h Hold) Ended(now time.Time) bool { return !h.open() && !now.Before(h.Until) }

// open reports whether the hold has no end.
func (h Hold) open() bool { return h.Paused || h.Why != "" }

// covers reports whether a fire at that time is held.
func (h Hold) covers(at time.Time) bool { return !at.Before(h.Since) && !h.Ended(at) }

// after returns the instant up to which a snoozed routine has no fires to catch up on.
func (h Hold) after() time.Time { return h.Until.Add(-grace).Truncate(time.Second) }

// Holds is an immutable snapshot of all holds. Nil means none.
type Holds struct{ of map[key]held }

// held is a hold, and when its task disappeared; zero if it exists.
type held struct {
	Hold
	gone time.Time
}

// Of returns the hold of a task, ended or not, or the zero Hold if there is none.
func (h *Holds) Of(t *routines.Task) Hold {
	var one Hold
	if h != nil && len(h.of) > 0 {
		one = h.of[key{t.Kind, t.ID}].Hold
	}
	one.Why = t.Waits
	return one
}

// dueAt returns when a reminder fires: at its time, or at the end of a snooze that covers
// it. It returns false if the reminder does not fire while held.
func (h *Holds) dueAt(r *routines.Reminder) (time.Time, bool) {
	one := h.Of(&r.Task)
	if one.Until.After(r.RunAt) {
		return one.Until, !one.open()
	}
	return r.RunAt, !one.open()
}

// holdStore manages state/holds.json.
type holdStore struct {
	// order serialises changes. It is held during the write of the file, because it orders
	// those writes.
	order sync.Mutex
	now   atomic.Pointer[Holds]
}

// holdEntry is one hold in the file.
type holdEntry struct {
	Kind   routines.Kind `json:"kind"`
	ID     string        `json:"id"`
	Since  time.Time     `json:"since,omitzero"`
	Until  time.Time     `json:"until,omitzero"`
	Paused bool          `json:"paused,omitempty"`
	Gone   time.Time     `json:"gone,omitzero"`
}

type holdList struct {
	Holds []holdEntry `json:"holds"`
}

// peek reads the file without repairing it. A file that cannot be parsed counts as empty.
func (b *holdStore) peek(d *store.Dir) {
	var list holdList
	_, _ = d.PeekJSON(holdsFile, &list) // the loop reports the error
	b.now.Store(list.holds())
}

// read loads the file before its first change.
func (b *holdStore) read(d *store.Dir) error {
	b.order.Lock()
	defer b.order.Unlock()
	var list holdList
	_, err := d.ReadJSON(holdsFile, &list)
	b.now.Store(list.holds())
	return err
}

// holds returns the valid entries of a file.
func (l holdList) holds() *Holds {
	h := &Holds{of: make(map[key]held, len(l.Holds))}
	for _, e := range l.Holds {
		known := e.Kind == routines.KindRoutine || e.Kind == routines.KindReminder
		if !known || !routines.ValidID(e.ID) || !e.Paused && e.Until.IsZero() {
			continue
		}
		if e.Paused {
			e.Until = time.Time{}
		}
		h.of[key{e.Kind, e.ID}] = held{Hold{Since: e.Since, Until: e.Until, Paused: e.Paused}, e.Gone}
	}
	return h
}

// change applies do to a copy of the holds. If the result cannot be written, the holds
// stay unchanged unless inAnyCase is set.
func (b *holdStore) change(d *store.Dir, inAnyCase bool, do func(map[key]held)) error {
	b.order.Lock()
	defer b.order.Unlock()
	next := &Holds{of: maps.Clone(b.now.Load().of)}
	do(next.of)
	err := next.write(d)
	if err == nil || inAnyCase {
		b.now.Store(next)
	}
	return err
}

func (h *Holds) write(d *store.Dir) error {
	if len(h.of) == 0 {
		return d.Remove(holdsFile)
	}
	list := holdList{Holds: make([]holdEntry, 0, len(h.of))}
	for k, one := range h.of {
		list.Holds = append(list.Holds, holdEntry{k.kind, k.id, one.Since, one.Until, one.Paused, one.gone})
	}
	slices.SortFunc(list.Holds, func(a, b holdEntry) int {
		return strings.Compare(a.ID+string(a.Kind), b.ID+string(b.Kind))
	})
	return d.WriteJSON(holdsFile, list)
}

// replaceHold replaces a task's hold and returns the previous one if it was active. A
// resumed routine keeps a hold that ends now: the loop records that no earlier fires are
// owed, and then removes it.
func replaceHold(all map[key]held, k key, h Hold, now time.Time) (before Hold) {
	if old := all[k].Hold; !old.Ended(now) {
		before = old
	}
	switch {
	case h.Paused:
		h.Until = time.Time{}
	case !h.Until.IsZero():
	case before == Hold{}:
		return before
	case k.kind == routines.KindReminder:
		delete(all, k)
		return before
	default:
		h.Until = now
	}
	if h.Since = before.Since; h.Since.IsZero() {
		h.Since = now
	}
	all[k] = held{Hold: h}
	return before
}
