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

// outcome is how the last fire of a routine went.
type outcome string

const (
	outcomeRunning     outcome = "running"
	outcomeDone        outcome = "done"
	outcomeFailed      outcome = "failed"
	outcomeInterrupted outcome = "interrupted" // the program ended during the run
)

// book is state/schedule.json: what has fired, so that a restart neither loses
// nor doubles a run. The zero book is empty.
type book struct {
	// InForce are the files that stay in force although another one, of whatever
	// name, carries the same id.
	InForce  []string              `json:"in_force,omitempty"`
	Routines map[string]*bookEntry `json:"routines"`
}

// bookEntry is what is remembered of a routine.
type bookEntry struct {
	Cron string `json:"cron"` // the fires before After are those of this expression
	// After is the instant up to which everything has been fired or noted as
	// missed; at first, when the routine was first seen.
	After    time.Time `json:"after,omitzero"`
	LastFire time.Time `json:"last_fire,omitzero"` // the scheduled instant of the last run
	Outcome  outcome   `json:"outcome,omitempty"`
	Late     time.Time `json:"late,omitzero"`    // a missed fire whose late run has not started yet
	Removed  time.Time `json:"removed,omitzero"` // when its file went away
	Waits    bool      `json:"waits,omitempty"`  // for the user's word; then nothing is owed
}

// peekBook is the book as it lies on the disk, for whoever only looks: what cannot
// be read is empty, and the loop reports it.
func peekBook(d *store.Dir) book {
	var b book
	_, _ = d.PeekJSON(scheduleFile, &b)
	maps.DeleteFunc(b.Routines, func(_ string, e *bookEntry) bool { return e == nil })
	return b
}

// readBook starts afresh when the file is missing or cannot be understood.
func readBook(d *store.Dir, log *slog.Logger) book {
	var b book
	if _, err := d.ReadJSON(scheduleFile, &b); err != nil {
		log.Error("the last fires could not be read; starting afresh", "error", err)
	}
	maps.DeleteFunc(b.Routines, func(_ string, e *bookEntry) bool { return e == nil })
	for _, e := range b.Routines {
		if e.Outcome == outcomeRunning {
			e.Outcome = outcomeInterrupted
		}
	}
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
	out.WriteString("\n}}\n")
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
	stamp("last_fire", e.LastFire)
	if e.Outcome != "" {
		out.WriteString(", \"outcome\": \"" + string(e.Outcome) + "\"")
	}
	stamp("late", e.Late)
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
