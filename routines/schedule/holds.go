package schedule

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/storage/store"
	"ollimbot/routines"
)

// holdsFile is ours alone; the original program does not know it.
const holdsFile = store.StateDir + "/holds.json"

// keepGone is how long the hold of a task that is gone is remembered: a file
// that is away while it is mended must not fire when it comes back.
const keepGone = 24 * time.Hour

// Hold keeps a task from firing: until a time (a snooze), or with Paused until
// it is let go on. The zero Hold holds nothing.
type Hold struct {
	Since  time.Time // when the task was first held; Schedule.Hold sets it
	Until  time.Time // the first moment at which it may fire again; zero while Paused
	Paused bool
	// Why is another reason, which is not the user's doing and in no file of holds:
	// the task waits for their word (routines.Task.Waits).
	Why string
	// Money says that it is held because a cap is reached. That is in no file of holds
	// either.
	Money bool
}

// Ended reports whether the hold is over at now; the zero Hold always is.
func (h Hold) Ended(now time.Time) bool { return !h.open() && !now.Before(h.Until) }

// open reports a hold without an end.
func (h Hold) open() bool { return h.Paused || h.Why != "" }

// covers reports whether a fire at that time is held.
func (h Hold) covers(at time.Time) bool { return !at.Before(h.Since) && !h.Ended(at) }

// after is the instant up to which a snoozed routine owes nothing.
func (h Hold) after() time.Time { return h.Until.Add(-grace).Truncate(time.Second) }

// firstFree is the first fire at or after sec that is not held, in unix seconds.
func (h Hold) firstFree(r *routines.Routine, sec int64, zone *time.Location) int64 {
	if h.open() {
		return never
	}
	return nextFire(r.Schedule, max(sec, ceilSecond(h.Until)), zone)
}

// Holds are all holds at one moment. Whoever has it may keep it: a change makes
// a new one. Nil is none.
type Holds struct{ of map[key]held }

// held is a hold, and since when its task has been gone; zero while it is there.
type held struct {
	Hold
	gone time.Time
}

// Of is the hold of a task, ended or not; the zero Hold where there is none.
func (h *Holds) Of(t *routines.Task) Hold {
	var one Hold
	if h != nil && len(h.of) > 0 {
		one = h.of[key{t.Kind, t.ID}].Hold
	}
	one.Why = t.Waits
	return one
}

// dueAt is when a reminder fires: at the end of a snooze that its time falls into.
// False means never, as things stand.
func (h *Holds) dueAt(r *routines.Reminder) (time.Time, bool) {
	one := h.Of(&r.Task)
	if one.Until.After(r.RunAt) {
		return one.Until, !one.open()
	}
	return r.RunAt, !one.open()
}

