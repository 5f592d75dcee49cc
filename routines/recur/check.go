package recur

import (
	"fmt"
	"time"
)

// Error is why a recurrence contradicts itself.
type Error struct {
	Key  string // the name of the key that is wrong
	text string
}

// Error returns one sentence with the cure.
func (e *Error) Error() string { return e.text }

func wrong(key, format string, args ...any) error { return &Error{key, fmt.Sprintf(format, args...)} }

const (
	msgEvery     = "an interval is 1 to %d days, weeks, months or years; say every 2 weeks"
	msgTimes     = "a routine fires 1 to %d times; leave the number out if there is no end"
	msgTimesFrom = "the times are counted from a day; add from: \"2026-12-01\""
	msgUntil     = "%s is before %s, when it begins; choose a later day"
	msgGap       = "%s is before %s; write the earlier day first"
	msgNoDay     = "%s never falls on a day of cron (%s); change one of them"
	msgNoEvery   = "with every %s none of the days of cron (%s) is left; change one of them"
	msgNoFire    = "between %s and %s nothing is left to fire; choose a later end, or fewer exceptions"
	msgNoneLeft  = "the exceptions leave no day; leave some out"
)

// contradiction checks each value, and pairs of them.
func (r *Recurrence) contradiction() error {
	switch {
	case r.Every.N < 0 || r.Every.N > MaxEvery:
		return wrong(KeyEvery, msgEvery, MaxEvery)
	case r.Times < 0 || r.Times > MaxTimes:
		return wrong(KeyTimes, msgTimes, MaxTimes)
	case r.Times > 0 && r.From.IsZero():
		return wrong(KeyTimes, msgTimesFrom)
	case !r.From.IsZero() && !r.Until.IsZero() && r.Until.Before(r.From):
		return wrong(KeyUntil, msgUntil, r.Until.Words(), r.From.Words())
	}
	for _, g := range r.Skip {
		if g.From.Year != 0 && g.To.Before(g.From) {
			return wrong(KeySkip, msgGap, g.To.Words(), g.From.Words())
		}
	}
	return nil
}

// fires reports which key leaves nothing to fire.
func (r *Recurrence) fires() error {
	if r.Plain() || r.Cron.Never() {
		return nil // what is wrong with the expression is said elsewhere
	}
	_, days := r.Cron.Parts()
	if days == "" {
		days = "every day"
	}
	one := Recurrence{Cron: r.Cron, Days: r.Days}
	from := r.Anchor().wall()
	left := func(o *Recurrence) bool {
		_, ok := o.Cron.NextWall(from, o.narrow)
		return ok
	}
	if !left(&one) {
		return wrong(KeyDays, msgNoDay, r.dayWords(), days)
	}
	if one.Every, one.From = r.Every, r.From; !left(&one) {
		return wrong(KeyEvery, msgNoEvery, r.Every, days)
	}
	if one.Skip = r.Skip; !left(&one) {
		return wrong(KeySkip, msgNoneLeft)
	}
	if one.Until, one.last = r.Until, r.last; !r.From.IsZero() && !left(&one) {
		return wrong(KeyUntil, msgNoFire, r.From.Words(), r.Until.Words())
	}
	return nil
}

// EndWords says that it is over, "ended on 28 February 2027"; empty as long as it fires.
func (r *Recurrence) EndWords(now time.Time) string {
	d, ok := r.End()
	if !ok || !r.Ended(now) {
		return ""
	}
	return fmt.Sprintf(textEnded, d.Words())
}

const textEnded = "ended on %s"
