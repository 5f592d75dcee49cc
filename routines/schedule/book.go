package schedule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"ollimbot/core/storage/store"
)

// bookFile is ours alone; the original program does not know it.
const bookFile = store.StateDir + "/schedule.json"

// keepRemoved is how long a routine that is gone is remembered: it may come back.
const keepRemoved = 30 * 24 * time.Hour

// fate is what has become of a fire that lies behind: how its run went, or why
// there was none.
type fate string

const (
	// fateAssumed is that of a fire of which nothing else is known: it lies ahead of
	// whoever looked last, or far behind.
	fateAssumed fate = ""
	fateRunning fate = "running"
	fateDone    fate = "done"
	fateFailed  fate = "failed"
	fateCutOff  fate = "interrupted" // the program ended during the run
	fateMissed  fate = "missed"
	fateHeld    fate = "held"
	fateSkipped fate = "skipped"
	fateOverdue fate = "overdue"
	// fateNone is that of a fire from before its task was there.
	fateNone fate = "none"
)

// happened reports whether there was a run.
func (f fate) happened() bool {
	switch f {
	case fateMissed, fateHeld, fateSkipped, fateOverdue, fateNone:
		return false
	}
	return true
}

// tags are the words for people.
var tags = map[fate]string{
	fateRunning: tagRunning, fateFailed: tagFailed, fateCutOff: tagCutOff, fateMissed: tagMissed,
	fateHeld: tagHeld, fateSkipped: tagSkipped, fateOverdue: tagOverdue,
}

func (f fate) tag() string {
	if tag, ok := tags[f]; ok {
		return tag
	}
	return tagJustFired
}

// book is state/schedule.json: what has fired, so that a restart neither loses
// nor doubles a run. The zero book is empty.
type book struct {
	// InForce are the files that stay in force although another one, of whatever
	// name, carries the same id.
	InForce  []string              `json:"in_force,omitempty"`
	Routines map[string]*bookEntry `json:"routines"`
	// Reminders are those whose run is under way, with the moment it was for.
	Reminders map[string]time.Time `json:"reminders,omitempty"`
}

// bookEntry is what is remembered of a routine.
type bookEntry struct {
	Cron string `json:"cron"` // the fires before After are those of this expression
	// After is the instant up to which everything has been fired or noted as
	// missed; at first, when the routine was first seen.
	After time.Time `json:"after,omitzero"`
	// Seen is when these times were first seen: nothing before it is owed, or fired.
	Seen     time.Time `json:"seen,omitzero"`
	LastFire time.Time `json:"last_fire,omitzero"` // the scheduled instant of the last run
	Outcome  fate      `json:"outcome,omitempty"`
	Late     time.Time `json:"late,omitzero"`    // a missed fire whose late run has not started yet
	Passed   time.Time `json:"passed,omitzero"`  // the last fire that did not happen
	Why      fate      `json:"why,omitempty"`    // what became of that one instead
	Removed  time.Time `json:"removed,omitzero"` // when its file went away
	Waits    bool      `json:"waits,omitempty"`  // for the user's word; then nothing is owed
}

// peekBook is the book as it lies on the disk, for whoever only looks: what cannot
// be read is empty, and the loop reports it.
func peekBook(d *store.Dir) (b book, found bool) {
	found, err := d.PeekJSON(bookFile, &b)
	maps.DeleteFunc(b.Routines, func(_ string, e *bookEntry) bool { return e == nil })
	return b, found && err == nil
}

// readBook starts afresh when the file is missing or cannot be understood.
func readBook(d *store.Dir, log *slog.Logger) book {
	var b book
	if _, err := d.ReadJSON(bookFile, &b); err != nil {
		log.Error("the last fires could not be read; starting afresh", "error", err)
	}
	maps.DeleteFunc(b.Routines, func(_ string, e *bookEntry) bool { return e == nil })
	if b.Routines == nil {
		b.Routines = map[string]*bookEntry{}
	}
	for _, e := range b.Routines {
		if e.Outcome == fateRunning {
			e.Outcome = fateCutOff
		}
	}
	b.Reminders = map[string]time.Time{} // they are no longer under way
	return b
}

