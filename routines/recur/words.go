package recur

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/words"
)

// unitNames are the units in the singular.
var unitNames = [...]string{Day: "day", Week: "week", Month: "month", Year: "year"}

// String returns the interval as files have it: "2 weeks".
func (i Interval) String() string {
	if i == (Interval{}) {
		return ""
	}
	return words.Count(i.N, unitNames[i.Unit])
}

// String returns the day as files have it: "last friday", "first weekday".
func (m MonthDay) String() string { return strings.ToLower(m.words()) }

var nthNames = map[int]string{1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", Last: "last"}

// words are "last Friday", "first weekday".
func (m MonthDay) words() string {
	switch m.What {
	case AnyDay:
		return nthNames[m.Nth] + " day"
	case Workday:
		return nthNames[m.Nth] + " weekday"
	}
	return nthNames[m.Nth] + " " + time.Weekday(m.What).String()
}

// String returns the gap as files have it: "2026-12-24", "24 Dec to 2 Jan".
func (g Gap) String() string { return g.text(Date.String) }

func (g Gap) text(date func(Date) string) string {
	if g.From == g.To {
		return date(g.From)
	}
	return date(g.From) + " to " + date(g.To)
}

// Key is a restriction as a file has it.
type Key struct {
	Name  string
	Value string // empty if there is no such restriction
}

// Names of the keys, in the order of a file.
const (
	KeyEvery = "every"
	KeyDays  = "days"
	KeyFrom  = "from"
	KeyUntil = "until"
	KeyTimes = "times"
	KeySkip  = "skip"
	KeyZone  = "zone"
)

// Names lists the keys in the order of a file.
func Names() []string {
	return []string{KeyEvery, KeyDays, KeyFrom, KeyUntil, KeyTimes, KeySkip, KeyZone}
}

// Keys returns every key with its value.
func (r *Recurrence) Keys() []Key {
	date := func(d Date) string {
		if d.IsZero() {
			return ""
		}
		return d.String()
	}
	times, zone := "", ""
	if r.Times > 0 {
		times = strconv.Itoa(r.Times)
	}
	if r.Zone != nil {
		zone = r.Zone.String()
	}
	return []Key{
		{KeyEvery, r.Every.String()},
		{KeyDays, strings.Join(each(r.Days, MonthDay.String), ", ")},
		{KeyFrom, date(r.From)},
		{KeyUntil, date(r.Until)},
		{KeyTimes, times},
		{KeySkip, strings.Join(r.skipped(Gap.String), ", ")},
		{KeyZone, zone},
	}
}

// skipped are the gaps and calendars.
func (r *Recurrence) skipped(gap func(Gap) string) (parts []string) {
	for _, g := range r.Skip {
		parts = append(parts, gap(g))
	}
	return append(parts, r.Calendars...)
}

func each[T any](list []T, text func(T) string) []string {
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = text(v)
	}
	return parts
}

// String returns everything on one line, with the expression as it is: "0 9 * * 2, every 2 weeks,
// from 1 December 2026". It can be read back.
func (r *Recurrence) String() string {
	parts := []string{r.Cron.String()}
	if r.Every != (Interval{}) {
		parts = append(parts, "every "+r.Every.String())
	}
	if len(r.Days) > 0 {
		parts = append(parts, "on "+r.dayWords()+" of the month")
	}
	return strings.Join(append(parts, r.bounds()...), ", ")
}

// Words describes the recurrence in words: "at 9:00, every 2 weeks on Tuesday, from 1 December
// 2026". It can be read back. Times use the 24-hour clock.
func (r *Recurrence) Words() string {
	if r.Plain() || r.Never() {
		return r.Cron.Words()
	}
	clock, days := r.Cron.Parts()
	parts := []string{clock}
	if on := r.onDays(days); len(on) > 0 {
		parts = append(parts, on...)
	}
	return strings.Join(append(parts, r.bounds()...), ", ")
}

