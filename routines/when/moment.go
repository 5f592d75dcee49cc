package when

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/words"
	"ollimbot/routines/cron"
)

// leading are words that may precede a moment.
var leading = map[string]bool{"until": true, "till": true, "for": true, "by": true, "at": true, "on": true}

// moment is what the words of a moment have said so far.
type moment struct {
	date   time.Time // in UTC; zero if no date was said
	kind   dateKind
	week   int // the weekday that was said with a date, -1 if none
	minute int // the time of day, -1 if none
	part   int // the time of the part of the day, -1 if none
	night  bool
	span   length
	spans  bool
	offset string
	year   bool // the date has a year
}

type dateKind int

const (
	noDate dateKind = iota
	aDay            // today, tomorrow, a weekday
	aDate           // of the calendar
)

// moment reads all tokens.
func (p *parser) moment() (time.Time, error) {
	m := moment{week: -1, minute: -1, part: -1}
	for p.skip("until", "for", "by", "on") {
	}
	if p.done() {
		return time.Time{}, p.unknown(textNearMoment)
	}
	at := p.take("at")
	for !p.done() {
		ok, err := p.piece(&m, at)
		if err == nil && !ok {
			err = p.unknown(textNearMoment)
		}
		if err != nil {
			return time.Time{}, err
		}
		at = p.skip("at", ",", "on")
		for p.skip(",", "on", "at") {
			at = true
		}
	}
	if p.pos > 0 && (at && p.toks[p.pos-1].text != ",") {
		return time.Time{}, p.unknown(textNearMoment)
	}
	return p.resolve(m)
}

// piece reads one part of a moment. loose is true if a bare number is an hour here.
func (p *parser) piece(m *moment, loose bool) (ok bool, err error) {
	loose = loose || m.kind != noDate || m.part >= 0
	switch p.peek(0).text {
	case "now":
		return false, refuse(textZero)
	case "yesterday":
		if !p.Past {
			return false, refuse(textYesterday)
		}
	case "every", "daily", "hourly", "weekdays", "weekends", "weekly", "monthly":
		return false, refuse(textRepeats)
	}
	if ok, err = p.day(m); ok || err != nil {
		return ok, err
	}
	if ok, err = p.partOf(m); ok || err != nil {
		return ok, err
	}
	if ok, err = p.dated(m); ok || err != nil {
		return ok, err
	}
	if t := p.peek(0); strings.HasPrefix(t.text, "-") || strings.HasPrefix(t.text, "+") {
		if len(t.text) == 6 && m.minute >= 0 {
			p.pos++
			m.offset = t.text
			return true, nil
		}
		return false, nil
	}
	from := p.pos
	p.take("in")
	l, ok, err := p.span()
	if err != nil {
		return false, err
	}
	if ok {
		if m.spans {
			return false, refuse(textTwo, "lengths")
		}
		m.span, m.spans = l, true
		if p.take("from", "now") || p.take("from", "today") || p.take("ahead") || p.take("later") {
			return true, nil
		}
		return true, nil
	}
	p.pos = from
	minute, ok, err := p.clock(loose || m.spans)
	if err != nil || !ok {
		return false, err
	}
	if m.minute >= 0 {
		return false, refuse(textTwo, "times of day")
	}
	m.minute = minute
	return true, nil
}

