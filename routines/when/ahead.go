package when

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/routines/cron"
)

// Ahead is a moment before another one, and what is said then.
type Ahead struct {
	Days int           // they keep the time of day
	Rest time.Duration // whole minutes
	Text string        // one line; empty if there is none
}

// The range of Ahead, and the longest text in characters.
const (
	leastAhead    = time.Minute
	mostAheadDays = 366
	mostAheadText = 500
)

// Before returns the moment that is so long before another one.
func (a Ahead) Before(at time.Time) time.Time {
	if a.Days > 0 {
		y, m, d := at.Date()
		hour, minute, second := at.Clock()
		at = cron.Instant(time.Date(y, m, d-a.Days, hour, minute, second, at.Nanosecond(), time.UTC), at.Location())
	}
	return at.Add(-a.Rest)
}

// Long returns the length in words: "1 day 2 hours", "10 minutes".
func (a Ahead) Long() string {
	var parts []string
	if a.Days > 0 {
		parts = append(parts, words.Count(a.Days, "day"))
	}
	if hours := int(a.Rest / time.Hour); hours > 0 {
		parts = append(parts, words.Count(hours, "hour"))
	}
	if minutes := int(a.Rest % time.Hour / time.Minute); minutes > 0 {
		parts = append(parts, words.Count(minutes, "minute"))
	}
	return strings.Join(parts, " ")
}

// String returns it as files have it: "1 day: The dentist is tomorrow", or "10 minutes".
func (a Ahead) String() string {
	if a.Text == "" {
		return a.Long()
	}
	return a.Long() + ": " + a.Text
}

// AheadWords describes when these are: "1 day, 1 hour and 10 minutes before"; empty if there are none.
func AheadWords(list []Ahead) string {
	if len(list) == 0 {
		return ""
	}
	parts := make([]string, len(list))
	for i, a := range list {
		parts[i] = a.Long()
	}
	return words.And(parts) + " before"
}

// AheadLine returns the list as ReadAhead reads it.
func AheadLine(list []Ahead) string {
	parts := make([]string, len(list))
	for i, a := range list {
		parts[i] = a.String()
	}
	return strings.Join(parts, "; ")
}

// ReadAhead reads how long before a moment something is said, and what: "a day, an hour and ten
// minutes before", "1 day: The dentist is tomorrow; 1 hour: Leave now". A semicolon or the end of a
// line separates those with a text. The longest comes first.
func ReadAhead(text string) (list []Ahead, err error) {
	for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return c == ';' || c == '\n' }) {
		lengths, said, _ := strings.Cut(part, ":")
		if strings.TrimSpace(part) == "" {
			continue
		}
		p := Reader{}.parser(lengths)
		some, _, err := p.aheads()
		switch {
		case err != nil:
			return nil, err
		case len(some) == 0 || !p.done():
			return nil, p.unknown(textNearAhead)
		}
		for i := range some {
			some[i].Text = clean.Cut(clean.Line(said), mostAheadText)
		}
		list = append(list, some...)
	}
	if len(list) == 0 {
		return nil, refuse(textNoAhead)
	}
	return longestFirst(list), nil
}

func longestFirst(list []Ahead) []Ahead {
	slices.SortStableFunc(list, func(a, b Ahead) int { return cmp.Or(cmp.Compare(b.Days, a.Days), cmp.Compare(b.Rest, a.Rest)) })
	return list
}

// FirstAhead splits a text after what it says at its start about moments ahead, as in "an hour and 10
// minutes before: call mum". A text that says nothing of them is unchanged.
func FirstAhead(text string) (list []Ahead, rest string, err error) {
	ends := wordEnds(text)
	for n := min(longest, len(ends)); n > 1; n-- {
		if list, ok, err := aheadIn(text[:ends[n-1]]); ok {
			return list, strings.TrimLeft(text[ends[n-1]:], " ,:"), err
		}
	}
	return nil, text, nil
}

// LastAhead splits a text before what it says at its end about moments ahead, as in "friday 9:00, an
// hour before".
func LastAhead(text string) (rest string, list []Ahead, err error) {
	ends := wordEnds(text)
	for n := min(longest, len(ends)-1); n > 1; n-- {
		start := ends[len(ends)-n-1]
		if list, ok, err := aheadIn(text[start:]); ok {
			return strings.TrimRight(text[:start], " ,"), list, err
		}
	}
	return text, nil, nil
}

// aheadIn reads a text that is nothing but lengths and the word "before". ok is false if it is not.
func aheadIn(text string) (list []Ahead, ok bool, err error) {
	p := Reader{}.parser(strings.TrimRight(text, ":"))
	_ = p.take(",", "and") || p.skip(",", "and", "also")
	list, said, err := p.aheads()
	if err != nil {
		return nil, true, err
	}
	return longestFirst(list), said && len(list) > 0 && p.done(), nil
}

// aheads takes lengths that "and" or a comma separates, and the word behind them. said reports
// whether there was one.
func (p *parser) aheads() (list []Ahead, said bool, err error) {
	for {
		var l length
		ok, err := p.amounts(&l)
		if err != nil || !ok {
			return list, false, err
		}
		a := Ahead{Days: l.days, Rest: l.rest.Truncate(time.Minute)}
		switch {
		case l.months != 0:
			return nil, false, refuse(textNoLength)
		case a.Days == 0 && a.Rest < leastAhead:
			return nil, false, refuse(textAheadNow)
		case a.Days > mostAheadDays || a.Rest > mostAheadDays*24*time.Hour:
			return nil, false, refuse(textAheadFar, mostAheadDays)
		}
		list = append(list, a)
		if !p.take(",", "and") && !p.skip("and", ",") {
			break
		}
	}
	said = p.take("in", "advance") || p.skip("before", "ahead", "earlier", "beforehand")
	return list, said, nil
}

// amounts takes a length without "and" and commas in it: "1h 30m".
func (p *parser) amounts(l *length) (ok bool, err error) {
	for {
		from := p.pos
		more, err := p.amount(l)
		if err != nil || !more {
			p.pos = from
			return ok, err
		}
		ok = true
	}
}
