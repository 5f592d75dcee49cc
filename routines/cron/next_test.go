package cron

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func at(t testing.TB, name, text string) time.Time {
	t.Helper()
	loc := zone(t, name)
	if p, err := time.ParseInLocation("2006-01-02 15:04:05", text, loc); err == nil {
		return p
	}
	p, err := time.Parse("2006-01-02 15:04:05 -0700", text)
	testkit.Must(t, err)
	return p.In(loc)
}

func TestNextIsTheFirstFireAtOrAfter(t *testing.T) {
	for _, c := range []struct{ name, zone, expr, from, want string }{
		{"exactly now counts", "UTC", "0 9 * * *", "2026-11-23 09:00:00", "2026-11-23 09:00:00 +0000"},
		{"a second late is tomorrow", "UTC", "0 9 * * *", "2026-11-23 09:00:01", "2026-11-24 09:00:00 +0000"},
		{"either day field", "UTC", "0 9 13 * fri", "2026-11-10 00:00:00", "2026-11-13 09:00:00 +0000"},
		{"either day field, the weekday", "UTC", "0 9 13 * fri", "2026-11-14 00:00:00", "2026-11-20 09:00:00 +0000"},
		{"a starred day field narrows", "UTC", "0 9 */2 * mon", "2026-11-10 00:00:00", "2026-11-23 09:00:00 +0000"},
		{"a starred weekday narrows", "UTC", "0 9 1 * */6", "2026-11-02 00:00:00", "2027-05-01 09:00:00 +0000"},
		{"Sunday is 7", "UTC", "0 17 * * 7", "2026-11-23 00:00:00", "2026-11-29 17:00:00 +0000"},
		{"leap day", "UTC", "0 0 29 2 *", "2026-01-01 00:00:00", "2028-02-29 00:00:00 +0000"},
		{"leap day across 2100", "UTC", "0 0 29 2 *", "2096-03-01 00:00:00", "2104-02-29 00:00:00 +0000"},
		{"the 31st skips short months", "UTC", "0 0 31 * *", "2026-03-31 00:01:00", "2026-05-31 00:00:00 +0000"},
		{"gap: 02:30 becomes its end", "Europe/Berlin", "30 2 * * *", "2026-03-29 00:00:00", "2026-03-29 03:00:00 +0200"},
		{"gap: the day after is usual", "Europe/Berlin", "30 2 * * *", "2026-03-29 03:00:01 +0200", "2026-03-30 02:30:00 +0200"},
		{"gap: just after it nothing is left", "Europe/Berlin", "30 2 * * *", "2026-03-29 03:30:00 +0200", "2026-03-30 02:30:00 +0200"},
		{"gap: many skipped times are one fire", "Europe/Berlin", "*/10 2 * * *", "2026-03-29 03:00:01 +0200", "2026-03-30 02:00:00 +0200"},
		{"overlap: the first pass", "Europe/Berlin", "30 2 * * *", "2026-10-25 00:00:00", "2026-10-25 02:30:00 +0200"},
		{"overlap: not in the second pass", "Europe/Berlin", "30 2 * * *", "2026-10-25 02:10:00 +0100", "2026-10-26 02:30:00 +0100"},
		{"overlap: its first instant", "Europe/Berlin", "0 2 * * *", "2026-10-25 02:00:00 +0100", "2026-10-26 02:00:00 +0100"},
		{"overlap: its end fires", "Europe/Berlin", "0 3 * * *", "2026-10-25 02:30:00 +0100", "2026-10-25 03:00:00 +0100"},
		{"overlap: a wildcard fires in both passes", "Europe/Berlin", "30 * * * *", "2026-10-25 02:31:00 +0200", "2026-10-25 02:30:00 +0100"},
		{"gap: a wildcard goes by elapsed time", "Europe/Berlin", "30 * * * *", "2026-03-29 01:31:00 +0100", "2026-03-29 03:30:00 +0200"},
		{"midnight gap in Cairo", "Africa/Cairo", "0 0 * * *", "2024-04-25 12:00:00", "2024-04-26 01:00:00 +0300"},
		{"midnight gap in Beirut", "Asia/Beirut", "15 0 * * *", "2024-03-30 12:00:00", "2024-03-31 01:00:00 +0300"},
		{"midnight gap in Sao Paulo", "America/Sao_Paulo", "30 0 * * *", "2018-11-03 12:00:00", "2018-11-04 01:00:00 -0200"},
		{"midnight overlap in Sao Paulo", "America/Sao_Paulo", "30 23 * * *", "2018-02-17 23:31:00 -0200", "2018-02-18 23:30:00 -0300"},
		{"Lord Howe moves by half an hour", "Australia/Lord_Howe", "15 2 * * *", "2026-10-04 00:00:00", "2026-10-04 02:30:00 +1100"},
		{"Lord Howe repeats half an hour", "Australia/Lord_Howe", "45 1 * * *", "2026-04-05 01:45:01 +1100", "2026-04-06 01:45:00 +1030"},
		{"Samoa skipped a day", "Pacific/Apia", "0 9 * * *", "2011-12-29 10:00:00", "2011-12-31 00:00:00 +1400"},
		{"Samoa's day after", "Pacific/Apia", "0 9 * * *", "2011-12-31 00:00:01", "2011-12-31 09:00:00 +1400"},
		{"Samoa's date that never was", "Pacific/Apia", "0 9 30 12 *", "2011-12-01 00:00:00", "2011-12-31 00:00:00 +1400"},
		{"Dublin's winter is the exception", "Europe/Dublin", "30 1 * * *", "2026-03-29 00:00:00", "2026-03-29 02:00:00 +0100"},
		{"Dublin in autumn", "Europe/Dublin", "30 1 * * *", "2026-10-25 01:30:01 +0100", "2026-10-26 01:30:00 +0000"},
		{"31 December of a leap year", "America/New_York", "0 12 * * *", "2040-12-31 09:00:00", "2040-12-31 12:00:00 -0500"},
		{"the evening of that day", "America/New_York", "0 12 * * *", "2040-12-31 20:00:00", "2041-01-01 12:00:00 -0500"},
		{"months ahead, just before a gap", "Europe/Berlin", "30 1 29 3 *", "2025-08-01 00:00:00", "2026-03-29 01:30:00 +0100"},
		{"months ahead, in a gap", "Europe/Berlin", "30 2 29 3 *", "2025-08-01 00:00:00", "2026-03-29 03:00:00 +0200"},
		{"months ahead by elapsed time", "Europe/Berlin", "30 * 29 3 *", "2025-08-01 00:00:00", "2026-03-29 00:30:00 +0100"},
		{"a clock in 1970", "America/New_York", "0 12 * * *", "1970-01-01 00:00:00", "1970-01-01 12:00:00 -0500"},
		{"local mean time", "Europe/Amsterdam", "0 12 * * *", "1900-06-01 00:00:00", "1900-06-01 12:00:00"},
	} {
		s, err := Parse(c.expr)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, want := s.Next(at(t, c.zone, c.from)), at(t, c.zone, c.want); !got.Equal(want) {
			t.Errorf("%s: %s from %s: got %s, want %s", c.name, c.expr, c.from, got, want)
		}
	}
}

