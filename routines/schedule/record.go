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

// recordFile is private to this program; the original program does not know it.
const recordFile = store.StateDir + "/schedule.json"

const (
	// keepRemoved is how long a removed routine is remembered: its file may come back.
	keepRemoved = 30 * 24 * time.Hour
	// missedFor is how long a missed fire is shown.
	missedFor = 24 * time.Hour
	// knownFor is how far back outcomes of fires are published.
	knownFor = forwardGrace + 5*time.Minute
	// saveDelay is how long outcomes are collected before they are written.
	saveDelay = time.Second
)

// outcome is the result of a past fire: how its run went, or why there was none.
type outcome string

const (
	// outcomeUnknown is the outcome of a fire that is still ahead of the last look, or
	// too long ago.
	outcomeUnknown outcome = ""
	outcomeRunning outcome = "running"
	outcomeDone    outcome = "done"
	outcomeFailed  outcome = "failed"
	outcomeCutOff  outcome = "interrupted" // the program ended during the run
	outcomeMissed  outcome = "missed"
	outcomeHeld    outcome = "held"
	outcomeSkipped outcome = "skipped"
	outcomeOverdue outcome = "overdue"
	// outcomeNothing is the outcome of a fire whose check found nothing to run for.
	outcomeNothing outcome = "nothing new"
	// outcomeNone is the outcome of a fire from before its task existed.
	outcomeNone outcome = "none"
)

// ran reports whether there was a run.
func (o outcome) ran() bool {
	switch o {
	case outcomeMissed, outcomeHeld, outcomeSkipped, outcomeOverdue, outcomeNothing, outcomeNone:
		return false
	}
	return true
}

// tags are the words for people.
var tags = map[outcome]string{
	outcomeRunning: tagRunning, outcomeFailed: tagFailed, outcomeCutOff: tagCutOff, outcomeMissed: tagMissed,
	outcomeHeld: tagHeld, outcomeSkipped: tagSkipped, outcomeOverdue: tagOverdue,
	outcomeNothing: tagNothing,
}

func (o outcome) tag() string {
	if tag, ok := tags[o]; ok {
		return tag
	}
	return tagJustFired
}

// record is state/schedule.json: what has fired, so that a restart neither loses
// nor repeats a run. The zero record is empty.
type record struct {
	// InForce are the files that stay in force although another file carries the same id.
	InForce  []string                 `json:"in_force,omitempty"`
	Routines map[string]*routineEntry `json:"routines"`
	// Reminders are those whose run is under way, with the time at which it began; zero
	// if it does not use the reminder up.
	Reminders map[string]time.Time `json:"reminders,omitempty"`
	// Moments are those chosen last for tasks with a window or a jitter, by kind and id.
	Moments map[string]chosen `json:"moments,omitempty"`
	// Spent are those that have run at that time and must not fire again, although their
	// file may still be there.
	Spent map[string]time.Time `json:"spent,omitempty"`
}

// routineEntry is what is remembered of a routine.
type routineEntry struct {
	Cron string `json:"cron"` // the expression that After is about
	// After is the instant up to which everything has fired or was reported as
	// missed; at first, when the routine was first seen.
	After time.Time `json:"after,omitzero"`
	// Seen is when this expression was first seen: earlier fires are neither owed nor shown.
	Seen     time.Time `json:"seen,omitzero"`
	LastFire time.Time `json:"last_fire,omitzero"` // the scheduled instant of the last run
	Outcome  outcome   `json:"outcome,omitempty"`
	Late     time.Time `json:"late,omitzero"`      // a missed fire whose late run has not started yet
	Passed   time.Time `json:"passed,omitzero"`    // the last fire without a run
	Why      outcome   `json:"why,omitempty"`      // why that one had no run
	Removed  time.Time `json:"removed,omitzero"`   // when its file was removed
	Waits    bool      `json:"waits,omitempty"`    // for the user's approval; then nothing is owed
	Failures int       `json:"failures,omitempty"` // its last runs that have failed, in a row
}

// peekRecord reads the record without repairing the file: what cannot be read is empty,
// and the loop reports it.
func peekRecord(d *store.Dir) (r record, found bool) {
	found, err := d.PeekJSON(recordFile, &r)
	maps.DeleteFunc(r.Routines, func(_ string, e *routineEntry) bool { return e == nil })
	return r, found && err == nil
}

// readRecord starts afresh if the file is missing or cannot be parsed.
func readRecord(d *store.Dir, log *slog.Logger) record {
	var r record
	if _, err := d.ReadJSON(recordFile, &r); err != nil {
		log.Error("the last fires could not be read; starting afresh", "error", err)
	}
	maps.DeleteFunc(r.Routines, func(_ string, e *routineEntry) bool { return e == nil })
	if r.Routines == nil {
		r.Routines = map[string]*routineEntry{}
	}
	if r.Spent == nil {
		r.Spent = map[string]time.Time{}
	}
	if r.Moments == nil {
		r.Moments = map[string]chosen{}
	}
	for _, e := range r.Routines {
		if e.Outcome == outcomeRunning {
			e.Outcome = outcomeCutOff
		}
	}
	return r
}

