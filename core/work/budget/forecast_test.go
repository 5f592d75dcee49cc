package budget

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func bucket(now time.Time, capacity int, available float64, rate int) State {
	s := Default(now)
	s.Capacity, s.Available, s.RefillRateMinutes = capacity, available, rate
	return s
}

func TestADroughtIsSeenBeforeItComes(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	in := func(minutes int) time.Time { return now.Add(time.Duration(minutes) * time.Minute) }
	levels, dry := bucket(now, 2, 1.5, 60).Forecast([]time.Time{in(-5), in(30), in(45), in(60), in(180)}, now)
	want := []float64{1.5, 1, 0.25, 0.5, 1}
	if len(levels) != len(want) {
		t.Fatalf("levels: %+v", levels)
	}
	for i, l := range levels {
		if math.Abs(l.Left-want[i]) > 1e-9 {
			t.Errorf("point %d: %v, want %v", i, l.Left, want[i])
		}
	}
	if !dry.Equal(in(60)) {
		t.Errorf("dry at %v", dry)
	}
}

func TestAMutedBucketIsNotDry(t *testing.T) {
	now := time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC)
	levels, dry := bucket(now, 0, 0, 60).Forecast([]time.Time{now.Add(time.Hour)}, now)
	if len(levels) != 1 || levels[0].Left != 0 || !dry.IsZero() {
		t.Errorf("levels %+v, dry %v", levels, dry)
	}
}

// The forecast is what the bucket's own arithmetic gives when each fire is lived
// through: between two points nothing but its refill happens, a point is one
// token lower than the bucket was, or has found none.
func TestTheForecastAgreesWithTheBucketAndStaysWithinIt(t *testing.T) {
	start := time.Date(2026, 10, 24, 20, 0, 0, 0, time.UTC)
	rapid.Check(t, func(rt *rapid.T) {
		capacity := rapid.IntRange(1, 12).Draw(rt, "capacity")
		s := bucket(start.Add(-time.Duration(rapid.IntRange(0, 5000).Draw(rt, "age"))*time.Second), capacity,
			rapid.Float64Range(0, float64(capacity)).Draw(rt, "available"), rapid.IntRange(1, 200).Draw(rt, "rate"))
		var times []time.Time
		at := start.Add(-10 * time.Minute)
		for _, gap := range rapid.SliceOfN(rapid.IntRange(0, 4000), 0, 40).Draw(rt, "gaps") {
			at = at.Add(time.Duration(gap) * time.Second)
			times = append(times, at)
		}
		levels, dry := s.Forecast(times, start)
		if !levels[0].At.Equal(start) || math.Abs(levels[0].Left-s.At(start).Available) > 1e-9 {
			rt.Fatalf("it begins with %+v, the bucket holds %v", levels[0], s.At(start).Available)
		}
		var firstDry time.Time
		for i := 1; i < len(levels); i++ {
			last, l := levels[i-1], levels[i]
			held := bucket(last.At, capacity, last.Left, s.RefillRateMinutes).At(l.At)
			want := held.Available - 1
			if held.Whole() < 1 {
				want = held.Available
				if firstDry.IsZero() {
					firstDry = l.At
				}
			}
			if l.Left < 0 || l.Left > float64(capacity) || math.Abs(l.Left-max(0, want)) > 1e-6 {
				rt.Fatalf("point %d holds %v, the bucket %v before it", i, l.Left, held.Available)
			}
		}
		if !dry.Equal(firstDry) {
			rt.Fatalf("dry at %v, want %v", dry, firstDry)
		}
	})
}
