package widget

import (
	"math"
	"strings"
	"testing"

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