// day reads a day by its distance: "today", "next friday".
func (p *parser) day(m *moment) (ok bool, err error) {
	ahead := func(days int) (bool, error) {
		if m.kind != noDate {
			return false, refuse(textTwo, "days")
		}
		y, mo, d := p.Now.Date()
		m.date, m.kind = time.Date(y, mo, d+days, 0, 0, 0, 0, time.UTC), aDay
		return true, nil
	}
	switch {
	case p.take("today"):
		return ahead(0)
	case p.take("tonight"):
		m.part, m.night = p.Day.Night, true
		return ahead(0)
	case p.take("tomorrow"), p.take("tmrw"), p.take("tmr"):
		return ahead(1)
	case p.take("the", "day", "after", "tomorrow"), p.take("day", "after", "tomorrow"):
		return ahead(2)
	case p.take("yesterday"):
		return ahead(-1)
	case p.take("next", "week"): // its Monday
		return ahead((int(time.Monday)-int(p.Now.Weekday())+6)%7 + 1)
	case p.take("next", "month"):
		y, mo, _ := p.Now.Date()
		m.date, m.kind = time.Date(y, mo+1, 1, 0, 0, 0, 0, time.UTC), aDay
		return true, nil
	case p.take("next", "year"):
		m.date, m.kind = time.Date(p.Now.Year()+1, 1, 1, 0, 0, 0, 0, time.UTC), aDay
		return true, nil
	}
	from := p.pos
	next := p.take("next")
	this := p.take("this") || p.take("coming")
	day, plural, ok := p.weekday()
	switch {
	case !ok:
		p.pos = from
		return p.partToday(m)
	case plural:
		return false, refuse(textRepeats)
	case m.kind == aDate, p.calendar(): // "Mon 2 Jan"
		m.week = day
		return true, nil
	}
	days := (day-int(p.Now.Weekday())+6)%7 + 1
	if next && !this && days <= (7-int(p.Now.Weekday()))%7 { // still in this week, which ends on Sunday
		days += 7
	}
	return ahead(days)
}

// partToday reads "this evening".
func (p *parser) partToday(m *moment) (ok bool, err error) {
	if p.peek(0).text != "this" {
		return false, nil
	}
	p.pos++
	if _, _, ok := p.part(); !ok {
		p.pos--
		return false, nil
	}
	p.pos--
	y, mo, d := p.Now.Date()
	m.date, m.kind = time.Date(y, mo, d, 0, 0, 0, 0, time.UTC), aDay
	return p.partOf(m)
}

// calendar reports whether a date of the calendar follows.
func (p *parser) calendar() bool {
	q, none := *p, moment{}
	q.skip(",", "the")
	ok, err := q.dated(&none)
	return ok || err != nil
}

// part takes the name of a part of the day, and returns its time.
func (p *parser) part() (minute int, night, ok bool) {
	switch {
	case p.take("morning"):
		return p.Day.Morning, false, true
	case p.take("afternoon"):
		return p.Day.Afternoon, false, true
	case p.take("evening"):
		return p.Day.Evening, false, true
	case p.take("night"):
		return p.Day.Night, true, true
	}
	return 0, false, false
}

// partOf reads a part of the day: "evening", "in the morning", "at night".
func (p *parser) partOf(m *moment) (ok bool, err error) {
	from := p.pos
	_ = p.take("in", "the") || p.take("the")
	minute, night, ok := p.part()
	if !ok {
		p.pos = from
		return false, nil
	}
	if m.part >= 0 {
		return false, refuse(textTwo, "parts of the day")
	}
	m.part, m.night = minute, night
	return true, nil
}

// dated reads a date of the calendar: "24 dec", "dec 24th 2026", "the 24th", "24.12.", "2026-12-24".
func (p *parser) dated(m *moment) (ok bool, err error) {
	day, month, year, ok, err := p.calendarDate()
	if !ok || err != nil {
		return false, err
	}
	if m.kind != noDate {
		return false, refuse(textTwo, "days")
	}
	if m.date, err = p.dateOf(day, month, year); err != nil {
		return false, err
	}
	m.kind, m.year = aDate, year != 0
	return true, nil
}

