package widget

import (
	"fmt"
	"strconv"
	"time"
)

// Until says in at most seven cells how far away a moment is: "now", "in 28m",
// "in 1h", "in 1h05", "in 11h", "in 2d"; "5m ago" for what has passed.
func Until(d time.Duration) string {
	if d <= -time.Minute {
		return short(-max(d, -far)) + " ago"
	}
	if d <= 0 {
		return "now"
	}
	// A part of a minute counts as a whole one: "in 28m" turns to "in 27m" when
	// 27 minutes are left.
	return "in " + short(min(d, far)+time.Minute-1)
}

// far keeps sums and roundings from overflowing.
const far = 999 * 24 * time.Hour

// Soon is Until in at most six cells: beyond an hour the nearest hour will do.
func Soon(d time.Duration) string {
	if d < time.Hour {
		return Until(d)
	}
	return "in " + short(min(d, far).Round(time.Hour))
}

// short is a duration in at most four cells, whole minutes, rounded down.
func short(d time.Duration) string {
	m := int(d / time.Minute)
	switch {
	case m < 60:
		return strconv.Itoa(m) + "m"
	case m < 600 && m%60 != 0:
		return fmt.Sprintf("%dh%02d", m/60, m%60)
	case m < 48*60:
		return strconv.Itoa(m/60) + "h"
	}
	return strconv.Itoa(min(m/(24*60), 999)) + "d"
}

// Minutes is a duration in words of a sentence, rounded up: "45 min", "1 h",
// "1h05", "2 days".
func Minutes(d time.Duration) string {
	d = (max(d, 0) + time.Minute - 1).Truncate(time.Minute)
	switch {
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d%time.Hour == 0:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return short(d)
}

// Elapsed is a running time as a stopwatch shows it: "0:12", "12:05", "1:02:03".
func Elapsed(d time.Duration) string {
	s := int(max(d, 0) / time.Second)
	if s < 3600 {
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Age is how old something is, in at most six cells: "now", "15 min", "3 h", "2 d".
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

// Count is a number and its noun: "1 tool", "1,204 lines". The plural takes an s.
func Count(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(n) + " " + noun + "s"
}

// Thousands writes a number with a comma before every third digit.
func Thousands(n uint64) string {
	s := strconv.FormatUint(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Big writes a number in at most four cells: "940", "1.2k", "14k", "3.1M".
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

// SameDay reports whether two moments are on one day of the zone.
func SameDay(a, b time.Time, zone *time.Location) bool {
	ay, am, ad := a.In(zone).Date()
	by, bm, bd := b.In(zone).Date()
	return ay == by && am == bm && ad == bd
}
