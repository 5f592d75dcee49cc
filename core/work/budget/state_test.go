package budget

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
	"ollimbot/core/storage/config"
)

func TestTokensComeBackWithTime(t *testing.T) {
	for _, c := range []struct {
		available float64
		rate      int
		elapsed   time.Duration
		want      float64
	}{
		{1, 60, 2 * time.Hour, 3},
		{0, 60, 24 * time.Hour, 5},
		{0, 1, 2 * time.Minute, 2},
		{0, 60, time.Hour, 1},
		{0, 90, 45 * time.Minute, 0.5},
		{0.5, 90, 0, 0.5},
		{2, 90, -time.Hour, 2},
		{4.5, 1, 10000 * time.Hour, 5},
		{0, 90, 90 * time.Minute, 1},
	} {
		got := bucketOf(c.available, 5, c.rate).At(morning.Add(c.elapsed))
		if got.Available != c.want || !got.LastRefill.Equal(morning.Add(c.elapsed)) {
			t.Errorf("%v tokens, 1 per %d min, after %v: %v at %v, want %v", c.available, c.rate, c.elapsed, got.Available, got.LastRefill, c.want)
		}
		if got.Whole() != int(c.want) {
			t.Errorf("%v tokens are good for %d pings", got.Available, got.Whole())
		}
	}
	s := bucketOf(0, 5, 7)
	for at := morning; !at.After(morning.Add(7 * time.Minute)); at = at.Add(time.Second) {
		s = s.At(at) // rounding errors of 420 small steps must not cost the token
	}
	if s.Whole() != 1 {
		t.Errorf("one interval in steps: %v tokens, want a whole one", s.Available)
	}
}

func TestDailyCountersEndWithTheirDayInTheZone(t *testing.T) {
	s := bucketOf(5, 5, 90)
	s.DailyUsed, s.CriticalUsed = 2, 1
	late := time.Date(2026, 11, 23, 23, 59, 59, 0, pacific)
	if got := s.At(late); got.DailyUsed != 2 || got.CriticalUsed != 1 {
		t.Errorf("before midnight: %+v", got)
	}
	next := late.Add(time.Second)
	got := s.At(next)
	if got.DailyUsed != 0 || got.CriticalUsed != 0 || got.DailyUsedReset != "2026-11-24" || got.CriticalResetDate != "2026-11-24" {
		t.Errorf("after midnight: %+v", got)
	}
	if got := s.At(next.In(time.FixedZone("HST", -10*3600))); got.DailyUsed != 2 {
		t.Errorf("further west it is the same day, but %d were counted", got.DailyUsed)
	}
	s.DailyUsedReset = "2031-01-01"
	if got := s.At(late); got.DailyUsed != 0 || got.CriticalUsed != 1 {
		t.Errorf("a date in the future resets its own counter only: %+v", got)
	}
}

func TestImpossibleNumbersAreRepaired(t *testing.T) {
	s := State{Capacity: -3, Available: math.NaN(), RefillRateMinutes: 0, CriticalUsed: -1, DailyUsed: -1}
	got := s.At(morning)
	want := Default(morning)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := bucketOf(math.Inf(1), 3, 90).At(morning).Available; got != 3 {
		t.Errorf("endless tokens in a bucket of 3: %v", got)
	}
	if got := bucketOf(-7, 3, 90).At(morning).Available; got != 0 {
		t.Errorf("negative tokens: %v", got)
	}
	if got := (State{Capacity: 3, Available: 1, RefillRateMinutes: 90}).At(morning).Available; got != 1 {
		t.Errorf("refilled since the year 1: %v", got)
	}
}

