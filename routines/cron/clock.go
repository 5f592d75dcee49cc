package cron

import "time"

// Wall is the first instant at which the clock on the wall in loc shows that time
// of day on that date, or later: Instant for whoever has numbers. Days beyond the
// month's last go on into the next, as with time.Date.
func Wall(date time.Time, days, hour, minute int, loc *time.Location) time.Time {
	y, m, d := date.Date()
	return Instant(time.Date(y, m, d+days, hour, minute, 0, 0, time.UTC), loc)
}

// Format is t.Format(layout), with the offset behind it where the clock on the
// wall shows t twice: "1:30 AM -07:00".
func Format(t time.Time, layout string) string { return t.Format(layout) + Offset(t) }

// Clock is a time of day as people read it: 3:04 PM.
func Clock(t time.Time) string { return Format(t, "3:04 PM") }

// Offset is what Format adds: empty for all but the repeated hours of a year.
func Offset(t time.Time) string {
	if !repeated(t) {
		return ""
	}
	return t.Format(" -07:00")
}

// repeated reports whether the clock on the wall shows t's time at another instant
// too: in the stretch before a change that sets it back, or in the one behind it.
func repeated(t time.Time) bool {
	sec, loc := t.Unix(), t.Location()
	here := segmentAt(sec, loc)
	wall := sec + here.offset
	if here.start > sec-swing {
		before := segmentAt(here.start-1, loc)
		if twin := wall - before.offset; twin >= before.start && twin < here.start {
			return true
		}
	}
	if here.end < sec+swing {
		behind := segmentAt(here.end, loc)
		if twin := wall - behind.offset; twin >= here.end && twin < behind.end {
			return true
		}
	}
	return false
}
