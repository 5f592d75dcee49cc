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

// Curve returns the level around now: the past from the sent pings, the future from the
// fires, in order, until the end of the known fires.
func (s State) Curve(pings []Ping, fires []Fire, now, until time.Time) Curve {
	s = s.At(now)
	c := Curve{Past: s.past(pings, now)}
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

// past returns the recorded levels: those after a ping, and one token more before it. Between two of them the
// level rises at the present rate, but never above the later one. What that does not explain is a step, because
// capacity and rate were different then.
func (s State) past(pings []Ping, now time.Time) []Level {
	from := now.Add(-curveBack)
	var levels []Level
	for _, p := range pings {
		if p.Refused != "" || p.free() || p.At.After(now) || p.Left == nil {
			continue
		}
		if p.At.Before(from) {
			levels = levels[:0] // only the last one before it matters
		}
		left := max(0, *p.Left)
		levels = append(s.riseTo(levels, p.At, left+1), Level{At: p.At, Left: left})
	}
	if len(levels) == 0 {
		return nil
	}
	levels = s.riseTo(levels, now, s.Available)
	i := slices.IndexFunc(levels, func(l Level) bool { return !l.At.Before(from) })
	if i == 0 {
		return levels
	}
	return slices.Insert(slices.Clone(levels[i:]), 0, Level{At: from, Left: LeftAt(levels, from)})
}

// riseTo adds the change of the level to a known one.
func (s State) riseTo(levels []Level, at time.Time, to float64) []Level {
	if len(levels) > 0 {
		last := levels[len(levels)-1]
		risen := last.Left + at.Sub(last.At).Minutes()/float64(s.RefillRateMinutes)
		switch {
		case last.Left > to: // tokens were taken away
			levels = append(levels, Level{At: at, Left: last.Left})
		case risen > to: // it was full
			levels = append(levels, Level{At: last.At.Add(s.timeFor(to - last.Left)), Left: to})
		default:
			levels = append(levels, Level{At: at, Left: risen})
		}
	}
	return append(levels, Level{At: at, Left: to})
}

// refillTo adds the effect of refilling until a moment: the point at which the bucket is
// full, if that is before, and the moment itself.
func (s State) refillTo(levels []Level, to time.Time) []Level {
	if full := s.fullAt(); !full.IsZero() && full.Before(to) {
		levels = append(levels, Level{At: full, Left: float64(s.Capacity)})
	}
	return append(levels, Level{At: to, Left: s.refilled(to).Available})
}
