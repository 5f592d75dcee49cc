// Package when reads times as people say and write them: moments ("tomorrow night"), spans
// ("1h 30m") and schedules ("weekdays at 8:15"), including everything that the program prints
// as one. It is the only grammar of times in words. It must not know files, tasks, settings or
// clocks: the time and the user's own times of day are arguments.
package when

import (
	"cmp"
	"strings"
	"time"

	"ollimbot/routines/cron"
	"ollimbot/routines/recur"
)

// Day is what the words for parts of the day stand for, in minutes after midnight. The zero
// Day stands for UsualDay.
type Day struct{ Morning, Noon, Afternoon, Evening, Night int }

// UsualDay is the Day of somebody who has set nothing.
var UsualDay = Day{Morning: 8 * 60, Noon: 12 * 60, Afternoon: 15 * 60, Evening: 18 * 60, Night: 21 * 60}

// Reader reads times. Its errors are sentences for the user that say what to write instead.
type Reader struct {
	// Now is the current time in the user's zone.
	Now time.Time
	// Day is when the user's morning, noon, afternoon, evening and night are.
	Day Day
	// Past is set by questions about any time: past times are read too, a time of day is
	// today's, and a date in digits alone is the start of that day instead of its morning.
	Past bool
}

// Moment reads a moment: "tonight", "friday 9am", "24 dec", "in 2 days at 9", "1h 30m",
// "2026-12-24T18:00". A time of day that has passed today is tomorrow's, a date alone means
// the morning, a weekday is the next of its name.
func (r Reader) Moment(text string) (time.Time, error) {
	p := r.parser(text)
	if len(p.toks) == 0 {
		return time.Time{}, refuse(textEmpty)
	}
	if at, ok, err := r.iso(text); ok {
		return at, err
	}
	return p.moment()
}

// iso reads a moment in the notation of files.
func (r Reader) iso(text string) (at time.Time, ok bool, err error) {
	fields := strings.Fields(text)
	for len(fields) > 1 && leading[strings.ToLower(fields[0])] {
		fields = fields[1:]
	}
	text = strings.Join(fields, " ")
	at, _, err = Written(text, r.Now.Location())
	if day, derr := time.Parse(time.DateOnly, text); r.Past && derr == nil {
		return cron.Instant(day, r.Now.Location()), true, nil
	}
	if err != nil {
		return at, false, nil
	}
	if !r.Past && at.Before(r.Now) {
		return at, true, refuse(textPassed, cron.DayClock(at, r.Now), textNearMoment)
	}
	return at, true, nil
}

// longest is the largest number of words of a moment or schedule that is searched in a text.
const longest = 40

// First splits a text after the longest moment at its start.
func (r Reader) First(text string) (at time.Time, rest string, err error) {
	return first(r, text, r.Moment)
}

// FirstSchedule splits a text after the longest schedule at its start.
func (r Reader) FirstSchedule(text string) (s recur.Recurrence, rest string, err error) {
	if fields := strings.Fields(text); isCron(text) && len(fields) > 4 && !strings.HasSuffix(fields[4], ",") {
		s, err = r.Schedule(strings.Join(fields[:5], " "))
		return s, strings.TrimSpace(text[wordEnds(text)[4]:]), err
	}
	return first(r, text, r.Schedule)
}

// first tries ever fewer words. The error is that of the part that looks most like a time.
func first[T any](r Reader, text string, read func(string) (T, error)) (got T, rest string, err error) {
	ends := wordEnds(text)
	for n := min(longest, len(ends)); n > 0; n-- {
		got, bad := read(text[:ends[n-1]])
		if bad == nil {
			return got, strings.TrimSpace(text[ends[n-1]:]), nil
		}
		if err == nil || Meant(bad) && !Meant(err) {
			err = bad
		}
	}
	return got, text, cmp.Or(err, refuse(textEmpty))
}

// Last splits a text before the longest moment at its end.
func (r Reader) Last(text string) (rest string, at time.Time, err error) {
	fields := strings.Fields(text)
	for n := min(longest, len(fields)); n > 0; n-- {
		got, bad := r.Moment(strings.Join(fields[len(fields)-n:], " "))
		if bad == nil {
			return strings.Join(fields[:len(fields)-n], " "), got, nil
		}
		if err == nil || Meant(bad) && !Meant(err) {
			err = bad
		}
	}
	return text, at, cmp.Or(err, refuse(textEmpty))
}

// wordEnds are the positions after each word of a text.
func wordEnds(text string) (ends []int) {
	inside := false
	for i, c := range text {
		space := strings.ContainsRune(" \t\r\n\u00a0", c)
		if inside && space {
			ends = append(ends, i)
		}
		inside = !space
	}
	if inside {
		ends = append(ends, len(text))
	}
	return ends
}

// smallHours is when a new day begins for people who are still awake.
const smallHours = 4

// Note says which day a text took, where that is easily mistaken: "tomorrow" soon after
// midnight. It is empty otherwise.
func (r Reader) Note(text string) string {
	if r.Now.Hour() >= smallHours {
		return ""
	}
	for _, t := range r.parser(text).toks {
		if t.text == "tomorrow" || t.text == "tmrw" || t.text == "tmr" {
			return sentence(textSmallHours, r.Now.AddDate(0, 0, 1).Format("Monday 2 January"), r.Now.Format("Monday"))
		}
	}
	return ""
}

// Span reads a length of time: "1h 30m", "20min", "half an hour", "2 days". Days have 24
// hours; months and years have no length.
func Span(text string) (time.Duration, error) {
	p := Reader{}.parser(text)
	for p.take("in") || p.take("for") {
	}
	s, ok, err := p.span()
	switch {
	case err != nil:
		return 0, err
	case !ok || !p.done():
		return 0, p.unknown(textNearSpan)
	case s.months != 0:
		return 0, refuse(textNoLength)
	}
	return time.Duration(s.days)*24*time.Hour + s.rest, nil
}

// Clock reads a time of day alone, in minutes after midnight: "18:30", "6:30 pm", "9".
func Clock(text string) (minute int, ok bool) {
	p := Reader{}.parser(text)
	minute, ok, err := p.clock(true)
	return minute, ok && err == nil && p.done()
}
