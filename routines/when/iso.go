package when

import (
	"errors"
	"strings"
	"time"

	"ollimbot/routines/cron"
)

// The optional parts of ISO 8601 after the date. Package time accepts a fraction of a
// second even if the layout has none.
var (
	offsetLayouts = []string{
		"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07",
		"2006-01-02T15:04Z07:00", "2006-01-02T15:04Z0700", "2006-01-02T15:04Z07",
	}
	naiveLayouts = []string{"2006-01-02T15:04:05", "2006-01-02T15:04"}
)

// Reasons why a text is not a time in the notation of files. They follow the quoted text.
var (
	errNotTime = errors.New("is not a time")
	errNoHour  = errors.New("has no time of day")
	errNoDay   = errors.New("names a day or hour that does not exist")
)

// Written reads a time in the notation of files, ISO 8601 with "T" or a space, with or without
// seconds, fractions and offset. A time without an offset is local time in zone; then naive is
// true. If the clock skips it, it becomes the end of the gap; if the clock repeats it, the
// first occurrence.
func Written(text string, zone *time.Location) (at time.Time, naive bool, err error) {
	text = normal(text)
	beyond := false
	try := func(layouts []string) (time.Time, bool) {
		for _, layout := range layouts {
			t, err := time.Parse(layout, text)
			if err == nil {
				return t, true
			}
			var bad *time.ParseError
			if errors.As(err, &bad) && strings.HasSuffix(bad.Message, "out of range") {
				beyond = true
			}
		}
		return time.Time{}, false
	}
	if t, ok := try(offsetLayouts); ok {
		return t.In(zone), false, nil
	}
	if t, ok := try(naiveLayouts); ok {
		return cron.Instant(t, zone), true, nil
	}
	if _, ok := try([]string{time.DateOnly}); ok {
		return time.Time{}, false, errNoHour
	}
	if beyond {
		return time.Time{}, false, errNoDay
	}
	return time.Time{}, false, errNotTime
}

// normal adds the "T", removes the space before an offset (which YAML 1.1 allows) and
// upper-cases t and z.
func normal(text string) string {
	text = strings.ToUpper(strings.TrimSpace(text))
	date, clock, found := strings.Cut(text, " ")
	if !found {
		return text
	}
	return date + "T" + strings.ReplaceAll(strings.TrimSpace(clock), " ", "")
}
