package when

import (
	"strconv"
	"strings"

	"ollimbot/routines/recur"
)

// isCron reports whether a text is meant as an expression, whose fields begin with a minute.
func isCron(text string) bool {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return false
	}
	plain := func(f string) bool { return strings.Trim(f, "0123456789*/,-?") == "" }
	letters := strings.ContainsAny(strings.ToLower(text), "abcdefghijklmnopqrstuvwxyz")
	named := strings.HasPrefix(fields[0], "@") || strings.HasPrefix(fields[0], "TZ=") || strings.HasPrefix(fields[0], "CRON_TZ=")
	return named || plain(fields[0]) && (!letters || len(fields) >= 4 && plain(fields[1]))
}

// repeat is what the words of a schedule have said so far.
type repeat struct {
	bounds
	times   []int // of the day, in minutes
	part    int   // the time of a part of the day, valid if parted
	parted  bool
	every   int // interval, 0 if none
	hourly  bool
	marks   bits // minutes of an hour
	ranges  [][2]int
	allDay  bool // from midnight on
	hours   bits // the hours that the minutes belong to
	hourSet bool
	nth     int  // of every n-th hour
	elapsed bool // by elapsed time
	markEnd int  // the range of an interval within the hour, -1 if none
	markAt  int

	week, dates, months bits
	either, both        bool // a date or a weekday, a date that is a weekday
	days                bool // days were said
}

// repeat reads all tokens.
func (p *parser) repeat(s *repeat) error {
	for !p.done() {
		from := p.pos
		ok, err := p.clause(s)
		if err != nil {
			return err
		}
		if !ok || p.pos == from {
			return p.notRepeat()
		}
	}
	return nil
}

// notRepeat is the error about a token that does not belong to a schedule.
func (p *parser) notRepeat() error {
	q := *p
	q.pos = 0
	if _, err := q.moment(); err == nil {
		return refuse(textOnce)
	}
	return p.unknown(textNearSchedule)
}

// rhythm reads a word such as "daily".
func (p *parser) rhythm(s *repeat) (bool, error) {
	switch {
	case p.take("hourly"):
		s.every, s.hourly = 1, true
	case p.take("daily"):
		s.days = true
	case p.take("weekly"), p.take("monthly"), p.take("yearly"), p.take("annually"):
		s.within = true
	case p.take("twice"), p.take("thrice"):
		return false, refuse(textManyTimes)
	case p.skip("biweekly", "fortnightly"):
		s.count = recur.Interval{N: 2, Unit: recur.Week}
	case p.take("quarterly"):
		s.count = recur.Interval{N: 3, Unit: recur.Month}
	default:
		return false, nil
	}
	return true, nil
}

// clause reads one part of a schedule.
func (p *parser) clause(s *repeat) (bool, error) {
	if ok, err := p.bound(&s.bounds); ok || err != nil {
		return ok, err
	}
	if s.given { // the expression says the rest
		if p.take("every") {
			return p.counted(&s.bounds)
		}
		return p.skip(",", "and", "on") || p.take("of", "the", "month"), nil
	}
	switch {
	case p.skip(",", "and", "on", "the", "once", "o'clock", "regularly"):
		if p.take("a", "day") {
			s.days = true
		} else if p.take("a", "week") || p.take("a", "month") || p.take("a", "year") {
			s.within = true
		}
		return true, nil
	case p.take("every"):
		return p.interval(s)
	case p.take("by", "elapsed", "time"):
		s.elapsed = true
		return true, nil
	case p.take("also"):
		s.either = true
		return true, nil
	case p.take("when", "that", "is"), p.take("if", "that", "is"), p.take("when", "it", "is"), p.take("if", "it", "is"):
		s.both = true
		return p.weekdays(s)
	case p.take("from"), p.take("between"):
		return p.between(s)
	case p.take("at", "night"):
		s.part, s.parted = p.Day.Night, true
		return true, nil
	case p.take("at"):
		return p.clocks(s, true)
	case p.take("of"):
		return p.of(s)
	case p.peek(0).text == "in" && p.peek(1).text != "the":
		p.pos++
		return p.monthList(s)
	}
	from := p.pos
	for _, read := range []func(*repeat) (bool, error){p.rhythm, p.parts, p.dates, p.weekdays, p.monthNamed} {
		if ok, err := read(s); ok || err != nil || p.pos != from { // half of what it reads is not for another
			return ok, err
		}
	}
	return p.clocks(s, s.days || s.parted || s.week != 0 || s.dates != 0)
}

