package when

import (
	"fmt"
	"strconv"
	"strings"

	"ollimbot/core/base/words"
	"ollimbot/routines/recur"
)

// bits is a set of small numbers.
type bits uint64

func (b bits) has(n int) bool { return b>>uint(n)&1 == 1 }

func (b *bits) add(n int) { *b |= 1 << uint(n) }

func (b bits) list(low, high int) (out []int) {
	for n := low; n <= high; n++ {
		if b.has(n) {
			out = append(out, n)
		}
	}
	return out
}

// span adds a range that may wrap.
func (b *bits) span(from, to, low, high int) {
	for n := from; ; n++ {
		if n > high {
			n = low
		}
		b.add(n)
		if n == to {
			return
		}
	}
}

// expression is the cron expression of a schedule.
func (p *parser) expression(s *repeat) (string, error) {
	minute, hour, err := p.timeFields(s)
	if err != nil {
		return "", err
	}
	days, err := p.dayFields(s)
	if err != nil {
		return "", err
	}
	return minute + " " + hour + " " + days, nil
}

// timeFields are the fields of minute and hour.
func (p *parser) timeFields(s *repeat) (minute, hour string, err error) {
	switch {
	case s.within && s.count == (recur.Interval{}) && !s.days && s.week == 0 && s.dates == 0 && len(s.monthDays) == 0:
		return "", "", refuse(textWhichDay)
	case s.every == 0 && len(s.ranges) > 0:
		return "", "", refuse(textHowOften)
	case s.every > 0 && len(s.times) > 0:
		return "", "", refuse(textTwo, "kinds of times")
	case s.every > 0 && s.hourly && !s.hourSet && s.nth == 0:
		return s.hourFields()
	case s.every > 0:
		return s.minuteFields()
	case s.marks != 0 && len(s.times) > 0:
		return "", "", refuse(textTwo, "kinds of times")
	case s.marks != 0:
		hour, err := s.hoursOf()
		return field(s.marks, 0, 59), hour, err
	}
	return p.clockFields(s)
}

// clockFields are the fields of a list of times of day. Each hour must have the same minutes.
func (p *parser) clockFields(s *repeat) (minute, hour string, err error) {
	times := s.times
	switch {
	case len(times) == 0 && s.parted:
		times = []int{s.part}
	case len(times) == 0 && !s.days && s.count == (recur.Interval{}) && len(s.monthDays) == 0:
		return "", "", refuse(textWhichDay)
	case len(times) == 0:
		times = []int{p.Day.Morning}
	case s.parted:
		for i := range times {
			times[i], _ = inPart(times[i], s.part)
		}
	}
	var minutes, hours bits
	have := map[int]bool{}
	for _, t := range times {
		minutes.add(t % 60)
		hours.add(t / 60)
		have[t] = true
	}
	for _, h := range hours.list(0, 23) {
		for _, m := range minutes.list(0, 59) {
			if !have[h*60+m] {
				return "", "", refuse(textTwoClocks, clockText(times[0]), clockText(other(times)), clockText(other(times)/60*60+times[0]%60))
			}
		}
	}
	hour, err = s.fixed(hours)
	return field(minutes, 0, 59), hour, err
}

// other is the first time with another minute than the first.
func other(times []int) int {
	for _, t := range times {
		if t%60 != times[0]%60 {
			return t
		}
	}
	return times[len(times)-1]
}

// hourFields are the fields of "every 2 hours".
func (s *repeat) hourFields() (minute, hour string, err error) {
	at := bits(1)
	if s.marks != 0 {
		at = s.marks
	}
	switch n := s.every; {
	case n > 23:
		return "", "", refuse(textEveryN, fmt.Sprintf("every %d hours", n), "every day at 9")
	case len(s.ranges) > 0:
		var hours bits
		for _, r := range s.ranges {
			at = 1 << uint(r[0]%60)
			end := r[1]
			if end < r[0] {
				end += 24 * 60
			}
			for t := r[0]; t <= end; t += n * 60 {
				hours.add(t / 60 % 24)
			}
		}
		hour, err = s.fixed(hours)
	case n == 1:
		hour = "*"
	case 24%n != 0 && !s.allDay:
		return "", "", refuse(textUnevenDay, n, divisors(24, n))
	default:
		hour = fmt.Sprintf("*/%d", n)
	}
	return field(at, 0, 59), hour, err
}

// fixed is the field of hours that follow the wall clock, unless elapsed time was said.
func (s *repeat) fixed(hours bits) (string, error) {
	text := field(hours, 0, 23)
	if text == "*" {
		text = "0-23"
	}
	if s.elapsed {
		var ok bool
		if text, ok = starred(hours, 0, 23); !ok {
			return "", refuse(textTwo, "kinds of times")
		}
	}
	return text, nil
}

// minuteFields are the fields of "every 15 minutes".
func (s *repeat) minuteFields() (minute, hour string, err error) {
	n := s.every
	switch {
	case s.markEnd >= 0:
		var marks bits
		for m := s.markAt; m <= s.markEnd; m += n {
			marks.add(m)
		}
		minute = field(marks, 0, 59)
	case n == 1:
		minute = "*"
	case n >= 60 && n%60 == 0:
		s.every, s.hourly = n/60, true
		return s.hourFields()
	case 60%n != 0:
		return "", "", refuse(textUneven, n, divisors(60, n))
	default:
		minute = fmt.Sprintf("*/%d", n)
	}
	if s.marks != 0 {
		return "", "", refuse(textTwo, "kinds of minutes")
	}
	hour, err = s.hoursOf()
	return minute, hour, err
}

