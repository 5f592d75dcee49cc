package when

import (
	"testing"
	"time"
)

func TestAMonthWithoutThatDayEndsOnItsLast(t *testing.T) {
	for _, c := range [][3]string{
		{"2026-01-31", "in a month", "2026-02-28"},
		{"2026-11-30", "in 3 months", "2027-02-28"},
		{"2026-05-31", "in 1 month", "2026-06-30"},
		{"2028-02-29", "in a year", "2029-02-28"},
	} {
		now, err := time.Parse(time.DateOnly, c[0])
		if err != nil {
			t.Fatal(err)
		}
		at, err := Reader{Now: now.Add(9 * time.Hour)}.Moment(c[1])
		if got := at.Format(time.DateOnly); err != nil || got != c[2] {
			t.Errorf("on %s, %q is %s, want %s, %v", c[0], c[1], got, c[2], err)
		}
	}
}

func TestHalfAMonthIsRefusedAndNotLeftOut(t *testing.T) {
	now := time.Date(2026, 11, 21, 16, 20, 0, 0, time.UTC)
	for _, text := range []string{"in a month and a half", "2 months and a half", "a year and a half"} {
		if at, err := (Reader{Now: now}).Moment(text); err == nil {
			t.Errorf("%q is %s", text, at)
		}
	}
}
