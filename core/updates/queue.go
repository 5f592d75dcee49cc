package updates

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/store"
)

const (
	file     = "state/pending_updates.json"
	turnName = "pending_updates"
	// MaxPending is how many unclaimed updates the file keeps, the sentinel
	// included (decisions, A6).
	MaxPending = 10
	// MaxMessage is the length of a message in runes; longer ones end in an
	// ellipsis.
	MaxMessage = 4000
)

// ErrGone says that an update is no longer pending: a turn took it, or
// somebody discarded it before.
var ErrGone = errors.New(textGone)

// Queue keeps the pending updates in the data directory. All methods are safe
// for several goroutines, and beside other processes of ours. Use NewQueue.
type Queue struct {
	dir  *store.Dir
	zone *time.Location
	log  *slog.Logger

	// mu guards the fields below.
	mu sync.Mutex
	// claimed are the keys that an open claim holds. They live in memory only:
	// a process that dies has claimed nothing.
	claimed map[string]bool
	// delivered are keys whose claim was committed but which a full disk kept in
	// the file: they count as gone, and go with the next change.
	delivered map[string]bool
	// seen is what the file was when kept was read of it; nil: read it again.
	seen os.FileInfo
	kept []entry
	// told is the last trouble with the file that was logged.
	told string
}

// NewQueue is the queue of a data directory. Nothing is read or written yet.
// Times are in zone; a nil log is silent.
func NewQueue(d *store.Dir, zone *time.Location, log *slog.Logger) *Queue {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Queue{
		dir: d, zone: zone, log: log,
		claimed: map[string]bool{}, delivered: map[string]bool{},
	}
}

// Append adds a message, cleaned and cut to MaxMessage runes. Where more than
// MaxPending would wait, the oldest make room and one sentinel counts them.
func (q *Queue) Append(now time.Time, message string) error {
	message = tidy(message)
	if message == "" {
		return errors.New(textEmpty)
	}
	now = now.Round(0).In(q.zone)
	return q.change("keep an update", func(list []entry) ([]entry, error) {
		return q.capped(append(list, newEntry(now, message)), now), nil
	})
}

// Peek is what is pending, oldest first; a sentinel comes before the updates
// that it makes room for. Updates of an open claim are among them, so that a
// fork that starts during a main turn sees the same as one before it. It never
// writes, and reads the file only when it has changed.
func (q *Queue) Peek() []Update {
	list := q.look()
	out := make([]Update, 0, len(list))
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range list {
		if !q.delivered[e.Key] {
			out = append(out, e.Update)
		}
	}
	return out
}

// Discard removes one update and returns it for Restore. It gives ErrGone when
// no update has the key.
func (q *Queue) Discard(key string) (Update, error) {
	var gone Update
	err := q.change("discard an update", func(list []entry) ([]entry, error) {
		i := slices.IndexFunc(list, func(e entry) bool { return e.Key == key })
		if i < 0 {
			return nil, ErrGone
		}
		gone = list[i].Update
		return slices.Delete(list, i, i+1), nil
	})
	return gone, err
}

// Restore puts a discarded update back where its time belongs. One that is
// still pending stays as it is.
func (q *Queue) Restore(u Update) error {
	u.Message = tidy(u.Message)
	if u.Message == "" {
		return errors.New(textEmpty)
	}
	e := newEntry(u.At.In(q.zone), u.Message)
	if u.Dropped > 0 {
		e = newSentinel(u.At.In(q.zone), u.Dropped)
	}
	return q.change("restore an update", func(list []entry) ([]entry, error) {
		if slices.ContainsFunc(list, func(o entry) bool { return o.Key == e.Key }) {
			return list, nil
		}
		at := slices.IndexFunc(list, e.before)
		if at < 0 {
			at = len(list)
		}
		return q.capped(slices.Insert(list, at, e), u.At.In(q.zone)), nil
	})
}