// hoursOf is the field of the hours in which minutes are counted.
func (s *repeat) hoursOf() (string, error) {
	hours := s.hours
	for _, r := range s.ranges {
		from, to := r[0]/60, r[1]/60
		switch {
		case r[0]%60 != 0 || s.every == 0:
			return "", refuse(textHalfHours, clockText(from*60), clockText((to+1)%24*60))
		case r[1]%60 != 0 && r[1]%60 != 59 && r[1]%60+s.every < 60:
			return "", refuse(textHalfHours, clockText(from*60), clockText((to+1)%24*60))
		case r[1]%60 == 0 && r[1] != r[0]: // the end is not part of it
			to = (to + 23) % 24
		}
		hours.span(from, to, 0, 23)
	}
	switch {
	case s.nth > 1:
		return fmt.Sprintf("*/%d", s.nth), nil
	case hours == 0:
		return "*", nil
	}
	return s.fixed(hours)
}

// dayFields are the fields of the days.
func (p *parser) dayFields(s *repeat) (string, error) {
	months := "*"
	if s.months != 0 {
		months = field(s.months, 1, 12)
	}
	dates, week := "*", "*"
	if len(s.monthDays) > 0 && s.week == 0 && s.dates == 0 {
		s.week = weekOf(s.monthDays)
	}
	if s.dates != 0 {
		dates = field(s.dates, 1, 31)
	}
	if s.week != 0 {
		week = field(s.week, 0, 6)
	}
	switch {
	case s.dates == 0 || s.week == 0:
		if first := s.dates.list(1, 31); len(first) > 0 {
			if name, last := longestMonth(s.months); first[0] > last {
				return "", refuse(textNever, name, words.Ordinal(first[0]), last)
			}
		}
	case s.both:
		if text, ok := starred(s.dates, 1, 31); ok {
			return text + " " + months + " " + week, nil
		}
		text, ok := starred(s.week, 0, 6)
		if !ok {
			return "", refuse(textBothDays)
		}
		week = text
	case !s.either:
		return "", refuse(textBothDays)
	}
	return dates + " " + months + " " + week, nil
}

// weekOf are the weekdays of days of the month.
func weekOf(days []recur.MonthDay) (week bits) {
	for _, d := range days {
		switch d.What {
		case recur.AnyDay:
			return 0
		case recur.Workday:
			week |= 0b0111110
		default:
			week.add(d.What)
		}
	}
	return week
}

// longestMonth is the month with the most days among those, and how many it can have.
func longestMonth(months bits) (name string, days int) {
	lengths := [13]int{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}
	if months == 0 {
		return "", 31
	}
	for _, m := range months.list(1, 12) {
		if lengths[m] > days {
			days, name = lengths[m], strings.ToUpper(monthNames[m-1][:1])+monthNames[m-1][1:]
		}
	}
	return name, days
}

// field formats a set for an expression.
func field(b bits, low, high int) string {
	all := b.list(low, high)
	if len(all) == high-low+1 {
		return "*"
	}
	if step := stepOf(all); step > 1 && len(all) >= 4 {
		if high == 59 && all[0] == 0 && all[len(all)-1]+step > high {
			return fmt.Sprintf("*/%d", step)
		}
		return fmt.Sprintf("%d-%d/%d", all[0], all[len(all)-1], step)
	}
	var parts []string
	for i := 0; i < len(all); {
		j := i
		for j+1 < len(all) && all[j+1] == all[j]+1 {
			j++
		}
		if j-i >= 2 {
			parts = append(parts, fmt.Sprintf("%d-%d", all[i], all[j]))
		} else {
			for _, n := range all[i : j+1] {
				parts = append(parts, strconv.Itoa(n))
			}
		}
		i = j + 1
	}
	return strings.Join(parts, ",")
}

// stepOf is the distance between all neighbours, 0 if it differs.
func stepOf(all []int) int {
	if len(all) < 2 {
		return 0
	}
	for i := 2; i < len(all); i++ {
		if all[i]-all[i-1] != all[1]-all[0] {
			return 0
		}
	}
	return all[1] - all[0]
}

// starred formats a set with a * at its beginning, which makes cron treat the field as
// unrestricted. It must contain the values of some */n.
func starred(b bits, low, high int) (string, bool) {
	for n := 1; n <= high-low; n++ {
		rest, ok := b, true
		for v := low; v <= high; v += n {
			ok = ok && b.has(v)
			rest &^= 1 << uint(v)
		}
		if !ok {
			continue
		}
		text := fmt.Sprintf("*/%d", n)
		if more := field(rest, low, high); more != "" {
			text += "," + more
		}
		return text, true
	}
	return "", false
}

// divisors are the numbers nearest to n that divide a cycle.
func divisors(cycle, n int) string {
	below, above := 1, cycle
	for d := 1; d <= cycle; d++ {
		switch {
		case cycle%d != 0:
		case d < n:
			below = d
		case d > n && d < above:
			above = d
		}
	}
	if above >= cycle {
		return strconv.Itoa(below)
	}
	return fmt.Sprintf("%d or %d", below, above)
}