// calendarDate takes a date; month and year are 0 if they were not said.
func (p *parser) calendarDate() (day, month, year int, ok bool, err error) {
	from := p.pos
	p.take("the")
	if mo, ok := p.month(); ok {
		month = mo
		if day, ok = p.ordinal(); !ok {
			if day, ok = p.peek(0).number(); !ok || day > 31 {
				p.pos = from
				return 0, 0, 0, false, nil
			}
			p.pos++
		}
	} else if n, ok := p.ordinal(); ok {
		day = n
		p.take("of")
		if month, _ = p.month(); month == 0 {
			p.skip("this", "the")
			p.take("month")
		}
	} else if n, ok := p.peek(0).number(); ok && n <= 31 {
		p.pos++
		p.take("of")
		if month, ok = p.month(); !ok {
			p.pos = from
			return 0, 0, 0, false, nil
		}
		day = n
	} else if day, month, year, ok, err = p.digits(); !ok || err != nil {
		p.pos = from
		return 0, 0, 0, false, err
	}
	if month != 0 && year == 0 {
		n := 0
		if p.peek(0).text == "," {
			n = 1
		}
		if y, ok := p.peek(n).number(); ok && len(p.peek(n).text) == 4 && y >= firstYear {
			year = y
			p.pos += n + 1
		}
	}
	return day, month, year, true, nil
}

// firstYear is the first year that is not read as a time of day.
const firstYear = 1970

// digits takes a date in digits.
func (p *parser) digits() (day, month, year int, ok bool, err error) {
	text := p.peek(0).text
	if at, err := time.Parse("2006-01-02", text); err == nil {
		p.pos++
		return at.Day(), int(at.Month()), at.Year(), true, nil
	}
	if len(text) == 10 && text[4] == '-' {
		year, _ = strconv.Atoi(text[:4])
		month, _ = strconv.Atoi(text[5:7])
		day, _ = strconv.Atoi(text[8:])
		p.pos++
		return day, month, year, true, nil
	}
	sep := "/"
	if strings.Count(text, ".") == 2 {
		sep = "."
	}
	parts := strings.Split(strings.TrimSuffix(text, "."), sep)
	if len(parts) < 2 || len(parts) > 3 {
		return 0, 0, 0, false, nil
	}
	var n [3]int
	for i, part := range parts {
		v, err := strconv.Atoi(part)
		if err != nil {
			return 0, 0, 0, false, nil
		}
		n[i] = v
	}
	if n[2] > 0 && n[2] < 100 {
		n[2] += 2000
	}
	if sep == "/" {
		switch a, b := n[0], n[1]; {
		case b > 12:
			n[0], n[1] = b, a
		case a <= 12 && a != b && a > 0 && b > 0:
			return 0, 0, 0, false, refuse(textSlash, text, a, monthNames[b-1][:3], b, monthNames[a-1][:3])
		}
	}
	p.pos++
	return n[0], n[1], n[2], true, nil
}

// dateOf is the date, the next one if it has no year. A day alone is this month's, or the next
// month's if it is over.
func (p *parser) dateOf(day, month, year int) (time.Time, error) {
	today := time.Date(p.Now.Year(), p.Now.Month(), p.Now.Day(), 0, 0, 0, 0, time.UTC)
	if month > 12 || month < 0 {
		return today, refuse(textNoMonth, month)
	}
	y, m := year, time.Month(month)
	if m == 0 {
		if m = today.Month(); day < today.Day() {
			m++
		}
		if m > 12 {
			m, y = 1, today.Year()+1
		}
	}
	if y == 0 {
		if y = today.Year(); month != 0 && !p.Past && time.Date(y, m, day, 0, 0, 0, 0, time.UTC).Before(today) {
			y++
		}
	}
	date := time.Date(y, m, day, 0, 0, 0, 0, time.UTC)
	if date.Day() != day || day < 1 {
		last := time.Date(y, m+1, 0, 0, 0, 0, 0, time.UTC).Day()
		if m == time.February && day == 29 {
			return date, refuse(textLeapDay, y)
		}
		return date, refuse(textNoMonthDay, m.String(), words.Ordinal(day), last)
	}
	return date, nil
}

