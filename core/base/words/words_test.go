package words

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

// each is what a function makes of its inputs.
func each[T any](f func(T) string, in ...T) string {
	var out []string
	for _, one := range in {
		out = append(out, f(one))
	}
	return strings.Join(out, " | ")
}

// The inputs are at both sides of each bound.
func TestNumbersAndTimesAreWordedUpToAndFromTheirBounds(t *testing.T) {
	const ns, s, m, h, d = time.Nanosecond, time.Second, time.Minute, time.Hour, 24 * time.Hour
	long := []time.Duration{-h, 0, ns, m, m + ns, 59*m + s, h, h + 5*m, 10*h - m, 10 * h, 11*h + 5*m, 2*d - m, 2*d - m + ns, 3*d - ns, 3 * d, 1000 * d}
	for name, c := range map[string][2]string{
		"Count": {each(func(n int) string { return Count(n, "tool") }, 0, 1, 2, 1204), "0 tools | 1 tool | 2 tools | 1204 tools"},
		"Grouped": {
			each(func(n uint64) string { return Grouped(n, "tool") }, 0, 1, 2, 999, 1000, 1204567),
			"0 tools | 1 tool | 2 tools | 999 tools | 1,000 tools | 1,204,567 tools",
		},
		"Some": {
			each(func(n int) string { return Some(n, "run", " in the queue") }, -1, 0, 1, 1204),
			" |  | 1 run in the queue | 1,204 runs in the queue",
		},
		"Joined": {
			each(func(parts []string) string { return Joined(parts...) }, nil, []string{"a", ""}, []string{"", "a", "", "b"}),
			" | a | a, b",
		},
		"And": {each(And, nil, []string{"a"}, []string{"a", "b"}, []string{"a", "b", "c"}), " | a | a and b | a, b and c"},
		"Ordinal": {
			each(Ordinal, 0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24, 100, 101, 111, 112, 113, 121),
			"0th | 1st | 2nd | 3rd | 4th | 10th | 11th | 12th | 13th | 14th | 20th | 21st | 22nd | 23rd | 24th | 100th | 101st | 111th | 112th | 113th | 121st",
		},
		"Nth": {
			each(Nth, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
			"-1th | 0th | first | second | third | fourth | fifth | sixth | seventh | eighth | ninth | tenth | 11th",
		},
		"Thousands": {each(Thousands, 0, 999, 1000, 999_999, 1_234_567), "0 | 999 | 1,000 | 999,999 | 1,234,567"},
		"Big": {
			each(Big, -4, 0, 999, 1000, 9949, 9950, 999_499, 999_500, 9_949_999, 9_950_000, 14_100_000),
			"0 | 0 | 999 | 1.0k | 9.9k | 10k | 999k | 1.0M | 9.9M | 10M | 14M",
		},
		"Tokens": {each(Tokens, 0, 999, 1000, 1499, 1500, 999_499, 999_500, 1_210_000), "0 | 999 | 1k | 1k | 2k | 999k | 1.0M | 1.2M"},
		"Dollars": {
			each(Dollars, -0.5, 0, 0.0034, 0.00994, 0.00996, 0.12, 1234.5),
			"$-0.50 | $0.00 | $0.0034 | $0.0099 | $0.01 | $0.12 | $1234.50",
		},
		"Cents": {each(Cents, 0, 0.0034, 0.00994, 0.00996, 0.12, 1234.5), "0.00 | <0.01 | <0.01 | 0.01 | 0.12 | 1234.50"},
		"Bytes": {
			each(Bytes, 0, 1<<10-1, 1<<10, 1<<20-1, 1<<20, 3<<19, 10<<20-1, 10<<20),
			"0 bytes | 1023 bytes | 1 kB | 1023 kB | 1.0 MB | 1.5 MB | 10.0 MB | 10 MB",
		},
		"Memory": {each(Memory, 145<<20, 1<<30-1, 1<<30, 3<<29), "145 MB | 1023 MB | 1.0 GB | 1.5 GB"},
		"Brief":  {each(Brief, long...), "0m | 0m | 1m | 1m | 2m | 1h | 1h | 1h05 | 9h59 | 10h | 11h | 47h | 2d | 3d | 3d | 999d"},
		"Minutes": {
			each(Minutes, long...),
			"0 min | 0 min | 1 min | 1 min | 2 min | 1 h | 1 h | 1 h 5 min | 9 h 59 min | 10 h | 11 h | 47 h | 2 days | 3 days | 3 days | 999 days",
		},
		"Elapsed": {
			each(Elapsed, -h, 0, s-ns, 12*s, m-s, m, h-s, h, h+2*m+3*s),
			"0:00 | 0:00 | 0:00 | 0:12 | 0:59 | 1:00 | 59:59 | 1:00:00 | 1:02:03",
		},
		"Age": {each(Age, -h, m-ns, m, h-ns, h, 2*d-ns, 2*d, 3*d, 99_999*d), "now | now | 1 min | 59 min | 1 h | 47 h | 2 d | 3 d | 9999 d"},
		"Ago": {
			each(Ago, -h, 0, m-ns, m, 2*m-ns, 2*m, h-ns, h, 2*h, d-ns, d, 3*d-h, 400*d),
			"just now | just now | just now | 1 minute ago | 1 minute ago | 2 minutes ago | 59 minutes ago | 1 hour ago | 2 hours ago | 23 hours ago | 1 day ago | 2 days ago | 400 days ago",
		},
		"Span": {
			each(Span, 30*s-ns, 30*s, h-30*s-ns, h-30*s, h+5*m, 2*d-30*s-ns, 2*d-30*s, 3*d),
			" | 1m | 59m | 1h 00m | 1h 05m | 47h 59m | 2d | 3d",
		},
		"Long": {
			each(Long, s-ns, s, 2*s, m-ns, m, m+s, h-s, h, h+s, h+m, h+5*m, 2*d-s, 2*d, 2*d+h-s, 2*d+h, 3*d),
			"less than a second | 1 second | 2 seconds | 59 seconds | 1 minute | 1 minute 1 second | 59 minutes 59 seconds | 1 hour | 1 hour | 1 hour 1 minute | 1 hour 5 minutes | 47 hours 59 minutes | 2 days | 2 days | 2 days 1 hour | 3 days",
		},
		"12 hours": {
			each(func(l string) string { return ClockLayout(l, true) }, "15:04:05", "Mon 15:04", "15"),
			"3:04:05pm | Mon 3:04pm | 3pm",
		},
		"24 hours": {ClockLayout("Mon 15:04", false), "Mon 15:04"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s:\n%s, want\n%s", name, c[0], c[1])
		}
	}
}

func TestATextHoldsAllWordsOfAQueryInAnyCaseAndOrder(t *testing.T) {
	for query, want := range map[string]bool{"": true, "milk": true, "TODAY mil": true, "milk bread": false, "bread milk": false} {
		if got := HoldsAll("Buy Milk today", query); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}

func TestADayIsThatOfTheZone(t *testing.T) {
	at := time.Date(2026, 11, 22, 23, 30, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		other time.Time
		zone  *time.Location
		same  bool
	}{
		"an hour later": {at.Add(time.Hour), time.UTC, false}, "an hour later further east": {at.Add(time.Hour), time.FixedZone("", 3600), true},
		"the same moment written elsewhere": {at.In(time.FixedZone("", 3600)), time.UTC, true},
		"a month later":                     {at.AddDate(0, 1, 0), time.UTC, false}, "a year later": {at.AddDate(1, 0, 0), time.UTC, false},
	} {
		if got := SameDay(at, c.other, c.zone); got != c.same {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestCountdownsNeverOutgrowTheirColumns(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64().Draw(t, "d"))
		now := time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)
		if s := Until(now.Add(d), now); len(s) > 8 {
			t.Fatalf("until %v: %q", d, s)
		}
		if s := Age(d); len(s) > 6 {
			t.Fatalf("Age(%v) = %q", d, s)
		}
	})
}

// Q3: a sentence and a column give the same number at the same second.
func TestASentenceAndAColumnCountDownTogether(t *testing.T) {
	now := time.Date(2026, 11, 22, 8, 0, 30, 0, time.UTC)
	for _, c := range []struct {
		ahead      time.Duration
		in, column string
	}{
		{-7*time.Minute - 31*time.Second, "8 minutes ago", "8m ago"},
		{-time.Minute - 30*time.Second, "1 minute ago", "1m ago"},
		{29 * time.Second, "now", "now"}, // within its minute, as a clock shows it
		{30 * time.Second, "in 1 min", "in 1m"},
		{5*time.Minute + 29*time.Second, "in 5 min", "in 5m"},
		{5*time.Minute + 30*time.Second, "in 6 min", "in 6m"},
		{60 * time.Minute, "in 1 h", "in 1h"},
		{65 * time.Minute, "in 1 h 5 min", "in 1h05"},
		{11*time.Hour + 5*time.Minute, "in 11 h", "in 11h"},
		{24*time.Hour + 24*time.Minute, "in 24 h", "in 24h"},
		{3*24*time.Hour - time.Minute, "in 2 days", "in 2d"},
	} {
		if in, column := In(now.Add(c.ahead), now), Until(now.Add(c.ahead), now); in != c.in || column != c.column {
			t.Errorf("%v ahead is %q and %q, want %q and %q", c.ahead, in, column, c.in, c.column)
		}
	}
	narrow := strings.NewReplacer(" days", "d", " min", "m", " h", "h")
	testkit.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(100*24*time.Hour)).Draw(t, "d"))
		sentence, column := In(now.Add(d), now), Until(now.Add(d), now)
		short := narrow.Replace(sentence)
		if before, m, both := strings.Cut(strings.TrimPrefix(short, "in "), "h "); both {
			short = fmt.Sprintf("in %sh%02s", before, strings.TrimSuffix(m, "m"))
		}
		if short != column {
			t.Fatalf("%v: %q and %q", d, sentence, column)
		}
	})
}

