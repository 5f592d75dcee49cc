package cron

import (
	"fmt"
	"strconv"
	"strings"

	"ollimbot/core/base/words"
)

// Words describes the schedule in words: "every 30 minutes from 9:00 to 18:59, Monday to
// Friday". Times use the 24-hour clock.
func (s Schedule) Words() string {
	if s.expr == "" {
		return "never"
	}
	clock, days := s.Parts()
	switch {
	case s.Never():
		return clock + ", " + days + " (never: none of its months has that day)"
	case days == "":
		return clock
	}
	return clock + ", " + days
}

// Parts describes the times of day and the days separately. days is empty if it fires every day
// more often than can be listed.
func (s Schedule) Parts() (clock, days string) {
	clock, single := s.clockWords()
	if days = s.dayWords(); days == "" && single {
		days = "every day"
	}
	return clock, days
}

// Days are the days of a schedule by what restricts them.
type Days struct {
	Weekdays  [7]bool // from Sunday on; all if nothing restricts them
	EveryDay  bool    // neither weekdays nor dates restrict it
	EveryDate bool    // dates do not restrict it
	Months    string  // in words: "every month", "June and July"
	Names     string  // of the weekdays: "Monday to Friday"
}

// Days describes which days the schedule selects.
func (s Schedule) Days() (d Days) {
	everyDom, everyDow := s.dom.count() == 31, s.dow.count() == 7
	d.EveryDay = everyDom && everyDow || !s.anyDom && !s.anyDow && (everyDom || everyDow)
	d.EveryDate = everyDom || d.EveryDay
	for i := range d.Weekdays {
		d.Weekdays[i] = d.EveryDay || s.dow.has(i)
	}
	d.Months, d.Names = s.monthWords(), s.bareWeekdays("and")
	return d
}

// maxTimes is the number of times of day up to which each is listed.
const maxTimes = 6

// clockWords describes minute and hour. single is true for a list of times, which reads
// badly without a day after it.
func (s Schedule) clockWords() (words string, single bool) {
	minutes, hours := s.minute.values(), s.hour.values()
	switch n := s.stepHour; {
	case s.anyHour && len(hours) == 24:
		return s.everyHour(), false
	case s.anyHour && n > 0 && len(minutes) == 1:
		words = fmt.Sprintf("every %d hours", n)
		if 24%n != 0 {
			words += " from midnight"
		}
		if minutes[0] != 0 {
			words += " at " + minuteMark(minutes[0])
		}
		return words, false
	case s.anyHour && n > 0:
		words = s.minuteWords()
		if s.minute.evenFromZero(60) {
			words = everyMinutes(s.minute.step())
		}
		return words + " of every " + ordinal(n) + " hour", false
	}
	if words, single = s.fixedHours(minutes, hours); s.anyHour {
		words += " by elapsed time"
	}
	return words, single
}

// fixedHours describes the times of a schedule whose hours are written out.
func (s Schedule) fixedHours(minutes, hours []int) (words string, single bool) {
	runs := s.hour.runs(0, 23)
	hourStep := s.hour.step()
	switch {
	case len(minutes) == 1 && len(hours) >= 3 && len(runs) == 1:
		from, to := runs[0].from, runs[0].to
		return fmt.Sprintf("every hour from %s to %s", clockTime(from, minutes[0]), clockTime(to, minutes[0])), false
	case len(minutes) == 1 && len(hours) >= 4 && hourStep > 1:
		return fmt.Sprintf("every %d hours from %s to %s", hourStep,
			clockTime(hours[0], minutes[0]), clockTime(hours[len(hours)-1], minutes[0])), false
	case len(minutes)*len(hours) <= maxTimes:
		var times []string
		for _, h := range hours {
			for _, m := range minutes {
				times = append(times, clockTime(h, m))
			}
		}
		return "at " + list(times, "and"), true
	case s.minute.evenFromZero(60) && len(runs) <= 3:
		spans := make([]string, len(runs))
		for i, r := range runs {
			spans[i] = "from " + clockTime(r.from, 0) + " to " + clockTime(r.to, 59)
		}
		return everyMinutes(s.minute.step()) + " " + list(spans, "and"), false
	}
	if len(hours) > 1 {
		return s.minuteWords() + " of the hours " + list(stretches(runs, strconv.Itoa, 24), "and"), false
	}
	return s.minuteWords() + " of the hour from " + clockTime(hours[0], 0), false
}

// everyHour describes the minutes of a schedule that fires in every hour.
func (s Schedule) everyHour() string {
	switch {
	case s.minute.evenFromZero(60):
		return everyMinutes(s.minute.step())
	case s.minute.count() == 1 && s.minute.has(0):
		return "every hour"
	case s.minute.count() == 1:
		return "every hour at " + minuteMark(s.minute.first())
	}
	return s.minuteWords() + " of every hour"
}

// evenFromZero reports whether the set equals */n for an n that divides the cycle, and so
// means every n minutes or hours.
func (s set) evenFromZero(cycle int) bool {
	n := s.step()
	return n > 0 && s.has(0) && cycle%n == 0 && s.count() == cycle/n
}

func (s Schedule) minuteWords() string {
	v := s.minute.values()
	if step := s.minute.step(); step > 0 && len(v) >= 4 {
		return everyMinutes(step) + " from " + minuteMark(v[0]) + " to " + minuteMark(v[len(v)-1])
	}
	return "at " + list(stretches(s.minute.runs(0, 59), minuteMark, 60), "and")
}

