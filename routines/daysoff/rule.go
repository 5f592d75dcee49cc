package daysoff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/routines/recur"
)

// rule is how an event repeats: RRULE of RFC 5545, as far as it selects days.
type rule struct {
	every     recur.Interval
	count     int        // 0 if there is no limit
	until     recur.Date // the zero Date if there is no end
	months    []int
	dates     []int // of the month; negative ones from its end
	weekdays  []weekday
	beginning recur.Date
}

// weekday is a day of the week, or the n-th of its name in the month.
type weekday struct{ nth, day int }

var frequencies = map[string]recur.Unit{"DAILY": recur.Day, "WEEKLY": recur.Week, "MONTHLY": recur.Month, "YEARLY": recur.Year}

var weekdays = []string{"SU", "MO", "TU", "WE", "TH", "FR", "SA"}

// readRule reads a rule of an event that begins on a day. An error names what is not understood.
func readRule(text string, beginning recur.Date) (r rule, err error) {
	r = rule{every: recur.Interval{N: 1}, beginning: beginning}
	known := false
	for part := range strings.SplitSeq(text, ";") {
		key, value, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(part)), "=")
		ok := true
		switch key {
		case "FREQ":
			r.every.Unit, ok = frequencies[value]
			known = ok
		case "INTERVAL":
			r.every.N, ok = number(value, 1, 10_000)
		case "COUNT":
			r.count, ok = number(value, 1, 1_000_000)
		case "UNTIL":
			r.until, ok = dateOf(value)
		case "BYMONTH":
			r.months, ok = numbers(value, 1, 12)
		case "BYMONTHDAY":
			r.dates, ok = numbers(value, -31, 31)
		case "BYDAY":
			r.weekdays, ok = readWeekdays(value)
		case "WKST":
			ok = value == "MO" || r.every.N == 1 || r.every.Unit != recur.Week
		case "":
		default:
			ok = false
		}
		if !ok {
			return r, fmt.Errorf("%s=%s", key, value)
		}
	}
	if !known || r.every.Unit == recur.Year && len(r.months) == 0 && slices.ContainsFunc(r.weekdays, func(w weekday) bool { return w.nth != 0 }) {
		return r, fmt.Errorf("%s", text)
	}
	return r, nil
}

func number(text string, low, high int) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= low && n <= high
}

func numbers(text string, low, high int) (list []int, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		n, ok := number(part, low, high)
		if !ok || n == 0 {
			return nil, false
		}
		list = append(list, n)
	}
	return list, true
}

func readWeekdays(text string) (list []weekday, ok bool) {
	for part := range strings.SplitSeq(text, ",") {
		if len(part) < 2 {
			return nil, false
		}
		nth := 0
		if count := part[:len(part)-2]; count != "" {
			if nth, ok = number(count, -5, 5); !ok || nth == 0 {
				return nil, false
			}
		}
		day := slices.Index(weekdays, part[len(part)-2:])
		if day < 0 {
			return nil, false
		}
		list = append(list, weekday{nth, day})
	}
	return list, true
}

// dateOf reads the date of "20261224" or "20261224T090000Z".
func dateOf(text string) (recur.Date, bool) {
	at, err := time.Parse("20060102", text[:min(8, len(text))])
	return recur.DateOf(at), err == nil
}

// matches reports whether the rule selects a day after its beginning, apart from its end.
func (r *rule) matches(at time.Time) bool {
	year, month, day := at.Date()
	if len(r.months) > 0 && !slices.Contains(r.months, int(month)) || !r.every.Allows(r.beginning, recur.DateOf(at)) {
		return false
	}
	length := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return r.onDate(day, length, month) && r.onWeekday(at, day, length)
}

func (r *rule) onDate(day, length int, month time.Month) bool {
	switch {
	case len(r.dates) > 0:
		return slices.Contains(r.dates, day) || slices.Contains(r.dates, day-length-1)
	case len(r.weekdays) > 0 || r.every.Unit == recur.Day || r.every.Unit == recur.Week:
		return true
	}
	return day == r.beginning.Day && (r.every.Unit != recur.Year || len(r.months) > 0 || month == r.beginning.Month)
}

func (r *rule) onWeekday(at time.Time, day, length int) bool {
	if len(r.weekdays) == 0 {
		return r.every.Unit != recur.Week || at.Weekday() == r.beginning.Time().Weekday()
	}
	return slices.ContainsFunc(r.weekdays, func(w weekday) bool {
		return w.day == int(at.Weekday()) && (w.nth == 0 || w.nth == (day-1)/7+1 || -w.nth == (length-day)/7+1)
	})
}

// days calls each with the days that the rule selects between two moments. It returns how many days it
// has looked at.
func (r *rule) days(first, last time.Time, each func(recur.Date)) (looked int) {
	begin := r.beginning.Time()
	if first = first.AddDate(0, 0, -longestSpan).Truncate(24 * time.Hour); r.count == 0 && begin.Before(first) {
		begin = first
	}
	n := 0
	for at := begin; !at.After(last); at = at.AddDate(0, 0, 1) {
		looked++
		if !r.until.IsZero() && at.After(r.until.Time()) {
			break
		}
		if at != r.beginning.Time() && !r.matches(at) {
			continue
		}
		each(recur.DateOf(at))
		if n++; n == r.count {
			break
		}
	}
	return looked
}
