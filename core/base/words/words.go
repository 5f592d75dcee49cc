// Package words formats numbers, sizes, amounts and times in all forms used in the
// program's texts. It is pure and must not know what the texts are about.
package words

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Count returns a number with its noun: "1 file", "3 files". The plural is formed with an
// s.
func Count(n int, noun string) string { return strconv.Itoa(n) + " " + plural(n, noun) }

// Nth returns an ordinal: "first", "third", "12th".
func Nth(n int) string {
	if small := []string{"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"}; n >= 1 && n <= len(small) {
		return small[n-1]
	}
	return Ordinal(n)
}

// Ordinal returns an ordinal in digits: "1st", "3rd", "12th".
func Ordinal(n int) string {
	end := "th"
	if n%100/10 != 1 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return strconv.Itoa(n) + end
}

// plural returns the noun for a number: "file", "files".
func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// Some is Grouped followed by more text: "3 runs in the queue"; empty for 0.
func Some(n int, noun, more string) string {
	if n <= 0 {
		return ""
	}
	return Grouped(uint64(n), noun) + more
}

// Joined joins the non-empty parts with commas.
func Joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), func(p string) bool { return p == "" }), ", ")
}

// And formats a list: "a", "a and b", "a, b and c".
func And(list []string) string {
	if n := len(list); n > 1 {
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	}
	return strings.Join(list, "")
}

