package routines

import (
	"errors"
	"fmt"
	"time"

	"ollimbot/core/storage/frontmatter"
	"ollimbot/core/storage/store"
)

// Reasons for not moving a reminder.
var (
	ErrNoReminder = errors.New("the reminder no longer exists")
	ErrBroken     = errors.New("its file cannot be read")
)

// Move says what happens to a pending reminder: it is due at another time, advances in
// its chain, or is removed.
type Move struct {
	At    time.Time
	Depth int
	Last  bool // this was its last repetition
	Gone  bool
}

// Mover moves the pending reminders of a data directory.
type Mover struct {
	Dir  *store.Dir
	Zone *time.Location
	// Inherit is called with the digest of a file's old bytes and with the new ones just
	// before they are written. If it returns an error, nothing is written.
	Inherit func(old, rel string, data []byte) error
}

// Move changes or removes a pending reminder under the folder's lock. It calls next with
// the reminder as read from its file; an error from next changes nothing. The file is the
// one in force, if the caller knows its path, or else the first by name. Move returns the
// reminder from before the change, with its path. Errors: ErrNoReminder, ErrBroken.
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

// moved returns the file of a reminder with another time. If the file has no limit, one
// is written, because the original program accepts no depth without it.
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
