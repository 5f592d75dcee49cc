package cron

import (
	"math"
	"strings"
	"time"
)

// The range of years in which a schedule is evaluated, and its bounds in Unix seconds.
// Years far outside of it would overflow.
const (
	firstYear   = 2
	lastYear    = 9999
	firstSecond = -62104060800
	lastSecond  = 253402300799
)

// swing is more than any zone's clock has ever changed at once, and more than any offset from
// UTC, in seconds. Samoa skipped 24 hours in 2011.
const swing = 48 * 60 * 60

// Next returns the first fire at or after at, in at's location. It is the zero time if
// there is none before the year 10000. A time before the year 2 is treated as the start
// of that year. Fires are at whole minutes of the wall clock, unless a skipped time moves
// to the end of its gap.
func (s Schedule) Next(at time.Time) time.Time { return s.NextNarrowed(at, nil) }

// Narrow restricts a schedule to some times of the wall clock, which it gets in seconds as if
// in UTC, ascending. It returns the time itself if that is allowed, else a later one from which
// to search on. ok is false if no later time is allowed.
type Narrow func(wall int64) (from int64, ok bool)

// farthest is how far ahead a narrowed schedule is searched, in seconds: after 400 years dates
// and weekdays repeat.
const farthest = 400 * 366 * 24 * 60 * 60

// NextNarrowed is Next for a schedule with a restriction; nil restricts nothing. Clock changes do
// not confuse it: a skipped time is judged by its own date.
func (s Schedule) NextNarrowed(at time.Time, narrow Narrow) time.Time {
	sec := at.Unix()
	if s.Never() || sec > lastSecond {
		return time.Time{}
	}
	if at.Nanosecond() > 0 {
		sec++
	}
	sec = max(sec, firstSecond)
	loc := at.Location()
	find := s.nextByClock
	if s.anyHour {
		find = s.nextByElapsed
	}
	if sec, ok := find(sec, narrow, loc); ok {
		return time.Unix(sec, 0).In(loc)
	}
	return time.Time{}
}

// NextWall returns the first wall-clock time at or after w that matches and is allowed, both in
// seconds as if in UTC.
func (s Schedule) NextWall(w int64, narrow Narrow) (int64, bool) {
	if s.Never() {
		return 0, false
	}
	for last := w + farthest; ; {
		wall, ok := s.nextWall(w)
		if !ok || narrow == nil {
			return wall, ok
		}
		if w, ok = narrow(wall); w == wall || !ok || w > last {
			return wall, ok && w == wall
		}
	}
}

// Instant returns the first instant at which the wall clock in loc shows wall or later,
// ignoring wall's own location: a skipped time becomes the end of its gap, a repeated one its
// first occurrence.
func Instant(wall time.Time, loc *time.Location) time.Time {
	y, m, d := wall.Date()
	h, mi, s := wall.Clock()
	w := time.Date(y, m, d, h, mi, s, wall.Nanosecond(), time.UTC)
	sec := firstInstant(w.Unix(), segmentAt(w.Unix()-swing, loc), loc)
	t := time.Unix(sec, 0).In(loc)
	if _, offset := t.Zone(); sec+int64(offset) == w.Unix() {
		t = t.Add(time.Duration(w.Nanosecond()))
	}
	return t
}

// nextByClock is Next for fixed hours. A fire at wall time w is at the first instant at which
// the wall clock shows w or later: w itself, its first occurrence in an overlap, and the end
// of the gap for a w inside one. That instant is at or after sec exactly if no earlier instant
// has shown w or later, so the search begins at the latest wall time shown before sec.
func (s Schedule) nextByClock(sec int64, narrow Narrow, loc *time.Location) (int64, bool) {
	here := segmentAt(sec, loc)
	w, ok := s.NextWall(shownBefore(sec, here, loc), narrow)
	if !ok {
		return 0, false
	}
	return max(firstInstant(w, here, loc), sec), true
}

// firstInstant returns the first instant, from the segment here on, at which the wall clock
// shows w or later. No instant before here may have shown it.
func firstInstant(w int64, here segment, loc *time.Location) int64 {
	t := max(w-here.offset, here.start)
	for t >= here.end {
		here = segmentAt(max(here.end, w-swing), loc)
		t = max(w-here.offset, here.start)
	}
	return t
}

// shownBefore returns the latest wall time, in seconds, that the clock reached before sec:
// after an autumn change that is more than it shows now.
func shownBefore(sec int64, here segment, loc *time.Location) int64 {
	shown := int64(math.MinInt64)
	if sec > here.start {
		shown = sec + here.offset
	}
	for s := here; s.start > sec-swing; {
		edge := s.start
		s = segmentAt(edge-1, loc)
		shown = max(shown, edge+s.offset)
	}
	return shown
}

// nextByElapsed is Next for wildcard hours: while the offset is constant, wall times and
// instants correspond one to one, so each segment is searched separately, and both passes of
// a repeated hour count.
func (s Schedule) nextByElapsed(sec int64, narrow Narrow, loc *time.Location) (int64, bool) {
	for from := sec; ; {
		here := segmentAt(from, loc)
		w, ok := s.NextWall(from+here.offset, narrow)
		if !ok {
			return 0, false
		}
		if t := w - here.offset; t < here.end {
			return t, true
		}
		// Nothing matches between here and w on the wall clock, so distant segments between
		// them can be skipped. Near ones cannot, because clocks are set back.
		if here.end >= from+swing {
			from = max(here.end, w-swing)
		} else {
			from = here.end
		}
	}
}

