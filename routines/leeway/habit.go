package leeway

import (
	"math"
	"time"
)

const (
	quarter  = 15 * time.Minute
	quarters = 24 * 4
	// remembered is the age of the oldest activity considered; halfLife is how fast its
	// weight decays.
	remembered = 84 * 24 * time.Hour
	halfLife   = 28 * 24 * time.Hour
)

// The weight of other days for a weekday.
const (
	sameDay   = 1.0
	sameKind  = 0.5 // both workdays, or both at the weekend
	otherKind = 0.1
)

// Habit is when the user is usually active: a weight for each quarter of an hour of each
// weekday. A nil Habit has no data.
type Habit struct{ of [7][quarters]float64 }

// NewHabit builds a habit from moments of user activity, in any order. It ignores those
// that are too old or in the future. zone is the user's time zone. Each quarter of an
// hour counts once, however much activity it had.
func NewHabit(active []time.Time, now time.Time, zone *time.Location) *Habit {
	h := &Habit{}
	seen := make(map[int64]struct{}, len(active))
	for _, at := range active {
		age := now.Sub(at)
		if age < 0 || age > remembered {
			continue
		}
		slot := at.Unix() / int64(quarter/time.Second)
		if _, twice := seen[slot]; twice {
			continue
		}
		seen[slot] = struct{}{}
		at = at.In(zone)
		h.of[at.Weekday()][(at.Hour()*60+at.Minute())/15] += math.Exp2(-float64(age) / float64(halfLife))
	}
	return h
}

// profile is the expected activity on a weekday: the weighted sum of all days, smoothed
// so that 9:14 and 9:16 get similar values.
type profile [quarters]float64

func (h *Habit) profile(day time.Weekday) (p profile) {
	if h == nil {
		return p
	}
	var raw [quarters]float64
	for other := range h.of {
		share := likeness(day, time.Weekday(other))
		for q, w := range h.of[other] {
			raw[q] += share * w
		}
	}
	for q := range raw {
		p[q] = (raw[(q+quarters-1)%quarters] + 2*raw[q] + raw[(q+1)%quarters]) / 4
	}
	return p
}

func likeness(a, b time.Weekday) float64 {
	weekend := func(d time.Weekday) bool { return d == time.Saturday || d == time.Sunday }
	switch {
	case a == b:
		return sameDay
	case weekend(a) == weekend(b):
		return sameKind
	}
	return otherKind
}

// at returns the weight of a minute, interpolated between the middles of the quarters.
func (p *profile) at(minute int) float64 {
	place := (float64(minute)+0.5)/15 - 0.5
	first := math.Floor(place)
	part := place - first
	i := (int(first) + quarters) % quarters
	return p[i]*(1-part) + p[(i+1)%quarters]*part
}
