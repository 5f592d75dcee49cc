package command

import (
	"strconv"
	"strings"
	"time"
	"unicode"

	"ollimbot/routines/cron"
)

// ReadMoment parses a moment: "2h30m", "in 20 minutes", "18:30", "6:30 pm", "tomorrow",
// "friday noon", "2006-01-02 15:04", "Mon 2 Jan 15:04". A time of day that has passed
// means tomorrow's. The text must not contain anything else.
func ReadMoment(text string, now time.Time) (time.Time, bool) {
	words := strings.Fields(strings.ToLower(text))
	for len(words) > 1 && (words[0] == "until" || words[0] == "for" || words[0] == "in" || words[0] == "at" || words[0] == "this" || words[0] == "on") {
		words = words[1:]
	}
	if len(words) == 0 {
		return time.Time{}, false
	}
	if d, ok := length(words); ok {
		return now.Add(d).Truncate(time.Second), true
	}
	if at, err := time.Parse("2006-01-02 15:04", strings.Join(words, " ")); err == nil {
		return cron.Instant(at, now.Location()), true
	}
	if at, ok := dated(strings.Join(words, " "), now); ok {
		return at, true
	}
	return clockOf(words, now)
}

// dated parses the format of cron.DayClock. Without a year it means the next such day.
func dated(text string, now time.Time) (time.Time, bool) {
	if at, err := time.Parse("2 Jan 2006 15:04", text); err == nil {
		return cron.Instant(at, now.Location()), true
	}
	at, err := time.Parse("Mon 2 Jan 15:04", text)
	if err != nil {
		return at, false
	}
	at = at.AddDate(now.Year(), 0, 0)
	if when := cron.Instant(at, now.Location()); when.After(now) {
		return when, true
	}
	return cron.Instant(at.AddDate(1, 0, 0), now.Location()), true
}

// The times of day that words stand for.
const (
	morning = 8
	evening = 18
)

// clockOf parses "18:30", "tomorrow 9am", "friday", "evening", "tomorrow evening".
func clockOf(words []string, now time.Time) (time.Time, bool) {
	days, dated := dayAhead(words[0], now)
	if dated {
		words = words[1:]
	}
	hour, minute := morning, 0
	if len(words) > 0 && words[0] == "at" {
		words = words[1:]
	}
	switch word := strings.Join(words, " "); word {
	case "", "morning":
	case "evening":
		hour = evening
	default:
		t, ok := cron.ParseClock(word)
		if _, err := strconv.Atoi(word); !ok || err == nil { // a bare number is ambiguous
			return time.Time{}, false
		}
		hour, minute = t.Hour(), t.Minute()
	}
	at := cron.Wall(now, days, hour, minute, now.Location())
	if !dated && !at.After(now) {
		at = cron.Wall(now, 1, hour, minute, now.Location())
	}
	return at, true
}

// dayAhead parses a day as a number of days from now. A weekday is the next of its name.
func dayAhead(word string, now time.Time) (int, bool) {
	switch word {
	case "today":
		return 0, true
	case "tomorrow":
		return 1, true
	}
	for d := range time.Weekday(7) {
		name := strings.ToLower(d.String())
		if word == name || word == name[:3] {
			return (int(d)-int(now.Weekday())+6)%7 + 1, true
		}
	}
	return 0, false
}

// length parses "2h30m", "2 hours", "1 hour 30 minutes", "half an hour", "an hour".
func length(words []string) (time.Duration, bool) {
	switch strings.Join(words, " ") {
	case "half an hour":
		return 30 * time.Minute, true
	case "an hour":
		return time.Hour, true
	}
	if len(words) == 1 {
		return span(words[0])
	}
	if len(words)%2 != 0 {
		return 0, false
	}
	var sum time.Duration
	for i := 0; i < len(words); i += 2 {
		n, err := strconv.Atoi(words[i])
		unit, ok := units[strings.TrimSuffix(words[i+1], "s")]
		if err != nil || !ok || n < 1 || n > 10_000 {
			return 0, false
		}
		sum += time.Duration(n) * unit
	}
	return sum, true
}

// units are the units of a length, in the singular.
var units = map[string]time.Duration{
	"minute": time.Minute, "min": time.Minute, "hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour,
}

// longestMoment is the maximum number of words of a moment: "until tomorrow at 9:00".
const longestMoment = 6

// FirstMoment splits a text after the longest moment at its start. ok is false if there is
// none.
func FirstMoment(text string, now time.Time) (at time.Time, rest string, ok bool) {
	words := strings.Fields(text)
	for n := min(longestMoment, len(words)); n > 0; n-- {
		if at, ok := ReadMoment(strings.Join(words[:n], " "), now); ok {
			return at, SkipWords(text, n), true
		}
	}
	return time.Time{}, text, false
}

// LastMoment splits a text before the longest moment at its end. ok is false if there is
// none.
func LastMoment(text string, now time.Time) (rest string, at time.Time, ok bool) {
	words := strings.Fields(text)
	for n := min(longestMoment, len(words)); n > 0; n-- {
		if at, ok := ReadMoment(strings.Join(words[len(words)-n:], " "), now); ok {
			return strings.Join(words[:len(words)-n], " "), at, true
		}
	}
	return text, time.Time{}, false
}

// CutWord splits a text after its first word. The rest keeps its line breaks.
func CutWord(text string) (word, rest string) {
	text = strings.TrimSpace(text)
	i := strings.IndexFunc(text, unicode.IsSpace)
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimSpace(text[i:])
}

// SkipWords returns the text after the first n words.
func SkipWords(text string, n int) string {
	for range n {
		_, text = CutWord(text)
	}
	return strings.TrimSpace(text)
}

// maxDays keeps a number of days within the range of time.Duration.
const maxDays = 10_000

// span parses "2h30m", "2d" and "1d12h".
func span(word string) (time.Duration, bool) {
	days, rest, dated := strings.Cut(word, "d")
	if !dated {
		days, rest = "0", word
	}
	n, err := strconv.Atoi(days)
	if err != nil || n < 0 || n > maxDays {
		return 0, false
	}
	var d time.Duration
	if rest != "" {
		if d, err = time.ParseDuration(rest); err != nil || rest == "0" || d < 0 {
			return 0, false
		}
	}
	d += time.Duration(n) * 24 * time.Hour
	return d, d > 0
}
