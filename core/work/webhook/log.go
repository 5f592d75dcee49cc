package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
)

// LogFile contains a line for each state of a delivery; the last one counts.
const LogFile = "state/webhooks.jsonl"

// Limits of the log (docs/webhooks.md lists them).
const (
	keptMost  = 500                 // deliveries, in memory and in the file when it is rewritten
	keptFor   = 30 * 24 * time.Hour // since their last change
	logMax    = 1 << 20             // bytes that the file can grow before it is rewritten at once
	tidyEvery = time.Hour           // how long expired lines can stay in the file
	shown     = 100                 // deliveries that Deliveries returns
	// lazyEvery is the least time between two writes that no caller waits for.
	lazyEvery = time.Second
	// alike is how long refusals of the same kind count as one.
	alike = time.Minute
	// onceWithin is how long a delivery with a key is not accepted again, while its webhook has at
	// most mostKeys.
	onceWithin = 7 * 24 * time.Hour
	mostKeys   = 10_000
)

// record is a delivery with its payload, which is kept until its end: a run that has not
// begun is made up for after a restart.
type record struct {
	Delivery
	Payload json.RawMessage `json:"payload,omitempty"`
	// Note is what the main session must still be told about a held delivery.
	Note string `json:"note,omitempty"`
	// Key identifies what the sender delivered, or is empty (Server.key).
	Key string `json:"key,omitempty"`
}

// deliveryLog is the deliveries in memory and in LogFile. add and change return when
// the new state is on the disk: each takes one write and one sync. Refusals are written within a second.
type deliveryLog struct {
	dir     *store.Dir
	log     *slog.Logger
	changed func() // must not block
	kick    chan struct{}

	mu      sync.Mutex
	list    []*record // the oldest first
	unsaved []*record // the file lacks their current state; each once
	// keys are the accepted deliveries of the last week by key, also those that list has
	// dropped.
	keys map[string]*record
	dead bool // the file contains lines that a rewrite would drop

	// disk orders the file: it is held over its I/O, and locked before mu.
	disk sync.Mutex
	size int64 // of the file after the last rewrite; guarded by disk
}

func newLog(o Options) *deliveryLog {
	l := &deliveryLog{dir: o.Dir, log: o.Log, changed: o.Changed, kick: make(chan struct{}, 1)}
	list, err := readLog(o.Dir)
	if err != nil {
		o.Log.Error("the delivery log could not be read; starting a new one", "error", err)
	}
	l.list, l.dead, l.keys = list, len(list) > 0, map[string]*record{}
	for _, r := range list {
		if r.Key != "" && r.Status == http.StatusAccepted {
			l.keys[r.Key] = r
		}
	}
	l.list = slices.DeleteFunc(l.list, func(r *record) bool { return r.Outcome == forgotten })
	l.trim()
	return l
}

// forgotten is the outcome of a delivery of which only the key is kept.
const forgotten = "forgotten"

// errRepeated is what add returns for a delivery with the key of another one.
var errRepeated = errors.New("it was accepted before")

// add adds a delivery and returns when it is on the disk. One that could not be saved
// counts as refused, in the file too once that can be written. For one with the key of another one, which is on the disk,
// it returns errRepeated.
func (l *deliveryLog) add(r *record) error {
	l.disk.Lock()
	defer l.disk.Unlock()
	l.mu.Lock()
	if other := l.keys[r.Key]; r.Key != "" && other != nil && r.At.Sub(other.At) < onceWithin {
		l.mu.Unlock()
		return errRepeated
	}
	l.list = append(l.list, r)
	l.trim()
	l.touch(r)
	l.mu.Unlock()
	err := l.write()
	l.mu.Lock()
	if err != nil {
		r.refused(statusNotStored)
	} else if r.Key != "" {
		l.keys[r.Key] = r
	}
	l.mu.Unlock()
	l.changed()
	return err
}

// change alters a delivery, returns when that is on the disk, and gives the new state. After an error, which is
// logged, it is saved later.
func (l *deliveryLog) change(r *record, alter func(*record)) Delivery {
	l.disk.Lock()
	defer l.disk.Unlock()
	l.mu.Lock()
	alter(r)
	now := r.Delivery
	l.touch(r)
	l.mu.Unlock()
	_ = l.write()
	l.changed()
	return now
}

// refuse adds a refusal. Those of the same kind within a minute are counted in one
// entry, so that a flood of them does not push out everything else.
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
	l.wake()
	l.changed()
}

// trim drops the oldest ended deliveries beyond the limit. mu is held.
func (l *deliveryLog) trim() {
	over := len(l.list) - keptMost
	l.list = slices.DeleteFunc(l.list, func(r *record) bool {
		over--
		return over >= 0 && !r.open()
	})
}

// touch notes that the file lacks a state. mu is held.
func (l *deliveryLog) touch(r *record) {
	if !slices.Contains(l.unsaved, r) {
		l.unsaved = append(l.unsaved, r)
	}
}

// wake tells tend that something is unsaved.
func (l *deliveryLog) wake() {
	select {
	case l.kick <- struct{}{}:
	default: // it will look anyway
	}
}

// flush writes all that is unsaved.
func (l *deliveryLog) flush() error {
	l.disk.Lock()
	defer l.disk.Unlock()
	return l.write()
}