// holdStore is state/holds.json.
type holdStore struct {
	// order makes changes follow each other. It is held over the file's writing,
	// because that is what it orders.
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

// peek reads the file and leaves it as it is: whoever only looks takes a file that
// cannot be understood as empty.
func (b *holdStore) peek(d *store.Dir) {
	var list holdList
	_, _ = d.PeekJSON(holdsFile, &list) // the loop reports what is wrong with it
	b.now.Store(list.holds())
}

// read reads the file for whoever is going to replace it.
func (b *holdStore) read(d *store.Dir) error {
	b.order.Lock()
	defer b.order.Unlock()
	var list holdList
	_, err := d.ReadJSON(holdsFile, &list)
	b.now.Store(list.holds())
	return err
}

// holds takes over what makes sense of a file.
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

// change replaces the holds by what do makes of a copy. When they cannot be
// written, they stay as they were, unless they are to change in any case.
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

// Holds are the tasks that are kept from firing now.
func (s *Schedule) Holds() *Holds { return s.holds.now.Load() }

// heldAt reports whether the task may not fire at now.
func (s *Schedule) heldAt(t *routines.Task, now time.Time) bool { return !s.Holds().Of(t).Ended(now) }

// Hold keeps a task from firing, or with the zero Hold lets it go on, and says
// which hold was in force before (the zero Hold for none). Where a routine and a
// reminder share the id, the routine is meant. What a routine passes over while
// it is held is not missed; a reminder fires at the end of its snooze. FireNow
// fires held tasks too. Where no bot runs, the file is changed for the next start.
// Errors: no such task, a time that has passed, a file that cannot be written, or a
// schedule that another program runs.
func (s *Schedule) Hold(id string, h Hold) (before Hold, err error) {
	t, ok := s.Set().Find(id)
	if !ok {
		return Hold{}, fmt.Errorf(msgUnknown, id)
	}
	now, k := s.clock(), key{t.Kind, id}
	s.mu.Lock()
	open, ran := s.open, s.ran
	s.mu.Unlock()
	if !open {
		if _, running := s.o.Dir.Running(); running || ran {
			return Hold{}, errors.New(msgClosed)
		}
		if err := s.holds.read(s.o.Dir); err != nil { // nobody else has
			return Hold{}, err
		}
	}
	if !h.Until.IsZero() {
		h.Until = h.Until.Round(0).Truncate(time.Second).In(s.o.Zone)
		if !h.Paused && h.Ended(now) {
			return Hold{}, fmt.Errorf(msgHoldPassed, dueWords(h.Until, now))
		}
	}
	err = s.holds.change(s.o.Dir, false, func(all map[key]held) { before = replaceHold(all, k, h, now) })
	if err != nil {
		return Hold{}, fmt.Errorf("hold %s %s: %w", k.kind, id, err)
	}
	s.kick(routines.Change{IDs: []string{id}})
	return before, nil
}

// replaceHold puts a hold in the place of another, and returns the one that was
// in force. A routine that is let go on keeps a hold that ends now: the loop
// notes in the book that nothing from before is owed, and then forgets it.
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

// holdChange is what becomes of a hold: another, or nothing.
type holdChange struct {
	seen, next held
	forget     bool
}

// reviewHolds says what becomes of the holds that have ended and of those whose
// tasks have gone or come back. The book is brought up to the end of each hold,
// which may be forgotten once the book is written.
func (s *Schedule) reviewHolds(now time.Time) map[key]holdChange {
	s.holdEnd = time.Time{}
	if s.unset || len(s.Holds().of) == 0 {
		return nil
	}
	changes := map[key]holdChange{}
	for k, h := range s.Holds().of {
		_, planned := s.plan[spot{key: k}]
		switch _, there := taskOf(s.Set(), k.kind, k.id); {
		case !there && h.gone.IsZero():
			changes[k] = holdChange{seen: h, next: held{h.Hold, now}}
		case !there && now.Sub(h.gone) > keepGone:
			changes[k] = holdChange{seen: h, forget: true}
		case there && !h.gone.IsZero():
			changes[k] = holdChange{seen: h, next: held{Hold: h.Hold}}
		case !there:
		case !h.Ended(now):
			if !h.Paused && (s.holdEnd.IsZero() || h.Until.Before(s.holdEnd)) {
				s.holdEnd = h.Until
			}
		case k.kind == routines.KindRoutine:
			s.passHeld(k.id, h.Hold)
			changes[k] = holdChange{seen: h, forget: true}
		case !planned:
			// While it waits behind other late ones, the hold says when it was due.
			changes[k] = holdChange{seen: h, forget: true}
		}
	}
	return changes
}

// passHeld brings the book up to the end of a hold, with the last fire that it kept
// from happening.
func (s *Schedule) passHeld(id string, h Hold) {
	b := s.book.entry(id)
	if !b.After.Before(h.after()) {
		return
	}
	b.After = h.after()
	r, ok := s.Set().RoutineByID(id)
	if !ok {
		return
	}
	from := max(ceilSecond(h.Since), ceilSecond(h.Until.Add(-knownFor)))
	if first, end := nextFire(r.Schedule, from, s.o.Zone), h.after().Unix(); first <= end {
		last, _, _ := lastFires(r.Schedule, first, end, s.o.Zone)
		b.Passed, b.Why = s.time(last), fateHeld
	}
}

// keepHolds writes what has become of holds. One that the user has changed since
// is theirs; what cannot be written comes out the same after a restart.
func (s *Schedule) keepHolds(changes map[key]holdChange) {
	if len(changes) == 0 {
		return
	}
	s.touched = true
	err := s.holds.change(s.o.Dir, true, func(all map[key]held) {
		for k, c := range changes {
			switch {
			case all[k] != c.seen:
			case c.forget:
				delete(all, k)
			default:
				all[k] = c.next
			}
		}
	})
	if err != nil {
		s.o.Log.Error("holds that have ended could not be forgotten", "error", err)
	}
}

// muteFile is ours alone; the original program does not know it.
const muteFile = store.StateDir + "/mute.json"

// Mute is until when the user wants no pings but critical ones.
type Mute struct {
	dir *store.Dir
	log *slog.Logger
	// order is held over the file's writing, because that is what it orders.
	order sync.Mutex
	until atomic.Pointer[time.Time]
}

// muteEntry is the file.
type muteEntry struct {
	Until time.Time `json:"until"`
}

// NewMute looks at the file and leaves it as it is.
func NewMute(d *store.Dir, log *slog.Logger) *Mute {
	m := &Mute{dir: d, log: log}
	var e muteEntry
	found, err := d.PeekJSON(muteFile, &e)
	if err != nil {
		log.Error("until when pings are muted could not be read; they are not", "error", err)
	}
	if found {
		m.until.Store(&e.Until)
	}
	return m
}

// At is until when pings are muted at now; zero when they are not.
func (m *Mute) At(now time.Time) time.Time {
	if until := m.until.Load(); until != nil && now.Before(*until) {
		return until.In(now.Location())
	}
	return time.Time{}
}

// Set mutes pings until a time, or with the zero time ends that, and says what was in
// force before. The file is replaced after what cannot be read was set aside.
func (m *Mute) Set(until, now time.Time) (before time.Time, err error) {
	m.order.Lock()
	defer m.order.Unlock()
	before = m.At(now)
	var old muteEntry
	if _, err := m.dir.ReadJSON(muteFile, &old); err != nil {
		m.log.Error("until when pings were muted could not be read", "error", err)
	}
	if until.IsZero() {
		err = m.dir.Remove(muteFile)
	} else {
		err = m.dir.WriteJSON(muteFile, muteEntry{Until: until})
	}
	if err == nil {
		m.until.Store(&until)
	}
	return before, err
}
