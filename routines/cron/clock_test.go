package cron

import (
	"testing"
	"time"

	"ollimbot/core/base/testkit"
)

func TestOnlyATimeThatTheClockShowsTwiceHasItsOffset(t *testing.T) {
	for _, name := range []string{"America/Los_Angeles", "Europe/Berlin", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Tokyo", "UTC", "America/Sao_Paulo"} {
		loc, err := time.LoadLocation(name)
		testkit.Must(t, err)
		shows := map[string]int{}
		begin, end := time.Date(2016, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2017, 3, 1, 0, 0, 0, 0, time.UTC)
		for at := begin; at.Before(end); at = at.Add(15 * time.Minute) {
			shows[at.In(loc).Format("2006-01-02 15:04")]++
		}
		for at := begin.AddDate(0, 0, 2); at.Before(end.AddDate(0, 0, -2)); at = at.Add(15 * time.Minute) {
			at := at.In(loc)
			wall := at.Format("2006-01-02 15:04")
			want := wall
			if shows[wall] > 1 {
				want += at.Format(" -07:00")
			}
			if got := Format(at, "2006-01-02 15:04"); got != want {
				t.Errorf("%s: %s is shown as %s", name, want, got)
			}
		}
	}
}

func TestATimeWithoutAZoneIsTheFirstInstantAtWhichTheWallShowsIt(t *testing.T) {
	loc, err := time.LoadLocation("America/Los_Angeles")
	testkit.Must(t, err)
	for _, c := range []struct {
		date             time.Time
		days, hour, minu int
		want             string
	}{
		{time.Date(2026, 3, 7, 20, 0, 0, 0, loc), 1, 2, 30, "2026-03-08T03:00:00-07:00"}, // skipped
		{time.Date(2026, 11, 1, 0, 0, 0, 0, loc), 0, 1, 30, "2026-11-01T01:30:00-07:00"}, // repeated
		{time.Date(2026, 1, 31, 0, 0, 0, 0, loc), 1, 9, 5, "2026-02-01T09:05:00-08:00"},
	} {
		if got := Wall(c.date, c.days, c.hour, c.minu, loc).Format(time.RFC3339); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestAMomentIsWrittenByItsDistance(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	all := Layouts{Today: "15:04", Week: "Mon 15:04", Year: "Mon 2 Jan 15:04", Else: "2 Jan 2006"}
	for at, want := range map[time.Time]string{
		now.Add(time.Hour):       "13:00",
		now.Add(24 * time.Hour):  "Sat 12:00",
		now.AddDate(0, 0, 6):     "Thu 26 Nov 12:00",
		now.AddDate(0, 3, 0):     "20 Feb 2027",
		now.Add(-25 * time.Hour): "Thu 11:00",
	} {
		if got := all.Format(at, now); got != want {
			t.Errorf("%v is %q, want %q", at, got, want)
		}
	}
	if got := (Layouts{Today: "15:04", Else: "2 Jan"}).Format(now.AddDate(0, 0, 1), now); got != "21 Nov" {
		t.Errorf("tomorrow is %q", got)
	}
	zone := time.FixedZone("", 8*3600)
	for at, want := range map[time.Time][3]string{
		now:                         {"8:00 PM", "8:00 PM", "12:00"},
		now.Add(4 * time.Hour):      {"12:00 AM", "12:00 AM on Sat 2026-11-21", "16:00"},
		now.AddDate(0, 0, 1):        {"8:00 PM", "8:00 PM on Sat 2026-11-21", "Sat 21 Nov 12:00"},
		now.AddDate(0, 2, 0):        {"8:00 PM", "8:00 PM on Wed 2027-01-20", "20 Jan 2027 12:00"},
		now.Add(6*24*time.Hour - 1): {"7:59 PM", "7:59 PM on Thu 2026-11-26", "Thu 26 Nov 11:59"},
	} {
		if got := [3]string{Clock(at.In(zone)), ClockOn(at, now.In(zone)), DayClock(at, now)}; got != want {
			t.Errorf("%v is %q, want %q", at, got, want)
		}
	}
}
