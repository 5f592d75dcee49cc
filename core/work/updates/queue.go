package updates

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/pycompat"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
)

const (
	file     = "state/pending_updates.json"
	turnName = "pending_updates"
	// labelUpdate is the step that an update adds to a label.
	labelUpdate = "update"
	// MaxPending is the maximum number of unclaimed updates in the file, including the
	// sentinel.
	MaxPending = 10
	// maxMessage is the maximum length of a message in runes; longer ones end in an
	// ellipsis.
	maxMessage = 4000
)

// ErrGone means that an update is no longer pending: a turn claimed it, or it was
// discarded.
var ErrGone = errors.New(textGone)

// Queue stores the pending updates in the data directory. Its methods are safe for
// concurrent use, also by several processes of the program. Use NewQueue.
type Queue struct {
	dir  *store.Dir
	zone *time.Location
	log  *slog.Logger

	// mu guards arrived.
	mu sync.Mutex
	// arrived is a delivery that the engine has received but that is not settled on disk
	// yet: its updates are no longer shown.
	arrived Delivery

	list    *store.Cached[[]Update]
	trouble store.Trouble // with the file
}

// NewQueue returns the queue of a data directory without reading or writing anything.
// Times are in zone; a nil log discards.
func NewQueue(d *store.Dir, zone *time.Location, log *slog.Logger) *Queue {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &Queue{dir: d, zone: zone, log: log, list: store.NewCached[[]Update](d, file)}
}

// Append adds a message, cleaned and cut to maxMessage runes. If more than MaxPending
// would be pending, the oldest are dropped and one sentinel counts them.
func (q *Queue) Append(now time.Time, message string) error {
	return q.add(Update{At: now, Message: message}, false, nil)
}

// AppendFrom is Append for a message of a run or a fork, with its label.
func (q *Queue) AppendFrom(now time.Time, message string, by Source, from label.Label) error {
	return q.add(Update{At: now, Message: message, Source: by, Label: from.Via(labelUpdate)}, false, nil)
}

// AppendOnce is Append for callers that may repeat a message after a crash: a message that
// is still pending is not added twice. kept is called once it is on disk and before it can
// be claimed; it may write files but must not use the queue.
func (q *Queue) AppendOnce(now time.Time, message string, by Source, from label.Label, kept func()) error {
	return q.add(Update{At: now, Message: message, Source: by, Label: from.Via(labelUpdate)}, true, kept)
}

func (q *Queue) add(u Update, once bool, kept func()) error {
	message, now := tidy(u.Message), u.At.Round(0).In(q.zone)
	if message == "" {
		return errors.New(textEmpty)
	}
	return q.alone("keep an update", func() error {
		err := q.replace(func(list []entry, claimed []string) ([]entry, error) {
			if once && slices.ContainsFunc(list, func(e entry) bool { return e.Message == message }) {
				return nil, errUnchanged
			}
			return capped(append(list, added(list, now, message, u.Source, u.Label)), claimed, now), nil
		})
		if err == nil && kept != nil {
			kept()
		}
		return err
	})
}

// Replace keeps a single update about a subject up to date. compose gets whether the
// previous one is still unread, and so will be replaced, and returns the new text, or ""
// for none. A claimed update counts as read.
func (q *Queue) Replace(now time.Time, about string, compose func(unread bool) string) error {
	mark := json.RawMessage(pycompat.Quote(about))
	return q.change("replace an update", func(list []entry, claimed []string) ([]entry, error) {
		i := slices.IndexFunc(list, func(e entry) bool {
			return bytes.Equal(e.extra[aboutKey], mark) && !slices.Contains(claimed, e.Key)
		})
		message := tidy(compose(i >= 0))
		switch {
		case i < 0 && message == "", i >= 0 && list[i].Message == message:
			return nil, errUnchanged
		case i >= 0:
			list = slices.Delete(list, i, i+1)
		}
		if message == "" {
			return list, nil
		}
		e := added(list, now.Round(0).In(q.zone), message, Source{}, "")
		e.extra = map[string]json.RawMessage{aboutKey: mark}
		return capped(append(list, e), claimed, now), nil
	})
}

// aboutKey is the key in the file for the subject of a replaceable update.
const aboutKey = "about"

// added returns a new entry for a list.
func added(list []entry, now time.Time, message string, by Source, from label.Label) entry {
	e := newEntry(now, message, by, from)
	for slices.Contains(keys(list), e.Key) { // the same text at the same time is two updates
		e = newEntry(e.At.Add(time.Microsecond), message, by, from)
	}
	return e
}

// Peek returns the pending updates, oldest first; a sentinel is listed before the updates
// it made room for. Claimed updates are included, so that a fork started during a main
// turn sees the same as one before it. It never writes, and reads the file only after it
// changed. Callers share the result and must not modify it.
func (q *Queue) Peek() []Update {
	q.mu.Lock()
	arrived := q.arrived.Keys // before reading: an update settled in between is missing from the file
	q.mu.Unlock()
	list := q.look()
	if len(arrived) == 0 {
		return list
	}
	gone := setOf(arrived)
	return slices.DeleteFunc(slices.Clone(list), func(u Update) bool { return gone[u.Key] })
}