// N6: a typo finds the intended word, and no distant one.
func TestTheNearestWordIsTheOneThatWasMeant(t *testing.T) {
	commands := []string{"run", "status", "schedule", "update", "updates", "reminder", "routine", "restore", "restart", "daily_cap", "monthly_cap"}
	for word, want := range map[string]string{
		"statsu": "status", "Status": "status", "rn": "", "runn": "run", "remind": "reminder", "sched": "schedule",
		"updat": "update", "updatess": "updates", "dayly_cap": "daily_cap", "montly-cap": "monthly_cap",
		"rest":       "", // restore or restart
		"frobnicate": "", "": "", "x": "", "ru": "run", "up": "", "s": "", "sttu": "", "rnu": "run",
	} {
		if got := Nearest(word, commands); got != want {
			t.Errorf("%q is taken for %q, not %q", word, got, want)
		}
	}
	days := []string{"weekday", "monday", "tuesday", "wednesday", "help"}
	for word, want := range map[string]string{"wensd" + "ay": "wednesday", "wekday": "weekday", "tusday": "tuesday", "hello": ""} {
		if got := Nearest(word, days); got != want {
			t.Errorf("%q is taken for %q, not %q", word, got, want)
		}
	}
	for n, slips := range map[int]int{2: 0, 3: 1, 5: 1, 6: 2, 8: 2, 9: 3, 12: 3} {
		meant := "abcdefghijkl"[:n]
		for typos, want := range map[int]string{slips: meant, slips + 1: ""} {
			if got := Nearest(strings.Repeat("z", typos)+meant[typos:], []string{meant}); got != want {
				t.Errorf("%d of %d letters are wrong: %q", typos, n, got)
			}
		}
	}
	for a, want := range map[string]int{"": 6, "status": 0, "statsu": 1, "tatus": 1, "ststus": 1, "xstatus": 1, "sutats": 2} {
		if got := distance(a, "status"); got != want {
			t.Errorf("%q is %d slips away, not %d", a, got, want)
		}
	}
}
