package recur

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"ollimbot/routines/cron"
)

// Recurrence is when something fires again and again. It is a value that must not be changed
// once Checked has returned it. The zero Recurrence never fires.
type Recurrence struct {
	Cron  cron.Schedule  // the candidates
	Every Interval       // of which only those of every n-th day, week, month or year fire, counted from From
	Days  []MonthDay     // of which only those on one of these days of the month fire; none restricts nothing
	From  Date           // the first day; none if there is no beginning
	Until Date           // the last day; none if there is no end
	Times int            // how often it fires from From on, whether or not it then runs; 0 if there is no limit
	Skip  []Gap          // the days on which it does not fire
	Zone  *time.Location // whose wall clock counts; nil for that of the moment in question
	// Calendars are names of calendars on whose days it does not fire, if With has added them: of .ics
	// files, or as OfGoogle has it. These days count for Times, so that the end does not move when a
	// calendar changes.
	Calendars []string

	off  []Calendar
	last int64 // the last wall-clock second at which it may fire, valid if it is bounded
}

// Calendar is days that something outside of the recurrence takes, and that may change.
type Calendar interface {
	Name() string
	// Off returns what takes a day. It must not block.
	Off(d Date) (what string, off bool)
	// Trouble says why the days are not known; empty if they are.
	Trouble() string
}

// OfGoogle is the name among Calendars of a calendar in the user's Google account.
func OfGoogle(name string) string {
	return `calendar "` + strings.TrimSpace(strings.ReplaceAll(name, `"`, "")) + `"`
}

// GoogleCalendar is the name that OfGoogle was given; false if this is the name of a file.
func GoogleCalendar(calendar string) (name string, ok bool) {
	name, ok = strings.CutPrefix(calendar, `calendar "`)
	return strings.TrimSuffix(name, `"`), ok
}

// Unit is what an interval counts.
type Unit int

// The units of an interval. A week begins on Monday.
const (
	Day Unit = iota
	Week
	Month
	Year
)

// Interval is every n-th day, week, month or year. The zero Interval restricts nothing.
type Interval struct {
	N    int
	Unit Unit
}

// What a MonthDay may be besides a weekday, which is a number from 0, Sunday, to 6.
const (
	AnyDay  = 7
	Workday = 8 // Monday to Friday
)

// MonthDay is the n-th day of its kind in a month.
type MonthDay struct {
	Nth  int // 1 to 5, or Last
	What int // a weekday, AnyDay or Workday
}

// Last is the number of the last day of a kind in a month.
const Last = -1

// Gap is a range of days, both included. Without a year it is in every year, and may pass the end
// of one.
type Gap struct{ From, To Date }

// Usual limits.
const (
	MaxEvery = 366  // of an interval
	MaxTimes = 1000 // of how often
)

// Of is the recurrence of an expression alone.
func Of(s cron.Schedule) Recurrence { return Recurrence{Cron: s} }

// Plain reports whether the expression alone says everything.
func (r *Recurrence) Plain() bool {
	return r.Every == Interval{} && len(r.Days) == 0 && r.From.IsZero() && r.Until.IsZero() && r.Times == 0 && len(r.Skip) == 0 &&
		len(r.Calendars) == 0 && r.Zone == nil
}

// With adds the calendars that the recurrence names.
func (r Recurrence) With(calendar func(name string) Calendar) Recurrence {
	r.off = nil
	for _, name := range r.Calendars {
		r.off = append(r.off, calendar(name))
	}
	return r
}

// Trouble says why the days of a calendar are not known, so that it fires on them; empty if all are known.
func (r *Recurrence) Trouble() string {
	for _, c := range r.off {
		if why := c.Trouble(); why != "" {
			return why
		}
	}
	return ""
}

// Equal reports whether both say the same in the same way.
func (r Recurrence) Equal(o Recurrence) bool { return r.String() == o.String() }

// Never reports whether it never fires, not even in the past.
func (r *Recurrence) Never() bool { return r.Cron.Never() }

// bounded reports whether it has an end.
func (r *Recurrence) bounded() bool { return !r.Until.IsZero() || r.Times > 0 }

// End returns the last day on which it can fire. ok is false if it has no end.
func (r *Recurrence) End() (d Date, ok bool) {
	if !r.bounded() {
		return d, false
	}
	return dateOn(floor(r.last, daySeconds)), true
}

// Ended reports whether it has an end and does not fire at or after at.
func (r *Recurrence) Ended(at time.Time) bool { return r.bounded() && r.Next(at).IsZero() }

// In returns a moment in the zone whose wall clock counts.
func (r *Recurrence) In(at time.Time) time.Time {
	if r.Zone == nil {
		return at
	}
	return at.In(r.Zone)
}