func TestALeapDayThatMustBeASundayIsFound(t *testing.T) {
	s := mustParse(t, "0 0 29 2 */6") // Sunday or Saturday, and also the 29th
	got := s.Next(at(t, "UTC", "2072-03-01 00:00:00"))
	if want := at(t, "UTC", "2076-02-29 00:00:00"); !got.Equal(want) {
		t.Errorf("got %s, want %s", got, want)
	}
	for from := at(t, "UTC", "2000-01-01 00:00:00"); from.Year() < 2400; {
		next := s.Next(from)
		if next.IsZero() || next.YearDay() != 60 || next.Weekday() != time.Sunday && next.Weekday() != time.Saturday {
			t.Fatalf("from %s: %s", from, next)
		}
		from = next.Add(time.Minute)
	}
}

func TestImpossibleDatesNeverFire(t *testing.T) {
	for expr, never := range map[string]bool{
		"0 0 30 2 *": true, "0 0 31 2,4,6,9,11 *": true, "0 0 30 2 */2": true,
		"0 0 29 2 *": false, "0 0 31 1,2 *": false, "0 0 30 2 mon": false, "0 0 * 2 *": false,
	} {
		s := mustParse(t, expr)
		next := s.Next(at(t, "UTC", "2026-11-21 12:00:00"))
		if s.Never() != never || next.IsZero() != never {
			t.Errorf("%s: Never() = %t, Next = %s", expr, s.Never(), next)
		}
	}
	var zero Schedule
	if !zero.Never() || !zero.Next(time.Now()).IsZero() {
		t.Error("the zero Schedule fires")
	}
}

func TestTimesBeyondReasonHaveNoFire(t *testing.T) {
	s := mustParse(t, "0 9 * * *")
	if got := s.Next(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)); !got.IsZero() {
		t.Errorf("in the year 10000: %s", got)
	}
	if got := s.Next(time.Date(9999, 12, 31, 9, 0, 1, 0, time.UTC)); !got.IsZero() {
		t.Errorf("at the end of 9999: %s", got)
	}
	if got := s.Next(time.Time{}); got.IsZero() || got.Year() != firstYear {
		t.Errorf("from the zero time: %s", got)
	}
	if got, want := time.Unix(firstSecond, 0).UTC(), time.Date(firstYear, 1, 1, 0, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("the first second is %s", got)
	}
	if got, want := time.Unix(lastSecond+1, 0).UTC(), time.Date(lastYear+1, 1, 1, 0, 0, 0, 0, time.UTC); !got.Equal(want) {
		t.Errorf("the last second is before %s", got)
	}
	for _, sec := range []int64{1 << 62, math.MaxInt64, lastSecond + 1} {
		if got := s.Next(time.Unix(sec, 0).UTC()); !got.IsZero() {
			t.Errorf("from second %d: %s", sec, got)
		}
	}
	for _, sec := range []int64{math.MinInt64, -1 << 62} {
		if got := s.Next(time.Unix(sec, 0).UTC()); got.Year() != firstYear {
			t.Errorf("from second %d: %s", sec, got)
		}
	}
}