// interval reads what follows "every".
func (p *parser) interval(s *repeat) (bool, error) {
	switch {
	case p.done():
		return false, nil
	case p.take("day"):
		s.days = true
		return true, nil
	case p.take("week"), p.take("month"), p.take("year"):
		s.within = true
		return true, nil
	case p.take("half", "hour"), p.take("half", "an", "hour"):
		s.every = 30
		return true, nil
	case p.take("quarter", "hour"), p.take("quarter", "of", "an", "hour"):
		s.every = 15
		return true, nil
	case p.take("quarter"):
		s.count = recur.Interval{N: 3, Unit: recur.Month}
		return true, nil
	}
	from := p.pos
	if n, ok := p.nth(); ok && (p.peek(0).text == "hour" || p.peek(0).text == "minute") { // "every other hour"
		s.every, s.hourly = n, p.take("hour")
		p.take("minute")
		return true, nil
	}
	p.pos = from
	if ok, err := p.counted(&s.bounds); ok || err != nil {
		return ok, err
	}
	n, counted := p.integer()
	if !counted {
		n = 1
	}
	switch u, ok := p.unit(); {
	case !ok:
		p.pos = from
		return true, nil // days follow
	case u.rest == 0 && u.days == 1 && n == 1:
		s.days = true
	case u.rest == 0 && u.days == 1:
		p.take("from")
		return p.stepped(s, n)
	case u.rest == 0:
		return false, nil
	case n < 1 || n > 24*60:
		return false, refuse(textZero)
	case u.rest < 60e9:
		return false, refuse(textSeconds)
	default:
		s.every, s.hourly = n, u.rest > 60e9
	}
	return true, nil
}

// nth takes which of several: "other", "second", "3rd".
func (p *parser) nth() (int, bool) {
	if p.skip("other", "second") {
		return 2, true
	}
	return p.ordinal()
}

// counted reads an interval in days or more: "2 weeks", "other tuesday", "3rd day". A weekday is
// left to be read. ok is false if there is none here; then nothing is taken.
func (p *parser) counted(b *bounds) (ok bool, err error) {
	from := p.pos
	n, which := p.nth()
	if !which {
		n, ok = p.integer()
		switch {
		case !ok && p.peek(0).text == "fortnight":
			n = 1
		case !ok:
			return false, nil
		}
	}
	u, unit := p.unit()
	i := recur.Interval{N: n}
	switch q := *p; {
	case unit && u.rest != 0, unit && u.days == 1 && n == 1, unit && !which && u.days == 1 && q.take("from") && q.steps():
		p.pos = from
		return false, nil
	case unit && n == 0:
		return false, refuse(textEveryZero)
	case unit && u.months == 12:
		i.Unit = recur.Year
	case unit && u.months == 1:
		i.Unit = recur.Month
	case unit && u.days == 14:
		i.N, i.Unit = 2*n, recur.Week
	case unit && u.days == 7:
		i.Unit = recur.Week
	case unit:
		i.Unit = recur.Day
	case which && n > 1 && p.week(): // "every other tuesday", but not "every third friday of the month"
		working := q.take("weekday")
		_, _, _ = q.weekday()
		switch {
		case q.peek(0).text == "of":
			p.pos = from
			return false, nil
		case working:
			return false, refuse(textEveryDays)
		}
		i.Unit = recur.Week
	default:
		p.pos = from
		return false, nil
	}
	if i.N == 1 {
		b.within = unit
		return true, nil
	}
	if b.count != (recur.Interval{}) && b.count != i {
		return false, refuse(textTwo, "intervals")
	}
	b.count = i
	return true, nil
}

// steps reports whether days of the month follow, "the 1st to the 31st".
func (p *parser) steps() bool {
	p.take("the")
	_, ok := p.ordinal()
	return ok && p.peek(0).text == "to"
}

// stepped reads "the 1st to the 31st", after "every 2 days from".
func (p *parser) stepped(s *repeat, step int) (bool, error) {
	p.take("the")
	from, ok := p.ordinal()
	if !ok || !p.take("to") {
		return false, nil
	}
	p.take("the")
	to, ok := p.ordinal()
	if !ok || step < 1 || from < 1 || to > 31 {
		return false, nil
	}
	for n := from; n <= to; n += step {
		s.dates.add(n)
	}
	s.days = true
	return true, nil
}

