package budget

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// points converts levels to times in minutes after morning and levels.
func points(levels []Level) (list [][2]float64) {
	for _, l := range levels {
		list = append(list, [2]float64{l.At.Sub(morning).Minutes(), math.Round(l.Left*1000) / 1000})
	}
	return list
}

// Q4: pressing a key for the rate rewrote yesterday, because the past was drawn with today's capacity and rate.
func TestThePastHasTheSettingsOfItsTime(t *testing.T) {
	sent := func(at time.Time, left float64, capacity, refill int) Ping {
		return Ping{At: at, Left: &left, Capacity: capacity, Refill: refill}
	}
	s, half := bucketOf(1.5, 3, 60), 0.5
	for _, c := range []struct {
		name  string
		pings []Ping
		set   []Mark
		want  [][2]float64
	}{
		{"nothing is recorded", []Ping{{At: at(-600)}, {At: at(-570), Refused: "no token left"}}, nil, nil},
		{
			"from the first mark on",
			[]Ping{sent(at(-60), 0.5, 3, 60), sent(at(1), 0.5, 3, 60)},
			nil,
			[][2]float64{{-60, 1.5}, {-60, 0.5}, {0, 1.5}, {0, 1.5}},
		},
		{
			"what costs nothing is no step",
			[]Ping{
				{At: at(-60), Quiet: true, Left: new(float64), Capacity: 3, Refill: 60}, {At: at(-30), Essential: true, Left: &half, Capacity: 3, Refill: 60},
			},
			nil,
			[][2]float64{{-60, 0}, {-60, 0}, {-30, 0.5}, {-30, 0.5}, {-30, 0.5}, {0, 1}, {0, 1.5}},
		},
		{"it rises until it is full", []Ping{sent(at(-600), 1, 2, 60), sent(at(-30), 1, 2, 60)}, nil, [][2]float64{
			{-600, 2}, {-600, 1}, {-540, 2}, {-30, 2}, {-30, 2}, {-30, 1}, {0, 1.5}, {0, 1.5},
		}},
		{"the rate of that time", []Ping{sent(at(-90), 0, 3, 30)}, []Mark{{At: at(-30), Before: 2, Left: 2, Capacity: 3, Refill: 60}}, [][2]float64{
			{-90, 1}, {-90, 0}, {-30, 2}, {-30, 2}, {-30, 2}, {0, 2.5}, {0, 1.5},
		}},
		{"off and on again", nil, []Mark{{At: at(-90), Before: 3, Left: 0, Refill: 60}, {At: at(-30), Before: 0, Left: 0, Capacity: 5, Refill: 20}}, [][2]float64{
			{-90, 3}, {-90, 0}, {-30, 0}, {-30, 0}, {-30, 0}, {0, 1.5}, {0, 1.5},
		}},
		{"unknown settings are a step", []Ping{sent(at(-600), 4, 0, 0), sent(at(-30), 1, 0, 0)}, nil, [][2]float64{
			{-600, 5}, {-600, 4}, {-30, 4}, {-30, 2}, {-30, 1}, {0, 1}, {0, 1.5},
		}},
		{"of what is before the day only the last mark counts", []Ping{
			sent(at(-2000), 0, 9, 1), sent(at(-1500), 1, 2, 120), {At: at(-60), Critical: true, Left: new(float64), Capacity: 2, Refill: 90},
		}, nil, [][2]float64{{-1440, 1.5}, {-1380, 2}, {-60, 2}, {-60, 0}, {-60, 0}, {0, 0.667}, {0, 1.5}}},
	} {
		marks := Marks(c.pings, c.set)
		if diff := cmp.Diff(c.want, points(s.Curve(marks, nil, morning, morning).Past)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if diff := cmp.Diff(points(s.Curve(marks, nil, morning, morning).Past), points(bucketOf(1.5, 3, 1).Curve(marks, nil, morning, morning).Past)); diff != "" {
			t.Errorf("%s: today's rate changes the past: %s", c.name, diff)
		}
	}
}

func TestTheCurveGoesAheadByWhatTasksUsuallyDo(t *testing.T) {
	fires := []Fire{
		{At: at(0), Rate: 1}, {At: at(30), Rate: 1.5}, {At: at(45), Rate: 0.1}, {At: at(60), Rate: 0.5}, {At: at(90), Rate: -1}, {At: at(240), Rate: 2}, {At: at(241), Rate: 1},
	}
	got := bucketOf(1.5, 2, 60).Curve(nil, fires, morning, at(240))
	want := [][2]float64{{0, 1.5}, {30, 2}, {30, 1}, {45, 1.25}, {45, 1.15}, {60, 1.4}, {60, 0.9}, {126, 2}, {240, 2}, {240, 1}, {240, 1}}
	if diff := cmp.Diff(want, points(got.Expected)); diff != "" {
		t.Error(diff)
	}
	worst := [][2]float64{{0, 1.5}, {30, 2}, {30, 1}, {45, 1.25}, {45, 0.25}, {60, 0.5}, {60, 0.5}, {90, 1}, {90, 0}, {210, 2}, {240, 2}, {240, 1}, {240, 1}}
	if diff := cmp.Diff(worst, points(got.Worst)); diff != "" {
		t.Error(diff)
	}
	if !got.Dry.Equal(at(60)) || !got.ExpectedDry.IsZero() {
		t.Errorf("dry at %v, expected at %v", got.Dry, got.ExpectedDry)
	}
	later := [][2]float64{{45, 1.25}, {90, 2}, {120, 2}}
	if diff := cmp.Diff(later, points(bucketOf(0.5, 2, 60).Curve(nil, nil, at(45), at(120)).Worst)); diff != "" {
		t.Errorf("what has refilled by now: %s", diff)
	}
}

func TestARefusalIsExpectedWhenItIsLikely(t *testing.T) {
	fires := []Fire{{At: at(1), Rate: 0.5}, {At: at(2), Rate: 0.1}, {At: at(3), Rate: 0.1}}
	got := bucketOf(0.5, 2, 600).Curve(nil, fires, morning, at(60))
	if !got.Dry.Equal(at(1)) || !got.ExpectedDry.Equal(at(2)) {
		t.Errorf("dry at %v, expected at %v", got.Dry, got.ExpectedDry)
	}
}

func TestAThoughtOfBucketIsWhatSettingItWouldGive(t *testing.T) {
	s := bucketOf(4, 5, 90)
	if w := s.With(2, 30, at(0)); w.Capacity != 2 || w.Available != 2 || w.RefillRateMinutes != 30 {
		t.Errorf("%+v", w)
	}
	if w := s.With(-1, 30, at(0)); w.Capacity != 5 {
		t.Errorf("a refused number counted: %+v", w)
	}
	if c := s.With(0, 90, morning).Curve(nil, []Fire{{At: at(1), Rate: 1}}, morning, at(60)); !c.Dry.IsZero() || !c.ExpectedDry.IsZero() || len(c.Worst) != 2 {
		t.Errorf("a muted bucket: %+v", c)
	}
}

// The worst case equals the bucket's own arithmetic, and points are in order and within
// the bucket.
func TestPropertyTheCurveAgreesWithTheForecast(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		capacity := rapid.IntRange(1, 9).Draw(rt, "capacity")
		s := bucketOf(rapid.Float64Range(0, float64(capacity)).Draw(rt, "left"), capacity, rapid.IntRange(1, 300).Draw(rt, "rate"))
		var fires []Fire
		var times []time.Time
		at := morning
		for _, gap := range rapid.SliceOfN(rapid.IntRange(1, 200), 0, 30).Draw(rt, "gaps") {
			at = at.Add(time.Duration(gap) * time.Minute)
			times = append(times, at)
			fires = append(fires, Fire{At: at, Rate: rapid.Float64Range(0, 1).Draw(rt, "rate")})
		}
		until := at.Add(time.Hour)
		c := s.Curve(nil, fires, morning, until)
		levels, dry := lived(s, times, morning)
		for _, l := range levels {
			if got := lastAt(c.Worst, l.At); math.Abs(got-l.Left) > 1e-6 {
				rt.Fatalf("at %v %v, the forecast has %v", l.At, got, l.Left)
			}
		}
		if !c.Dry.Equal(dry) {
			rt.Fatalf("dry %v, the forecast says %v", c.Dry, dry)
		}
		for _, list := range [][]Level{c.Past, c.Expected, c.Worst} {
			for i, l := range list {
				if l.Left < -1e-9 || l.Left > float64(capacity)+1e-9 || i > 0 && l.At.Before(list[i-1].At) {
					rt.Fatalf("point %d of %+v", i, list)
				}
			}
		}
	})
}

func lastAt(levels []Level, at time.Time) float64 {
	left := math.NaN()
	for _, l := range levels {
		if l.At.Equal(at) {
			left = l.Left
		}
	}
	return left
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

func TestBetweenTwoPointsTheLevelIsOnTheLine(t *testing.T) {
	levels := []Level{{at(0), 1}, {at(60), 3}, {at(60), 2}, {at(120), 2}, {at(180), 0}}
	for minutes, want := range map[int]float64{-10: 1, 0: 1, 15: 1.5, 30: 2, 60: 3, 90: 2, 120: 2, 150: 1, 180: 0, 1000: 0} {
		if got := LeftAt(levels, at(minutes)); got != want {
			t.Errorf("after %d minutes: %v, want %v", minutes, got, want)
		}
	}
	if got := LeftAt(levels[:2], at(90)) + LeftAt(nil, at(0)); got != 3 {
		t.Errorf("after the last point, and without any: %v", got)
	}
}
