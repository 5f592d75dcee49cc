package recur

import (
	"fmt"
	"time"
)

// Date is a day of the calendar. The zero Date is none, and one without a year is a day of every
// year.
type Date struct {
	Year  int
	Month time.Month
	Day   int
}

const daySeconds = 24 * 60 * 60

// DateOf returns the date that the wall clock shows at t, in t's zone.
func DateOf(t time.Time) Date {
	y, m, d := t.Date()
	return Date{y, m, d}
}

// dateOn is the date of a day that is counted from 1 January 1970.
func dateOn(day int64) Date { return DateOf(time.Unix(day*daySeconds, 0).UTC()) }

// IsZero reports whether the date is none.
func (d Date) IsZero() bool { return d == Date{} }

// number counts the days from 1 January 1970. Days and months past the end roll over.
func (d Date) number() int64 {
	return floor(time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC).Unix(), daySeconds)
}

// wall is the beginning of the day on the wall clock, in seconds as if in UTC.
func (d Date) wall() int64 { return d.number() * daySeconds }

// Time is the beginning of the day in UTC.
func (d Date) Time() time.Time { return time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, time.UTC) }

// Add returns the date a number of days later.
func (d Date) Add(days int) Date { return dateOn(d.number() + int64(days)) }

// Before reports whether a date is earlier than another; both have a year.
func (d Date) Before(o Date) bool { return d.number() < o.number() }

// Exists reports whether the calendar has the day. A date without a year may be 29 February.
func (d Date) Exists() bool {
	year := d.Year
	if year == 0 {
		year = 2024
	}
	return d.Day >= 1 && d.Month >= time.January && d.Month <= time.December && d.Day <= monthLength(year, d.Month)
}

// String returns the date as files have it: "2026-12-01", or "24 Dec" for a day of every year.
func (d Date) String() string {
	if d.Year == 0 {
		return fmt.Sprintf("%d %s", d.Day, d.Month.String()[:3])
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day)
}

// Words returns the date as people write it: "1 December 2026", "24 December".
func (d Date) Words() string {
	if d.Year == 0 {
		return fmt.Sprintf("%d %s", d.Day, d.Month)
	}
	return fmt.Sprintf("%d %s %d", d.Day, d.Month, d.Year)
}

// yearDay orders the days of all years alike.
func (d Date) yearDay() int { return int(d.Month)*100 + d.Day }

func monthLength(year int, month time.Month) int {
	return time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

func floor(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}

// mod is the remainder of a floored division, from 0 to by-1.
func mod(n, by int64) int64 { return n - floor(n, by)*by }