func (b *book) entry(id string) *bookEntry {
	e, ok := b.Routines[id]
	if !ok {
		e = &bookEntry{}
		b.Routines[id] = e
	}
	return e
}

// notOwed makes everything up to a moment neither fired nor missed.
func (e *bookEntry) notOwed(until time.Time) { e.After, e.Seen, e.Late = until, until, time.Time{} }

// encode writes one line for each routine, so that people can read it and a diff
// shows what changed. A quote within a text has a backslash before it, so that what
// is replaced stands between two routines only.
func (b *book) encode() ([]byte, error) {
	data, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("encode the last fires: %w", err)
	}
	return append(bytes.ReplaceAll(data, []byte(`},"`), []byte("},\n\"")), '\n'), nil
}

// save writes the book. A disk that refuses stops no fire: what could be lost
// is the memory of it.
func (s *Schedule) save() {
	s.saveAt = time.Time{}
	if s.unset || s.book.Routines == nil {
		return
	}
	data, err := s.book.encode()
	if err == nil {
		err = s.o.Dir.Write(bookFile, data)
	}
	if err != nil {
		s.o.Log.Error("the last fires could not be written; a restart may repeat or miss some", "error", err)
	}
}

// laterSave has the book written soon, together with what else happens by then.
func (s *Schedule) laterSave(now time.Time) {
	if s.saveAt.IsZero() {
		s.saveAt = now.Add(saveDelay)
	}
}

// fates are what is known of fires at one moment. It never changes. Nil knows
// nothing, so that all that lies behind counts as fired: so it is where no bot has
// ever run, or when the schedule of another day is asked for.
type fates struct {
	at        time.Time // fires up to then are decided
	all       bool      // a routine that is not in it was never seen by a loop
	routines  map[string]bookEntry
	reminders map[string]time.Time
	missed    map[string]time.Time // the last fire of a routine that nobody was there for
}

// fatesSince is what the book says at now, of routines that something has become of
// since. A zero since takes all of them.
func (b *book) fatesSince(now, since time.Time) *fates {
	k := &fates{at: now, all: since.IsZero(), routines: map[string]bookEntry{}, reminders: maps.Clone(b.Reminders)}
	k.missed = map[string]time.Time{}
	for id, e := range b.Routines {
		if e.Why == fateMissed && now.Sub(e.Passed) < missedFor {
			k.missed[id] = e.Passed
		}
		if k.all || e.LastFire.After(since) || e.Passed.After(since) || e.Seen.After(since) {
			k.routines[id] = *e
		}
	}
	return k
}

// missedFor is how long a fire that nobody was there for is told.
const missedFor = 24 * time.Hour

// routine says what has become of a fire, and when the last run before it was.
func (k *fates) routine(id string, at time.Time) (what fate, before time.Time) {
	if k == nil {
		return fateAssumed, time.Time{}
	}
	e, ok := k.routines[id]
	switch {
	case !ok && k.all && !at.After(k.at):
		return fateNone, time.Time{}
	case !ok:
		return fateAssumed, time.Time{}
	case at.Equal(e.LastFire):
		return e.Outcome, e.LastFire
	case at.Equal(e.Passed):
		return e.Why, e.LastFire
	case !at.After(e.Seen):
		return fateNone, e.LastFire
	case at.After(e.After) && !at.After(k.at):
		return fateMissed, e.LastFire
	}
	return fateAssumed, e.LastFire
}

// reminder says what has become of a reminder that is due.
func (k *fates) reminder(id string, at time.Time) fate {
	if k == nil || at.After(k.at) {
		return fateAssumed
	}
	if _, runs := k.reminders[id]; runs {
		return fateRunning
	}
	return fateOverdue
}