// AtTime is the recurrence on the same days with one time of day.
func (r *Recurrence) AtTime(hour, minute int) (Recurrence, error) {
	c, err := cron.Parse(r.Cron.AtTime(hour, minute))
	if err != nil {
		return *r, err
	}
	moved := *r
	moved.Cron = c
	return Checked(moved)
}

// Next returns the first fire at or after at, in at's location. It is the zero time if there is none.
func (r *Recurrence) Next(at time.Time) time.Time {
	if r.Plain() {
		return r.Cron.Next(at)
	}
	at, zone := r.In(at), at.Location()
	if !r.From.IsZero() { // however far ahead that is
		begin := time.Date(r.From.Year, r.From.Month, r.From.Day, 0, 0, 0, 0, at.Location()).AddDate(0, 0, -2)
		if at.Before(begin) {
			at = begin
		}
	}
	next := r.Cron.NextNarrowed(at, r.narrow)
	if next.IsZero() {
		return next
	}
	return next.In(zone)
}

// narrow is the cron.Narrow of the recurrence.
func (r *Recurrence) narrow(wall int64) (from int64, ok bool) {
	if !r.From.IsZero() && wall < r.From.wall() {
		return r.From.wall(), true
	}
	if r.bounded() && wall > r.last {
		return 0, false
	}
	day := floor(wall, daySeconds)
	next, ok := r.nextDay(day)
	if ok && next == day {
		return wall, true
	}
	return next * daySeconds, ok
}

// nextDay returns the first day at or after one that every restriction allows.
func (r *Recurrence) nextDay(from int64) (day int64, ok bool) {
	const farthest = 400 * 366 // then dates and weekdays repeat
	for day = from; day <= from+farthest; {
		next := r.skipping(r.monthDay(r.Every.next(r.Anchor(), day)))
		if next == day {
			return day, true
		}
		day = next
	}
	return day, false
}

// Allows reports whether the interval, counted from a day, includes another one.
func (i Interval) Allows(from, d Date) bool {
	day := d.number()
	return i.next(from, day) == day
}

// next returns the first day at or after one that the interval, counted from another, includes.
func (i Interval) next(from Date, day int64) int64 {
	n := int64(i.N)
	if n <= 1 {
		return day
	}
	switch i.Unit {
	case Day:
		return day + mod(from.number()-day, n)
	case Week:
		const monday = 4 // 5 January 1970
		week := floor(day-monday, 7)
		if ahead := mod(floor(from.number()-monday, 7)-week, n); ahead > 0 {
			return (week+ahead)*7 + monday
		}
	case Month:
		d := dateOn(day)
		if ahead := mod(months(from)-months(d), n); ahead > 0 {
			return Date{d.Year, d.Month + time.Month(ahead), 1}.number()
		}
	default:
		d := dateOn(day)
		if ahead := mod(int64(from.Year-d.Year), n); ahead > 0 {
			return Date{d.Year + int(ahead), time.January, 1}.number()
		}
	}
	return day
}

func months(d Date) int64 { return int64(d.Year)*12 + int64(d.Month) }

// usualFrom is the day from which an interval counts that says none: a Monday.
var usualFrom = Date{2024, time.January, 1}

// Anchor returns the day from which the interval counts.
func (r *Recurrence) Anchor() Date {
	if r.From.IsZero() {
		return usualFrom
	}
	return r.From
}

// monthDay returns the first day at or after one that is one of the days of the month.
func (r *Recurrence) monthDay(day int64) int64 {
	if len(r.Days) == 0 {
		return day
	}
	d := dateOn(day)
	for month := (Date{d.Year, d.Month, 1}); ; month = dateOn((Date{month.Year, month.Month + 1, 1}).number()) {
		first := int64(math.MaxInt64)
		for _, m := range r.Days {
			if on := m.in(month); on != 0 {
				if at := (Date{month.Year, month.Month, on}).number(); at >= day {
					first = min(first, at)
				}
			}
		}
		if first != math.MaxInt64 {
			return first
		}
	}
}

// in returns the day of the month, 0 if the month has none.
func (m MonthDay) in(month Date) int {
	length := monthLength(month.Year, month.Month)
	weekday := int(mod(month.number()+4, 7)) // of the first; 1 January 1970 was a Thursday
	matches := func(day int) bool {
		w := (weekday + day - 1) % 7
		return m.What == AnyDay || m.What == w || m.What == Workday && w != 0 && w != 6
	}
	if m.Nth == Last {
		for day := length; day > 0; day-- {
			if matches(day) {
				return day
			}
		}
	}
	n := 0
	for day := 1; day <= length; day++ {
		if matches(day) {
			if n++; n == m.Nth {
				return day
			}
		}
	}
	return 0
}

