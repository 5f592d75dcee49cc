package widget

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ollimbot/tui/theme"
)

func joined(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

func TestGaugeShowsEighths(t *testing.T) {
	full, plainTheme := theme.New(theme.Options{Plain: true}), theme.New(theme.Options{Plain: true, ASCII: true})
	for _, c := range []struct {
		share       float64
		want, ascii string
	}{
		{0, "░░░░░░░░", "........"},
		{1, "████████", "########"},
		{0.5, "████░░░░", "####...."},
		{0.51, "████▏░░░", "####...."},
		{0.0001, "▏░░░░░░░", "#......."},
		{0.9999, "███████▉", "#######."},
		{-3, "░░░░░░░░", "........"},
		{7, "████████", "########"},
		{math.NaN(), "░░░░░░░░", "........"},
	} {
		if got := joined(Gauge(full, c.share, 8)); got != c.want {
			t.Errorf("share %v: %q, want %q", c.share, got, c.want)
		}
		if got := joined(Gauge(plainTheme, c.share, 8)); got != c.ascii {
			t.Errorf("share %v in ASCII: %q, want %q", c.share, got, c.ascii)
		}
	}
}

func TestGaugeSparkAndChartAreExact(t *testing.T) {
	full, ascii := theme.New(theme.Options{Plain: true}), theme.New(theme.Options{Plain: true, ASCII: true})
	rapid.Check(t, func(t *rapid.T) {
		th := rapid.SampledFrom([]*theme.Theme{full, ascii}).Draw(t, "theme")
		w := rapid.IntRange(0, 70).Draw(t, "w")
		if got := Width(Gauge(th, rapid.Float64().Draw(t, "share"), w)); got != w {
			t.Fatalf("gauge of %d cells takes %d", w, got)
		}
		values := rapid.SliceOfN(rapid.IntRange(-5, 1000), 0, 30).Draw(t, "values")
		if got := Width(Spark(th, values)); got != len(values) {
			t.Fatalf("sparkline of %d values takes %d", len(values), got)
		}
		wide, h := rapid.IntRange(1, 4).Draw(t, "wide"), rapid.IntRange(1, 9).Draw(t, "h")
		for _, row := range Chart(th, values, wide, h) {
			if got := Width(row); got != len(values)*(wide+1) {
				t.Fatalf("chart row takes %d", got)
			}
		}
	})
}

func TestSparkIsAsHighAsItsValues(t *testing.T) {
	th := theme.New(theme.Options{Plain: true})
	if got := joined(Spark(th, []int{0, 1, 2, 4, 8})); got != "·▂▃▅█" {
		t.Errorf("got %q", got)
	}
}

func TestChartStandsOnItsBase(t *testing.T) {
	th := theme.New(theme.Options{Plain: true})
	rows := Chart(th, []int{0, 2, 4}, 1, 2)
	if got := joined(rows[0]) + "|" + joined(rows[1]); got != "    █ |· █ █ " {
		t.Errorf("got %q", got)
	}
}

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
		{"soon", Soon(73 * m), "in 1h"},
		{"soon rounds", Soon(163 * m), "in 3h"},
		{"soon minutes", Soon(59 * m), "in 59m"},
		{"soon past", Soon(-2 * h), "2h ago"},
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
		{"count many", Count(1204, "line"), "1,204 lines"},
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
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64().Draw(t, "d"))
		if s := Until(d); len(s) > 8 {
			t.Fatalf("Until(%v) = %q", d, s)
		}
		if s := Age(d); len(s) > 6 {
			t.Fatalf("Age(%v) = %q", d, s)
		}
	})
}