func everyMinutes(n int) string {
	if n == 1 {
		return "every minute"
	}
	return fmt.Sprintf("every %d minutes", n)
}

func clockTime(h, m int) string { return fmt.Sprintf("%d:%02d", h, m) }

func minuteMark(m int) string { return fmt.Sprintf(":%02d", m) }

// dayWords describes the days, "" for every day.
func (s Schedule) dayWords() string {
	everyDom, everyDow := s.dom.count() == 31, s.dow.count() == 7
	either := !s.anyDom && !s.anyDow
	switch {
	case everyDom && everyDow, either && (everyDom || everyDow):
		if s.month.count() == 12 {
			return ""
		}
		return "every day in " + s.monthWords()
	case everyDom:
		return s.weekdayWords("and") + s.inMonths()
	case everyDow:
		return s.domWords() + " of " + s.monthWords()
	case either:
		return s.domWords() + " of " + s.monthWords() + ", and also " + s.weekdayWords("and") + s.inMonths()
	}
	return s.domWords() + " of " + s.monthWords() + " when that is " + s.bareWeekdays("or")
}

func (s Schedule) inMonths() string {
	if s.month.count() == 12 {
		return ""
	}
	return " in " + s.monthWords()
}

func (s Schedule) monthWords() string {
	if s.month.count() == 12 {
		return "every month"
	}
	name := func(m int) string { return monthNames[m] }
	return list(stretches(s.month.runs(1, 12), name, 12), "and")
}

func (s Schedule) weekdayWords(and string) string {
	if s.dow.count() == 1 {
		return "every " + dayNames[s.dow.first()]
	}
	return s.bareWeekdays(and)
}

// bareWeekdays lists weekdays from Monday on.
func (s Schedule) bareWeekdays(and string) string {
	week := s.dow &^ 1
	if s.dow.has(0) {
		week |= 1 << 7
	}
	name := func(d int) string { return dayNames[d%7] }
	return list(stretches(week.runs(1, 7), name, 7), and)
}

func (s Schedule) domWords() string {
	v := s.dom.values()
	if step := s.dom.step(); step > 1 && len(v) >= 4 {
		return fmt.Sprintf("every %d days from the %s to the %s", step, ordinal(v[0]), ordinal(v[len(v)-1]))
	}
	return "on the " + list(stretches(s.dom.runs(1, 31), ordinal, 31), "and")
}

// stretches names runs: each member of a run of up to two, "a to b" for longer ones. A
// wrapping run restarts at cycle.
func stretches(runs []run, name func(int) string, cycle int) []string {
	var out []string
	for _, r := range runs {
		length := r.to - r.from + 1
		if length <= 0 {
			length += cycle
		}
		switch length {
		case 1:
			out = append(out, name(r.from))
		case 2:
			out = append(out, name(r.from), name(r.to))
		default:
			out = append(out, name(r.from)+" to "+name(r.to))
		}
	}
	return out
}

// list joins items in prose style: a, b and c.
func list(items []string, and string) string {
	if len(items) < 2 {
		return strings.Join(items, "")
	}
	last := len(items) - 1
	return strings.Join(items[:last], ", ") + " " + and + " " + items[last]
}

// Notes lists likely misunderstandings of the schedule, one sentence each, most important
// first; nil if there are none.
func (s Schedule) Notes() []string {
	if s.expr == "" {
		return nil
	}
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if s.Never() {
		add("It never fires: none of its months has that day.")
		return notes
	}
	s.noteDays(add)
	if s.minute.count() == 60 && s.hour.count() < 24 {
		add("It fires 60 times in each of its hours; for once an hour write 0 in the first field.")
	}
	if n := s.stepMinute; n > 0 && 60%n != 0 {
		add("*/%d restarts each hour: from :%02d to the next :00 is only %s.", n, s.minute.last(), words.Count(60-s.minute.last(), "minute"))
	}
	if n := s.stepHour; n > 0 && 24%n != 0 {
		add("*/%d in the hour field restarts each day: from %d:00 to the next 0:00 is only %s.",
			n, s.hour.last(), words.Count(24-s.hour.last(), "hour"))
	}
	if !s.anyHour && s.hour.count() == 24 {
		add("Written out, the 24 hours are fixed: when clocks go back, the repeated hour fires once. " +
			"Write * to count elapsed time instead.")
	}
	return notes
}

// noteDays explains the combination of the two day fields, and which months they miss.
func (s Schedule) noteDays(add func(format string, args ...any)) {
	restricted := s.dom.count() < 31 && s.dow.count() < 7
	switch {
	case !restricted:
	case !s.anyDom && !s.anyDow:
		add("With both day fields set, it fires on days that match either one.")
	default:
		add("A day field that begins with * only narrows the other: it fires on days that match both.")
	}
	if n := s.stepDom; n > 1 {
		add("*/%d restarts on the 1st of each month.", n)
	}
	if !s.anyDom && !s.anyDow {
		return // the weekday covers the months that lack the day
	}
	switch first := s.dom.first(); {
	case first == 29 && s.month == 1<<2:
		add("29 February exists only in leap years.")
	case first > 28:
		if short := s.shortMonths(first); short != "" {
			add("It skips months without that day: %s.", short)
		}
	}
}

// shortMonths names the scheduled months that lack the day in most years.
func (s Schedule) shortMonths(day int) string {
	length := [13]int{0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	var names []string
	for _, m := range s.month.values() {
		if length[m] < day {
			names = append(names, monthNames[m])
		}
	}
	return list(names, "and")
}

func ordinal(n int) string { return words.Ordinal(n) }
