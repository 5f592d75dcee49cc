package budget

import (
	"slices"
	"time"
)

// curveBack is the length of a curve's past.
const curveBack = 24 * time.Hour

// Fire is an upcoming fire that may spend a token.
type Fire struct {
	At    time.Time
	Task  string // its id
	Title string
	// Rate is the probability of a ping that costs a token, from 0 to 1.
	Rate float64
}

// Curve is the bucket's level over time, as points with linear changes between them. A
// ping is two points at the same moment.
type Curve struct {
	// Past is from 24 hours back to now, or from the first recorded level. It is empty if
	// none is recorded.
	Past []Level
	// Expected and Worst continue from now over the known fires: with each task's own rate,
	// and with a ping at every fire.
	Expected, Worst []Level
	// ExpectedDry is the first fire by which a ping has more likely than not found no whole
	// token. Dry is the first fire that finds none if every earlier one pings. They are zero
	// if there is none, and in a muted bucket.
	ExpectedDry, Dry time.Time
}

// With returns the bucket at now with another capacity and rate, as if they had been set.
// Values that Validate rejects change nothing.
func (s State) With(capacity, refill int, now time.Time) State {
	s = s.At(now)
	if Validate(&capacity, &refill) == nil {
		s.set(&capacity, &refill)
	}
	return s
}

// Curve returns the level around now: the past from the recorded marks, the future from the
// fires, each in order, until the end of the known fires.
func (s State) Curve(marks []Mark, fires []Fire, now, until time.Time) Curve {
	s = s.At(now)
	c := Curve{Past: s.past(marks, now)}
	c.Expected, c.ExpectedDry = s.ahead(fires, until, func(f Fire) float64 { return f.Rate })
	c.Worst, c.Dry = s.ahead(fires, until, func(Fire) float64 { return 1 })
	return c
}

// ahead lets each fire spend its expected amount.
func (s State) ahead(fires []Fire, until time.Time, rate func(Fire) float64) (levels []Level, dry time.Time) {
	levels = []Level{{At: s.LastRefill, Left: s.Available}}
	spared := 1.0 // the probability that no ping has found the bucket empty
	for _, f := range fires {
		p := min(max(rate(f), 0), 1)
		if !f.At.After(s.LastRefill) || f.At.After(until) || p == 0 || s.Capacity == 0 {
			continue
		}
		levels = s.refillTo(levels, f.At)
		if s = s.refilled(f.At); s.Whole() >= 1 {
			s.Available = max(0, s.Available-p)
		} else if spared *= 1 - p; spared < 0.5 && dry.IsZero() {
			dry = f.At
		}
		levels = append(levels, Level{At: f.At, Left: s.Available})
	}
	return s.refillTo(levels, until), dry
}

// Mark is a recorded change of the bucket, with the settings that hold from then on.
type Mark struct {
	At           time.Time
	Before, Left float64 // tokens before and after
	Capacity     int
	Refill       int // minutes to regain one token; 0 means that both settings are not known
}

// Marks joins the levels recorded with pings and those recorded when settings were changed, by time.
func Marks(pings []Ping, set []Mark) []Mark {
	marks := slices.Clone(set)
	for _, p := range pings {
		if p.Refused != "" || p.Left == nil {
			continue
		}
		m := Mark{At: p.At, Before: *p.Left, Left: *p.Left, Capacity: p.Capacity, Refill: p.Refill}
		if !p.free() {
			m.Before++
		}
		marks = append(marks, m)
	}
	slices.SortStableFunc(marks, func(a, b Mark) int { return a.At.Compare(b.At) })
	return marks
}

// past returns the recorded levels of the last day. Between two marks the level rises by the capacity and rate of their
// time. Where those are not known, and for what they do not explain, it is a step; before the first mark nothing is known.
func (s State) past(marks []Mark, now time.Time) (levels []Level) {
	from := now.Add(-curveBack)
	var last *Mark
	for _, m := range marks {
		switch {
		case m.At.After(now):
			continue
		case m.At.Before(from):
			levels = levels[:0] // only the last one before it matters
		case last != nil:
			levels = last.until(m.At, levels)
		}
		levels = append(levels, Level{At: m.At, Left: max(0, m.Before)}, Level{At: m.At, Left: max(0, m.Left)})
		last = &m
	}
	if last == nil {
		return nil
	}
	levels = append(last.until(now, levels), Level{At: now, Left: s.Available})
	i := slices.IndexFunc(levels, func(l Level) bool { return !l.At.Before(from) })
	if i <= 0 {
		return levels
	}
	return slices.Insert(slices.Clone(levels[i:]), 0, Level{At: from, Left: LeftAt(levels, from)})
}

// until adds the level from a mark to a moment.
func (m Mark) until(at time.Time, levels []Level) []Level {
	if m.Refill <= 0 || m.Left >= float64(m.Capacity) {
		return append(levels, Level{At: at, Left: m.Left})
	}
	s := State{Capacity: m.Capacity, Available: m.Left, RefillRateMinutes: m.Refill, LastRefill: m.At}
	return s.refillTo(levels, at)
}

// refillTo adds the effect of refilling until a moment: the point at which the bucket is
// full, if that is before, and the moment itself.
func (s State) refillTo(levels []Level, to time.Time) []Level {
	if full := s.fullAt(); !full.IsZero() && full.Before(to) {
		levels = append(levels, Level{At: full, Left: float64(s.Capacity)})
	}
	return append(levels, Level{At: to, Left: s.refilled(to).Available})
}
