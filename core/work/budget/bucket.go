package budget

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"ollimbot/core/base/pycompat"
	"ollimbot/core/storage/jsonl"
	"ollimbot/core/storage/store"
)

const (
	file     = "state/ping_budget.json"
	turnName = "ping_budget"
)

// Bucket keeps the State in the data directory. Its methods are safe for concurrent use,
// and while other processes of the program change the file. Use NewBucket.
type Bucket struct {
	dir  *store.Dir
	zone *time.Location
	log  *slog.Logger

	// reserved counts the tokens of messages being sent. The file shows them as spent.
	reserved atomic.Int64

	state   *store.Cached[State]
	journal jsonl.Log[line]
	trouble store.Trouble // with the file
}

// NewBucket returns the bucket of a data directory without reading or writing anything.
// Daily counters use zone; a nil log discards.
func NewBucket(d *store.Dir, zone *time.Location, log *slog.Logger) *Bucket {
	log = cmp.Or(log, slog.New(slog.DiscardHandler))
	return &Bucket{dir: d, zone: zone, log: log, state: store.NewCached[State](d, file), journal: journalLines(d)}
}

// State returns the bucket as of now, and how many of its missing tokens are reserved for
// messages being sent. It never writes, and reads the file only after it changed. An
// unreadable file counts as defaults and is logged once.
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

// tell logs problems with the file, once for the same problem.
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

// wall converts now to the file's precision: in the zone, in whole microseconds.
func (b *Bucket) wall(now time.Time) time.Time {
	return now.Round(0).Truncate(time.Microsecond).In(b.zone)
}

// UnpaidError is returned for a message that was not sent because the budget did not pay
// for it.
type UnpaidError struct {
	State State // the bucket at the time: without a whole token, or muted if its capacity is 0
	Err   error // why the budget could not be read or written; nil if no token was left
}

func (u *UnpaidError) Error() string {
	if u.Err != nil {
		return u.Err.Error()
	}
	return textEmpty
}

// Unwrap returns why the budget could not be read or written.
func (u *UnpaidError) Unwrap() error { return u.Err }

// Try sends a message that costs a token, or is only counted if it is critical. Without a
// token it returns an *UnpaidError before anything is sent.
//
// The error is an *UnpaidError or that of send. unsaved is an error in saving that did
// not stop the message: the count of a critical message, or a refund, for which refilling
// makes up.
func (b *Bucket) Try(critical bool, send Sending) (unsaved, err error) {
	if s, _ := b.State(time.Now()); !critical && s.Whole() < 1 {
		return nil, &UnpaidError{State: s}
	}
	return attempt(send, func() (settle settlement, unsaved, refused error) {
		paid, s, failed := b.pay(time.Now(), critical)
		switch {
		case paid != nil:
			return paid.settle, nil, nil
		case critical:
			return nil, failed, nil
		}
		return nil, nil, &UnpaidError{State: s, Err: failed}
	})
}

// pay takes a token, or counts a critical message. It returns nil and the state if no
// token is left, and nil after an error.
func (b *Bucket) pay(now time.Time, critical bool) (*payment, State, error) {
	p := &payment{bucket: b, tokens: 1}
	if critical {
		p.tokens = 0
	}
	ok := false
	_, after, err := b.change(now, func(s *State) bool {
		*s, ok = s.Pay(s.LastRefill, critical) // false if another process was faster
		if p.day = s.DailyUsedReset; critical {
			p.day = s.CriticalResetDate
		}
		return ok
	})
	switch {
	case err != nil:
		return nil, after, fmt.Errorf("pay for a ping: %w", err)
	case !ok:
		return nil, after, nil
	}
	b.reserved.Add(p.tokens)
	return p, after, nil
}

// payment is the cost of a message being sent. Only the first call of spend or release
// takes effect. Both are no-ops on nil.
type payment struct {
	bucket *Bucket
	tokens int64  // one, or none for a critical message
	day    string // the day of the counter it is part of
	done   atomic.Bool
}

// settle implements settlement.
func (p *payment) settle(sent bool) error {
	if sent {
		p.spend()
		return nil
	}
	return p.release(time.Now())
}

// spend keeps the payment: the message was sent, or may have been.
func (p *payment) spend() bool {
	if p == nil || p.done.Swap(true) {
		return false
	}
	p.bucket.reserved.Add(-p.tokens)
	return true
}

// release refunds the payment: the message was not sent. After an error it stays spent,
// and refilling makes up for it.
func (p *payment) release(now time.Time) error {
	if !p.spend() {
		return nil
	}
	if _, _, err := p.bucket.change(now, func(s *State) bool { s.refund(p.tokens, p.day); return true }); err != nil {
		return fmt.Errorf("give a ping back: %w", err)
	}
	return nil
}

// Set changes capacity (tokens) and refill rate (minutes per token); nil keeps a value.
// The time until now is refilled at the old rate first. Values that Validate rejects
// change nothing.
func (b *Bucket) Set(now time.Time, capacity, refill *int) (before, after State, err error) {
	if err := Validate(capacity, refill); err != nil {
		return State{}, State{}, err
	}
	before, after, err = b.change(now, func(s *State) bool { s.set(capacity, refill); return true })
	if err != nil {
		return State{}, State{}, fmt.Errorf("change the ping budget: %w", err)
	}
	b.record(before, after)
	return before, after, nil
}

// record writes a change of the settings into the journal of pings, so that the past is known as it was.
func (b *Bucket) record(before, after State) {
	err := b.journal.Append(line{
		At: pycompat.Time(after.LastRefill), Before: &before.Available, Left: &after.Available, Capacity: after.Capacity, Refill: after.RefillRateMinutes,
	})
	if err != nil {
		b.log.Warn("a change of the ping budget is missing from the journal", "error", err)
	}
}

// Restore undoes a Set, given the previous settings: capacity, rate, and the tokens the
// change cut off. Tokens spent since stay spent.
func (b *Bucket) Restore(now time.Time, old Settings) (after State, err error) {
	switch {
	case old.Capacity < 0:
		return State{}, fmt.Errorf(textBadCapacity, old.Capacity, maxCapacity)
	case old.RefillMinutes < minRefill:
		return State{}, fmt.Errorf(textBadRefill, old.RefillMinutes, minRefill, MaxRefill)
	case math.IsNaN(old.Available) || math.IsInf(old.Available, 0) || old.Available < 0:
		return State{}, fmt.Errorf(textBadTokens, old.Available)
	}
	before, after, err := b.change(now, func(s *State) bool { s.restore(old); return true })
	if err != nil {
		return State{}, fmt.Errorf("restore the ping budget: %w", err)
	}
	b.record(before, after)
	return after, nil
}

// change reads the file, refills it to now, applies do and writes it, under one lock. do
// returns whether there is anything to write.
func (b *Bucket) change(now time.Time, do func(*State) bool) (before, after State, err error) {
	now = b.wall(now)
	err = b.dir.WithLock(turnName, func() error {
		stored, err := b.load(now)
		if err != nil {
			return err
		}
		before = stored.At(now)
		after = before
		if !do(&after) {
			return nil
		}
		return b.dir.Write(file, after.Encode())
	})
	return before, after, err
}

// load reads the file for a change. Content that is not a JSON object is kept aside and
// reported. A file that cannot be read at all is an error, because overwriting it would
// lose it.
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