// between reads a range: of the day, or of the minutes of an hour.
func (p *parser) between(s *repeat) (bool, error) {
	if from, ok := p.mark(); ok {
		if !p.skip("to", "and", "until") {
			return false, nil
		}
		to, ok := p.mark()
		s.markAt, s.markEnd = from, to
		return ok, nil
	}
	if s.week == 0 && s.every == 0 && s.dates == 0 { // "from monday to friday"
		q := *p
		if _, _, ok := q.weekday(); ok {
			return p.weekdays(s)
		}
	}
	if q := *p; q.take("midnight") && q.peek(0).text != "to" && q.peek(0).text != "until" && q.peek(0).text != "and" {
		p.pos++
		s.allDay = true
		return true, nil
	}
	_, bare := p.peek(0).number()
	from, ok, err := p.clock(true)
	if !ok || err != nil {
		return false, err
	}
	if !p.skip("to", "and", "until") {
		return false, nil
	}
	to, ok, err := p.clock(true)
	if _, also := p.toks[p.pos-1].number(); bare && also && ok && to < from && from <= 12*60 {
		return false, refuse(textNight, clockText(from), clockText(to+12*60))
	}
	s.ranges = append(s.ranges, [2]int{from, to})
	return ok, err
}

// mark takes a minute of an hour: ":15".
func (p *parser) mark() (int, bool) {
	text, ok := strings.CutPrefix(p.peek(0).text, ":")
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n > 59 {
		return 0, false
	}
	p.pos++
	return n, true
}

// clocks reads a list of times of day or of minutes.
func (p *parser) clocks(s *repeat, loose bool) (found bool, err error) {
	for {
		from := p.pos
		if found && !p.take(",", "and") && !p.skip(",", "and") {
			return true, nil
		}
		if often := p.peek(1).text; often == "times" || often == "time" { // "at 9, 10 times"
			p.pos = from
			return found, nil
		}
		p.take("at")
		if n, ok := p.mark(); ok {
			to := n
			if p.take("to") {
				if to, ok = p.mark(); !ok {
					return false, nil
				}
			}
			s.marks.span(n, to, 0, 59)
			found = true
			continue
		}
		q := *p
		if _, ok := q.ordinal(); ok { // a day of the month
			p.pos = from
			return found, nil
		}
		if _, ok := q.peek(0).number(); ok {
			if q.pos++; func() bool { _, ok := q.month(); return ok }() {
				p.pos = from
				return found, nil
			}
		}
		minute, ok, err := p.clock(loose || found)
		if err != nil {
			return false, err
		}
		if !ok {
			p.pos = from
			return found, nil
		}
		if tail := *p; tail.take("in", "the") || tail.take("at") {
			if part, _, ok := tail.part(); ok {
				minute, _ = inPart(minute, part)
				p.pos = tail.pos
			}
		}
		s.times = append(s.times, minute)
		found = true
	}
}

// of reads what the minutes or days belong to.
func (p *parser) of(s *repeat) (bool, error) {
	switch {
	case p.take("every", "month"), p.take("the", "month"), p.take("month"), p.take("every", "year"), p.take("a", "month"):
		return true, nil
	case p.take("every", "hour"), p.take("the", "hour") && p.peek(0).text != "from":
		s.hourSet = true
		return true, nil
	case p.peek(0).text == "from" && p.toks[p.pos-1].text == "hour": // "of the hour from 3:00"
		p.pos++
		minute, ok, err := p.clock(true)
		s.hours.add(minute / 60)
		s.hourSet = true
		return ok, err
	case p.take("the", "hours"):
		return p.hourList(s)
	case p.take("every"):
		n, ok := p.ordinal()
		if ok && p.take("hour") {
			s.nth = n
			return true, nil
		}
		return false, nil
	}
	return p.monthList(s)
}

// hourList reads "1, 2 and 5 to 9".
func (p *parser) hourList(s *repeat) (bool, error) {
	for found := false; ; found = true {
		from := p.pos
		if found && !p.skip(",", "and") {
			return true, nil
		}
		n, ok := p.peek(0).number()
		if !ok || n > 23 {
			p.pos = from
			return found, nil
		}
		p.pos++
		to := n
		if p.take("to") {
			if to, ok = p.peek(0).number(); !ok || to > 23 {
				return false, nil
			}
			p.pos++
		}
		s.hours.span(n, to, 0, 23)
		s.hourSet = true
	}
}
