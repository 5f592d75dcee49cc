package budget

import (
	"testing"
	"time"
)

func bucket(now time.Time, capacity int, available float64, rate int) State {
	s := Default(now)
	s.Capacity, s.Available, s.RefillRateMinutes = capacity, available, rate
	return s
}

// lived simulates the bucket with its own arithmetic: its level after a ping at each
// moment, and the first moment without a token.
func lived(s State, pings []time.Time, now time.Time) (levels []Level, dry time.Time) {
	s = s.At(now)
	for _, at := range pings {
		if s = s.At(at); s.Whole() >= 1 {
			s.Available--
		} else if dry.IsZero() {
			dry = at
		}
		levels = append(levels, Level{At: at, Left: s.Available})
	}
	return levels, dry
}

func TestAMutedBucketIsNotDry(t *testing.T) {
	in := noon.Add(time.Hour)
	if c := bucket(noon, 0, 0, 60).Curve(nil, []Fire{{At: in, Rate: 1}}, noon, in); !c.Dry.IsZero() || !c.ExpectedDry.IsZero() {
		t.Errorf("dry at %v, expected at %v", c.Dry, c.ExpectedDry)
	}
}
