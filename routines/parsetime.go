package routines

import (
	"errors"
	"strings"
	"time"

	"ollimbot/core/clean"
	"ollimbot/routines/cron"
)

// runAtLayout is how we write run-at: an offset and, where there are any,
// microseconds, which is as fine as the original program reads.
const runAtLayout = "2006-01-02T15:04:05.999999-07:00"

// What ISO 8601 leaves open behind a date. Package time reads a fraction after
// the seconds whether the layout has one or not.
var (
	offsetLayouts = []string{
		"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07",
		"2006-01-02T15:04Z07:00", "2006-01-02T15:04Z0700", "2006-01-02T15:04Z07",
	}
	naiveLayouts = []string{"2006-01-02T15:04:05", "2006-01-02T15:04"}
)

// The years a reminder may name.
const (
	firstYear = 1900
	lastYear  = 9999
)

// Why a text is no time.
var (
	errNotTime = errors.New("not a time")
	errNoHour  = errors.New("a date without a time of day")
	errNoDay   = errors.New("a day or hour that does not exist")
	errNoYear  = errors.New("a year that is out of bounds")
)

// runAt reads the time of a reminder into the configured zone.
func (p *parser) runAt() time.Time {
	f, text, ok := p.scalar("run-at")
	if !ok {
		if !p.given("run-at") {
			p.missing("run-at", missingRunAt())
		}
		return time.Time{}
	}
	at, naive, err := parseTime(text, p.zone)
	if err == nil && (at.Year() < firstYear || at.Year() > lastYear) {
		err = errNoYear
	}
	if err != nil {
		p.add(Error, f.Value.Line, textColumn(f.Value), badRunAt(clean.Line(text), err))
		return time.Time{}
	}
	if naive {
		p.add(Warning, f.Value.Line, textColumn(f.Value), naiveRunAt(at))
	}
	return at
}

// ParseTime reads a time as task files have it, and a date alone as its first
// moment. A time without an offset is one on the wall in zone.
func ParseTime(text string, zone *time.Location) (time.Time, error) {
	at, _, err := parseTime(text, zone)
	if errors.Is(err, errNoHour) {
		day, perr := time.Parse(time.DateOnly, strings.TrimSpace(text))
		if perr == nil {
			return cron.Instant(day, zone), nil
		}
	}
	return at, err
}

// parseTime reads an ISO 8601 time with "T" or a space, with or without
// seconds, fractions and offset. A naive one is a time on the wall in zone: one
// that the clock skips becomes the end of the gap, a repeated one the first.
func parseTime(text string, zone *time.Location) (at time.Time, naive bool, err error) {
	text = normaliseTime(text)
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

// normaliseTime writes the "T", drops the space before an offset (YAML 1.1 has
// one) and the lower case of t and z.
func normaliseTime(text string) string {
	text = strings.ToUpper(strings.TrimSpace(text))
	date, clock, found := strings.Cut(text, " ")
	if !found {
		return text
	}
	return date + "T" + strings.ReplaceAll(strings.TrimSpace(clock), " ", "")
}
