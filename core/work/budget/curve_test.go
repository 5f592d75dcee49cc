package budget

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/store/storetest"
)

// points converts levels to times in minutes from noon and levels.
func points(levels []Level) (list [][2]float64) {
	for _, l := range levels {
		list = append(list, [2]float64{l.At.Sub(noon).Minutes(), math.Round(l.Left*1000) / 1000})
	}
	return list
}

// Q4: pressing a key for the rate rewrote yesterday, because the past was drawn with today's capacity and rate.
func TestThePastHasTheSettingsOfItsTime(t *testing.T) {
	sent := func(at time.Time, left float64, capacity, refill int) Ping {
		return Ping{At: at, Left: &left, Capacity: capacity, Refill: refill}
	}
	s := bucket(noon, 3, 1.5, 60)
	for _, c := range []struct {
		name  string
		pings []Ping
		set   []Mark
		want  [][2]float64
	}{
		{"nothing is recorded", []Ping{{At: clock(-600)}, {At: clock(-570), Refused: "no token left"}}, nil, nil},
		{
			"from the first mark on",
			[]Ping{sent(clock(-60), 0.5, 3, 60)},
			nil,
			[][2]float64{{-60, 1.5}, {-60, 0.5}, {0, 1.5}, {0, 1.5}},
		},
		{"it rises until it is full", []Ping{sent(clock(-600), 1, 2, 60), sent(clock(-30), 1, 2, 60)}, nil, [][2]float64{
			{-600, 2}, {-600, 1}, {-540, 2}, {-30, 2}, {-30, 2}, {-30, 1}, {0, 1.5}, {0, 1.5},
		}},
		{"the rate of that time", []Ping{sent(clock(-90), 0, 3, 30)}, []Mark{{At: clock(-30), Before: 2, Left: 2, Capacity: 3, Refill: 60}}, [][2]float64{
			{-90, 1}, {-90, 0}, {-30, 2}, {-30, 2}, {-30, 2}, {0, 2.5}, {0, 1.5},
		}},
		{"off and on again", nil, []Mark{{At: clock(-90), Before: 3, Left: 0, Refill: 60}, {At: clock(-30), Before: 0, Left: 0, Capacity: 5, Refill: 20}}, [][2]float64{
			{-90, 3}, {-90, 0}, {-30, 0}, {-30, 0}, {-30, 0}, {0, 1.5}, {0, 1.5},
		}},
		{"unknown settings are a step", []Ping{sent(clock(-600), 4, 0, 0), sent(clock(-30), 1, 0, 0)}, nil, [][2]float64{
			{-600, 5}, {-600, 4}, {-30, 4}, {-30, 2}, {-30, 1}, {0, 1}, {0, 1.5},
		}},
		{"of what is before the day only the last mark counts", []Ping{
			sent(clock(-2000), 0, 9, 1), sent(clock(-1500), 1, 2, 120), {At: clock(-60), Critical: true, Left: new(float64), Capacity: 2, Refill: 90},
		}, nil, [][2]float64{{-1440, 1.5}, {-1380, 2}, {-60, 2}, {-60, 0}, {-60, 0}, {0, 0.667}, {0, 1.5}}},
	} {
		marks := Marks(c.pings, c.set)
		if diff := cmp.Diff(c.want, points(s.Curve(marks, nil, noon, noon).Past)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if diff := cmp.Diff(points(s.Curve(marks, nil, noon, noon).Past), points(bucket(noon, 3, 1.5, 1).Curve(marks, nil, noon, noon).Past)); diff != "" {
			t.Errorf("%s: today's rate changes the past: %s", c.name, diff)
		}
	}
}

func TestAChangeOfTheSettingsIsInTheJournal(t *testing.T) {
	dir := storetest.Dir(t)
	b, j := NewBucket(dir, time.UTC, nil), NewJournal(dir, time.UTC, nil)
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	two, none, rate := 2, 0, 30
	before, _, err := b.Set(now, &two, &rate)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err = b.Set(now.Add(time.Hour), &none, nil); err != nil {
		t.Fatal(err)
	}
	if _, err = b.Restore(now.Add(2*time.Hour), Settings{Capacity: before.Capacity, RefillMinutes: before.RefillRateMinutes, Available: before.Available}); err != nil {
		t.Fatal(err)
	}
	want := []Mark{
		{At: now, Before: 5, Left: 2, Capacity: 2, Refill: 30},
		{At: now.Add(time.Hour), Before: 2, Capacity: 0, Refill: 30},
		{At: now.Add(2 * time.Hour), Left: 5, Capacity: 5, Refill: 90},
	}
	if diff := cmp.Diff(want, j.Set()); diff != "" || len(j.Recent()) != 0 {
		t.Errorf("%s; pings %+v", diff, j.Recent())
	}
}

func TestTheCurveGoesAheadByWhatTasksUsuallyDo(t *testing.T) {
	fires := []Fire{{At: clock(30), Rate: 1}, {At: clock(45), Rate: 0.1}, {At: clock(60), Rate: 0.5}, {At: clock(90), Rate: 0}}
	got := bucket(noon, 2, 1.5, 60).Curve(nil, fires, noon, clock(240))
	want := [][2]float64{{0, 1.5}, {30, 2}, {30, 1}, {45, 1.25}, {45, 1.15}, {60, 1.4}, {60, 0.9}, {126, 2}, {240, 2}}
	if diff := cmp.Diff(want, points(got.Expected)); diff != "" {
		t.Error(diff)
	}
	worst := [][2]float64{{0, 1.5}, {30, 2}, {30, 1}, {45, 1.25}, {45, 0.25}, {60, 0.5}, {60, 0.5}, {90, 1}, {90, 0}, {210, 2}, {240, 2}}
	if diff := cmp.Diff(worst, points(got.Worst)); diff != "" {
		t.Error(diff)
	}
	if !got.Dry.Equal(clock(60)) || !got.ExpectedDry.IsZero() {
		t.Errorf("dry at %v, expected at %v", got.Dry, got.ExpectedDry)
	}
}

func TestARefusalIsExpectedWhenItIsLikely(t *testing.T) {
	fires := []Fire{{At: clock(1), Rate: 0.3}, {At: clock(2), Rate: 0.3}, {At: clock(3), Rate: 0.1}}
	got := bucket(noon, 2, 0.5, 600).Curve(nil, fires, noon, clock(60))
	if !got.Dry.Equal(clock(1)) || !got.ExpectedDry.Equal(clock(2)) {
		t.Errorf("dry at %v, expected at %v", got.Dry, got.ExpectedDry)
	}
}

func TestAThoughtOfBucketIsWhatSettingItWouldGive(t *testing.T) {
	s := bucket(noon, 5, 4, 90)
	if w := s.With(2, 30, clock(0)); w.Capacity != 2 || w.Available != 2 || w.RefillRateMinutes != 30 {
		t.Errorf("%+v", w)
	}
	if w := s.With(-1, 30, clock(0)); w.Capacity != 5 {
		t.Errorf("a refused number counted: %+v", w)
	}
	if c := s.With(0, 90, noon).Curve(nil, []Fire{{At: clock(1), Rate: 1}}, noon, clock(60)); !c.Dry.IsZero() || len(c.Worst) != 2 {
		t.Errorf("a muted bucket: %+v", c)
	}
}

// The worst case equals the bucket's own arithmetic, and points are in order and within
// the bucket.
func TestPropertyTheCurveAgreesWithTheForecast(t *testing.T) {
	testkit.Check(t, func(rt *rapid.T) {
		capacity := rapid.IntRange(1, 9).Draw(rt, "capacity")
		s := bucket(noon, capacity, rapid.Float64Range(0, float64(capacity)).Draw(rt, "left"), rapid.IntRange(1, 300).Draw(rt, "rate"))
		var fires []Fire
		var times []time.Time
		at := noon
		for _, gap := range rapid.SliceOfN(rapid.IntRange(1, 200), 0, 30).Draw(rt, "gaps") {
			at = at.Add(time.Duration(gap) * time.Minute)
			times = append(times, at)
			fires = append(fires, Fire{At: at, Rate: rapid.Float64Range(0, 1).Draw(rt, "rate")})
		}
		until := at.Add(time.Hour)
		c := s.Curve(nil, fires, noon, until)
		levels, dry := lived(s, times, noon)
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