func (r *record) entry(id string) *routineEntry {
	e, ok := r.Routines[id]
	if !ok {
		e = &routineEntry{}
		r.Routines[id] = e
	}
	return e
}

// start records the start of a run, at now; stays says that a reminder's file stays
// after it.
func (r *record) start(d Due, now time.Time, stays bool) {
	if d.Reminder != nil {
		r.Reminders[d.Reminder.ID] = now
		if stays {
			r.Reminders[d.Reminder.ID] = time.Time{}
		}
		return
	}
	e := r.entry(d.Routine.ID)
	e.LastFire, e.Outcome = d.At, outcomeRunning
}

// forgive makes everything up to a moment neither fired nor missed.
func (e *routineEntry) forgive(until time.Time) { e.After, e.Seen, e.Late = until, until, time.Time{} }

// pass records a fire without a run.
func (e *routineEntry) pass(at time.Time, why outcome) { e.Passed, e.Why = at, why }

// encode writes one line for each routine, so that people can read it and a diff
// shows what changed. A quote within a text is escaped, so that the replacement only
// matches between two routines.
func (r *record) encode() ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the last fires: %w", err)
	}
	return append(bytes.ReplaceAll(data, []byte(`},"`), []byte("},\n\"")), '\n'), nil
}

// recorder keeps the record and writes it.
type recorder struct {
	record
	dir    *store.Dir
	log    *slog.Logger
	loaded bool      // only what was read is written
	saveAt time.Time // when to write it; zero if it is written
}

func newRecorder(d *store.Dir, log *slog.Logger) *recorder {
	empty := record{
		Routines: map[string]*routineEntry{}, Reminders: map[string]time.Time{}, Spent: map[string]time.Time{}, Moments: map[string]chosen{},
	}
	return &recorder{record: empty, dir: d, log: log}
}

// load reads the record and returns the reminders whose run was under way when it was
// written.
func (r *recorder) load() (cut map[string]time.Time) {
	r.record, r.loaded = readRecord(r.dir, r.log), true
	cut, r.Reminders = r.Reminders, map[string]time.Time{}
	return cut
}

// unload keeps the record from being written while the clock is wrong.
func (r *recorder) unload() { r.loaded = false }

// save writes the record. If the disk refuses, fires continue: all that can be lost
// is the memory of them.
func (r *recorder) save() {
	r.saveAt = time.Time{}
	if !r.loaded {
		return
	}
	data, err := r.encode()
	if err == nil {
		err = r.dir.Write(recordFile, data)
	}
	if err != nil {
		r.log.Error("the last fires could not be written; a restart may repeat or miss some", "error", err)
	}
}

// saveSoon has the record written shortly, together with what else happens by then.
func (r *recorder) saveSoon(now time.Time) {
	if r.saveAt.IsZero() {
		r.saveAt = now.Add(saveDelay)
	}
}

// due reports whether the record is to be written at now.
func (r *recorder) due(now time.Time) bool { return !r.saveAt.IsZero() && !now.Before(r.saveAt) }

// outcomes is what is known of past fires at one moment. It never changes. Nil knows
// nothing, so that every past fire counts as fired: that is so if no bot has ever run
// here, or for the schedule of another day.
type outcomes struct {
	at        time.Time // fires up to then are decided
	all       bool      // a routine that is not listed was never seen by a loop
	routines  map[string]routineEntry
	reminders map[string]time.Time
	missed    map[string]time.Time // the last missed fire of a routine
	moments   map[string]chosen
}

// outcomesSince is what the record knows at now, of routines with news since a moment.
// A zero since includes all of them.
func (r *record) outcomesSince(now, since time.Time) *outcomes {
	k := &outcomes{at: now, all: since.IsZero(), routines: map[string]routineEntry{}, reminders: maps.Clone(r.Reminders)}
	k.missed, k.moments = map[string]time.Time{}, maps.Clone(r.Moments)
	for id, e := range r.Routines {
		if e.Why == outcomeMissed && now.Sub(e.Passed) < missedFor {
			k.missed[id] = e.Passed
		}
		if k.all || e.LastFire.After(since) || e.Passed.After(since) || e.Seen.After(since) {
			k.routines[id] = *e
		}
	}
	return k
}

// routine returns the outcome of a fire, and when the last run before it was.
func (k *outcomes) routine(id string, at time.Time) (what outcome, before time.Time) {
	if k == nil {
		return outcomeUnknown, time.Time{}
	}
	e, ok := k.routines[id]
	switch {
	case !ok && k.all && !at.After(k.at):
		return outcomeNone, time.Time{}
	case !ok:
		return outcomeUnknown, time.Time{}
	case at.Equal(e.LastFire):
		return e.Outcome, e.LastFire
	case at.Equal(e.Passed):
		return e.Why, e.LastFire
	case !at.After(e.Seen):
		return outcomeNone, e.LastFire
	case at.After(e.After) && !at.After(k.at):
		return outcomeMissed, e.LastFire
	}
	return outcomeUnknown, e.LastFire
}

// reminder returns the outcome of a reminder that is due.
func (k *outcomes) reminder(id string, at time.Time) outcome {
	if k == nil || at.After(k.at) {
		return outcomeUnknown
	}
	if _, runs := k.reminders[id]; runs {
		return outcomeRunning
	}
	return outcomeOverdue
}
