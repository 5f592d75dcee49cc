package routines

import (
	"math"
	"time"

	"ollimbot/routines/cron"
)

// never is the fire of a schedule that has none.
const never = math.MaxInt64

// lookup is one answer of a schedule: the first fire at or after asked is fire,
// both in unix seconds. Fires lie on whole seconds, so the answer holds for
// every question between the two. The zero lookup holds for no question that is
// asked of it.
type lookup struct{ asked, fire int64 }

// at returns the first fire at or after sec, in unix seconds.
func (l *lookup) at(s cron.Schedule, sec int64, zone *time.Location) int64 {
	if l.asked <= sec && sec <= l.fire && *l != (lookup{}) {
		return l.fire
	}
	l.asked, l.fire = sec, nextFire(s, sec, zone)
	return l.fire
}

// span is a stretch of a schedule without a fire: after from, before next. The
// zero span answers no question that is asked of it.
type span struct {
	from, next int64 // in unix seconds
	fired      bool  // from is a fire
}

// around returns the last fire from grace to now, if there is one, and the first
// behind now. A schedule that is asked again and again is evaluated once a fire.
func (s *span) around(of cron.Schedule, grace, now int64, zone *time.Location) (last int64, had bool, next int64) {
	if *s == (span{}) || grace < s.from && !s.fired || now < s.from || s.next < grace {
		*s = span{from: grace, next: nextFire(of, grace, zone)}
	}
	for s.next <= now {
		s.from, s.fired = s.next, true
		s.next = nextFire(of, s.from+1, zone)
	}
	return s.from, s.fired && s.from >= grace, s.next
}

// nextFire is the schedule's Next in unix seconds, never when there is none.
func nextFire(s cron.Schedule, sec int64, zone *time.Location) int64 {
	next := s.Next(time.Unix(sec, 0).In(zone))
	if next.IsZero() {
		return never
	}
	return next.Unix()
}

// ceilSecond is the first whole second at or after t.
func ceilSecond(t time.Time) int64 {
	if t.Nanosecond() > 0 {
		return t.Unix() + 1
	}
	return t.Unix()
}
