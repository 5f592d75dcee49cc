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

// recordFile is private to this program; the original program does not use it.
const recordFile = store.StateDir + "/schedule.json"

const (
	// keepRemoved is how long a removed routine is remembered, in case its file returns.
	keepRemoved = 30 * 24 * time.Hour
	// missedFor is how long a missed fire is shown.
	missedFor = 24 * time.Hour
	// knownFor is the age up to which outcomes of fires are published.
	knownFor = forwardGrace + 5*time.Minute
	// saveDelay is how long outcomes are collected before they are written.
	saveDelay = time.Second
)

// outcome is the result of a past fire: how its run ended, or why there was none.
type outcome string

const (
	// outcomeUnknown is the outcome of a fire that is later than the last step, or too long
	// ago.
	outcomeUnknown outcome = ""
	outcomeRunning outcome = "running"
	outcomeDone    outcome = "done"
	outcomeFailed  outcome = "failed"
	outcomeCutOff  outcome = "interrupted" // the program ended during the run
	outcomeStopped outcome = "stopped"     // the user cut it off
	outcomeMissed  outcome = "missed"
	outcomeHeld    outcome = "held"
	outcomeSkipped outcome = "skipped"
	outcomeOverdue outcome = "overdue"
	// outcomeNothing is the outcome of a fire whose check found no reason to run.
	outcomeNothing outcome = "nothing new"
	// outcomeNone is the outcome of a fire from before its task existed.
	outcomeNone outcome = "none"
)

// ran reports whether the fire had a run.
func (o outcome) ran() bool {
	switch o {
	case outcomeMissed, outcomeHeld, outcomeSkipped, outcomeOverdue, outcomeNothing, outcomeNone:
		return false
	}
	return true
}

// tags are the outcomes as shown to people.
var tags = map[outcome]string{
	outcomeRunning: tagRunning, outcomeFailed: tagFailed, outcomeCutOff: tagCutOff, outcomeStopped: tagCutOff, outcomeMissed: tagMissed,
	outcomeHeld: tagHeld, outcomeSkipped: tagSkipped, outcomeOverdue: tagOverdue,
	outcomeNothing: tagNothing,
}

func (o outcome) tag() string {
	if tag, ok := tags[o]; ok {
		return tag
	}
	return tagJustFired
}

// record is state/schedule.json: the fires so far, so that a restart neither loses nor
// repeats a run. The zero record is empty.
type record struct {
	// InForce lists the files that stay in force although another file has the same id.
	InForce  []string                 `json:"in_force,omitempty"`
	Routines map[string]*routineEntry `json:"routines"`
	// Reminders maps the reminders with a run in progress to the time it began; zero if the
	// run does not use the reminder up.
	Reminders map[string]time.Time `json:"reminders,omitempty"`
	// Moments maps tasks with a window or jitter, by kind and id, to the last chosen moment.
	Moments map[string]chosen `json:"moments,omitempty"`
	// Ahead is what is known of what reminders send before they are due.
	Ahead map[string]*aheadEntry `json:"ahead,omitempty"`
	// Spent maps reminders to the due time at which they ran. They must not fire again
	// although their file may still exist.
	Spent map[string]time.Time `json:"spent,omitempty"`
}

// routineEntry is the record of a routine.
type routineEntry struct {
	Cron string `json:"cron"` // when it fires, to which After applies: recur.Recurrence.String
	// After is the instant up to which everything has fired or was reported as missed;
	// initially, when the routine was first seen.
	After time.Time `json:"after,omitzero"`
	// Seen is when this expression was first seen: earlier fires are neither owed nor shown.
	Seen     time.Time `json:"seen,omitzero"`
	LastFire time.Time `json:"last_fire,omitzero"` // the scheduled instant of the last run
	Outcome  outcome   `json:"outcome,omitempty"`
	Late     time.Time `json:"late,omitzero"`      // a missed fire whose late run has not started yet
	Passed   time.Time `json:"passed,omitzero"`    // the last fire without a run
	Why      outcome   `json:"why,omitempty"`      // why it had no run
	Removed  time.Time `json:"removed,omitzero"`   // when its file was removed
	Waits    bool      `json:"waits,omitempty"`    // needs approval, so nothing is owed
	Failures int       `json:"failures,omitempty"` // consecutive failed runs, up to the latest
}

// peekRecord reads the record without repairing the file. Unreadable parts count as
// empty, and the loop reports them.
func peekRecord(d *store.Dir) (r record, found bool) {
	found, err := d.PeekJSON(recordFile, &r)
	maps.DeleteFunc(r.Routines, func(_ string, e *routineEntry) bool { return e == nil })
	return r, found && err == nil
}

