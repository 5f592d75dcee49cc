// Package pycompat formats values as the original program does in its state files, so
// that both programs can take turns on one data directory and an unchanged file keeps its
// bytes. It owns times, floats and quoted strings and must not know what any file means.
package pycompat

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	isoSeconds = "2006-01-02T15:04:05-07:00"
	isoMicros  = "2006-01-02T15:04:05.000000-07:00"
)

var errTime = errors.New("not a time such as 2026-11-23T08:30:00-08:00")

// Time formats t as ISO 8601 with its zone's offset: whole seconds without a fraction,
// everything else with six digits. Parts of a microsecond are cut off.
func Time(t time.Time) string {
	if t.Nanosecond()/int(time.Microsecond) == 0 {
		return t.Format(isoSeconds)
	}
	return t.Format(isoMicros)
}

// ParseTime parses the output of Time and variations: a space instead of the T, any
// number of fraction digits, Z, no seconds, no offset (the time is then in zone). The
// result is in zone.
func ParseTime(s string, zone *time.Location) (time.Time, error) {
	s = strings.TrimSpace(s)
	if len(s) > len("2006-01-02") && s[10] == ' ' {
		s = s[:10] + "T" + s[11:]
	}
	for _, layout := range []string{
		time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00", "2006-01-02T15:04",
	} {
		if t, err := time.ParseInLocation(layout, s, zone); err == nil {
			return t.In(zone), nil
		}
	}
	return time.Time{}, errTime
}

// Float returns the shortest text that parses back to f, always with a point or an
// exponent, so that the original still reads a float. f must be finite.
func Float(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// Quote returns s as a JSON string in pure ASCII, for readers whose locale is not UTF-8.
// Invalid UTF-8 becomes U+FFFD.
func Quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		quoteRune(&b, r)
	}
	b.WriteByte('"')
	return b.String()
}

func quoteRune(b *strings.Builder, r rune) {
	switch {
	case r == '"' || r == '\\':
		b.WriteByte('\\')
		b.WriteRune(r)
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case r >= 0x20 && r < utf8.RuneSelf && r != 0x7f:
		b.WriteByte(byte(r))
	default:
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(b, `\u%04x`, unit)
		}
	}
}