func TestStatusReadsAsTheSeedShowsIt(t *testing.T) {
	for _, c := range []struct {
		s     State
		after time.Duration
		want  string
	}{
		{bucketOf(3.5, 5, 90), 0, "3/5 available (refills 1 every 90 min, next in 45 min)"},
		{bucketOf(5, 5, 90), 0, "5/5 available (refills 1 every 90 min)"},
		{bucketOf(3, 5, 90), 0, "3/5 available (refills 1 every 90 min, next in 90 min)"},
		{bucketOf(3, 5, 90), 90*time.Minute - time.Second, "3/5 available (refills 1 every 90 min, next in 1 min)"},
		{bucketOf(4, 5, 90), 90 * time.Minute, "5/5 available (refills 1 every 90 min)"},
		{bucketOf(0, 5, 3), 20 * time.Second, "0/5 available (refills 1 every 3 min, next in 3 min)"},
		{bucketOf(2, 0, 90), 0, "0/0 available (muted: capacity is 0)"},
	} {
		if got := c.s.Status(morning.Add(c.after)); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestTheTwoNumbersAreSettings(t *testing.T) {
	s := bucketOf(3.5, 5, 60)
	for _, want := range []config.Line{
		{Key: KeyCapacity, Value: "5", Text: "5", Long: "5 pings", Offers: []string{}, Default: true},
		{Key: KeyRefill, Value: "60", Text: "60", Long: "60 minutes", Offers: []string{}},
	} {
		want.About, _ = config.About(want.Key)
		if l, ok := s.Setting(want.Key); !ok || cmp.Diff(want, l) != "" {
			t.Errorf("%s: %+v", want.Key, l)
		}
	}
	if l, ok := s.Setting("model"); ok {
		t.Errorf("%+v", l)
	}
}

func TestFullStatusAddsWhatWasUsedToday(t *testing.T) {
	s := bucketOf(3.5, 5, 90)
	for used, want := range map[[2]int]string{{}: "", {2, 1}: ", 2 used today, 1 critical", {1, 0}: ", 1 used today", {0, 1}: ", 1 critical"} {
		s.DailyUsed, s.CriticalUsed = used[0], used[1]
		if got, want := s.FullStatus(morning), s.Status(morning)+want; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := s.Left() + "; " + bucketOf(1, 1, 90).Left(); got != "3 of 5 pings left; 1 of 1 ping left" {
		t.Errorf("%q", got)
	}
}

func TestAtNextAtTheTokenIsThere(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := drawState(t)
		now := s.LastRefill.Add(time.Duration(rapid.Int64Range(0, int64(48*time.Hour)).Draw(t, "elapsed")))
		next, full := s.NextAt(now), s.FullAt(now)
		s = s.At(now)
		if s.full() || s.Capacity == 0 {
			if !next.IsZero() || !full.IsZero() {
				t.Fatalf("%+v is full: next %v, full %v", s, next, full)
			}
			return
		}
		if got := s.At(next).Whole(); got != s.Whole()+1 {
			t.Fatalf("%+v: %d whole tokens at %v, want %d", s, got, next, s.Whole()+1)
		}
		if got := s.At(next.Add(-5 * time.Millisecond)).Whole(); got != s.Whole() {
			t.Fatalf("%+v: the token is there before %v", s, next)
		}
		if !s.At(full).full() || s.At(full.Add(-5*time.Millisecond)).full() {
			t.Fatalf("%+v is not full exactly at %v", s, full)
		}
	})
}

func TestAFarFutureDoesNotOverflow(t *testing.T) {
	s := bucketOf(0, math.MaxInt32, MaxRefill)
	if got := s.FullAt(morning).Sub(morning); got != farthest {
		t.Errorf("full in %v, want it bounded to %v", got, farthest)
	}
}

func TestPreviewSaysWhatANumberMeans(t *testing.T) {
	for _, c := range []struct {
		s                State
		capacity, refill int
		want             string
	}{
		{bucketOf(3.5, 5, 90), 5, 90, ""},
		{bucketOf(3.5, 5, 90), 5, 60, "full at 10:30 instead of 11:15"},
		{bucketOf(3.5, 5, 90), 6, 90, "full at 12:45 instead of 11:15"},
		{bucketOf(3.5, 5, 90), 3, 90, "0.5 tokens are lost, full now instead of at 11:15"},
		{bucketOf(5, 5, 90), 4, 90, "1 token is lost"},
		{bucketOf(3.01, 3, 90), 3, 60, "a used token is back in 60 min instead of 90"},
		{bucketOf(4.01, 5, 90), 4, 90, "0.1 tokens are lost, full now instead of at 10:30"},
		{bucketOf(1, 1, 90), 1, 60, "a used token is back in 60 min instead of 90"},
		{bucketOf(5, 5, 90), 6, 90, "full at 10:30 instead of now"},
		{bucketOf(5, 5, 90), 5, 60, "a used token is back in 60 min instead of 90"},
		{bucketOf(5, 5, 90), 0, 90, "mutes all but critical pings"},
		{bucketOf(0, 0, 90), 0, 60, ""},
		{bucketOf(0, 0, 90), 5, 90, "full at 16:30"},
		{bucketOf(1, 20, 90), 20, 120, "full at Tue 23:00 instead of Tue 13:30"},
		{bucketOf(0, 500, 90), 400, 90, "full at 18 Dec 2026 09:00 instead of 24 Dec 2026 15:00"},
	} {
		if got := c.s.Preview(morning, c.capacity, c.refill); got != c.want {
			t.Errorf("%v/%d at %d to %d at %d: %q, want %q", c.s.Available, c.s.Capacity, c.s.RefillRateMinutes, c.capacity, c.refill, got, c.want)
		}
	}
}

func drawState(t *rapid.T) State {
	capacity := rapid.IntRange(0, 50).Draw(t, "capacity")
	return State{
		Capacity: capacity, Available: rapid.Float64Range(0, float64(capacity)).Draw(t, "available"),
		RefillRateMinutes: rapid.IntRange(minRefill, MaxRefill).Draw(t, "rate"), LastRefill: morning,
		DailyUsed: rapid.IntRange(0, 9).Draw(t, "daily"), DailyUsedReset: "2026-11-23", CriticalResetDate: "2026-11-23",
	}
}

func TestNoSequenceOfClockMovesDrainsOrOverfills(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s, now := drawState(t), morning
		for range rapid.IntRange(1, 20).Draw(t, "moves") {
			now = now.Add(time.Duration(rapid.Int64Range(-int64(100*24*time.Hour), int64(100*24*time.Hour)).Draw(t, "move")))
			before := s.Available
			s = s.At(now)
			if s.Available < before {
				t.Fatalf("a clock move drained %v to %v", before, s.Available)
			}
			if s.Available < 0 || s.Available > float64(s.Capacity) {
				t.Fatalf("%v tokens in a bucket of %d", s.Available, s.Capacity)
			}
			if !s.LastRefill.Equal(now) {
				t.Fatalf("last refill %v, want %v", s.LastRefill, now)
			}
		}
	})
}

