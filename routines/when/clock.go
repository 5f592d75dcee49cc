package when

import (
	"fmt"
	"strconv"
	"strings"
)

// clock takes a time of day, in minutes after midnight. A bare number is an hour if loose is
// true.
func (p *parser) clock(loose bool) (minute int, ok bool, err error) {
	t := p.peek(0)
	switch {
	case p.take("noon"):
		return p.noon(), true, nil
	case p.take("midnight"):
		return 0, true, nil
	case p.take("half", "past"):
		return p.past(30)
	case p.take("quarter", "past"), p.take("a", "quarter", "past"):
		return p.past(15)
	case p.take("quarter", "to"), p.take("a", "quarter", "to"):
		return p.past(-15)
	}
	if n, ok := t.number(); ok && n < 60 && p.peek(1).text == "past" { // "10 to 9" is a range
		p.pos += 2
		return p.past(n)
	}
	hour, minutes, plain, ok := p.figures(loose)
	if !ok {
		return 0, false, nil
	}
	written := t.text
	p.pos++
	half := ""
	if p.half(0) {
		half = p.peek(0).text[:1] + "m"
		p.pos++
	}
	switch named := p.take("o'clock"); {
	case half != "" && (hour < 1 || hour > 12):
		near := strconv.Itoa(hour) + ":00"
		if hour > 12 && hour < 24 {
			near = strconv.Itoa(hour-12) + "pm"
		}
		return 0, false, refuse(textTwelve, hour, half, near)
	case half != "":
		if hour %= 12; half == "pm" {
			hour += 12
		}
	case plain && !loose && !named && !p.partAhead():
		p.pos-- // it may be another number
		if hour < 24 && len(p.toks) == 1 {
			return 0, false, refuse(textBare, written, written)
		}
		return 0, false, nil
	}
	if hour > 23 || minutes > 59 {
		return 0, false, refuse(textNoClock, written)
	}
	return hour*60 + minutes, true, nil
}

// half reports whether the n-th token is am or pm.
func (p *parser) half(n int) bool {
	t := p.peek(n).text
	return t == "am" || t == "pm"
}

func (p *parser) noon() int {
	if p.Day.Noon == 0 {
		return UsualDay.Noon
	}
	return p.Day.Noon
}

// figures are the hour and minute that the next token is, without taking it. plain is true for
// an hour alone.
func (p *parser) figures(loose bool) (hour, minutes int, plain, ok bool) {
	text := p.peek(0).text
	if n, ok := p.peek(0).number(); ok {
		if len(text) == 4 && loose { // "1830"
			return n / 100, n % 100, true, true
		}
		return n, 0, true, len(text) <= 2
	}
	if n, ok := numbers[text]; ok {
		return n, 0, true, loose || p.peek(1).text == "o'clock" || p.half(1)
	}
	h, m, found := strings.Cut(strings.Replace(text, ".", ":", 1), ":")
	m, _, _ = strings.Cut(m, ":") // seconds
	hour, err1 := strconv.Atoi(h)
	minutes, err2 := strconv.Atoi(m)
	return hour, minutes, false, found && err1 == nil && err2 == nil && len(m) == 2
}

// partAhead reports whether "in the evening" or "at night" follows.
func (p *parser) partAhead() bool {
	q := *p
	_ = q.take("in", "the") || q.take("at")
	_, _, ok := q.part()
	return ok && q.pos > p.pos+1
}

// past reads the hour of "half past 8".
func (p *parser) past(minutes int) (int, bool, error) {
	hour, ok, err := p.clock(true)
	if !ok || err != nil {
		return 0, false, err
	}
	return (hour + minutes + 24*60) % (24 * 60), true, nil
}

// inPart is a time of day in a part of the day: "9" in the evening is 21:00.
func inPart(minute, part int) (at int, tomorrow bool) {
	const half = 12 * 60
	switch {
	case part < half:
		return minute, false
	case part >= 20*60 && minute < 5*60: // "tonight at 1"
		return minute, true
	case part >= 20*60 && minute >= half && minute < half+60:
		return minute - half, true
	case minute < half:
		return minute + half, false
	}
	return minute, false
}

func clockText(minute int) string { return fmt.Sprintf("%d:%02d", minute/60, minute%60) }
