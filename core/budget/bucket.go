package budget

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"sync"
	"time"

	"ollimbot/core/store"
)

const (
	file     = "state/ping_budget.json"
	turnName = "ping_budget"
)

// Bucket keeps the State in the data directory. All methods are safe for
// several goroutines, and beside other processes of ours that change the file.
// Use NewBucket.
type Bucket struct {
	dir  *store.Dir
	zone *time.Location
	log  *slog.Logger

	// order makes reservations and changes of the file follow each other. It is
	// held over the file's I/O, because that is what it orders.
	order sync.Mutex

	// mu guards the fields below.
	mu sync.Mutex
	// reserved are the tokens of messages on their way. They live in memory
	// only: a process that dies gives them back.
	reserved int
	// owed are changes that could not be written. They count as made, so that no
	// token is spent twice and none stays away for good, and the next change that
	// can be written takes them along.
	owed []debt
	// seen is what the file was when kept was read of it; nil: read it again.
	seen os.FileInfo
	kept State
	// told is the last trouble with the file that was logged.
	told string
}

// debt is a change of the State that the file does not have yet.
type debt struct {
	at time.Time
	do func(*State)
}

// NewBucket is the bucket of a data directory. Nothing is read or written yet.
// Daily counters go by zone; a nil log is silent.
func NewBucket(d *store.Dir, zone *time.Location, log *slog.Logger) *Bucket {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Bucket{dir: d, zone: zone, log: log}
}

// State is the bucket as it is at now, and how many of its tokens are
// reserved. It never writes, and reads the file only when it has changed; a
// file that cannot be read counts as defaults and is logged once.
func (b *Bucket) State(now time.Time) (s State, reserved int) {
	now = b.wall(now)
	info, err := os.Stat(b.dir.Path(file))
	b.mu.Lock()
	if err == nil && b.seen != nil && same(b.seen, info) {
		s, reserved = settled(b.kept, b.owed), b.reserved
		b.mu.Unlock()
		return s.At(now), reserved
	}
	reserved = b.reserved
	owed := b.owed
	b.mu.Unlock()
	return settled(b.read(now, info), owed).At(now), reserved
}

// settled makes the changes that the file does not have.
func settled(s State, owed []debt) State {
	for _, d := range owed {
		if d.at.After(s.LastRefill) {
			s = s.At(d.at)
		}
		d.do(&s)
	}
	return s
}

// read reads the file, which was info before it was read: should it be
// replaced meanwhile, the next State sees that info no longer fits.
func (b *Bucket) read(now time.Time, info os.FileInfo) State {
	data, err := b.dir.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return Default(now)
	}
	if err != nil {
		b.tell([]string{err.Error()})
		return Default(now)
	}
	s, problems := Decode(data, now)
	b.tell(problems)
	b.mu.Lock()
	b.seen, b.kept = info, s
	b.mu.Unlock()
	return s
}

// tell logs what is wrong with the file, once for the same trouble.
func (b *Bucket) tell(problems []string) {
	what := fmt.Sprint(problems)
	b.mu.Lock()
	news := len(problems) > 0 && what != b.told
	if b.told = what; len(problems) == 0 {
		b.told = ""
	}
	b.mu.Unlock()
	if !news {
		return
	}
	for _, p := range problems {
		b.log.Warn("ping budget was not fully understood", "file", file, "problem", p)
	}
}

// same reports whether two looks at the file saw the same bytes: every change
// replaces the file.
func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// wall is now as the file can tell it: in the zone, in whole microseconds.
func (b *Bucket) wall(now time.Time) time.Time {
	return now.Round(0).Truncate(time.Microsecond).In(b.zone)
}

// Reserve sets one token aside for a message that is about to be sent. It
// gives false when no whole token remains beside those already reserved.
func (b *Bucket) Reserve(now time.Time) (*Reservation, bool, error) {
	b.order.Lock()
	defer b.order.Unlock()
	b.payBack(now)
	s, reserved := b.State(now)
	if s.Whole()-reserved < 1 {
		return nil, false, nil
	}
	b.mu.Lock()
	b.reserved++
	b.mu.Unlock()
	return &Reservation{bucket: b}, true, nil
}

// payBack tries to write what is owed. Trouble with it has been told when it came
// to be owed. The caller holds order.
func (b *Bucket) payBack(now time.Time) {
	b.mu.Lock()
	n := len(b.owed)
	b.mu.Unlock()
	if n > 0 {
		_, _, _ = b.change(now, func(*State) {})
	}
}