func TestInstantReadsAWallClock(t *testing.T) {
	for _, c := range []struct{ zone, wall, want string }{
		{"Europe/Berlin", "2026-07-01 09:30:15", "2026-07-01 09:30:15 +0200"},
		{"Europe/Berlin", "2026-03-29 02:30:00", "2026-03-29 03:00:00 +0200"},
		{"Europe/Berlin", "2026-10-25 02:30:00", "2026-10-25 02:30:00 +0200"},
		{"Pacific/Apia", "2011-12-30 12:00:00", "2011-12-31 00:00:00 +1400"},
		{"UTC", "2026-03-29 02:30:00", "2026-03-29 02:30:00 +0000"},
	} {
		wall, err := time.Parse(time.DateTime, c.wall)
		testkit.Must(t, err)
		if got, want := Instant(wall, zone(t, c.zone)), at(t, c.zone, c.want); !got.Equal(want) {
			t.Errorf("%s in %s: got %s, want %s", c.wall, c.zone, got, want)
		}
	}
	wall := time.Date(2026, 7, 1, 9, 0, 0, 250_000_000, time.UTC)
	if got := Instant(wall, zone(t, "Asia/Tokyo")); got.Nanosecond() != 250_000_000 || got.Hour() != 9 {
		t.Errorf("a fraction of a second is lost: %s", got)
	}
}

// horizon is the oracle's range in the property test.
const horizon = 40 * hour

func TestNextAgreesWithTheOracleEverywhere(t *testing.T) {
	names := []string{
		"UTC", "Europe/Berlin", "America/Los_Angeles", "America/Sao_Paulo", "Africa/Cairo", "Africa/Casablanca",
		"Asia/Kathmandu", "Asia/Beirut", "Asia/Gaza", "Australia/Lord_Howe", "Europe/Dublin", "Pacific/Apia",
		"America/St_Johns", "Antarctica/Troll", "Asia/Pyongyang", "Pacific/Chatham",
	}
	known := map[string][]change{}
	testkit.Check(t, func(rt *rapid.T) {
		name := rapid.SampledFrom(names).Draw(rt, "zone")
		loc := zone(t, name)
		if known[name] == nil {
			known[name] = append([]change{{at: 1_800_000_000}}, changes(loc)...)
		}
		j := drawJob(rt)
		near := rapid.SampledFrom(known[name]).Draw(rt, "change").at
		from := near + rapid.Int64Range(-30*hour, 30*hour).Draw(rt, "offset")
		s, err := Parse(j.expr)
		if err != nil {
			rt.Fatalf("%s: %v", j.expr, err)
		}
		fires := watchWall(from-2*day-from%60, from+horizon, loc).fires(j)
		n, _ := slices.BinarySearch(fires, from)
		got := s.Next(time.Unix(from, 0).In(loc))
		switch {
		case n < len(fires) && got.Unix() != fires[n]:
			rt.Fatalf("%s in %s from %s: got %s, want %s", j.expr, name,
				time.Unix(from, 0).In(loc), got, time.Unix(fires[n], 0).In(loc))
		case n == len(fires) && !got.IsZero() && got.Unix() < from+horizon-60:
			rt.Fatalf("%s in %s from %s: got %s, want none so soon", j.expr, name, time.Unix(from, 0).In(loc), got)
		case n == len(fires) && got.IsZero() != s.Never():
			rt.Fatalf("%s in %s from %s: got %s, Never() is %t", j.expr, name, time.Unix(from, 0).In(loc), got, s.Never())
		}
	})
}

func TestNextDoesNotAllocate(t *testing.T) {
	loc := zone(t, "America/Los_Angeles")
	now := time.Date(2026, 11, 23, 9, 7, 31, 0, loc)
	for _, expr := range []string{"0 9 * * *", "*/30 9-18 * * 1-5", "0 * * * *", "0 0 29 2 *"} {
		s := mustParse(t, expr)
		if n := testing.AllocsPerRun(100, func() { s.Next(now) }); n != 0 {
			t.Errorf("Next of %s allocates %v times", expr, n)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	loc := zone(b, "America/Los_Angeles")
	now := time.Date(2026, 11, 23, 9, 7, 31, 0, loc)
	for _, c := range []struct{ name, expr string }{
		{"daily", "0 9 * * *"},
		{"hourly", "0 * * * *"},
		{"every5", "*/5 * * * *"},
		{"weekdays", "*/30 9-18 * * 1-5"},
		{"monthly", "0 10 1 * *"},
		{"yearly", "0 10 1 1 *"},
		{"leap", "0 0 29 2 *"},
	} {
		s := mustParse(b, c.expr)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				s.Next(now)
			}
		})
	}
}