// resolve is the moment that the words mean.
func (p *parser) resolve(m moment) (time.Time, error) {
	zone := p.Now.Location()
	if m.spans {
		return p.ahead(m)
	}
	minute, tomorrow := m.minute, false
	switch {
	case minute >= 0 && m.part >= 0:
		minute, tomorrow = inPart(minute, m.part)
	case minute < 0 && m.part >= 0:
		minute = m.part
	case minute < 0 && m.kind == noDate:
		return time.Time{}, p.unknown(textNearMoment)
	case minute < 0:
		minute = p.Day.Morning
	}
	date := m.date
	if m.kind == noDate {
		y, mo, d := p.Now.Date()
		date = time.Date(y, mo, d, 0, 0, 0, 0, time.UTC)
	}
	if tomorrow {
		date = date.AddDate(0, 0, 1)
	}
	if m.week >= 0 && int(date.Weekday()) != m.week {
		if next := date.AddDate(1, 0, 0); m.year || int(next.Weekday()) != m.week {
			return date, refuse(textWrongDay, date.Format("2 January 2006"), date.Format("Monday"), time.Weekday(m.week).String())
		}
		date = date.AddDate(1, 0, 0)
	}
	at := p.wall(date, minute, m.offset, zone)
	if at.Year() > lastYear {
		return at, refuse(textTooMuch)
	}
	if p.Past || at.After(p.Now) {
		return at, nil
	}
	switch clock := clockText(minute); {
	case m.kind == noDate:
		return p.wall(date.AddDate(0, 0, 1), minute, m.offset, zone), nil
	case m.kind == aDate && !m.year:
		if next := date.AddDate(1, 0, 0); m.week < 0 && next.Day() == date.Day() {
			return p.wall(next, minute, m.offset, zone), nil
		}
		return at, refuse(textPassed, date.Format("2 January ")+clock, textNearMoment)
	case m.kind == aDate:
		return at, refuse(textPassed, date.Format("2 January 2006"), "say "+strings.ToLower(date.Format("2 Jan"))+" for the next")
	default:
		return at, refuse(textPassedToday, clock)
	}
}

// lastYear is the last year of a moment.
const lastYear = 9999

// ahead is a length of time from now: months and days keep the time of day.
func (p *parser) ahead(m moment) (time.Time, error) {
	if m.kind != noDate || m.offset != "" {
		return time.Time{}, refuse(textMixed)
	}
	zone := p.Now.Location()
	whole := m.span.months != 0 || m.span.days != 0
	minute := m.minute
	if m.part >= 0 {
		if minute < 0 {
			minute = m.part
		} else {
			minute, _ = inPart(minute, m.part)
		}
	}
	var at time.Time
	switch date := m.span.after(p.Now); {
	case minute >= 0 && (!whole || m.span.rest != 0):
		return at, refuse(textMixed)
	case minute >= 0:
		at = p.wall(date, minute, "", zone)
	case whole:
		h, mi, s := p.Now.Clock()
		at = cron.Instant(time.Date(date.Year(), date.Month(), date.Day(), h, mi, s, 0, time.UTC), zone).Add(m.span.rest)
	default:
		at = p.Now.Add(m.span.rest).Truncate(time.Second)
	}
	if at.Year() > lastYear {
		return at, refuse(textTooMuch)
	}
	return at, nil
}

// wall is a time of day on a date. With an offset, it is that one of the two instants at which
// the clock shows it.
func (p *parser) wall(date time.Time, minute int, offset string, zone *time.Location) time.Time {
	at := cron.Wall(date, 0, minute/60, minute%60, zone)
	if offset == "" {
		return at
	}
	if exact, err := time.Parse("2006-01-02 15:04 -07:00", fmt.Sprintf("%s %02d:%02d %s", date.Format(time.DateOnly), minute/60, minute%60, offset)); err == nil {
		return exact.In(zone)
	}
	return at
}
