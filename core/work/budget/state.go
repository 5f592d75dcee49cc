package budget

import (
	"math"
	"time"
)

// State is the bucket as stored in the file: exactly these eight keys, because the
// original program rejects a ninth.
type State struct {
	Capacity          int       // tokens the bucket can hold; 0 mutes
	Available         float64   // tokens now, with fractions
	RefillRateMinutes int       // minutes to regain one token, at least 1
	LastRefill        time.Time // when Available was computed
	CriticalUsed      int       // critical pings today
	CriticalResetDate string    // the day of CriticalUsed, 2006-01-02 in the configured zone
	DailyUsed         int       // non-critical pings today
	DailyUsedReset    string    // the day of DailyUsed
}

// Defaults of an unconfigured bucket.
const (
	DefaultCapacity = 5
	defaultRefill   = 90 // minutes to regain one token
)

// The limits of Validate.
const (
	maxCapacity = 1000
	minRefill   = 1
	MaxRefill   = 7 * 24 * 60 // minutes: a week
)

// tolerance is how far below a whole number an amount of tokens counts as whole, to allow
// for rounding: about 10 ns of refilling.
const tolerance = 1e-9

// farthest bounds how far ahead a moment can be: time.Duration ends at 292 years, but a
// hand-written capacity has no bound.
const farthest = 100 * 365 * 24 * time.Hour

// Default returns the bucket of a user who has no file yet: full.
func Default(now time.Time) State {
	today := now.Format(time.DateOnly)
	return State{
		Capacity: DefaultCapacity, Available: DefaultCapacity, RefillRateMinutes: defaultRefill,
		LastRefill: now, CriticalResetDate: today, DailyUsedReset: today,
	}
}

// At returns the bucket at now: refilled for the time since LastRefill, with the daily
// counters of now's day in now's zone, and with impossible numbers replaced by sensible
// ones. A clock that went back costs no tokens.
func (s State) At(now time.Time) State {
	now = now.Round(0) // the file has only wall-clock times
	s = s.repaired(now).refilled(now)
	today := now.Format(time.DateOnly)
	if s.CriticalResetDate != today {
		s.CriticalUsed, s.CriticalResetDate = 0, today
	}
	if s.DailyUsedReset != today {
		s.DailyUsed, s.DailyUsedReset = 0, today
	}
	return s
}

// refilled returns the bucket with the tokens regained by now.
func (s State) refilled(now time.Time) State {
	elapsed := max(0, now.Sub(s.LastRefill))
	s.Available = min(s.Available+elapsed.Minutes()/float64(s.RefillRateMinutes), float64(s.Capacity))
	s.LastRefill = now
	return s
}

// repaired replaces impossible values with defaults.
func (s State) repaired(now time.Time) State {
	if s.Capacity < 0 {
		s.Capacity = DefaultCapacity
	}
	if s.RefillRateMinutes < minRefill {
		s.RefillRateMinutes = defaultRefill
	}
	if math.IsNaN(s.Available) {
		s.Available = float64(s.Capacity)
	}
	s.Available = min(max(s.Available, 0), float64(s.Capacity))
	if s.LastRefill.IsZero() {
		s.LastRefill = now
	}
	s.CriticalUsed = max(s.CriticalUsed, 0)
	s.DailyUsed = max(s.DailyUsed, 0)
	return s
}

// Whole returns the number of pings that the tokens pay for.
func (s State) Whole() int { return int(math.Floor(s.Available + tolerance)) }

// full reports whether the bucket cannot gain more.
func (s State) full() bool { return s.Available+tolerance >= float64(s.Capacity) }

// NextAt returns when the next token is complete; zero if the bucket is full or muted.
func (s State) NextAt(now time.Time) time.Time {
	s = s.At(now)
	if s.full() {
		return time.Time{}
	}
	return s.LastRefill.Add(s.timeFor(float64(s.Whole()+1) - s.Available))
}

// FullAt returns when the bucket is full; zero if it is full already, or muted.
func (s State) FullAt(now time.Time) time.Time { return s.At(now).fullAt() }

func (s State) fullAt() time.Time {
	if s.full() {
		return time.Time{}
	}
	return s.LastRefill.Add(s.timeFor(float64(s.Capacity) - s.Available))
}

// timeFor returns how long the tokens take to refill, rounded up to a millisecond so that
// they are complete by then.
func (s State) timeFor(tokens float64) time.Duration {
	const slack = 10 // nanoseconds of rounding error that do not cost a millisecond
	ns := tokens * float64(s.RefillRateMinutes) * float64(time.Minute)
	if ns >= float64(farthest) {
		return farthest
	}
	ms := math.Ceil((ns - slack) / float64(time.Millisecond))
	return time.Duration(max(ms, 0)) * time.Millisecond
}

// Pay takes a token for a ping at now, or only counts a critical one. paid is false if no
// token is left.
func (s State) Pay(now time.Time, critical bool) (after State, paid bool) {
	s = s.At(now)
	switch {
	case critical:
		s.CriticalUsed++
	case s.Whole() < 1:
		return s, false
	default:
		s.spend()
	}
	return s, true
}

// spend takes one token for a ping.
func (s *State) spend() {
	s.Available = max(0, s.Available-1)
	s.DailyUsed++
}

// refund undoes a spend or, with 0 tokens, the count of a critical ping. day is the day
// it was counted on; the counter of another day is left alone.
func (s *State) refund(tokens int64, day string) {
	used, counted := &s.DailyUsed, s.DailyUsedReset
	if tokens == 0 {
		used, counted = &s.CriticalUsed, s.CriticalResetDate
	}
	if counted == day {
		*used = max(0, *used-1)
	}
	s.Available = min(s.Available+float64(tokens), float64(s.Capacity))
}

// Settings are the values of a bucket that a user can change, and the tokens that a
// change may have cost.
type Settings struct {
	Capacity      int
	RefillMinutes int
	Available     float64 // tokens before the change
}

// set changes capacity and rate; nil keeps a value. Tokens that no longer fit are lost.
func (s *State) set(capacity, refill *int) {
	if capacity != nil {
		s.Capacity = *capacity
	}
	if refill != nil {
		s.RefillRateMinutes = *refill
	}
	s.Available = min(s.Available, float64(s.Capacity))
}

// restore undoes a set: the old values, and the tokens cut off by the smaller capacity.
// Tokens spent since stay spent.
func (s *State) restore(old Settings) {
	limit := float64(s.Capacity)
	switch {
	case old.Available <= limit: // nothing was cut off
	case s.Available == limit:
		s.Available = old.Available
	default:
		s.Available += old.Available - limit
	}
	s.Capacity, s.RefillRateMinutes = old.Capacity, old.RefillMinutes
	s.Available = min(s.Available, float64(s.Capacity))
}
