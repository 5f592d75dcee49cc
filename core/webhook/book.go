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

	"ollimbot/core/store"
	"ollimbot/routines"
)

const (
	// LedgerFile holds a line for each state of a delivery; its last one counts.
	LedgerFile = "state/webhooks.jsonl"
	// kept deliveries stay in memory; ledgerKept of them in the file when it has
	// grown beyond ledgerMax bytes.
	kept       = 100
	ledgerKept = 500
	ledgerMax  = 1 << 20
	// writeEvery is the least time between two writes of the ledger: a sync costs
	// milliseconds, and refusals may come by the thousand.
	writeEvery = 250 * time.Millisecond
	// alike is how long refusals of the same kind are counted as one.
	alike = time.Minute
)

// book is the ledger in memory. Who answers a sender never waits for the disk:
// the file follows, at most writeEvery behind.
type book struct {
	dir     *store.Dir
	log     *slog.Logger
	changed func() // must not block
	kick    chan struct{}

	mu    sync.Mutex
	list  []*Delivery // the oldest first
	dirty []*Delivery // not in the file yet as they are, each once
}

func newBook(o Options) *book {
	b := &book{dir: o.Dir, log: o.Log, changed: o.Changed, kick: make(chan struct{}, 1)}
	past, err := Ledger(o.Dir, kept)
	if err != nil {
		o.Log.Warn("the ledger of deliveries could not be read; it begins anew", "error", err)
	}
	for _, d := range slices.Backward(past) {
		b.list = append(b.list, &d)
	}
	return b
}

// add takes in a new delivery, which is then the book's: only change may touch it.
func (b *book) add(d *Delivery) {
	b.mu.Lock()
	b.list = append(b.list, d)
	if over := len(b.list) - kept; over > 0 {
		b.list = slices.Delete(b.list, 0, over)
	}
	b.touch(d)
	b.mu.Unlock()
	b.tell()
}

// refuse takes in a refusal; those of the same kind within a minute are counted
// in one entry, so that a flood of them does not push out everything else.
func (b *book) refuse(d *Delivery) {
	b.mu.Lock()
	for i, old := range slices.Backward(b.list) {
		if old.Webhook != d.Webhook || old.Outcome != d.Outcome || d.At.Sub(old.At) > alike {
			continue
		}
		old.Count++
		old.At, old.Ended, old.Size, old.Remote = d.At, d.Ended, d.Size, d.Remote
		b.list = append(slices.Delete(b.list, i, i+1), old)
		b.touch(old)
		b.mu.Unlock()
		b.tell()
		return
	}
	b.mu.Unlock()
	b.add(d)
}

// change alters a delivery and returns it as it is then.
func (b *book) change(d *Delivery, alter func(*Delivery)) Delivery {
	b.mu.Lock()
	alter(d)
	b.touch(d)
	now := *d
	b.mu.Unlock()
	b.tell()
	return now
}

// touch notes that the file lacks a state. mu is held.
func (b *book) touch(d *Delivery) {
	if !slices.Contains(b.dirty, d) {
		b.dirty = append(b.dirty, d)
	}
}

func (b *book) tell() {
	select {
	case b.kick <- struct{}{}:
	default: // the writer will look anyway
	}
	b.changed()
}

// deliveries are the newest, the last one first.
func (b *book) deliveries() []Delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := make([]Delivery, 0, len(b.list))
	for _, d := range slices.Backward(b.list) {
		one := *d
		one.Flagged = slices.Clone(d.Flagged)
		list = append(list, one)
	}
	return list
}

// cutOff ends what an earlier run of the program left open, and returns it.
func (b *book) cutOff(now time.Time) []Delivery {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []Delivery
	for _, d := range b.list {
		if d.open() {
			list = append(list, *d)
			d.Outcome, d.Ended = Interrupted, now
			b.touch(d)
		}
	}
	return list
}

// write keeps the file true to the book until stop is closed, and writes what
// is left then. It is called once.
func (b *book) write(stop <-chan struct{}) {
	b.shorten()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for {
		select {
		case <-stop:
			b.flush()
			return
		case <-pause.C:
		}
		select {
		case <-stop:
			b.flush()
			return
		case <-b.kick:
			b.flush()
		}
		pause.Reset(writeEvery)
	}
}

// flush appends the states that the file lacks. What cannot be written stays
// to be tried with the next change.
func (b *book) flush() {
	b.mu.Lock()
	dirty := b.dirty
	b.dirty = nil
	lines := make([][]byte, 0, len(dirty))
	for _, d := range dirty {
		line, err := json.Marshal(d)
		if err != nil {
			continue // a delivery holds nothing that JSON does not know
		}
		lines = append(lines, line)
	}
	b.mu.Unlock()
	if len(lines) == 0 {
		return
	}
	if err := b.dir.AppendLines(LedgerFile, lines); err != nil {
		b.log.Error("the ledger of deliveries could not be written", "error", err)
		b.mu.Lock()
		for _, d := range dirty {
			b.touch(d)
		}
		b.dirty = b.dirty[max(0, len(b.dirty)-kept):]
		b.mu.Unlock()
		return
	}
	b.shorten()
}

// shorten keeps the newest deliveries of a file that has grown large.
func (b *book) shorten() {
	info, err := os.Stat(b.dir.Path(LedgerFile))
	if err != nil || info.Size() <= ledgerMax {
		return
	}
	list, err := Ledger(b.dir, ledgerKept)
	var kept bytes.Buffer
	enc := json.NewEncoder(&kept)
	for _, d := range slices.Backward(list) {
		if err == nil {
			err = enc.Encode(d)
		}
	}
	if err == nil {
		err = b.dir.Write(LedgerFile, kept.Bytes())
	}
	if err != nil {
		b.log.Error("the ledger of deliveries could not be shortened", "error", err)
	}
}

// Ledger is the newest n deliveries of the ledger, newest first, without a
// running bot. What has no end line stands as it last was: whether its program
// still lives is not the ledger's to know. Lines that cannot be read are
// skipped; a missing file is an empty ledger.
func Ledger(d *store.Dir, n int) ([]Delivery, error) {
	data, err := d.Read(LedgerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the ledger of deliveries: %w", err)
	}
	last := map[string]int{}
	var list []Delivery
	for line := range bytes.Lines(data) {
		var one Delivery
		if json.Unmarshal(line, &one) != nil || len(one.ID) != 8 || !routines.ValidID(one.ID) {
			continue
		}
		if i, again := last[one.ID]; again {
			list[i] = one.cleaned()
			continue
		}
		last[one.ID] = len(list)
		list = append(list, one.cleaned())
	}
	slices.Reverse(list) // of two at the same time, the later line comes first
	slices.SortStableFunc(list, func(a, b Delivery) int { return b.At.Compare(a.At) })
	return list[:min(len(list), max(0, n))], nil
}