// skipping returns the first day at or after one that is in no gap.
func (r *Recurrence) skipping(day int64) int64 {
	for _, g := range r.Skip {
		if g.covers(day) {
			return g.end(day) + 1
		}
	}
	if len(r.off) > 0 && r.taken(day) != "" {
		return day + 1
	}
	return day
}

// taken names the calendar that takes a day, and the event; empty if none does.
func (r *Recurrence) taken(day int64) string {
	for _, c := range r.off {
		if what, off := c.Off(dateOn(day)); off {
			return strings.TrimSuffix(c.Name()+": "+what, ": ")
		}
	}
	return ""
}

func (g Gap) covers(day int64) bool {
	if g.From.Year != 0 {
		return day >= g.From.number() && day <= g.To.number()
	}
	at, from, to := dateOn(day).yearDay(), g.From.yearDay(), g.To.yearDay()
	if from > to {
		return at >= from || at <= to
	}
	return at >= from && at <= to
}

// end is the last day of a gap that covers a day.
func (g Gap) end(day int64) int64 {
	if g.From.Year != 0 {
		return g.To.number()
	}
	d := dateOn(day)
	year := d.Year
	if d.yearDay() > g.To.yearDay() {
		year++
	}
	return Date{year, g.To.Month, min(g.To.Day, monthLength(year, g.To.Month))}.number()
}

// normal sorts the lists and drops what is said twice, so that equal recurrences are written alike.
func (r *Recurrence) normal() {
	r.Days = slices.Clone(r.Days)
	slices.SortFunc(r.Days, func(a, b MonthDay) int {
		return cmp.Or(cmp.Compare(uint(a.Nth), uint(b.Nth)), cmp.Compare((a.What+6)%7, (b.What+6)%7), cmp.Compare(a.What, b.What)) // the last is behind the fifth
	})
	r.Days = slices.Compact(r.Days)
	r.Skip = slices.Clone(r.Skip)
	slices.SortFunc(r.Skip, func(a, b Gap) int {
		return cmp.Or(cmp.Compare(a.From.Year, b.From.Year), cmp.Compare(a.From.yearDay(), b.From.yearDay()), cmp.Compare(a.To.Year, b.To.Year),
			cmp.Compare(a.To.yearDay(), b.To.yearDay()))
	})
	r.Skip = slices.Compact(r.Skip)
	r.Calendars = slices.Clone(r.Calendars)
	slices.SortFunc(r.Calendars, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a), strings.ToLower(b)), cmp.Compare(a, b))
	})
	r.Calendars = slices.Compact(r.Calendars)
	if r.Every.N == 1 {
		r.Every = Interval{}
	}
}

// Checked returns the recurrence ready for use, or an *Error if it contradicts itself.
func Checked(r Recurrence) (Recurrence, error) {
	if err := r.contradiction(); err != nil {
		return r, err
	}
	r.normal()
	r.last = math.MaxInt64
	if !r.Until.IsZero() {
		r.last = r.Until.wall() + daySeconds - 1
	}
	if err := r.fires(); err != nil {
		return r, err
	}
	if r.Times > 0 {
		r.last = r.lastOf(r.Times)
	}
	return r, nil
}

// lastOf returns the n-th wall-clock time, or the last one if there are fewer.
func (r *Recurrence) lastOf(n int) int64 {
	last := r.From.wall()
	for at := last; n > 0; n-- {
		wall, ok := r.Cron.NextWall(at, r.narrow)
		if !ok {
			break
		}
		last, at = wall, wall+60
	}
	return last
}

// Skipped is a candidate that does not fire.
type Skipped struct {
	At  time.Time `json:"at"`
	Why string    `json:"why"`
}

// Skipped returns the first n candidates from one moment to another that do not fire. After the end
// there are none.
func (r *Recurrence) Skipped(from, to time.Time, n int) (out []Skipped) {
	fire := r.Next(from)
	for at := r.candidate(from); len(out) < n && !at.IsZero() && !at.After(to); at = r.candidate(at.Add(time.Second)) {
		if fire.Before(at) {
			fire = r.Next(at)
		}
		if fire.IsZero() {
			break
		}
		if !at.Equal(fire) {
			out = append(out, Skipped{at, r.why(at)})
		}
	}
	return out
}

// candidate is the next time of the expression alone.
func (r *Recurrence) candidate(at time.Time) time.Time {
	next := r.Cron.Next(r.In(at))
	if next.IsZero() {
		return next
	}
	return next.In(at.Location())
}