func TestReadingOftenGivesNoMoreThanReadingOnce(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := drawState(t)
		often, now := s, morning
		for range rapid.IntRange(1, 20).Draw(t, "reads") {
			now = now.Add(time.Duration(rapid.Int64Range(0, int64(10*time.Hour)).Draw(t, "step")))
			often = often.At(now)
		}
		if once := s.At(now); math.Abs(once.Available-often.Available) > tolerance {
			t.Fatalf("read once %v, read often %v", once.Available, often.Available)
		}
	})
}

func TestRestoreUndoesSetAndKeepsWhatWasSpent(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		before := drawState(t)
		capacity, refill := rapid.IntRange(0, 50).Draw(t, "new capacity"), rapid.IntRange(minRefill, MaxRefill).Draw(t, "new rate")
		after := before
		after.set(&capacity, &refill)
		undo := Settings{before.Capacity, before.RefillRateMinutes, before.Available}
		spent := 0
		for range rapid.IntRange(0, 3).Draw(t, "pings") {
			if after.Whole() > 0 {
				after.spend()
				spent++
			}
		}
		after.restore(undo)
		if spent == 0 {
			if diff := cmp.Diff(before, after); diff != "" {
				t.Fatalf("set and restore changed (-before +after)\n%s", diff)
			}
			return
		}
		if want := max(0, before.Available-float64(spent)); math.Abs(after.Available-want) > tolerance {
			t.Fatalf("%v tokens, %d spent between set and restore: %v, want %v", before.Available, spent, after.Available, want)
		}
	})
}

