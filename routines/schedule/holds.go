package schedule

import (
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"ollimbot/core/base/clean"
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
	// Failing means that the bot paused the task itself, because it failed several times in a row.
	Failing bool
	// Reason is why a run of the task itself holds it; empty if the user does.
	Reason string
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

// Words describes a hold in a few words: "paused", "snoozed until 14:05"; empty if there is none.
func (h Hold) Words(now time.Time) string {
	switch {
	case h.Why != "":
		return TagWaits
	case h.Ended(now):
		return ""
	case h.Money:
		return TagMoney + " until " + untilWords(h.Until, now)
	case h.Failing:
		return tagFailing
	case h.Reason != "" && h.Paused:
		return tagItself
	case h.Reason != "":
		return tagItself + " until " + untilWords(h.Until, now)
	case h.Paused:
		return TagPaused
	}
	return snoozedTag(h.Until, now)
}

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
	// Failing is Hold.Failing.
	Failing bool `json:"failing,omitempty"`
	// Reason is Hold.Reason.
	Reason string `json:"reason,omitempty"`
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
		h.of[key{e.Kind, e.ID}] = held{Hold{
			Since: e.Since, Until: e.Until, Paused: e.Paused, Failing: e.Paused && e.Failing, Reason: clean.Line(e.Reason),
		}, e.Gone}
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
		list.Holds = append(list.Holds, holdEntry{k.kind, k.id, one.Since, one.Until, one.Paused, one.gone, one.Failing, one.Reason})
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

// holdChange replaces or removes a hold.
type holdChange struct {
	seen, next held
	forget     bool
}

// reviewHolds returns the changes to holds that have ended and to those whose tasks were
// removed or have returned. It advances the record to the end of each hold, which may be
// removed after the record is written.
func (l *loop) reviewHolds(now time.Time) map[key]holdChange {
	l.holdEnd = time.Time{}
	if l.unset || len(l.holds.now.Load().of) == 0 {
		return nil
	}
	changes := map[key]holdChange{}
	for k, h := range l.holds.now.Load().of {
		_, planned := l.agenda.get(itemKey{key: k})
		switch exists := l.exists(k); {
		case !exists && h.gone.IsZero():
			changes[k] = holdChange{seen: h, next: held{h.Hold, now}}
		case !exists && now.Sub(h.gone) > keepGone:
			changes[k] = holdChange{seen: h, forget: true}
		case exists && !h.gone.IsZero():
			changes[k] = holdChange{seen: h, next: held{Hold: h.Hold}}
		case !exists:
		case !h.Ended(now):
			if !h.Paused && (l.holdEnd.IsZero() || h.Until.Before(l.holdEnd)) {
				l.holdEnd = h.Until
			}
		case k.kind == routines.KindRoutine:
			l.passHeld(k.id, h.Hold)
			changes[k] = holdChange{seen: h, forget: true}
		case !planned:
			// While it queues behind other late ones, the hold keeps its due time.
			changes[k] = holdChange{seen: h, forget: true}
		}
	}
	return changes
}

func (l *loop) exists(k key) bool {
	if k.kind == routines.KindReminder {
		_, ok := l.set().ReminderByID(k.id)
		return ok
	}
	_, ok := l.set().RoutineByID(k.id)
	return ok
}

// passHeld advances the record to the end of a hold, including the last fire the hold
// prevented.
func (l *loop) passHeld(id string, h Hold) {
	e := l.record.entry(id)
	if !e.After.Before(h.after()) {
		return
	}
	decided := e.After
	e.After = h.after()
	r, ok := l.set().RoutineByID(id)
	if !ok {
		return
	}
	if c, ok := l.record.Moments[chosenKey(routineKey(id))]; ok && h.covers(c.At) && !c.At.Before(decided) {
		e.pass(c.At, outcomeHeld)
		return
	}
	from := max(ceilSecond(h.Since), ceilSecond(h.Until.Add(-knownFor)))
	if first, end := nextFire(&r.Schedule, from, l.zone), h.after().Unix(); first <= end {
		last, _, _ := lastFires(&r.Schedule, first, end, l.zone)
		e.pass(moment(last, l.zone), outcomeHeld)
	}
}

// keepHolds saves the changes. It leaves alone holds that the user has changed since;
// changes that cannot be saved are repeated after a restart.
func (l *loop) keepHolds(changes map[key]holdChange) {
	if len(changes) == 0 {
		return
	}
	l.report.changed = true
	err := l.holds.change(l.o.Dir, true, func(all map[key]held) {
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
		l.o.Log.Error("holds that have ended could not be removed", "error", err)
	}
}

// muteFile is private to this program; the original program does not use it.
const muteFile = store.StateDir + "/mute.json"

// Mute is the time until which only critical pings go through.
type Mute struct {
	dir *store.Dir
	log *slog.Logger
	// order is held during the write of the file, because it orders those writes.
	order sync.Mutex
	until atomic.Pointer[time.Time]
}

// muteEntry is the content of the file.
type muteEntry struct {
	Until time.Time `json:"until"`
}

// NewMute reads the file without repairing it.
func NewMute(d *store.Dir, log *slog.Logger) *Mute {
	m := &Mute{dir: d, log: log}
	var e muteEntry
	found, err := d.PeekJSON(muteFile, &e)
	if err != nil {
		log.Error("the mute could not be read; pings are not muted", "error", err)
	}
	if found {
		m.until.Store(&e.Until)
	}
	return m
}

// At returns the time until which pings are muted, or zero if they are not muted at now.
func (m *Mute) At(now time.Time) time.Time {
	if until := m.until.Load(); until != nil && now.Before(*until) {
		return until.In(now.Location())
	}
	return time.Time{}
}

// Set mutes pings until a time, or unmutes them with the zero time, and returns the
// previous mute. An unreadable file is set aside first.
func (m *Mute) Set(until, now time.Time) (before time.Time, err error) {
	m.order.Lock()
	defer m.order.Unlock()
	before = m.At(now)
	var old muteEntry
	if _, err := m.dir.ReadJSON(muteFile, &old); err != nil {
		m.log.Error("the mute could not be read", "error", err)
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
