package daysoff

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/routines/recur"
)

// Limits that keep a calendar from taking long to read.
const (
	mostBytes   = 4 << 20
	mostRules   = 2000
	mostDays    = 100_000 // taken by all events together
	mostLooked  = 6_000_000
	longestSpan = 366  // of one event
	earliest    = 1970 // the first year of an event
	past        = 366 * 24 * time.Hour
	ahead       = 5 * past
)

// event is a VEVENT that takes whole days.
type event struct {
	uid, title  string
	start, end  recur.Date // the end is not included
	duration    int        // in days, instead of the end
	rules       []string
	more, less  []recur.Date // RDATE, EXDATE
	instead     recur.Date   // RECURRENCE-ID: the day that it replaces
	timed, gone bool         // it takes no day
}

// parse reads a calendar: which days its events take, from a year before now to five years after. Only
// events of whole days take any. An error says in words that follow the calendar's name why it cannot
// be read; odd lists what it does not understand.
func parse(data string, now time.Time) (days map[recur.Date]string, odd []string, err error) {
	events, err := events(data)
	if err != nil {
		return nil, nil, err
	}
	replaced := map[string]map[recur.Date]bool{}
	rules := 0
	for _, e := range events {
		rules += len(e.rules)
		if !e.instead.IsZero() {
			if replaced[e.uid] == nil {
				replaced[e.uid] = map[recur.Date]bool{}
			}
			replaced[e.uid][e.instead] = true
		}
	}
	if rules > mostRules {
		return nil, nil, fmt.Errorf(textManyRules, rules, mostRules)
	}
	b := book{days: map[recur.Date]string{}, first: now.Add(-past), last: now.Add(ahead)}
	for _, e := range events {
		if e.gone || e.timed || e.start.IsZero() {
			continue
		}
		if e.instead.IsZero() {
			e.less = slices.AppendSeq(e.less, maps.Keys(replaced[e.uid]))
		}
		b.add(e)
		switch {
		case b.taken > mostDays:
			return nil, nil, fmt.Errorf(textManyDays, mostDays)
		case b.looked > mostLooked:
			return nil, nil, errors.New(textLong)
		}
	}
	return b.days, b.odd, nil
}

// book collects the days that events take.
type book struct {
	days        map[recur.Date]string
	odd         []string
	taken       int // days of all events together
	looked      int // days at which rules were looked at
	first, last time.Time
}

// add takes the days of an event.
func (b *book) add(e event) {
	less := make(map[recur.Date]bool, len(e.less))
	for _, d := range e.less {
		less[d] = true
	}
	length := e.duration
	if !e.end.IsZero() {
		length = int(e.end.Time().Sub(e.start.Time()) / (24 * time.Hour))
	}
	length = min(max(length, 1), longestSpan)
	take := func(d recur.Date) {
		if less[d] || b.taken > mostDays {
			return
		}
		for i := range length {
			if day := d.Add(i); !day.Time().Before(b.first) && !day.Time().After(b.last) {
				b.days[day] = e.title
				b.taken++
			}
		}
	}
	take(e.start)
	for _, d := range e.more {
		take(d)
	}
	for _, text := range e.rules {
		r, err := readRule(text, e.start)
		if err != nil {
			b.odd = append(b.odd, clean.Line(err.Error()))
			continue
		}
		b.looked += r.days(b.first, b.last, take)
	}
}

// events reads the events of a calendar, in one pass over its lines.
func events(data string) (list []event, err error) {
	lines := unfold(strings.TrimPrefix(data, "\ufeff"))
	if len(lines) == 0 || !strings.EqualFold(strings.TrimSpace(lines[0]), "BEGIN:VCALENDAR") {
		return nil, errors.New(textNoCalendar)
	}
	var inside []string // the parts that are open
	var e event
	for _, line := range lines[1:] {
		name, params, value := split(line)
		switch name {
		case "BEGIN":
			if len(inside) > 5 {
				return nil, errors.New(textNested)
			}
			if inside = append(inside, strings.ToUpper(value)); len(inside) == 1 {
				e = event{}
			}
			continue
		case "END":
			if len(inside) == 1 && inside[0] == "VEVENT" {
				list = append(list, e)
			}
			inside = inside[:max(0, len(inside)-1)]
			continue
		}
		if len(inside) == 1 && inside[0] == "VEVENT" {
			e.property(name, params, value)
		}
	}
	if len(inside) > 0 {
		return nil, errors.New(textCutOff)
	}
	return list, nil
}

// property reads one line of an event.
func (e *event) property(name, params, value string) {
	dates := func() (list []recur.Date) {
		for part := range strings.SplitSeq(value, ",") {
			if d, ok := dateOf(part); ok && d.Year >= earliest {
				list = append(list, d)
			}
		}
		return list
	}
	one := func() (d recur.Date) {
		if list := dates(); len(list) > 0 {
			d = list[0]
		}
		return d
	}
	switch name {
	case "UID":
		e.uid = value
	case "SUMMARY":
		e.title = clean.Cut(clean.Line(strings.NewReplacer(`\,`, ",", `\;`, ";", `\n`, " ", `\N`, " ", `\\`, `\`).Replace(value)), 60)
	case "DTSTART":
		e.start, e.timed = one(), strings.Contains(value, "T")
	case "DTEND":
		e.end = one()
	case "DURATION":
		e.duration = durationDays(value)
	case "RRULE":
		e.rules = append(e.rules, value)
	case "RDATE":
		if !strings.Contains(strings.ToUpper(params), "PERIOD") {
			e.more = append(e.more, dates()...)
		}
	case "EXDATE":
		e.less = append(e.less, dates()...)
	case "RECURRENCE-ID":
		e.instead = one()
	case "STATUS":
		e.gone = strings.EqualFold(value, "CANCELLED")
	}
}

// durationDays reads the days of "P2D" and "P1W".
func durationDays(text string) int {
	text = strings.ToUpper(strings.TrimPrefix(text, "+"))
	if len(text) < 3 || text[0] != 'P' {
		return 0
	}
	n, err := strconv.Atoi(text[1 : len(text)-1])
	switch {
	case err != nil || n < 0 || n > longestSpan:
		return 0
	case text[len(text)-1] == 'W':
		return 7 * n
	}
	return n
}

// unfold returns the lines of a calendar. One that begins with a space continues the one before.
func unfold(data string) (lines []string) {
	for line := range strings.Lines(strings.ReplaceAll(data, "\r\n", "\n")) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case line == "":
		case (line[0] == ' ' || line[0] == '\t') && len(lines) > 0:
			if last := &lines[len(lines)-1]; len(*last) < 1000 { // no line that matters is as long
				*last += line[1:]
			}
		default:
			lines = append(lines, line)
		}
	}
	return lines
}

// split takes a line apart: NAME;PARAMS:VALUE. A parameter in quotes may contain a colon.
func split(line string) (name, params, value string) {
	quoted := false
	for i, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case c == ':' && !quoted:
			head := line[:i]
			name, params, _ = strings.Cut(head, ";")
			return strings.ToUpper(name), params, strings.TrimSpace(line[i+1:])
		}
	}
	return strings.ToUpper(line), "", ""
}