// count makes a change that has happened in the world, whether it can be written
// or not. The caller holds order.
func (b *Bucket) count(now time.Time, do func(*State)) error {
	_, _, err := b.change(now, do)
	if err != nil {
		b.mu.Lock()
		b.owed = append(b.owed[:len(b.owed):len(b.owed)], debt{b.wall(now), do})
		b.mu.Unlock()
	}
	return err
}

// Reservation is one token set aside. Either Spend or Release takes effect,
// the first that is called; after it both do nothing.
type Reservation struct {
	bucket *Bucket
	done   bool // guarded by bucket.order
}

// Spend takes the token out of the file: the message was sent. After an error
// the token is spent all the same, and missing from the file until it can be
// written again.
func (r *Reservation) Spend(now time.Time) error {
	b := r.bucket
	b.order.Lock()
	defer b.order.Unlock()
	if r.done {
		return nil
	}
	r.settle()
	if err := b.count(now, (*State).spend); err != nil {
		return fmt.Errorf("spend a ping: %w", err)
	}
	return nil
}

// Release gives the token back: the message was not sent.
func (r *Reservation) Release() {
	r.bucket.order.Lock()
	defer r.bucket.order.Unlock()
	if !r.done {
		r.settle()
	}
}

// settle ends the reservation. The caller holds bucket.order.
func (r *Reservation) settle() {
	r.done = true
	r.bucket.mu.Lock()
	r.bucket.reserved--
	r.bucket.mu.Unlock()
}

// Critical counts a critical ping; it costs no token. After an error it is
// counted, and missing from the file until it can be written again.
func (b *Bucket) Critical(now time.Time) error {
	b.order.Lock()
	defer b.order.Unlock()
	if err := b.count(now, func(s *State) { s.CriticalUsed++ }); err != nil {
		return fmt.Errorf("count a critical ping: %w", err)
	}
	return nil
}

// Set changes capacity (tokens) and refill rate (minutes for one); nil leaves
// one as it is. The time until now is refilled at the old rate first. What
// Validate refuses changes nothing.
func (b *Bucket) Set(now time.Time, capacity, refill *int) (before, after State, err error) {
	if err := Validate(capacity, refill); err != nil {
		return State{}, State{}, err
	}
	b.order.Lock()
	defer b.order.Unlock()
	before, after, err = b.change(now, func(s *State) { s.set(capacity, refill) })
	if err != nil {
		return State{}, State{}, fmt.Errorf("change the ping budget: %w", err)
	}
	return before, after, nil
}

// Restore undoes a Set, given what was before it: capacity, rate, and the
// tokens that the change had cut off. Tokens spent since then stay spent.
func (b *Bucket) Restore(now time.Time, old Settings) (after State, err error) {
	switch {
	case old.Capacity < 0:
		return State{}, fmt.Errorf(textBadCapacity, old.Capacity, MaxCapacity)
	case old.RefillMinutes < MinRefill:
		return State{}, fmt.Errorf(textBadRefill, old.RefillMinutes, MinRefill, MaxRefill)
	case math.IsNaN(old.Available) || math.IsInf(old.Available, 0) || old.Available < 0:
		return State{}, fmt.Errorf(textBadTokens, old.Available)
	}
	b.order.Lock()
	defer b.order.Unlock()
	if _, after, err = b.change(now, func(s *State) { s.restore(old) }); err != nil {
		return State{}, fmt.Errorf("restore the ping budget: %w", err)
	}
	return after, nil
}

// change reads the file, makes what is owed, refills it to now, applies do and
// writes it, all alone. The caller holds order.
func (b *Bucket) change(now time.Time, do func(*State)) (before, after State, err error) {
	now = b.wall(now)
	b.mu.Lock()
	owed := b.owed
	b.mu.Unlock()
	err = b.dir.Exclusive(turnName, func() error {
		stored, err := b.load(now)
		if err != nil {
			return err
		}
		before = settled(stored, owed).At(now)
		after = before
		do(&after)
		return b.dir.Write(file, after.Encode())
	})
	b.mu.Lock()
	b.seen = nil
	if err == nil {
		b.owed = nil // order is held: nothing has come to it meanwhile
	}
	b.mu.Unlock()
	return before, after, err
}

// load reads the file for a change. Bytes that are no JSON object are kept
// aside and reported; a file that cannot be read at all is an error, because
// writing over it would lose it.
func (b *Bucket) load(now time.Time) (State, error) {
	var fields map[string]json.RawMessage
	found, err := b.dir.ReadJSON(file, &fields)
	if corrupt := (*store.CorruptError)(nil); errors.As(err, &corrupt) {
		b.log.Error("ping budget was set aside", "error", err)
		return Default(now), nil
	}
	if err != nil {
		return State{}, err
	}
	if !found {
		return Default(now), nil
	}
	s, problems := decode(fields, now)
	b.tell(problems)
	return s, nil
}
