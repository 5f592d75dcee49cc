package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
)

// LogFile holds a line for each state of a delivery; its last one counts.
const LogFile = "state/webhooks.jsonl"

// Limits of what is kept (docs/webhooks.md names them).
const (
	keptMost  = 500                 // deliveries, in memory and in the file when it is rewritten
	keptFor   = 30 * 24 * time.Hour // since their last state
	logMax    = 1 << 20             // bytes that the file may grow before it is rewritten at once
	tidyEvery = time.Hour           // how long what is over may stay in the file
	shown     = 100                 // deliveries of Deliveries
	// lazyEvery is the least time between two writes that nobody waits for.
	lazyEvery = time.Second
	// alike is how long refusals of the same kind are counted as one.
	alike = time.Minute
)

// record is a delivery with its payload, which is kept from the moment it is
// accepted until its run begins.
type record struct {
	Delivery
	Payload json.RawMessage `json:"payload,omitempty"`
	// Note is what the main session has yet to be told of a delivery that is held.
	Note string `json:"note,omitempty"`
}

// deliveryLog is the deliveries in memory and in LogFile. Whoever must know that
// a state is on the disk waits for it: all that wait at once share one write and
// one sync (group commit). Refusals wait for nobody.
type deliveryLog struct {
	dir     *store.Dir
	log     *slog.Logger
	changed func() // must not block
	kick    chan struct{}

	mu   sync.Mutex
	list []*record // the oldest first
	next *batch    // what the next write takes along, or nil
	lazy []*record // not in the file yet as they are, each once
	dead bool      // the file holds what a rewrite would leave out

	// disk orders the file: it is held over its I/O, and taken before mu.
	disk sync.Mutex
	size int64 // of the file after the last rewrite; guarded by disk
}

// batch is the lines of one write.
type batch struct {
	lines [][]byte
	done  chan struct{}
	err   error // to be read when done is closed
}

var errNotWritten = errors.New("the delivery could not be written down")

func newLog(o Options) *deliveryLog {
	l := &deliveryLog{dir: o.Dir, log: o.Log, changed: o.Changed, kick: make(chan struct{}, 1)}
	list, err := readLog(o.Dir)
	if err != nil {
		o.Log.Error("the log of deliveries could not be read; it begins anew", "error", err)
	}
	l.list, l.dead = list, len(list) > 0
	l.trim()
	return l
}

// add takes in a delivery and returns when it is on the disk. One that could not
// be written down counts as refused, in the file too once that can be written.
func (l *deliveryLog) add(r *record) error {
	l.mu.Lock()
	l.list = append(l.list, r)
	l.trim()
	b, leads := l.join(r)
	l.mu.Unlock()
	err := l.commit(b, leads)
	if err != nil {
		l.later(r, func(r *record) { r.refused(statusNotStored) })
	}
	l.changed()
	return err
}

// change alters a delivery and returns, with what it is then, when that is on the
// disk. What could not be written is written later.
func (l *deliveryLog) change(r *record, alter func(*record)) (Delivery, error) {
	l.mu.Lock()
	alter(r)
	now := r.Delivery
	b, leads := l.join(r)
	l.mu.Unlock()
	err := l.commit(b, leads)
	if err != nil {
		l.later(r, func(*record) {})
	}
	l.changed()
	return now, err
}

// later alters a delivery; nobody waits for the disk.
func (l *deliveryLog) later(r *record, alter func(*record)) {
	l.mu.Lock()
	alter(r)
	l.touch(r)
	l.mu.Unlock()
	l.changed()
}

// refuse takes in a refusal; those of the same kind within a minute are counted
// in one entry, so that a flood of them does not push out everything else.
func (l *deliveryLog) refuse(d Delivery) {
	l.mu.Lock()
	one := &record{Delivery: d}
	for i, old := range slices.Backward(l.list) {
		if old.Webhook == d.Webhook && old.Outcome == d.Outcome && d.At.Sub(old.At) <= alike {
			one = old
			one.Count++
			one.At, one.Ended, one.Size, one.Remote = d.At, d.Ended, d.Size, d.Remote
			l.list = slices.Delete(l.list, i, i+1)
			break
		}
	}
	l.list = append(l.list, one)
	l.trim()
	l.touch(one)
	l.mu.Unlock()
	l.changed()
}

// trim makes room: the oldest that have ended go. mu is held.
func (l *deliveryLog) trim() {
	over := len(l.list) - keptMost
	l.list = slices.DeleteFunc(l.list, func(r *record) bool {
		over--
		return over >= 0 && !r.open()
	})
}

// touch notes that the file lacks a state. mu is held.
func (l *deliveryLog) touch(r *record) {
	if !slices.Contains(l.lazy, r) {
		l.lazy = append(l.lazy, r)
	}
	select {
	case l.kick <- struct{}{}:
	default: // the writer will look anyway
	}
}

// join adds a state to the next write; who leads has to write it. mu is held, so
// that the lines of a delivery stand in the order of its states.
func (l *deliveryLog) join(r *record) (b *batch, leads bool) {
	if leads = l.next == nil; leads {
		l.next = &batch{done: make(chan struct{}), err: errNotWritten}
	}
	l.next.lines = append(l.next.lines, r.line())
	return l.next, leads
}