// write adds a line to the file for everything unsaved. disk is held.
func (l *deliveryLog) write() error {
	l.mu.Lock()
	writing := l.unsaved
	if len(writing) == 0 {
		l.mu.Unlock()
		return nil
	}
	l.unsaved, l.dead = nil, true
	lines := make([][]byte, len(writing))
	for i, r := range writing {
		lines[i] = r.line()
	}
	l.mu.Unlock()
	if err := l.dir.Append(LogFile, lines...); err != nil {
		l.log.Error(textNotWritten, "error", err)
		l.notSaved(writing)
		return err
	}
	if info, err := os.Stat(l.dir.Path(LogFile)); err == nil && info.Size() > l.size+logMax {
		l.rewrite(time.Now())
	}
	return nil
}

// notSaved takes back records that could not be written.
func (l *deliveryLog) notSaved(list []*record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dead = true
	for _, r := range list {
		l.touch(r)
	}
	l.wake()
}

// tidy rewrites the file if it contains something that has to go.
func (l *deliveryLog) tidy(now time.Time) {
	l.disk.Lock()
	defer l.disk.Unlock()
	l.rewrite(now)
}

// rewrite drops expired deliveries, replaced states, and payloads that are no longer
// needed from the file. disk is held.
func (l *deliveryLog) rewrite(now time.Time) {
	l.mu.Lock()
	n := len(l.list) + len(l.keys)
	l.trimKeys(now)
	l.list = slices.DeleteFunc(l.list, func(r *record) bool { return !r.open() && now.Sub(r.last()) > keptFor })
	if !l.dead && len(l.list)+len(l.keys) == n {
		l.mu.Unlock()
		return
	}
	var text bytes.Buffer
	for _, r := range l.dropped() {
		text.Write(r.line())
		text.WriteByte('\n')
	}
	for _, r := range l.list {
		text.Write(r.line())
		text.WriteByte('\n')
	}
	writing := l.unsaved
	l.unsaved, l.dead = nil, false
	l.mu.Unlock()
	if err := l.dir.Write(LogFile, text.Bytes()); err != nil {
		l.log.Error("the delivery log could not be rewritten", "error", err)
		l.notSaved(writing)
		return
	}
	l.size = int64(text.Len())
}

// trimKeys drops the keys that are too old, and the oldest of too many of a webhook. mu is held.
func (l *deliveryLog) trimKeys(now time.Time) {
	of := map[string][]*record{}
	for key, r := range l.keys {
		if now.Sub(r.At) >= onceWithin {
			delete(l.keys, key)
			continue
		}
		of[r.Webhook] = append(of[r.Webhook], r)
	}
	for _, list := range of {
		if over := len(list) - mostKeys; over > 0 {
			slices.SortFunc(list, older)
			for _, r := range list[:over] {
				delete(l.keys, r.Key)
			}
		}
	}
}

func older(a, b *record) int { return a.At.Compare(b.At) }

// dropped returns what is kept of deliveries that the list has dropped: their keys. mu is
// held.
func (l *deliveryLog) dropped() (list []*record) {
	kept := make(map[*record]bool, len(l.list))
	for _, r := range l.list {
		kept[r] = true
	}
	for _, r := range l.keys {
		if !kept[r] {
			list = append(list, &record{
				Delivery: Delivery{ID: r.ID, Webhook: r.Webhook, At: r.At, Status: r.Status, Outcome: forgotten, Count: 1}, Key: r.Key,
			})
		}
	}
	slices.SortFunc(list, older)
	return list
}

// tend saves what no caller waits for and keeps the file small until stop is closed.
// Then it saves the rest. It is called once.
func (l *deliveryLog) tend(stop <-chan struct{}) {
	hour := time.NewTicker(tidyEvery)
	defer hour.Stop()
	for {
		pause := lazyEvery
		select {
		case <-stop:
			_ = l.flush() // it logs why
			return
		case now := <-hour.C:
			l.tidy(now)
		case <-l.kick:
			if l.flush() != nil {
				pause = retryEvery
			}
		}
		select {
		case <-stop:
		case <-time.After(pause):
		}
	}
}

// deliveries returns the newest ones, newest first.
func (l *deliveryLog) deliveries() []Delivery {
	l.mu.Lock()
	defer l.mu.Unlock()
	return newest(l.list, shown)
}

// newest returns copies of the last n deliveries of a list, newest first.
func newest(list []*record, n int) []Delivery {
	list = list[max(0, len(list)-max(0, n)):]
	copies := make([]Delivery, 0, len(list))
	for _, r := range slices.Backward(list) {
		one := r.Delivery
		one.Flagged = slices.Clone(r.Flagged)
		copies = append(copies, one)
	}
	return copies
}

// open returns the deliveries that have not ended, oldest first.
func (l *deliveryLog) open() []*record {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.list), func(r *record) bool { return !r.open() })
}

// line returns a state as a line of the file.
func (r *record) line() []byte {
	one := *r
	if !one.open() {
		one.Payload = nil
	}
	line, err := store.JSONLine(one)
	if err != nil {
		return nil // readers skip it; JSON can express everything in a delivery
	}
	return line
}

// Log reads the newest n deliveries, newest first, without a running bot. A delivery
// that has not ended keeps its last state, even if its bot was killed. A missing file is
// an empty log.
func Log(d *store.Dir, n int) ([]Delivery, error) {
	list, err := readLog(d)
	list = slices.DeleteFunc(list, func(r *record) bool { return r.Outcome == forgotten })
	return newest(list, n), err
}

// readLog reads the file, oldest first. It skips unreadable lines, such as one that a
// crash cut off.
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
	slices.SortStableFunc(list, older)
	return list, nil
}
