package words

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestWordsOfTime(t *testing.T) {
	const m, h = time.Minute, time.Hour
	for _, c := range []struct{ name, got, want string }{
		{"brief", Brief(27*m + time.Second), "28m"},
		{"brief an hour", Brief(h), "1h"},
		{"brief more", Brief(h + 5*m), "1h05"},
		{"brief much", Brief(11*h + 5*m), "11h"},
		{"brief days", Brief(50 * h), "2d"},
		{"minutes", Minutes(44*m + time.Second), "45 min"},
		{"minutes to the hour", Minutes(59*m + time.Second), "1 h"},
		{"minutes more", Minutes(72 * m), "1 h 12 min"},
		{"minutes much", Minutes(24*h + 24*m), "24 h"},
		{"minutes days", Minutes(49 * h), "2 days"},
		{"minutes negative", Minutes(-h), "0 min"},
		{"elapsed", Elapsed(12 * time.Second), "0:12"},
		{"elapsed minutes", Elapsed(12*m + 5*time.Second), "12:05"},
		{"elapsed hours", Elapsed(h + 2*m + 3*time.Second), "1:02:03"},
		{"elapsed backwards", Elapsed(-h), "0:00"},
		{"age", Age(30 * time.Second), "now"},
		{"age minutes", Age(15 * m), "15 min"},
		{"age hours", Age(3 * h), "3 h"},
		{"age days", Age(49 * h), "2 d"},
		{"count one", Count(1, "tool"), "1 tool"},
		{"count none", Count(0, "tool"), "0 tools"},
		{"count many", Count(1204, "line"), "1204 lines"},
		{"grouped one", Grouped(1, "tool"), "1 tool"},
		{"grouped many", Grouped(1204, "line"), "1,204 lines"},
		{"ago", Ago(59 * time.Second), "just now"},
		{"ago one", Ago(m), "1 minute ago"},
		{"ago hours", Ago(3*h + 59*m), "3 hours ago"},
		{"ago days", Ago(49 * h), "2 days ago"},
		{"long", Long(h + 5*m), "1 hour 5 minutes"},
		{"long seconds", Long(12 * time.Second), "12 seconds"},
		{"long little", Long(time.Millisecond), "less than a second"},
		{"long days", Long(72 * h), "3 days"},
		{"tokens", Tokens(812), "812"},
		{"tokens k", Tokens(44_500), "45k"},
		{"tokens m", Tokens(1_210_000), "1.2M"},
		{"dollars", Dollars(0.0034), "$0.0034"},
		{"dollars more", Dollars(0.12), "$0.12"},
		{"dollars of less than a cent", Dollars(0.0089), "$0.0089"},
		{"cents of less than one", Cents(0.0089), "<0.01"},
		{"dollars that are a cent", Dollars(0.00996), "$0.01"},
		{"cents that are one", Cents(0.00996), "0.01"},
		{"cents", Cents(0.12), "0.12"},
		{"bytes", Bytes(812), "812 bytes"},
		{"bytes k", Bytes(45 << 10), "45 kB"},
		{"bytes m", Bytes(3 << 19), "1.5 MB"},
		{"memory", Memory(145 << 20), "145 MB"},
		{"memory g", Memory(3 << 29), "1.5 GB"},
		{"big", Big(940), "940"},
		{"big k", Big(1234), "1.2k"},
		{"big tens", Big(14_100), "14k"},
		{"big edge", Big(9_960), "10k"},
		{"big m", Big(3_140_000), "3.1M"},
		{"big negative", Big(-4), "0"},
		{"thousands", Thousands(1234567), "1,234,567"},
		{"ordinals", fmt.Sprint(Ordinal(1), Ordinal(2), Ordinal(3), Ordinal(4), Ordinal(11), Ordinal(13), Ordinal(23), Ordinal(112)), "1st2nd3rd4th11th13th23rd112th"},
		{"ordinals in words", fmt.Sprint(Nth(0), Nth(1), Nth(3), Nth(10), Nth(11)), "0thfirstthirdtenth11th"},
		{"brief a started minute", Brief(time.Nanosecond), "1m"},
		{"brief ten hours", Brief(10 * h), "10h"},
		{"brief under two days", Brief(48*h - m), "47h"},
		{"brief two days", Brief(48 * h), "2d"},
		{"age a minute", Age(m), "1 min"},
		{"age an hour", Age(h), "1 h"},
		{"age two days", Age(48 * h), "2 d"},
		{"ago an hour", Ago(h), "1 hour ago"},
		{"ago a day", Ago(24 * h), "1 day ago"},
		{"span", Span(29*time.Second) + "," + Span(30*time.Second) + "," + Span(h) + "," + Span(48*h-m) + "," + Span(48*h), ",1m,1h 00m,47h 59m,2d"},
		{"long minutes", Long(m + time.Second), "1 minute 1 second"},
		{"long two days", Long(48*h + h), "2 days 1 hour"},
		{"clock of 24 hours", ClockLayout("Mon 15:04", false), "Mon 15:04"},
		{"clock of 12 hours", ClockLayout("15:04:05, 15:04, 15", true), "3:04:05pm, 3:04pm, 3pm"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
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

func TestAgesCountWholeUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Hour:                        "just now",
		0:                                 "just now",
		time.Minute - 1:                   "just now",
		time.Minute:                       "1 minute ago",
		2*time.Minute - 1:                 "1 minute ago",
		15 * time.Minute:                  "15 minutes ago",
		time.Hour - 1:                     "59 minutes ago",
		time.Hour:                         "1 hour ago",
		3*time.Hour + 59*time.Minute:      "3 hours ago",
		24*time.Hour - 1:                  "23 hours ago",
		24 * time.Hour:                    "1 day ago",
		2*24*time.Hour + 23*time.Hour:     "2 days ago",
		400*24*time.Hour + 30*time.Minute: "400 days ago",
	} {
		if got := Ago(d); got != want {
			t.Errorf("Ago(%v) = %q, want %q", d, got, want)
		}
	}
}

// N6: a typo finds the intended word, and no distant one.
func TestTheNearestWordIsTheOneThatWasMeant(t *testing.T) {
	commands := []string{"run", "status", "schedule", "update", "updates", "reminder", "routine", "restore", "restart", "daily_cap", "monthly_cap"}
	for word, want := range map[string]string{
		"statsu": "status", "Status": "status", "rn": "", "runn": "run", "remind": "reminder", "sched": "schedule",
		"updat": "update", "updatess": "updates", "dayly_cap": "daily_cap", "montly-cap": "monthly_cap",
		"rest":       "", // restore or restart
		"frobnicate": "", "": "", "x": "",
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
	for a, want := range map[string]int{"": 6, "status": 0, "statsu": 1, "tatus": 1, "ststus": 1, "xstatus": 1, "sutats": 2} {
		if got := distance(a, "status"); got != want {
			t.Errorf("%q is %d slips away, not %d", a, got, want)
		}
	}
}

func TestAListIsJoinedAsInASentence(t *testing.T) {
	for want, list := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := And(list); got != want {
			t.Errorf("%q is joined as %q", list, got)
		}
	}
}
