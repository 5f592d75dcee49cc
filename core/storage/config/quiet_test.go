package config

import (
	"slices"
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func zone(t *testing.T, name string) *time.Location {
	z, err := time.LoadLocation(name)
	testkit.Must(t, err)
	return z
}

func TestQuietHoursHoldFromTheirBeginUpToTheirEnd(t *testing.T) {
	tests := []struct{ name, hours, zone, now, want string }{
		{"before", "22:00-07:30", "UTC", "2026-11-23T21:59:59Z", ""},
		{"at the begin", "22:00-07:30", "UTC", "2026-11-23T22:00:00Z", "2026-11-24T07:30:00Z"},
		{"after midnight", "22:00-07:30", "UTC", "2026-11-24T00:00:00Z", "2026-11-24T07:30:00Z"},
		{"just before the end", "22:00-07:30", "UTC", "2026-11-24T07:29:59Z", "2026-11-24T07:30:00Z"},
		{"at the end", "22:00-07:30", "UTC", "2026-11-24T07:30:00Z", ""},
		{"within a day", "12:00-13:00", "UTC", "2026-11-24T12:30:00Z", "2026-11-24T13:00:00Z"},
		{"outside a day's span", "12:00-13:00", "UTC", "2026-11-24T13:00:00Z", ""},
		{"up to midnight", "22:00-24:00", "UTC", "2026-11-24T23:59:00Z", "2026-11-25T00:00:00Z"},
		{"from midnight", "00:00-06:00", "UTC", "2026-11-24T00:00:00Z", "2026-11-24T06:00:00Z"},
		{"off", "", "UTC", "2026-11-24T03:00:00Z", ""},
		{"over the spring change", "22:00-07:30", "Europe/Berlin", "2026-03-29T00:30:00+01:00", "2026-03-29T07:30:00+02:00"},
		{"over the autumn change", "22:00-07:30", "Europe/Berlin", "2026-10-25T00:30:00+02:00", "2026-10-25T07:30:00+01:00"},
		{"an end that is skipped", "22:00-02:30", "Europe/Berlin", "2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00"},
		{"after an end that is skipped", "22:00-02:30", "Europe/Berlin", "2026-03-29T03:00:00+02:00", ""},
		{"a begin that is skipped", "02:30-06:00", "Europe/Berlin", "2026-03-29T03:00:00+02:00", "2026-03-29T06:00:00+02:00"},
		{"an end that is repeated", "22:00-02:30", "Europe/Berlin", "2026-10-25T02:15:00+02:00", "2026-10-25T02:30:00+02:00"},
		{"the second time of a repeated end", "22:00-02:30", "Europe/Berlin", "2026-10-25T02:15:00+01:00", ""},
		{"a begin that is repeated", "02:30-06:00", "Europe/Berlin", "2026-10-25T02:15:00+01:00", "2026-10-25T06:00:00+01:00"},
		{"midnight is skipped", "22:00-00:00", "America/Sao_Paulo", "2017-10-14T23:30:00-03:00", "2017-10-15T01:00:00-02:00"},
		{"a whole day is skipped", "22:00-07:00", "Pacific/Apia", "2011-12-29T23:30:00-10:00", "2011-12-31T00:00:00+14:00"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var q Quiet
			if !quiet(&q, tt.hours) {
				t.Fatalf("%q is refused", tt.hours)
			}
			now, err := time.Parse(time.RFC3339, tt.now)
			testkit.Must(t, err)
			got := Runtime{QuietHours: q}.QuietUntil(now.In(zone(t, tt.zone)))
			if (tt.want == "") != got.IsZero() {
				t.Fatalf("until %v, want %q", got, tt.want)
			}
			if tt.want != "" && got.Format(time.RFC3339) != tt.want {
				t.Errorf("until %v, want %s", got, tt.want)
			}
		})
	}
}

func TestTheSpansOfQuietHoursAreWhereItIsQuiet(t *testing.T) {
	zones := []*time.Location{zone(t, "Europe/Berlin"), zone(t, "Australia/Lord_Howe"), time.UTC}
	testkit.Check(t, func(t *rapid.T) {
		r := Runtime{QuietHours: Quiet{From: rapid.IntRange(0, 1439).Draw(t, "from"), To: rapid.IntRange(0, 1439).Draw(t, "to")}}
		loc := rapid.SampledFrom(zones).Draw(t, "zone")
		from := time.Unix(rapid.Int64Range(1_400_000_000, 1_900_000_000).Draw(t, "now"), 0).In(loc)
		at := from.Add(time.Duration(rapid.IntRange(0, 48*60*60-1).Draw(t, "later")) * time.Second)
		quiet := slices.ContainsFunc(r.QuietSpans(from, from.Add(48*time.Hour)), func(s [2]time.Time) bool { return !at.Before(s[0]) && at.Before(s[1]) })
		if until := r.QuietUntil(at); quiet == until.IsZero() {
			t.Fatalf("%v at %v: quiet %v, until %v", r.QuietHours, at, quiet, until)
		}
	})
}

func TestQuietHoursAgreeWithTheClockOnTheWall(t *testing.T) {
	zones := []*time.Location{zone(t, "Europe/Berlin"), zone(t, "Australia/Lord_Howe"), zone(t, "America/Sao_Paulo"), time.UTC}
	testkit.Check(t, func(t *rapid.T) {
		q := Quiet{From: rapid.IntRange(0, 1439).Draw(t, "from"), To: rapid.IntRange(0, 1439).Draw(t, "to")}
		loc := rapid.SampledFrom(zones).Draw(t, "zone")
		now := time.Unix(rapid.Int64Range(1_400_000_000, 1_900_000_000).Draw(t, "now"), 0).In(loc)
		until := Runtime{QuietHours: q}.QuietUntil(now)
		if !until.IsZero() && (!until.After(now) || until.Sub(now) > 25*time.Hour) {
			t.Fatalf("%v at %v until %v", q, now, until)
		}
		_, next := now.ZoneBounds()
		begin, _ := now.ZoneBounds()
		if q.From == q.To || !next.IsZero() && next.Sub(now) < 48*time.Hour || !begin.IsZero() && now.Sub(begin) < 48*time.Hour {
			return // the table above covers clock changes
		}
		m := now.Hour()*60 + now.Minute()
		inside := m >= q.From && m < q.To
		if q.To < q.From {
			inside = m >= q.From || m < q.To
		}
		if inside != !until.IsZero() {
			t.Fatalf("%v at %v: until %v", q, now, until)
		}
		if inside && until.Hour()*60+until.Minute() != q.To {
			t.Fatalf("%v at %v ends %v", q, now, until)
		}
	})
}

func TestQuietHoursAreWrittenAsTheyAreRead(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		q := Quiet{From: rapid.IntRange(0, 1439).Draw(t, "from"), To: rapid.IntRange(0, 1439).Draw(t, "to")}
		var got Quiet
		if !quiet(&got, q.text()) || got.text() != q.text() {
			t.Fatalf("%v became %v", q, got)
		}
	})
}
