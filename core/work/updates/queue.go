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
	// MaxPending is how many unclaimed updates the file keeps, the sentinel
	// included.
	MaxPending = 10
	// maxMessage is the length of a message in runes; longer ones end in an
	// ellipsis.
	maxMessage = 4000
)

// errGone says that an update is no longer pending: a turn took it, or
// somebody discarded it before.
var errGone = errors.New(textGone)

// Queue keeps the pending updates in the data directory. All methods are safe
// for several goroutines, and beside other processes of ours. Use NewQueue.
type Queue struct {
	dir  *store.Dir
	zone *time.Location
	log  *slog.Logger

	// mu guards arrived.
	mu sync.Mutex
	// arrived is a delivery that the engine has, but which the disk does not know
	// to be settled: its updates are no longer shown.
	arrived Delivery

	list    *store.Cached[[]Update]
	trouble store.Trouble // with the file
}

// NewQueue is the queue of a data directory. Nothing is read or written yet.
// Times are in zone; a nil log is silent.
func NewQueue(d *store.Dir, zone *time.Location, log *slog.Logger) *Queue {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &Queue{dir: d, zone: zone, log: log, list: store.NewCached[[]Update](d, file)}
}

// Append adds a message, cleaned and cut to maxMessage runes. Where more than
// MaxPending would wait, the oldest make room and one sentinel counts them.
func (q *Queue) Append(now time.Time, message string) error {
	return q.add(now, message, "", false, nil)
}

// AppendFrom is Append for a message with a label.
func (q *Queue) AppendFrom(now time.Time, message string, from label.Label) error {
	return q.add(now, message, from.Via(labelUpdate), false, nil)
}

// AppendOnce is Append for whoever tells a thing again after a crash: what is
// still pending is not kept twice. kept is called when it is on the disk and
// before anybody can claim it; it may write, and must not use the queue.
func (q *Queue) AppendOnce(now time.Time, message string, from label.Label, kept func()) error {
	return q.add(now, message, from.Via(labelUpdate), true, kept)
}

func (q *Queue) add(now time.Time, message string, from label.Label, once bool, kept func()) error {
	message = tidy(message)
	if message == "" {
		return errors.New(textEmpty)
	}
	now = now.Round(0).In(q.zone)
	return q.alone("keep an update", func() error {
		err := q.replace(func(list []entry, claimed []string) ([]entry, error) {
			if once && slices.ContainsFunc(list, func(e entry) bool { return e.Message == message }) {
				return nil, errUnchanged
			}
			return capped(append(list, added(list, now, message, from)), claimed, now), nil
		})
		if err == nil && kept != nil {
			kept()
		}
		return err
	})
}

// Replace keeps one update about a matter up to date: compose is told whether the
// one before is still unread, which it then stands for, and gives the words; none
// means that there is nothing to tell any more. A claimed update counts as read.
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
		e := added(list, now.Round(0).In(q.zone), message, "")
		e.extra = map[string]json.RawMessage{aboutKey: mark}
		return capped(append(list, e), claimed, now), nil
	})
}

// aboutKey says in the file what an update is about, where it may be replaced.
const aboutKey = "about"

// added is a new entry of a list.
func added(list []entry, now time.Time, message string, from label.Label) entry {
	e := newEntry(now, message, from)
	for slices.Contains(keys(list), e.Key) { // the same words at the same time are two updates
		e = newEntry(e.At.Add(time.Microsecond), message, from)
	}
	return e
}

// Peek is what is pending, oldest first; a sentinel comes before the updates
// that it makes room for. Claimed updates are among them, so that a fork that
// starts during a main turn sees the same as one before it. It never writes, and
// reads the file only when it has changed. Callers share the result and must not
// change it.
func (q *Queue) Peek() []Update {
	q.mu.Lock()
	arrived := q.arrived.Keys // before the look: what is settled in between is gone from the file
	q.mu.Unlock()
	list := q.look()
	if len(arrived) == 0 {
		return list
	}
	gone := setOf(arrived)
	return slices.DeleteFunc(slices.Clone(list), func(u Update) bool { return gone[u.Key] })
}

// Discarded is an update that was taken out, with what Restore needs to put it
// back exactly: the entry as the file held it, and what stood before it.
type Discarded struct {
	Update
	entry entry
	// ahead and behind are the keys of those that stood before it and after it.
	ahead, behind []string

	// mu guards back, and is held while the update is written back.
	mu   sync.Mutex
	back bool
}

// Discard removes one update and returns it for Restore. It gives errGone when
// no update has the key, or when it is on its way to the main session.
func (q *Queue) Discard(key string) (*Discarded, error) {
	gone := &Discarded{}
	err := q.change("discard an update", func(list []entry, claimed []string) ([]entry, error) {
		i := slices.IndexFunc(list, func(e entry) bool { return e.Key == key })
		if i < 0 || slices.Contains(claimed, key) {
			return nil, errGone
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

// Restore puts a discarded update back where it stood. Nothing makes room for
// it, so that undo takes nothing away; the next Append counts it among the
// others. A second time changes nothing; after an error it may be repeated.
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

// place is where a discarded update belongs: behind the last of those before it
// that are still there, or else in front of those after it. Where none is left
// all the others are newer, except sentinels, which stand first.
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

// capped makes the unclaimed updates fit: the newest stay, one sentinel counts
// what had to go, earlier sentinels included. Claimed ones are being delivered;
// they neither count nor get counted.
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
	sentinel := newEntry(now, fmt.Sprintf(textSentinel, dropped), "") // it stands for those that no longer fit
	sentinel.Dropped = dropped
	return slices.Concat(held, []entry{sentinel}, keep)
}

// change reads the file, lets do make a new list of the old one and the keys
// that are claimed, and writes it, all alone.
func (q *Queue) change(doing string, do func(list []entry, claimed []string) ([]entry, error)) error {
	return q.alone(doing, func() error { return q.replace(do) })
}

// errUnchanged lets a change end well with the file as it is.
var errUnchanged = errors.New("nothing has changed")

// replace is change for whoever holds the lock.
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

// alone runs fn under the lock of the file, within this process and beside
// others. Everything that changes the queue or the delivery goes through it.
func (q *Queue) alone(doing string, fn func() error) error {
	err := q.dir.WithLock(turnName, fn)
	if err == nil || errors.Is(err, errGone) {
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

// load reads the file for a change. Bytes that are no list are kept aside and
// reported; a file that cannot be read at all is an error, because writing over
// it would lose it.
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

// look reads the file for a reader, only when it has changed. Nothing is set
// aside: reading must not write.
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

// tidy makes a message fit to be kept.
func tidy(message string) string {
	return clean.Cut(strings.TrimSpace(clean.Text(message)), maxMessage)
}
