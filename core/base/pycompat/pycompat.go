// Package pycompat spells values the way the original program spells them in
// its state files, so that both programs can take turns on one data directory
// and a file that nobody changed keeps its bytes. It owns times, floats and
// quoted strings; it must not know what any file means.
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

// Time is ISO 8601 with the offset of t's zone: whole seconds without a
// fraction, everything else with six digits. Parts of a microsecond are cut.
func Time(t time.Time) string {
	if t.Nanosecond()/int(time.Microsecond) == 0 {
		return t.Format(isoSeconds)
	}
	return t.Format(isoMicros)
}

// ParseTime reads what Time writes, and its relatives: a space for the T, any
// number of fraction digits, Z, no seconds, no offset (then the time is in
// zone). The result is in zone.
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

// Float is the shortest text that reads back as f, never without a point or an
// exponent, so that the original keeps taking it for a float. f is finite.
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

// Quote is s as a JSON string in pure ASCII, which survives a reader whose
// locale is not UTF-8. Bytes that are not UTF-8 become U+FFFD.
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