// commit returns when the batch is on the disk. While one write is under way the
// next batch gathers, and its leader waits here for its turn.
func (l *deliveryLog) commit(b *batch, leads bool) error {
	if !leads {
		<-b.done
		return b.err
	}
	defer close(b.done)
	l.disk.Lock()
	defer l.disk.Unlock()
	l.mu.Lock()
	l.next = nil
	lazy := l.lazy
	l.lazy = nil
	for _, r := range lazy {
		b.lines = append(b.lines, r.line())
	}
	l.dead = true
	l.mu.Unlock()
	b.err = l.dir.Append(LogFile, b.lines...)
	if b.err != nil {
		l.log.Error(textNotWritten, "error", b.err)
		l.mu.Lock()
		for _, r := range lazy {
			l.touch(r)
		}
		l.mu.Unlock()
		return b.err
	}
	if info, err := os.Stat(l.dir.Path(LogFile)); err == nil && info.Size() > l.size+logMax {
		l.rewrite(time.Now())
	}
	return nil
}

// flush writes what nobody waits for.
func (l *deliveryLog) flush() error {
	l.mu.Lock()
	if len(l.lazy) == 0 {
		l.mu.Unlock()
		return nil
	}
	r := l.lazy[0]
	l.lazy = l.lazy[1:]
	b, leads := l.join(r)
	l.mu.Unlock()
	err := l.commit(b, leads)
	if err != nil {
		l.later(r, func(*record) {})
	}
	return err
}

// tidy rewrites the file if there is something in it that has to go.
func (l *deliveryLog) tidy(now time.Time) {
	l.disk.Lock()
	defer l.disk.Unlock()
	l.rewrite(now)
}

// rewrite replaces the file by what is kept: nothing that is too old, and no
// payload but of those that have yet to run. disk is held.
func (l *deliveryLog) rewrite(now time.Time) {
	l.mu.Lock()
	n := len(l.list)
	l.list = slices.DeleteFunc(l.list, func(r *record) bool { return !r.open() && now.Sub(r.last()) > keptFor })
	if !l.dead && len(l.list) == n {
		l.mu.Unlock()
		return
	}
	var text bytes.Buffer
	for _, r := range l.list {
		text.Write(r.line())
		text.WriteByte('\n')
	}
	lazy := l.lazy
	l.lazy, l.dead = nil, false
	l.mu.Unlock()
	if err := l.dir.Write(LogFile, text.Bytes()); err != nil {
		l.log.Error("the log of deliveries could not be rewritten", "error", err)
		l.mu.Lock()
		l.dead = true
		for _, r := range lazy {
			l.touch(r)
		}
		l.mu.Unlock()
		return
	}
	l.size = int64(text.Len())
}

// tend writes what nobody waits for, and keeps the file small, until stop is
// closed; then it writes what is left. It is called once.
func (l *deliveryLog) tend(stop <-chan struct{}) {
	pause, hour := time.NewTimer(0), time.NewTicker(tidyEvery)
	defer pause.Stop()
	defer hour.Stop()
	for {
		select {
		case <-stop:
			_ = l.flush() // it has told why
			return
		case now := <-hour.C:
			l.tidy(now)
			continue
		case <-pause.C:
		}
		select {
		case <-stop:
			_ = l.flush() // the same
			return
		case now := <-hour.C:
			l.tidy(now)
		case <-l.kick:
			if l.flush() != nil {
				pause.Reset(retryEvery)
				continue
			}
		}
		pause.Reset(lazyEvery)
	}
}

// deliveries are the newest, the last one first.
func (l *deliveryLog) deliveries() []Delivery {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make([]Delivery, 0, min(len(l.list), shown))
	for _, r := range slices.Backward(l.list) {
		if len(list) == shown {
			break
		}
		one := r.Delivery
		one.Flagged = slices.Clone(r.Flagged)
		list = append(list, one)
	}
	return list
}

// open are the deliveries without an end, the oldest first.
func (l *deliveryLog) open() []*record {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.list), func(r *record) bool { return !r.open() })
}

// line is a state as the file holds it.
func (r *record) line() []byte {
	one := *r
	if one.Outcome != Accepted {
		one.Payload = nil
	}
	line, err := store.JSONLine(one)
	if err != nil {
		return nil // readers skip it; a delivery holds nothing that JSON does not know
	}
	return line
}

// Log is the newest n deliveries of the log, newest first, without a running
// bot. What has no end line stands as it last was: whether its program still
// lives is not the log's to know. A missing file is an empty log.
func Log(d *store.Dir, n int) ([]Delivery, error) {
	list, err := readLog(d)
	newest := make([]Delivery, 0, min(len(list), max(0, n)))
	for _, r := range slices.Backward(list) {
		if len(newest) < n {
			newest = append(newest, r.Delivery)
		}
	}
	return newest, err
}

// readLog reads the file, the oldest first. Lines that cannot be read are
// skipped, as is one that a crash has torn.
func readLog(d *store.Dir) ([]*record, error) {
	data, err := d.Read(LogFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the log of deliveries: %w", err)
	}
	last := map[string]*record{}
	var list []*record
	for one, err := range jsonl.Lines[record](data) {
		if err != nil || len(one.ID) != 8 || !plainID(one.ID) {
			continue
		}
		one.Delivery = one.cleaned()
		if known := last[one.ID]; known != nil {
			*known = one
			continue
		}
		last[one.ID] = &one
		list = append(list, &one)
	}
	slices.SortStableFunc(list, func(a, b *record) int { return a.At.Compare(b.At) })
	return list, nil
}
