package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Quiet is a span of each day in which only critical pings are sent: from one
// minute of the day up to another, which may be on the next day. The zero Quiet
// is no span.
type Quiet struct {
	From, To int // minutes since midnight; equal when there is no span
}

// String is the form of the configuration: "22:00-07:30", or nothing.
func (q Quiet) String() string {
	if q.From == q.To {
		return ""
	}
	return fmt.Sprintf("%02d:%02d-%02d:%02d", q.From/60, q.From%60, q.To/60, q.To%60)
}

// QuietUntil is the end of the quiet hours that hold at now, in now's zone; the
// zero time outside of them. They begin and end by the clock on the wall: a time
// that a clock change skips counts as the first instant after the change, one
// that it repeats counts the first time.
func (r Runtime) QuietUntil(now time.Time) time.Time {
	q := r.QuietHours
	if q.From == q.To {
		return time.Time{}
	}
	for day := -1; day <= 0; day++ {
		last := day
		if q.To < q.From {
			last++
		}
		if end := wall(now, last, q.To); now.Before(end) && !now.Before(wall(now, day, q.From)) {
			return end
		}
	}
	return time.Time{}
}

// wall is the instant of a minute of the day, some days after now's date.
func wall(now time.Time, days, minute int) time.Time {
	y, m, d := now.Date()
	t := time.Date(y, m, d+days, minute/60, minute%60, 0, 0, now.Location())
	begin, end := t.ZoneBounds()
	_, offset := t.Zone()
	want := time.Date(y, m, d+days, minute/60, minute%60, 0, 0, time.UTC).Unix()
	switch got := t.Unix() + int64(offset); {
	case got > want: // the clock skips that minute, and t lies after the gap
		return begin
	case got < want: // t lies before it
		return end
	case begin.IsZero():
		return t
	}
	_, before := begin.Add(-time.Second).Zone()
	if twin := t.Add(-time.Duration(before-offset) * time.Second); before > offset && twin.Before(begin) {
		return twin // the minute is repeated, and t is the second one
	}
	return t
}

// parseQuiet reads "22:00-07:30". Nothing, "off" and "none" mean no span.
func parseQuiet(s string) (Quiet, bool) {
	switch strings.ToLower(s) {
	case "", "off", "none", "false":
		return Quiet{}, true
	}
	from, to, found := strings.Cut(strings.ReplaceAll(s, "–", "-"), "-")
	f, ok1 := minuteOfDay(from)
	t, ok2 := minuteOfDay(to)
	if !found || !ok1 || !ok2 || f == t {
		return Quiet{}, false
	}
	return Quiet{From: f, To: t}, true
}

// minuteOfDay reads "7:30" or "07:30"; 24:00 is the end of the day.
func minuteOfDay(s string) (int, bool) {
	hour, minute, found := strings.Cut(strings.TrimSpace(s), ":")
	h, err1 := strconv.Atoi(hour)
	m, err2 := strconv.Atoi(minute)
	if !found || err1 != nil || err2 != nil || len(minute) != 2 || h < 0 || m < 0 || m > 59 || h*60+m > 24*60 {
		return 0, false
	}
	return (h*60 + m) % (24 * 60), true
}
