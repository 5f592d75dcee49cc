package schedule

import (
	"math"
	"time"

	"ollimbot/routines/cron"
)

// mostMissed is where counting missed fires stops.
const mostMissed = 100

// never marks a schedule without further fires, in Unix seconds.
const never = math.MaxInt64

// moment converts Unix seconds to a time; never becomes the zero time.
func moment(sec int64, zone *time.Location) time.Time {
	if sec == never {
		return time.Time{}
	}
	return time.Unix(sec, 0).In(zone)
}

// nextFire is the schedule's Next in Unix seconds, or never.
func nextFire(s cron.Schedule, sec int64, zone *time.Location) int64 {
	next := s.Next(time.Unix(sec, 0).In(zone))
	if next.IsZero() {
		return never
	}
	return next.Unix()
}

// ceilSecond returns the first whole second at or after t.
func ceilSecond(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}

// after returns the first whole second after t.
func after(t time.Time) time.Time { return time.Unix(t.Unix()+1, 0) }

// lastFires counts the fires from first, which is itself a fire, to now. It returns the
// last fire, the one before it, and the count, at most mostMissed.
func lastFires(s cron.Schedule, first, now int64, zone *time.Location) (last, before int64, n int) {
	last, before, n = first, first, 1
	walk := func(most int) bool {
		for ; n < most; n++ {
			next := nextFire(s, last+1, zone)
			if next > now {
				return true
			}
			before, last = last, next
		}
		return false
	}
	if walk(mostMissed) {
		return last, before, n
	}
	// Too many to count: find the last two from the end, with growing steps back.
	for back := int64(3600); ; back *= 4 {
		from := max(last, now-back)
		at := nextFire(s, from, zone)
		if at > now || from > last && nextFire(s, at+1, zone) > now {
			continue
		}
		if from > last {
			last, before = at, at
		}
		walk(math.MaxInt)
		return last, before, mostMissed
	}
}
