package routines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"ollimbot/core/store"
)

// scheduleFile is ours alone; the original program does not know it.
const scheduleFile = store.StateDir + "/schedule.json"

// keepRemoved is how long a routine that is gone is remembered: it may come back.
const keepRemoved = 30 * 24 * time.Hour

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
	found, err := d.PeekJSON(scheduleFile, &b)
	maps.DeleteFunc(b.Routines, func(_ string, e *bookEntry) bool { return e == nil })
	return b, found && err == nil
}

// readBook starts afresh when the file is missing or cannot be understood.
func readBook(d *store.Dir, log *slog.Logger) book {
	var b book
	if _, err := d.ReadJSON(scheduleFile, &b); err != nil {
		log.Error("the last fires could not be read; starting afresh", "error", err)
	}
	maps.DeleteFunc(b.Routines, func(_ string, e *bookEntry) bool { return e == nil })
	for _, e := range b.Routines {
		if e.Outcome == fateRunning {
			e.Outcome = fateCutOff
		}
	}
	b.Reminders = nil // they are no longer under way
	return b
}

func (b *book) entry(id string) *bookEntry {
	e, ok := b.Routines[id]
	if !ok {
		if b.Routines == nil {
			b.Routines = map[string]*bookEntry{}
		}
		e = &bookEntry{}
		b.Routines[id] = e
	}
	return e
}

// notOwed makes everything up to a moment neither fired nor missed.
func (e *bookEntry) notOwed(until time.Time) { e.After, e.Seen, e.Late = until, until, time.Time{} }

// prune forgets what has been gone for long.
func (b *book) prune(now time.Time) {
	maps.DeleteFunc(b.Routines, func(_ string, e *bookEntry) bool {
		return !e.Removed.IsZero() && now.Sub(e.Removed) > keepRemoved
	})
}

// encode writes one line per routine, so that people can read it and a diff
// shows what changed. By hand, because the file is written before every fire
// and may hold 10,000 routines.
func (b *book) encode() ([]byte, error) {
	var out bytes.Buffer
	out.Grow(64 + 160*len(b.Routines))
	out.WriteByte('{')
	if len(b.InForce) > 0 {
		list, err := json.Marshal(b.InForce)
		if err != nil {
			return nil, fmt.Errorf("encode the files in force: %w", err)
		}
		fmt.Fprintf(&out, "\"in_force\": %s,\n", list)
	}
	out.WriteString("\"routines\": {")
	for i, id := range slices.Sorted(maps.Keys(b.Routines)) {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteByte('\n')
		if err := b.Routines[id].encode(&out, id); err != nil {
			return nil, err
		}
	}
	out.WriteString("\n}")
	if len(b.Reminders) > 0 {
		list, err := json.Marshal(b.Reminders)
		if err != nil {
			return nil, fmt.Errorf("encode the reminders that run: %w", err)
		}
		fmt.Fprintf(&out, ",\n\"reminders\": %s", list)
	}
	out.WriteString("}\n")
	return out.Bytes(), nil
}

func (e *bookEntry) encode(out *bytes.Buffer, id string) error {
	for i, text := range []string{id, e.Cron} {
		quoted, err := json.Marshal(text)
		if err != nil {
			return fmt.Errorf("encode %s: %w", id, err)
		}
		out.Write(quoted)
		if i == 0 {
			out.WriteString(": {\"cron\": ")
		}
	}
	stamp := func(key string, t time.Time) {
		if t.IsZero() {
			return
		}
		out.WriteString(", \"" + key + "\": \"")
		out.Write(t.AppendFormat(out.AvailableBuffer(), time.RFC3339))
		out.WriteByte('"')
	}
	stamp("after", e.After)
	stamp("seen", e.Seen)
	stamp("last_fire", e.LastFire)
	if e.Outcome != "" {
		out.WriteString(", \"outcome\": \"" + string(e.Outcome) + "\"")
	}
	stamp("late", e.Late)
	stamp("passed", e.Passed)
	if e.Why != "" {
		out.WriteString(", \"why\": \"" + string(e.Why) + "\"")
	}
	stamp("removed", e.Removed)
	if e.Waits {
		out.WriteString(", \"waits\": true")
	}
	out.WriteByte('}')
	return nil
}

// save writes the book. A disk that refuses stops no fire: what could be lost
// is the memory of it.
func (l *Loop) save() {
	l.saveAt = time.Time{}
	if l.unset || l.book.Routines == nil {
		return
	}
	data, err := l.book.encode()
	if err == nil {
		err = l.o.Dir.Write(scheduleFile, data)
	}
	if err != nil {
		l.o.Log.Error("the last fires could not be written; a restart may repeat or miss some", "error", err)
	}
}

// laterSave has the book written soon, together with what else happens by then.
func (l *Loop) laterSave(now time.Time) {
	if l.saveAt.IsZero() {
		l.saveAt = now.Add(saveDelay)
	}
}
