package routines

import (
	"errors"
	"fmt"
	"time"

	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
)

// Why a reminder is not moved.
var (
	ErrNoReminder = errors.New("the reminder no longer exists")
	ErrBroken     = errors.New("its file cannot be read")
)

// Move is what becomes of a pending reminder: it is due at another time, as another
// check of its chain, or it is gone.
type Move struct {
	At    time.Time
	Depth int
	Last  bool // it came for the last time
	Gone  bool
}

// Mover moves pending reminders of a data directory.
type Mover struct {
	Dir  *store.Dir
	Zone *time.Location
	// Inherit is called with the digest of a file's bytes and with the new ones right
	// before they are written; an error of its writes nothing.
	Inherit func(old, rel string, data []byte) error
}

// Move changes a pending reminder or removes it, alone: next is called with what its
// file says now, and an error of its changes nothing. The file is the one in force,
// whose path the caller knows, or else the first by name. Move gives the reminder as it
// was, with its path. Errors: ErrNoReminder, ErrBroken.
func (m Mover) Move(now time.Time, id string, inForce Task, next func(Reminder) (Move, error)) (r Reminder, err error) {
	err = m.Dir.WithLock(ReminderFolder, func() error {
		rel, err := fileOf(m.Dir, ReminderFolder, id, inForce)
		if err != nil {
			return err
		}
		if rel == "" {
			return ErrNoReminder
		}
		data, err := m.Dir.Read(rel)
		if err != nil {
			return err
		}
		var problems []Problem
		if r, problems = ParseReminder(rel, data, m.Zone); HasErrors(problems) {
			return fmt.Errorf("%s: %w: %w", rel, ErrBroken, asError(problems))
		}
		r.Digest = Digest(data)
		to, err := next(r)
		switch {
		case err != nil:
			return err
		case to.Gone:
			return discard(m.Dir, now, rel, inForce)
		}
		if data, err = moved(r, data, to); err != nil {
			return err
		}
		if err := m.Inherit(r.Digest, rel, data); err != nil {
			return err
		}
		return m.Dir.Write(rel, data)
	})
	return r, err
}

// moved is the file of a reminder at another time. A limit that the file leaves out is
// written, because the original takes no depth without one.
func moved(r Reminder, data []byte, m Move) ([]byte, error) {
	out := []frontmatter.Entry{{Key: "run-at", Value: m.At.Format(runAtLayout)}}
	if m.Depth != r.ChainDepth {
		out = append(out, frontmatter.Entry{Key: "chain-depth", Value: m.Depth}, frontmatter.Entry{Key: "max-chain", Value: r.MaxChain})
	}
	if r.UntilDone && r.FirstAt.IsZero() {
		out = append(out, frontmatter.Entry{Key: "first-at", Value: r.RunAt.Format(runAtLayout)})
	}
	switch {
	case m.Last:
		out = append(out, frontmatter.Entry{Key: "last-word", Value: true})
	case r.LastWord:
		out = append(out, frontmatter.Entry{Key: "last-word"})
	}
	return frontmatter.Splice(data, out)
}
