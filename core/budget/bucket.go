package budget

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"strings"
	"sync/atomic"
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

	// reserved counts the tokens of messages on their way, which the file has as
	// spent.
	reserved atomic.Int64

	state   *store.Cached[State]
	trouble store.Trouble // with the file
}

// NewBucket is the bucket of a data directory. Nothing is read or written yet.
// Daily counters go by zone; a nil log is silent.
func NewBucket(d *store.Dir, zone *time.Location, log *slog.Logger) *Bucket {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Bucket{dir: d, zone: zone, log: log, state: store.NewCached[State](d, file)}
}

// State is the bucket as it is at now, and how many tokens, missing from it,
// belong to messages on their way. It never writes, and reads the file only when
// it has changed; a file that cannot be read counts as defaults and is logged once.
func (b *Bucket) State(now time.Time) (s State, reserved int) {
	now = b.wall(now)
	s, err := b.state.Load(func() (State, error) {
		data, err := b.dir.Read(file)
		if err != nil {
			return State{}, err
		}
		s, problems := Decode(data, now)
		b.tell(problems)
		return s, nil
	})
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			b.tell([]string{err.Error()})
		}
		s = Default(now)
	}
	return s.At(now), int(b.reserved.Load())
}

// tell logs what is wrong with the file, once for the same trouble.
func (b *Bucket) tell(problems []string) {
	var err error
	if len(problems) > 0 {
		err = errors.New(strings.Join(problems, "; "))
	}
	if !b.trouble.News(err) {
		return
	}
	for _, p := range problems {
		b.log.Warn("ping budget was not fully understood", "file", file, "problem", p)
	}
}

// wall is now as the file can tell it: in the zone, in whole microseconds.
func (b *Bucket) wall(now time.Time) time.Time {
	return now.Round(0).Truncate(time.Microsecond).In(b.zone)
}

// Reserve takes one token for a message that is about to be sent. It is spent in
// the file when Reserve returns, so that a crash from then on cannot give away
// what may have been sent. False means that no whole token is left; neither then
// nor after an error may the message be sent.
func (b *Bucket) Reserve(now time.Time) (r *Reservation, ok bool, err error) {
	if s, _ := b.State(now); s.Whole() < 1 {
		return nil, false, nil // and nothing is written
	}
	_, after, err := b.change(now, func(s *State) {
		if ok = s.Whole() >= 1; ok {
			s.spend()
		}
	})
	if err != nil {
		return nil, false, fmt.Errorf("reserve a ping: %w", err)
	}
	if !ok { // another process was faster
		return nil, false, nil
	}
	b.reserved.Add(1)
	return &Reservation{bucket: b, tokens: 1, day: after.DailyUsedReset}, true, nil
}

// Critical counts a critical message that is about to be sent; it costs no token.
// After an error it is not counted, and may be sent all the same.
func (b *Bucket) Critical(now time.Time) (*Reservation, error) {
	_, after, err := b.change(now, func(s *State) { s.CriticalUsed++ })
	if err != nil {
		return nil, fmt.Errorf("count a critical ping: %w", err)
	}
	return &Reservation{bucket: b, day: after.CriticalResetDate}, nil
}

// Reservation is a message on its way that has been paid for. Either Spend or
// Release takes effect, the first that is called; after it both do nothing. Nil
// is the one of a message that could not be counted.
type Reservation struct {
	bucket *Bucket
	tokens int64  // that it has cost: one, or none for a critical message
	day    string // whose counter has it
	done   atomic.Bool
}

// Spend leaves it at that: the message was sent, or may have been.
func (r *Reservation) Spend() { r.settle() }

// Release gives back what Reserve or Critical has taken: the message was not
// sent. After an error it stays spent, and refilling makes up for it.
func (r *Reservation) Release(now time.Time) error {
	if !r.settle() {
		return nil
	}
	if _, _, err := r.bucket.change(now, func(s *State) { s.refund(r.tokens, r.day) }); err != nil {
		return fmt.Errorf("give a ping back: %w", err)
	}
	return nil
}

// settle ends the reservation; false means that it had ended before.
func (r *Reservation) settle() bool {
	if r == nil || r.done.Swap(true) {
		return false
	}
	r.bucket.reserved.Add(-r.tokens)
	return true
}

// Set changes capacity (tokens) and refill rate (minutes for one); nil leaves
// one as it is. The time until now is refilled at the old rate first. What
// Validate refuses changes nothing.
func (b *Bucket) Set(now time.Time, capacity, refill *int) (before, after State, err error) {
	if err := Validate(capacity, refill); err != nil {
		return State{}, State{}, err
	}
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
	if _, after, err = b.change(now, func(s *State) { s.restore(old) }); err != nil {
		return State{}, fmt.Errorf("restore the ping budget: %w", err)
	}
	return after, nil
}

// change reads the file, refills it to now, applies do and writes it, all alone.
func (b *Bucket) change(now time.Time, do func(*State)) (before, after State, err error) {
	now = b.wall(now)
	err = b.dir.Exclusive(turnName, func() error {
		stored, err := b.load(now)
		if err != nil {
			return err
		}
		before = stored.At(now)
		after = before
		do(&after)
		return b.dir.Write(file, after.Encode())
	})
	return before, after, err
}

// load reads the file for a change. Bytes that are no JSON object are kept
// aside and reported; a file that cannot be read at all is an error, because
// writing over it would lose it.
func (b *Bucket) load(now time.Time) (State, error) {
	var fields map[string]json.RawMessage
	found, err := b.dir.LoadJSON(file, &fields, b.log)
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