// Clear removes everything, claimed updates too.
func (q *Queue) Clear() error {
	return q.change("clear the updates", func([]entry) ([]entry, error) { return nil, nil })
}

// capped makes the unclaimed updates fit: the newest stay, one sentinel counts
// what had to go, earlier sentinels included (decisions, A6). Claimed ones are
// being delivered; they neither count nor get counted.
func (q *Queue) capped(list []entry, now time.Time) []entry {
	var held, free []entry
	q.mu.Lock()
	for _, e := range list {
		if q.claimed[e.Key] {
			held = append(held, e)
		} else {
			free = append(free, e)
		}
	}
	q.mu.Unlock()
	if len(free) <= MaxPending {
		return list
	}
	keep := free[len(free)-(MaxPending-1):]
	dropped := 0
	for _, e := range free[:len(free)-len(keep)] {
		dropped += max(e.Dropped, 1)
	}
	return slices.Concat(held, []entry{newSentinel(now, dropped)}, keep)
}

// change reads the file, lets do make a new list of the old one, and writes
// it, all alone; an empty list removes the file. Bytes that are no list are
// kept aside and reported; a file that cannot be read at all is an error,
// because writing over it would lose it.
func (q *Queue) change(doing string, do func([]entry) ([]entry, error)) error {
	err := q.dir.Exclusive(turnName, func() error {
		old, err := q.load()
		if err != nil {
			return err
		}
		list, err := do(slices.Clone(old))
		if err != nil {
			return err
		}
		if len(list) == 0 {
			err = q.dir.Remove(file)
		} else {
			err = q.dir.Write(file, encode(list))
		}
		if err == nil {
			q.forgetDelivered()
		}
		return err
	})
	q.mu.Lock()
	q.seen = nil
	q.mu.Unlock()
	switch {
	case errors.Is(err, ErrGone):
		return err
	case err != nil:
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

func (q *Queue) forgetDelivered() {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.delivered)
}

// load reads the file for a change, without what was delivered.
func (q *Queue) load() ([]entry, error) {
	info, err := os.Stat(q.dir.Path(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", file, err)
	}
	var raw []rawEntry
	found, err := q.dir.ReadJSON(file, &raw)
	if corrupt := (*store.CorruptError)(nil); errors.As(err, &corrupt) {
		q.log.Error("pending updates were set aside", "error", err)
		return nil, nil
	}
	if err != nil || !found {
		return nil, err
	}
	list := q.decode(raw, info)
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.DeleteFunc(list, func(e entry) bool { return q.delivered[e.Key] }), nil
}

// look reads the file for a reader, only when it has changed. Nothing is set
// aside: reading must not write.
func (q *Queue) look() []entry {
	info, err := os.Stat(q.dir.Path(file))
	if err != nil {
		return nil
	}
	q.mu.Lock()
	seen, kept := q.seen, q.kept
	q.mu.Unlock()
	if seen != nil && same(seen, info) {
		return kept
	}
	data, err := q.dir.Read(file)
	var raw []rawEntry
	if err == nil {
		raw, err = parse(data)
	}
	if err != nil {
		q.tell(err)
		return nil
	}
	list := q.decode(raw, info)
	q.mu.Lock()
	q.seen, q.kept, q.told = info, list, ""
	q.mu.Unlock()
	return list
}

// tell logs what is wrong with the file, once for the same trouble.
func (q *Queue) tell(err error) {
	q.mu.Lock()
	news := q.told != err.Error() && !errors.Is(err, fs.ErrNotExist)
	q.told = err.Error()
	q.mu.Unlock()
	if news {
		q.log.Warn("pending updates were not read", "file", file, "error", err)
	}
}

// same reports whether two looks at the file saw the same bytes: every change
// replaces the file.
func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// tidy makes a message fit to be kept.
func tidy(message string) string {
	return clean.Cut(strings.TrimSpace(clean.Text(message)), MaxMessage)
}
