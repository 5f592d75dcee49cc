package tasks

import (
	"testing"
	"time"
)

// W3: pressed at 00:09, Not today gave 01:09 of the same night.
func TestNotTodayIsNeverTheSameNight(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		when, err := time.ParseInLocation("2006-01-02 15:04", text, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	for _, c := range []struct{ first, now, want string }{
		{"2026-11-24 01:09", "2026-11-24 00:09", "2026-11-25 01:09"}, // put off before it was due
		{"2026-11-24 00:30", "2026-11-23 23:50", "2026-11-25 00:30"},
		{"2026-11-24 01:09", "2026-11-24 01:09", "2026-11-25 01:09"},
		{"2026-11-24 01:09", "2026-11-24 02:00", "2026-11-25 01:09"},
		{"2026-11-24 03:59", "2026-11-24 00:00", "2026-11-25 03:59"},
		{"2026-11-24 01:09", "2026-11-24 10:00", "2026-11-25 01:09"},
		{"2026-11-23 09:00", "2026-11-24 00:30", "2026-11-24 09:00"}, // the day ends at four
		{"2026-11-23 07:00", "2026-11-24 03:59", "2026-11-24 07:00"},
		{"2026-11-23 07:00", "2026-11-24 04:00", "2026-11-25 07:00"},
		{"2026-11-23 21:00", "2026-11-23 21:05", "2026-11-24 21:00"},
		{"2026-10-24 02:30", "2026-10-25 00:10", "2026-10-26 02:30"}, // the night of the clock change
	} {
		if got := tomorrow(at(c.first), at(c.now)); !got.Equal(at(c.want)) {
			t.Errorf("first due %s, put off at %s: %s, want %s", c.first, c.now, got.Format("2006-01-02 15:04"), c.want)
		}
	}
}
