package cron

import (
	"fmt"

	"ollimbot/core/words"
)

// Notes lists what people get wrong about the schedule, a sentence each, in
// the order of weight; nil where there is nothing to say.
func (s Schedule) Notes() []string {
	if s.expr == "" {
		return nil
	}
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if s.Never() {
		add("It never fires: no month it names has that day.")
		return notes
	}
	s.noteDays(add)
	if s.minute.count() == 60 && s.hour.count() < 24 {
		add("It fires 60 times in each of its hours; for once an hour write 0 in the first field.")
	}
	if n := s.stepMinute; n > 0 && 60%n != 0 {
		add("*/%d starts anew each hour: from :%02d to the next :00 only %s pass.", n, s.minute.last(), words.Count(60-s.minute.last(), "minute"))
	}
	if n := s.stepHour; n > 0 && 24%n != 0 {
		add("*/%d in the hour field starts anew each day: from %d:00 to the next 0:00 only %s pass.",
			n, s.hour.last(), words.Count(24-s.hour.last(), "hour"))
	}
	if !s.anyHour && s.hour.count() == 24 {
		add("Written out, the 24 hours count as fixed: when clocks go back, the repeated hour fires once. " +
			"Write * to go by elapsed time.")
	}
	return notes
}

// noteDays says what the two day fields mean together, and which months they miss.
func (s Schedule) noteDays(add func(format string, args ...any)) {
	restricted := s.dom.count() < 31 && s.dow.count() < 7
	switch {
	case !restricted:
	case !s.anyDom && !s.anyDow:
		add("Both day fields are given: it fires on days that match either one, not only when both do.")
	default:
		add("A day field that begins with * does not widen the other: it fires only on days that match both.")
	}
	if n := s.stepDom; n > 1 {
		add("*/%d starts anew each month, on the 1st.", n)
	}
	if !s.anyDom && !s.anyDow {
		return // the weekday covers the months that lack the day
	}
	switch first := s.dom.first(); {
	case first == 29 && s.month == 1<<2:
		add("29 February comes only in leap years.")
	case first > 28:
		if short := s.shortMonths(first); short != "" {
			add("It skips months without that day: %s.", short)
		}
	}
}

// shortMonths names the scheduled months that have no such day in most years.
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