// Discarded is a removed update with the data for an exact Restore: the entry as in the
// file, and its neighbours.
type Discarded struct {
	Update
	entry entry
	// ahead and behind are the keys of the entries before and after it.
	ahead, behind []string

	// mu guards back and is held while the update is being restored.
	mu   sync.Mutex
	back bool
}

// Discard removes one update and returns it for Restore. It returns ErrGone if no update
// has the key, or if the update is being delivered.
func (q *Queue) Discard(key string) (*Discarded, error) {
	gone := &Discarded{}
	err := q.change("discard an update", func(list []entry, claimed []string) ([]entry, error) {
		i := slices.IndexFunc(list, func(e entry) bool { return e.Key == key })
		if i < 0 || slices.Contains(claimed, key) {
			return nil, ErrGone
		}
		gone.Update, gone.entry = list[i].Update, list[i]
		gone.ahead, gone.behind = keys(list[:i]), keys(list[i+1:])
		return slices.Delete(list, i, i+1), nil
	})
	if err != nil {
		return nil, err
	}
	return gone, nil
}

// Restore puts a discarded update back in its place. It drops no other update; the next
// Append applies the limit again. Repeating it has no effect; after an error it may be
// repeated.
func (q *Queue) Restore(d *Discarded) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.back {
		return nil
	}
	err := q.change("restore an update", func(list []entry, _ []string) ([]entry, error) {
		return slices.Insert(list, d.place(list), d.entry), nil
	})
	d.back = err == nil
	return err
}

// place returns the position for a discarded update: after the last remaining entry that
// was before it, or else before the first that was after it. If none is left, all others
// are newer, except sentinels, which come first.
func (d *Discarded) place(list []entry) int {
	for i, e := range slices.Backward(list) {
		if slices.Contains(d.ahead, e.Key) {
			return i + 1
		}
	}
	for i, e := range list {
		if slices.Contains(d.behind, e.Key) || e.Dropped == 0 || d.Dropped > 0 {
			return i
		}
	}
	return len(list)
}

// capped applies the limit to the unclaimed updates: the newest stay, and one sentinel
// counts the dropped ones, including those of earlier sentinels. Claimed updates are
// being delivered and do not count.
func capped(list []entry, claimed []string, now time.Time) []entry {
	var held, free []entry
	taken := setOf(claimed)
	for _, e := range list {
		if taken[e.Key] {
			held = append(held, e)
		} else {
			free = append(free, e)
		}
	}
	if len(free) <= MaxPending {
		return list
	}
	keep := free[len(free)-(MaxPending-1):]
	dropped := 0
	for _, e := range free[:len(free)-len(keep)] {
		dropped += max(e.Dropped, 1)
	}
	sentinel := newEntry(now, fmt.Sprintf(textSentinel, dropped), Source{}, "") // it stands for those that no longer fit
	sentinel.Dropped = dropped
	return slices.Concat(held, []entry{sentinel}, keep)
}

// change reads the file, gives do the list and the claimed keys, and writes the returned
// list, under one lock.
func (q *Queue) change(doing string, do func(list []entry, claimed []string) ([]entry, error)) error {
	return q.alone(doing, func() error { return q.replace(do) })
}

// errUnchanged lets a change succeed without writing the file.
var errUnchanged = errors.New("nothing has changed")

// replace is change for callers that hold the lock.
func (q *Queue) replace(do func(list []entry, claimed []string) ([]entry, error)) error {
	list, err := q.load()
	if err != nil {
		return err
	}
	d, _, err := q.record()
	if err != nil {
		return err
	}
	list, err = do(list, d.Keys)
	switch {
	case errors.Is(err, errUnchanged):
		return nil
	case err != nil:
		return err
	}
	return q.write(list)
}

// alone runs fn under the lock of the file, which excludes other goroutines and
// processes. Every change of the queue or the delivery uses it.
func (q *Queue) alone(doing string, fn func() error) error {
	err := q.dir.WithLock(turnName, fn)
	if err == nil || errors.Is(err, ErrGone) {
		return err
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// write replaces the file; an empty list removes it. The caller holds its lock.
func (q *Queue) write(list []entry) error {
	if len(list) == 0 {
		return q.dir.Remove(file)
	}
	return q.dir.Write(file, encode(list))
}

// load reads the file for a change. Content that is not a list is kept aside and
// reported. A file that cannot be read at all is an error, because overwriting it would
// lose it.
func (q *Queue) load() ([]entry, error) {
	info, err := os.Stat(q.dir.Path(file))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", file, err)
	}
	var raw []rawEntry
	found, err := q.dir.LoadJSON(file, &raw, q.log)
	if err != nil || !found {
		return nil, err
	}
	return q.decode(raw, info), nil
}

// look reads the file for a reader, if it has changed. It sets nothing aside, because
// reading must not write.
func (q *Queue) look() []Update {
	list, err := q.list.Load(func() ([]Update, error) {
		info, err := os.Stat(q.dir.Path(file))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		var raw []rawEntry
		if err == nil {
			_, err = q.dir.PeekJSON(file, &raw)
		}
		if err != nil {
			return nil, err
		}
		return public(q.decode(raw, info)), nil
	})
	if q.trouble.News(err) {
		q.log.Warn("pending updates were not read", "file", file, "error", err)
	}
	return list
}

// tidy cleans and shortens a message for storage.
func tidy(message string) string {
	return clean.Cut(strings.TrimSpace(clean.Text(message)), maxMessage)
}