func TestTheOriginalsFileKeepsItsBytes(t *testing.T) {
	data, err := os.ReadFile("testdata/ping_budget.json")
	testkit.Must(t, err)
	s, problems := Decode(data, morning)
	if len(problems) > 0 {
		t.Errorf("problems in a good file: %q", problems)
	}
	want := State{
		Capacity: 5, Available: 2.25, RefillRateMinutes: 90, LastRefill: time.Date(2026, 11, 23, 8, 30, 0, 0, pacific),
		CriticalUsed: 1, CriticalResetDate: "2026-11-23", DailyUsed: 2, DailyUsedReset: "2026-11-23",
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(string(data), string(s.Encode())); diff != "" {
		t.Errorf("(-file +written)\n%s", diff)
	}
}

func TestWhatCannotBeReadGetsItsDefaultAndIsNamed(t *testing.T) {
	const (
		whole  = ", not a whole number of at least "
		number = ", not a number of at least 0; using "
		moment = ", not a time such as 2026-11-23T08:30:00-08:00; using now"
	)
	for _, c := range []struct {
		data  string
		named []string
		want  func(*State)
	}{
		{`not json`, []string{"the budget file is not a JSON object (invalid character 'o' in literal null (expecting 'u')); using defaults"}, func(*State) {}},
		{`[1, 2]`, []string{
			"the budget file is not a JSON object (json: cannot unmarshal array into Go value of type map[string]json.RawMessage); using defaults",
		}, func(*State) {}},
		{``, []string{"the budget file is not a JSON object (unexpected end of JSON input); using defaults"}, func(*State) {}},
		{`{}`, []string{
			"capacity is missing; using 5", "available is missing; using 5.0", "refill_rate_minutes is missing; using 90",
			"last_refill is missing; using now", "critical_used is missing; using 0", "critical_reset_date is missing; using today",
			"daily_used is missing; using 0", "daily_used_reset is missing; using today",
		}, func(*State) {}},
		{good(`"capacity": -1`), []string{"capacity is -1" + whole + "0; using 5"}, func(*State) {}},
		{good(`"capacity": 7.0, "future_key": [1]`), nil, func(s *State) { s.Capacity = 7 }},
		{good(`"capacity": 7.5`), []string{"capacity is 7.5" + whole + "0; using 5"}, func(*State) {}},
		{good(`"capacity": "7"`), []string{`capacity is "7"` + whole + "0; using 5"}, func(*State) {}},
		{good(`"capacity": 2147483647`), nil, func(s *State) { s.Capacity = math.MaxInt32 }},
		{good(`"capacity": 2147483648`), []string{"capacity is 2147483648" + whole + "0; using 5"}, func(*State) {}},
		{good(`"capacity": true`), []string{"capacity is true" + whole + "0; using 5"}, func(*State) {}},
		{good(`"capacity": 1e300`), []string{"capacity is 1e300" + whole + "0; using 5"}, func(*State) {}},
		{good(`"available": -2`), []string{"available is -2" + number + "0.0"}, func(s *State) { s.Available = 0 }},
		{good(`"available": -0.4`), []string{"available is -0.4" + number + "0.0"}, func(s *State) { s.Available = 0 }},
		{good(`"available": null`), []string{"available is null" + number + "5.0"}, func(*State) {}},
		{good(`"available": 3`), nil, func(s *State) { s.Available = 3 }},
		{good(`"refill_rate_minutes": 0`), []string{"refill_rate_minutes is 0" + whole + "1; using 90"}, func(*State) {}},
		{good(`"last_refill": "yesterday"`), []string{`last_refill is "yesterday"` + moment}, func(*State) {}},
		{good(`"last_refill": "` + strings.Repeat("x", 60) + `"`), []string{`last_refill is "` + strings.Repeat("x", 38) + "…" + moment}, func(*State) {}},
		{good(`"last_refill": "2026-11-23T16:00:00Z"`), nil, func(s *State) { s.LastRefill = morning.Add(-time.Hour) }},
		{good(`"daily_used": -4`), []string{"daily_used is -4" + whole + "0; using 0"}, func(*State) {}},
		{good(`"daily_used_reset": "23.11.2026"`), []string{`daily_used_reset is "23.11.2026", not a date such as 2026-11-23; using today`}, func(*State) {}},
		{good(`"critical_reset_date": "2026-11-22"`), nil, func(s *State) { s.CriticalResetDate = "2026-11-22" }},
	} {
		want := Default(morning)
		c.want(&want)
		got, problems := Decode([]byte(c.data), morning)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.data, diff)
		}
		if diff := cmp.Diff(c.named, problems); diff != "" {
			t.Errorf("%s: problems (-want +got)\n%s", c.data, diff)
		}
	}
}

// good returns a file with defaults and one changed key: JSON uses the last of equal
// keys.
func good(change string) string {
	return strings.TrimSuffix(string(Default(morning).Encode()), "}\n") + ", " + change + "}"
}

func TestAWrittenStateReadsBack(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		s := drawState(t)
		s.LastRefill = s.LastRefill.Add(time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "at")) * time.Microsecond)
		got, problems := Decode(s.Encode(), s.LastRefill)
		if diff := cmp.Diff(s, got); diff != "" || len(problems) > 0 {
			t.Fatalf("problems %q, (-written +read)\n%s", problems, diff)
		}
	})
}

func FuzzDecodeNeverFails(f *testing.F) {
	f.Add([]byte(`{"capacity": 5}`))
	f.Add([]byte("\ufeff{\"available\": 1e999, \"last_refill\": 5}"))
	f.Add([]byte(`{"capacity": {"a": []}, "daily_used_reset": "\u0000"}`))
	f.Add(Default(morning).Encode())
	f.Fuzz(func(t *testing.T, data []byte) {
		s, _ := Decode(data, morning)
		s = s.At(morning)
		if s.Available < 0 || s.Available > float64(s.Capacity) || s.RefillRateMinutes < 1 {
			t.Errorf("%q gives %+v", data, s)
		}
		if again, problems := Decode(s.Encode(), morning); len(problems) > 0 || again != s {
			t.Errorf("%q: written and read again: %+v, %q, want %+v", data, again, problems, s)
		}
	})
}
