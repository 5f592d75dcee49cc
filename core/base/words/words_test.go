package words

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/core/base/testkit"
)

func TestWordsOfTime(t *testing.T) {
	const m, h = time.Minute, time.Hour
	for _, c := range []struct{ name, got, want string }{
		{"until", Until(28 * m), "in 28m"},
		{"until part of a minute", Until(27*m + time.Second), "in 28m"},
		{"until seconds", Until(time.Second), "in 1m"},
		{"until now", Until(0), "now"},
		{"until just past", Until(-59 * time.Second), "now"},
		{"until past", Until(-7 * m), "7m ago"},
		{"until an hour", Until(h), "in 1h"},
		{"until more", Until(h + 5*m), "in 1h05"},
		{"until much", Until(11*h + 5*m), "in 11h"},
		{"until days", Until(50 * h), "in 2d"},
		{"minutes", Minutes(44*m + time.Second), "45 min"},
		{"minutes to the hour", Minutes(59*m + time.Second), "1 h"},
		{"minutes more", Minutes(72 * m), "1h12"},
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
		{"ahead", Ahead(44*m + time.Second), "in 45 min"},
		{"ahead hours", Ahead(3 * h), "in 3 h"},
		{"ahead both", Ahead(3*h + 5*m), "in 3 h 5 min"},
		{"ahead days", Ahead(50 * h), "in 2 days"},
		{"ahead past", Ahead(-2 * h), "2 hours ago"},
		{"long", Long(h + 5*m), "1 hour 5 minutes"},
		{"long seconds", Long(12 * time.Second), "12 seconds"},
		{"long little", Long(time.Millisecond), "less than a second"},
		{"long days", Long(72 * h), "3 days"},
		{"every", Every(h), "hour"},
		{"every odd", Every(90 * m), "1 hour 30 minutes"},
		{"tokens", Tokens(812), "812"},
		{"tokens k", Tokens(44_500), "45k"},
		{"tokens m", Tokens(1_210_000), "1.2M"},
		{"dollars", Dollars(0.0034), "$0.0034"},
		{"dollars more", Dollars(0.12), "$0.12"},
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
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

func TestCountdownsNeverOutgrowTheirColumns(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64().Draw(t, "d"))
		if s := Until(d); len(s) > 8 {
			t.Fatalf("Until(%v) = %q", d, s)
		}
		if s := Age(d); len(s) > 6 {
			t.Fatalf("Age(%v) = %q", d, s)
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
	for a, want := range map[string]int{"": 6, "status": 0, "statsu": 1, "tatus": 1, "ststus": 1, "xstatus": 1, "sutats": 2} {
		if got := distance(a, "status"); got != want {
			t.Errorf("%q is %d slips away, not %d", a, got, want)
		}
	}
}
