package cron

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestASparserScheduleFiresHalfAsOften(t *testing.T) {
	for expr, want := range map[string]string{
		"0 * * * *": "0 */2 * * *", "17 * * * *": "17 */2 * * *", "*/15 * * * *": "*/30 * * * *", "*/30 * * * *": "0 * * * *",
		"* * * * *": "*/2 * * * *", "0 */2 * * *": "0 */4 * * *", "0 */12 * * *": "0 0 * * *", "0 9-17 * * mon-fri": "0 9-17/2 * * mon-fri",
		"*/15 9-17 * * *": "*/30 9-17 * * *", "0-30 9 * * *": "0-30/2 9 * * *", "0 22-2 * * *": "0 22-2/2 * * *",
		"*/20 * * * *": "", "*/45 * * * *": "", "0 */8 * * *": "", "0 9 * * *": "", "0 9,17 * * *": "", "0,30 9 * * *": "", "0 9-10 * * *": "", "0 5-5 * * *": "", "5 * 30 2 *": "", "0 9-17/2 * * *": "",
		"0 9-10,12-13 * * *": "", "0 * 30 2 *": "",
	} {
		s := mustParse(t, expr)
		half, ok := s.Sparser()
		if ok != (want != "") || ok && half.String() != want {
			t.Errorf("%s becomes %q (%v), want %q", expr, half, ok, want)
		}
	}
	if _, ok := (Schedule{}).Sparser(); ok {
		t.Error("what never fires becomes sparser")
	}
}

func TestWhatASparserScheduleFiresIsCountedByTheDay(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		minute := rapid.SampledFrom([]string{"0", "5", "*", "*/5", "*/7", "10-40", "0,30"}).Draw(t, "minute")
		hour := rapid.SampledFrom([]string{"*", "*/2", "*/3", "*/5", "7", "9-17", "22-3", "8,9,12"}).Draw(t, "hour")
		s, err := Parse(minute + " " + hour + " * * *")
		testkit.Must(t, err)
		if n := fires(s); n != s.PerDay() {
			t.Fatalf("%s fires %d times a day, not %d", s, n, s.PerDay())
		}
		half, ok := s.Sparser()
		if !ok {
			return
		}
		if was, is := fires(s), fires(half); is >= was || 2*is < was {
			t.Fatalf("%s fires %d times a day, %s %d times", s, was, half, is)
		}
	})
}

// fires counts the fires of a day.
func fires(s Schedule) (n int) {
	day := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for at := s.Next(day); at.Before(day.AddDate(0, 0, 1)); at = s.Next(at.Add(time.Second)) {
		n++
	}
	return n
}