// HoldsAll reports whether a text contains every word of a query, ignoring case.
func HoldsAll(text, query string) bool {
	text = strings.ToLower(text)
	for w := range strings.FieldsSeq(strings.ToLower(query)) {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// Grouped is Count with a comma before every third digit: "1 tool", "1,204 lines".
func Grouped(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(n) + " " + noun + "s"
}

// Thousands formats a number with a comma before every third digit.
func Thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Big formats a number in at most four cells: "940", "1.2k", "14k", "3.1M".
func Big(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(max(n, 0))
	case n < 9950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n < 999_500:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	case n < 9_950_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0fM", float64(n)/1e6)
}

// Tokens formats a number of tokens: "812", "45k", "1.2M".
func Tokens(n int) string {
	switch {
	case n < 1000:
		return strconv.Itoa(n)
	case n < 999_500:
		return thousand(n)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// thousand formats a number in thousands, rounded: "45k".
func thousand(n int) string { return fmt.Sprintf("%dk", (n+500)/1000) }

// aCent is the least amount in dollars that is worded in cents: below it there are four digits.
const aCent = 0.00995

// Dollars formats an amount with enough digits for a non-zero result: "$0.12", "$0.0034".
func Dollars(v float64) string {
	if v > 0 && v < aCent {
		return fmt.Sprintf("$%.4f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}

// Cents is Dollars for a column, without the sign: "0.19", and "<0.01" for what has four digits.
func Cents(v float64) string {
	if v > 0 && v < aCent {
		return "<0.01"
	}
	return Dollars(v)[1:]
}

// Bytes formats a file size: "812 bytes", "45 kB", "1.2 MB", "14 MB".
func Bytes(n int64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d kB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Memory formats a memory size: "145 MB", "1.5 GB".
func Memory(n int64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%d MB", n>>20)
}

// In formats the time until a moment for use in a sentence: "now", "in 28 min", "in 1 h 5 min", "in 11 h", "in 2 days";
// "5 minutes ago" for a past one. The moment counts from its minute, as a clock shows it, and started minutes count, so
// that "in 28 min" turns into "in 27 min" when 27 minutes are left.
func In(at, now time.Time) string { return until(at, now, Minutes, Ago) }

// Until is In for a column, in at most eight cells: "now", "in 28m", "in 1h05", "in 11h", "in 2d", "5m ago".
func Until(at, now time.Time) string {
	return until(at, now, Brief, func(d time.Duration) string { return Brief(d-time.Minute+1) + " ago" })
}

func until(at, now time.Time, ahead, ago func(time.Duration) string) string {
	d := at.Truncate(time.Minute).Sub(now)
	switch {
	case d <= -time.Minute:
		return ago(-max(d, -far))
	case d <= 0:
		return "now"
	}
	return "in " + ahead(d)
}

// far prevents overflow in sums and rounding.
const far = 999 * 24 * time.Hour

// rounded splits a duration in started minutes: hours up to two days, minutes up to ten hours.
func rounded(d time.Duration) (days, hours, minutes int) {
	m := int((min(max(d, 0), far) + time.Minute - 1) / time.Minute)
	switch {
	case m < 600:
		return 0, m / 60, m % 60
	case m < 48*60:
		return 0, m / 60, 0
	}
	return m / (24 * 60), 0, 0
}

// Brief formats a duration in at most four cells, in started minutes: "28m", "1h05", "11h", "2d".
func Brief(d time.Duration) string {
	switch days, hours, minutes := rounded(d); {
	case days > 0:
		return fmt.Sprintf("%dd", days)
	case hours == 0:
		return fmt.Sprintf("%dm", minutes)
	case minutes == 0:
		return fmt.Sprintf("%dh", hours)
	default:
		return fmt.Sprintf("%dh%02d", hours, minutes)
	}
}

// Minutes is Brief for use in a sentence: "45 min", "1 h", "1 h 5 min", "2 days".
func Minutes(d time.Duration) string {
	switch days, hours, minutes := rounded(d); {
	case days > 0:
		return fmt.Sprintf("%d days", days)
	case hours == 0:
		return fmt.Sprintf("%d min", minutes)
	case minutes == 0:
		return fmt.Sprintf("%d h", hours)
	default:
		return fmt.Sprintf("%d h %d min", hours, minutes)
	}
}

// Elapsed formats a running time like a stopwatch: "0:12", "12:05", "1:02:03".
func Elapsed(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Age formats an age in at most six cells: "now", "15 min", "3 h", "2 d".
func Age(d time.Duration) string {
	m := int(d / time.Minute)
	switch {
	case m < 1:
		return "now"
	case m < 60:
		return fmt.Sprintf("%d min", m)
	case m < 48*60:
		return fmt.Sprintf("%d h", m/60)
	}
	return fmt.Sprintf("%d d", min(m/(24*60), 9999))
}

// Ago formats a time in the past in words: "just now", "1 minute ago", "15 minutes ago",
// "3 hours ago", "2 days ago". It rounds down, and a future time is "just now".
func Ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return Count(int(d/time.Minute), "minute") + " ago"
	case d < 24*time.Hour:
		return Count(int(d/time.Hour), "hour") + " ago"
	}
	return Count(int(d/(24*time.Hour)), "day") + " ago"
}

// Span formats a duration for a column, rounded: "45m", "2h 05m", "3d"; empty below half
// a minute.
func Span(d time.Duration) string {
	m := int(d.Round(time.Minute) / time.Minute)
	switch {
	case m < 1:
		return ""
	case m < 60:
		return fmt.Sprintf("%dm", m)
	case m < 48*60:
		return fmt.Sprintf("%dh %02dm", m/60, m%60)
	}
	return fmt.Sprintf("%dd", m/(24*60))
}

// Long formats a duration without abbreviations, in at most two units: "12 seconds", "1
// hour 5 minutes", "3 days". It counts whole seconds, as Elapsed does.
func Long(d time.Duration) string {
	s := int(d / time.Second)
	two := func(n int, unit string, rest int, of string) string {
		if rest == 0 {
			return Count(n, unit)
		}
		return Count(n, unit) + " " + Count(rest, of)
	}
	switch {
	case s < 1:
		return "less than a second"
	case s < 60:
		return Count(s, "second")
	case s < 3600:
		return two(s/60, "minute", s%60, "second")
	case s < 48*3600:
		return two(s/3600, "hour", s/60%60, "minute")
	}
	return two(s/86400, "day", s/3600%24, "hour")
}

// ClockLayout converts the time of day, or hour alone, in a layout of package time to 12
// or 24 hours.
func ClockLayout(layout string, twelve bool) string {
	if !twelve {
		return layout
	}
	return strings.NewReplacer("15:04:05", "3:04:05pm", "15:04", "3:04pm", "15", "3pm").Replace(layout)
}

// SameDay reports whether two moments are on the same day in the zone.
func SameDay(a, b time.Time, zone *time.Location) bool {
	ay, am, ad := a.In(zone).Date()
	by, bm, bd := b.In(zone).Date()
	return ay == by && am == bm && ad == bd
}
