package when

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// length is a span in the units of the calendar and of the clock.
type length struct {
	months, days int
	rest         time.Duration
}

// after adds a length to a time: months and days keep the time of day, and a month without
// that day ends on its last.
func (l length) after(t time.Time) (date time.Time) {
	if l.months != 0 {
		y, m, d := t.Date()
		last := time.Date(y, m+time.Month(l.months)+1, 0, 0, 0, 0, 0, time.UTC).Day()
		date = time.Date(y, m+time.Month(l.months), min(d, last), 0, 0, 0, 0, time.UTC)
	} else {
		y, m, d := t.Date()
		date = time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	}
	return date.AddDate(0, 0, l.days)
}

// unit is one unit of a span.
type unit struct {
	months, days int
	rest         time.Duration
}

var units = map[string]unit{
	"s": {rest: time.Second}, "sec": {rest: time.Second}, "second": {rest: time.Second},
	"m": {rest: time.Minute}, "min": {rest: time.Minute}, "minute": {rest: time.Minute},
	"h": {rest: time.Hour}, "hr": {rest: time.Hour}, "hour": {rest: time.Hour},
	"d": {days: 1}, "day": {days: 1}, "w": {days: 7}, "wk": {days: 7}, "week": {days: 7}, "fortnight": {days: 14},
	"mo": {months: 1}, "month": {months: 1}, "y": {months: 12}, "yr": {months: 12}, "year": {months: 12},
}

// unit takes a unit in the singular or plural.
func (p *parser) unit() (u unit, ok bool) {
	word := p.peek(0).text
	if u, ok = units[word]; !ok && len(word) > 2 {
		u, ok = units[strings.TrimSuffix(word, "s")]
	}
	if ok {
		p.pos++
		p.take(".")
	}
	return u, ok
}

// mostUnits keeps a span within the range of time.Duration and of years.
const mostUnits = 10_000

// times adds a number of units. Parts of a month do not exist.
func (l *length) times(n float64, u unit) bool {
	whole := n == math.Trunc(n)
	switch {
	case n < 0 || n > mostUnits || !whole && u.months != 0 || u.months > 1 && n > 1000:
		return false
	case whole:
		l.months += int(n) * u.months
		l.days += int(n) * u.days
		l.rest += time.Duration(n) * u.rest
	default:
		l.rest += time.Duration(n * float64(time.Duration(u.days)*24*time.Hour+u.rest)).Round(time.Second)
	}
	return true
}

// quantity takes how many units: "2", "1.5", "an", "half an", "2 and a half", "a couple of".
func (p *parser) quantity() (n float64, ok bool) {
	switch {
	case p.take("a", "couple", "of"), p.take("a", "couple"):
		return 2, true
	case p.take("a", "half"), p.take("half", "an"), p.take("half", "a"), p.take("half"):
		return .5, true
	case p.take("a", "quarter", "of", "an"), p.take("quarter", "of", "an"), p.take("a", "quarter"), p.take("quarter"):
		return .25, true
	case p.take("three", "quarters", "of", "an"):
		return .75, true
	case p.take("an"), p.take("a"):
		return 1, true
	}
	if whole, ok := p.integer(); ok {
		if p.peek(1).text == "a" && p.peek(2).text == "half" && p.take("and", "a", "half") {
			return float64(whole) + .5, true
		}
		return float64(whole), true
	}
	n, err := strconv.ParseFloat(p.peek(0).text, 64)
	if err != nil || strings.Count(p.peek(0).text, ".") != 1 {
		return 0, false
	}
	p.pos++
	return n, true
}

// span takes a length: "2h30m", "1 hour and 30 minutes", "an hour and a half", "4h28". ok is
// false if there is none here; then nothing is taken.
func (p *parser) span() (l length, ok bool, err error) {
	for {
		from := p.pos
		if ok && !p.take("and") {
			p.take(",")
		}
		more, err := p.amount(&l)
		if err != nil {
			return l, false, err
		}
		if !more {
			p.pos = from
			break
		}
		ok = true
	}
	if ok && l == (length{}) {
		return l, false, refuse(textZero)
	}
	return l, ok, nil
}

// amount adds one number of units to a length: "2h", "4h28", "an hour and a half". ok is false if
// there is none here.
func (p *parser) amount(l *length) (ok bool, err error) {
	n, ok := p.quantity()
	if !ok {
		return false, nil
	}
	u, ok := p.unit()
	if !ok {
		return false, nil
	}
	if !l.times(n, u) {
		return false, refuse(textTooMuch)
	}
	if p.take("and", "a", "half") && !l.times(.5, u) {
		return false, refuse(textHalfMonth)
	}
	if minutes, bare := p.peek(0).number(); bare && u.rest == time.Hour && p.peek(0).glued && len(p.peek(0).text) == 2 && minutes < 60 {
		if _, more := units[p.peek(1).text]; !more || !p.peek(1).glued { // "4h28"
			p.pos++
			l.rest += time.Duration(minutes) * time.Minute
		}
	}
	return true, nil
}