// readRecord reads the record and starts afresh if the file is missing or cannot be
// parsed.
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
	if r.Ahead == nil {
		r.Ahead = map[string]*aheadEntry{}
	}
	maps.DeleteFunc(r.Ahead, func(_ string, e *aheadEntry) bool { return e == nil })
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

// start records the start of a run at now. stays means that a reminder's file is kept
// afterwards.
func (r *record) start(d Due, now time.Time, stays bool) {
	if d.Early != nil {
		if e := r.Ahead[d.Reminder.ID]; e != nil {
			e.Running, e.Since = d.Early.At, now
		}
		return
	}
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

// forgive marks everything up to a moment as neither fired nor missed.
func (e *routineEntry) forgive(until time.Time) { e.After, e.Seen, e.Late = until, until, time.Time{} }

// pass records a fire without a run.
func (e *routineEntry) pass(at time.Time, why outcome) { e.Passed, e.Why = at, why }

// encode writes one line per routine, for readability and useful diffs. Quotes inside
// texts are escaped, so the replacement matches only between two routines.
func (r *record) encode() ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode the last fires: %w", err)
	}
	return append(bytes.ReplaceAll(data, []byte(`},"`), []byte("},\n\"")), '\n'), nil
}

// recorder keeps the record and saves it.
type recorder struct {
	record
	dir    *store.Dir
	log    *slog.Logger
	loaded bool      // guards against overwriting a record that was not read
	saveAt time.Time // when to write it; zero if up to date
}

func newRecorder(d *store.Dir, log *slog.Logger) *recorder {
	empty := record{
		Routines: map[string]*routineEntry{}, Reminders: map[string]time.Time{}, Spent: map[string]time.Time{}, Moments: map[string]chosen{},
		Ahead: map[string]*aheadEntry{},
	}
	return &recorder{record: empty, dir: d, log: log}
}

// load reads the record and returns the reminders whose run was in progress when it was
// written.
func (r *recorder) load() (cut map[string]time.Time) {
	r.record, r.loaded = readRecord(r.dir, r.log), true
	cut, r.Reminders = r.Reminders, map[string]time.Time{}
	return cut
}

// unload prevents saving while the clock is wrong.
func (r *recorder) unload() { r.loaded = false }

// save writes the record. If that fails, fires continue: only the memory of them can be
// lost.
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

// saveSoon schedules a save, to batch it with later changes.
func (r *recorder) saveSoon(now time.Time) {
	if r.saveAt.IsZero() {
		r.saveAt = now.Add(saveDelay)
	}
}

// due reports whether a save is due at now.
func (r *recorder) due(now time.Time) bool { return !r.saveAt.IsZero() && !now.Before(r.saveAt) }

// outcomes is an immutable snapshot of the outcomes of past fires. Nil knows none and
// treats every past fire as fired: that is right if no bot has ever run here, and for the
// schedule of another day.
type outcomes struct {
	at        time.Time // fires up to this time are decided
	all       bool      // a routine not listed was never seen by a loop
	routines  map[string]routineEntry
	reminders map[string]time.Time
	missed    map[string]time.Time // the last missed fire of a routine
	moments   map[string]chosen
	ahead     map[string]aheadEntry // of reminders
}

// outcomesSince returns the outcomes known at now, for routines with news since a moment.
// A zero since includes all routines.
func (r *record) outcomesSince(now, since time.Time) *outcomes {
	k := &outcomes{at: now, all: since.IsZero(), routines: map[string]routineEntry{}, reminders: maps.Clone(r.Reminders)}
	k.missed, k.moments = map[string]time.Time{}, maps.Clone(r.Moments)
	k.ahead = make(map[string]aheadEntry, len(r.Ahead))
	for id, e := range r.Ahead {
		k.ahead[id] = *e
	}
	for id, e := range r.Routines {
		if e.Why == outcomeMissed {
			k.missed[id] = e.Passed
		}
		if k.all || e.LastFire.After(since) || e.Passed.After(since) || e.Seen.After(since) {
			k.routines[id] = *e
		}
	}
	return k
}

// routine returns the outcome of a fire, and the time of the last run before it.
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

// reminder returns the outcome of a due reminder.
func (k *outcomes) reminder(id string, at time.Time) outcome {
	if k == nil || at.After(k.at) {
		return outcomeUnknown
	}
	if _, runs := k.reminders[id]; runs {
		return outcomeRunning
	}
	return outcomeOverdue
}