// nextWall returns the first matching wall time at or after w, both in seconds as if in UTC.
// The library gives up after five years, which is too early for a 29 February around 2100, or
// one on a Sunday.
func (s Schedule) nextWall(w int64) (int64, bool) {
	spec := s.spec()
	spec.Location = time.UTC
	t := time.Unix(s.skip(w)-1, 0).UTC() // the library returns times after t
	for t.Year() <= lastYear {
		if next := spec.Next(t); !next.IsZero() {
			return next.Unix(), next.Year() <= lastYear
		}
		t = time.Date(t.Year()+6, time.January, 1, 0, 0, -1, 0, time.UTC)
	}
	return 0, false
}

// skip moves w to the first whole minute with a matching time of day, on any date. The library
// would search it second by second.
func (s Schedule) skip(w int64) int64 {
	const minuteSec, hourSec, daySec = 60, 60 * 60, 24 * 60 * 60
	w += ((-w)%minuteSec + minuteSec) % minuteSec
	clock := (w%daySec + daySec) % daySec
	midnight, hour, minute := w-clock, int(clock/hourSec), int(clock%hourSec/minuteSec)
	if !s.hour.has(hour) || s.minute>>minute == 0 {
		hour, minute = hour+1, 0
	}
	if s.hour>>hour == 0 {
		midnight, hour, minute = midnight+daySec, 0, 0
	}
	if next := (s.hour >> hour).first(); next > 0 {
		hour, minute = hour+next, 0
	}
	minute += (s.minute >> minute).first()
	return midnight + int64(hour)*hourSec + int64(minute)*minuteSec
}

// segment is a period with a constant offset from UTC: [start, end) in Unix seconds, offset in
// seconds.
type segment struct{ start, end, offset int64 }

func segmentAt(sec int64, loc *time.Location) segment {
	t := time.Unix(sec, 0).In(loc)
	_, offset := t.Zone()
	start, end := t.ZoneBounds()
	seg := segment{start: math.MinInt64, end: math.MaxInt64, offset: int64(offset)}
	if !start.IsZero() {
		seg.start = start.Unix()
		// If a zone's table ends with a change that its rule does not include, package time
		// starts with the rule's previous change, at which the offset is still different.
		if _, other := start.In(loc).Zone(); other != offset {
			if _, last := start.In(loc).ZoneBounds(); !last.IsZero() && last.Unix() <= sec {
				seg.start = last.Unix()
			}
		}
	}
	if !end.IsZero() {
		seg.end = end.Unix()
	}
	// If the bounds come from a zone's rule instead of its table, package time ends a year
	// after 365 days, which on 31 December of a leap year is in the past.
	for seg.end <= sec {
		seg.end += 24 * 60 * 60
	}
	return seg
}

// Wall returns the first instant at which the wall clock in loc shows that time of day on
// that date, or later. It is Instant for numbers. Days past the end of the month roll
// over into the next, as in time.Date.
func Wall(date time.Time, days, hour, minute int, loc *time.Location) time.Time {
	y, m, d := date.Date()
	return Instant(time.Date(y, m, d+days, hour, minute, 0, 0, time.UTC), loc)
}

// Format is t.Format(layout), followed by the offset if the wall clock shows t twice:
// "1:30 AM -07:00".
func Format(t time.Time, layout string) string { return t.Format(layout) + Offset(t) }

// Clock formats a time of day for the model, 3:04 PM. Text for people uses 15:04.
func Clock(t time.Time) string { return Format(t, "3:04 PM") }

// ClockOn is Clock in now's zone, with the date unless that is today: "3:04 PM on Mon 2006-01-02".
func ClockOn(t, now time.Time) string {
	const clock, date = "3:04 PM", "Mon 2006-01-02"
	t = t.In(now.Location())
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return Format(t, clock)
	}
	return Format(t, clock) + " on " + t.Format(date)
}

// Offset returns the suffix that Format appends: empty except in the repeated hours of a
// year.
func Offset(t time.Time) string {
	if !repeated(t) {
		return ""
	}
	return t.Format(" -07:00")
}

// repeated reports whether the wall clock shows t's time at another instant too, before or
// after it is set back.
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

// Layouts are time layouts by distance: today, up to six days ahead or any earlier time,
// this year, and any other time. An empty layout falls through to the next.
type Layouts struct{ Today, Week, Year, Else string }

// Format formats t in its own zone with the right layout. One with a time of day gets the
// offset of the function Format.
func (l Layouts) Format(t, now time.Time) string {
	now = now.In(t.Location())
	layout := l.Else
	switch sameYear := t.Year() == now.Year(); {
	case sameYear && t.YearDay() == now.YearDay():
		layout = l.Today
	case l.Week != "" && t.Sub(now) < 6*24*time.Hour:
		layout = l.Week
	case l.Year != "" && sameYear:
		layout = l.Year
	}
	if !strings.Contains(layout, ":04") {
		return t.Format(layout)
	}
	return Format(t, layout)
}

// DayClock formats a time of day, with its date unless that is today: "15:04",
// "Mon 23 Nov 15:04".
func DayClock(t, now time.Time) string {
	return Layouts{Today: "15:04", Year: "Mon 2 Jan 15:04", Else: "2 Jan 2006 15:04"}.Format(t, now)
}