// onDays describes the days that the expression, the interval and the days of the month select.
func (r *Recurrence) onDays(days string) (parts []string) {
	of, every := r.Cron.Days(), r.Every.String()
	inMonths, weekdays, dates := of.Months == "every month", false, of.EveryDate && of.EveryDay
	if of.EveryDate && !of.EveryDay {
		weekdays = true
	}
	switch {
	case len(r.Days) > 0:
		if dates || weekdays && r.within(of.Weekdays) {
			parts = append(parts, "on "+r.dayWords()+" of "+of.Months)
		} else {
			parts = append(parts, days, "on "+r.dayWords()+" of every month")
		}
	case every != "" && r.Every.Unit == Day && dates && inMonths:
		return []string{"every " + every}
	case every != "" && r.Every.Unit == Week && weekdays && inMonths:
		return []string{"every " + every + " on " + of.Names}
	case every != "" && days == "":
		parts = append(parts, "every day")
	case days != "":
		parts = append(parts, days)
	}
	if every != "" {
		parts = append(parts, "every "+every)
	}
	return parts
}

// within reports whether all days of the month are among these weekdays, and each of these is one.
func (r *Recurrence) within(weekdays [7]bool) bool {
	for _, m := range r.Days {
		for d, on := range weekdays {
			if wanted := m.What == AnyDay || m.What == d || m.What == Workday && d != 0 && d != 6; wanted && !on {
				return false
			}
		}
	}
	return true
}

// dayWords are "the first and third Monday", "the last Friday and the first day".
func (r *Recurrence) dayWords() string {
	return words.And(each(r.Days, func(m MonthDay) string { return "the " + m.words() }))
}

// bounds describes the beginning, the end, the exceptions and the zone.
func (r *Recurrence) bounds() (parts []string) {
	switch {
	case !r.From.IsZero() && !r.Until.IsZero():
		parts = append(parts, "from "+r.From.Words()+" until "+r.Until.Words())
	case !r.From.IsZero():
		parts = append(parts, "from "+r.From.Words())
	case !r.Until.IsZero():
		parts = append(parts, "until "+r.Until.Words())
	}
	if r.Times > 0 {
		parts = append(parts, words.Count(r.Times, "time"))
	}
	if skipped := r.skipped(func(g Gap) string { return g.text(Date.Words) }); len(skipped) > 0 {
		parts = append(parts, "except "+words.And(skipped))
	}
	if r.Zone != nil {
		parts = append(parts, "in "+r.Zone.String()+" time")
	}
	return parts
}

// why says why a candidate does not fire.
func (r *Recurrence) why(at time.Time) string {
	day := DateOf(r.In(at)).number()
	if !r.From.IsZero() && day < r.From.number() {
		return fmt.Sprintf(whyEarly, r.From.Words())
	}
	for _, g := range r.Skip {
		if g.covers(day) {
			return fmt.Sprintf(whyExcept, g.text(Date.Words))
		}
	}
	if by := r.taken(day); by != "" {
		return fmt.Sprintf(whyExcept, by)
	}
	if r.monthDay(day) != day {
		return fmt.Sprintf(whyDay, r.dayWords())
	}
	return fmt.Sprintf(whyBetween, r.Every, r.Anchor().Words())
}

// The reasons why a candidate does not fire.
const (
	whyEarly   = "it begins on %s"
	whyExcept  = "except %s"
	whyDay     = "it is not %s of the month"
	whyBetween = "it is every %s, counted from %s"
)

// Notes lists likely misunderstandings, one sentence each; nil if there are none.
func (r *Recurrence) Notes() []string { return r.Cron.Notes() }

// Ours says what the original program does not know and does otherwise; empty if there is nothing.
// The other restrictions only make it fire more often.
func (r *Recurrence) Ours() string {
	if r.Zone == nil {
		return ""
	}
	return noteZone
}

const noteZone = "the original program ignores zone and fires at these times of the bot's own zone"
