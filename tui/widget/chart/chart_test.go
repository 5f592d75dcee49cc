package chart

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ollimbot/core/base/goldentest"
	"ollimbot/core/base/testkit"
	"ollimbot/tui/theme"
	"ollimbot/tui/tuitest"
	"ollimbot/tui/widget"
)

func joined(spans []widget.Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// looks are the terminals that draw differently.
var looks = map[string]theme.Options{
	"blocks": {Plain: true}, "ascii": {Plain: true, ASCII: true},
}

func TestGaugeShowsEighths(t *testing.T) {
	full, plainTheme := theme.New(looks["blocks"]), theme.New(looks["ascii"])
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

func TestGaugeAndSparkAreExact(t *testing.T) {
	testkit.Check(t, func(t *rapid.T) {
		th := theme.New(looks[rapid.SampledFrom([]string{"braille", "ascii"}).Draw(t, "look")])
		w := rapid.IntRange(0, 70).Draw(t, "w")
		if got := widget.Width(Gauge(th, rapid.Float64().Draw(t, "share"), w)); got != w {
			t.Fatalf("gauge of %d cells takes %d", w, got)
		}
		values := rapid.SliceOfN(rapid.Float64(), 0, 30).Draw(t, "values")
		if got := widget.Cells(Spark(th, values)); got != len(values) {
			t.Fatalf("sparkline of %d values takes %d", len(values), got)
		}
	})
}

func TestSparkIsAsHighAsItsValues(t *testing.T) {
	th := theme.New(looks["blocks"])
	if got := Spark(th, []float64{0, 1, 2, 4, 8}); got != "·▂▃▄▆" {
		t.Errorf("got %q", got)
	}
}

func TestTicksAreFewAndRound(t *testing.T) {
	for _, c := range []struct {
		most float64
		n    int
		want []float64
	}{
		{5, 5, []float64{0, 1, 2, 3, 4, 5}},
		{5, 3, []float64{0, 2, 4}},
		{12, 4, []float64{0, 5, 10}},
		{0.37, 4, []float64{0, 0.1, 0.2, 0.3}},
		{0, 4, []float64{0}},
		{math.Inf(1), 4, []float64{0}},
		{math.NaN(), 4, []float64{0}},
	} {
		got := Ticks(c.most, c.n)
		if d := cmp.Diff(c.want, got, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); d != "" {
			t.Errorf("%v in %d (-want +got):\n%s", c.most, c.n, d)
		}
	}
}

// month is 30 days with what today may come to.
func month() *Plot {
	p := &Plot{
		Top: 2, Rule: Rule{At: 1.5, Role: theme.Warn, Label: "cap $1.50"},
	}
	for i := range 30 {
		p.Bars = append(p.Bars, Bar{Y: float64(i%7) / 4, Role: theme.Accent, Label: map[int]string{0: "Oct 24", 15: "Nov 8", 29: "today"}[i]})
	}
	p.Bars[29].More = 1.2
	for _, v := range Ticks(2, 4) {
		p.Ticks = append(p.Ticks, Tick{v, "$" + Label(v)})
	}
	return p
}

func TestPicturesLookAsTheyDid(t *testing.T) {
	for look, o := range looks {
		for _, size := range [][2]int{{100, 14}, {44, 8}} {
			got := strings.Join(month().Draw(theme.New(o), size[0], size[1]), "|\n") + "|\n"
			goldentest.Compare(t, fmt.Sprintf("month-%s-%d.golden", look, size[0]), got)
		}
	}
	goldentest.Compare(t, "month-colours-44.golden", tuitest.Painted(strings.Join(month().Draw(tuitest.Colours, 44, 8), "\n"))+"\n")
	var spans []string
	for _, s := range Gauge(tuitest.Colours, 0.3, 5) {
		spans = append(spans, tuitest.Painted(tuitest.Colours.Paint(s.Role, s.Text)))
	}
	if got := strings.Join(spans, ""); got != "‹good █▌›‹border ░░░›" {
		t.Errorf("a gauge is %s", got)
	}
}

func TestAColumnGrowsByPartsOfACell(t *testing.T) {
	blocks, ascii := theme.New(looks["blocks"]), theme.New(looks["ascii"])
	for _, c := range []struct {
		share             float64
		bar, ascii, faint string
	}{
		{-1, "||▁", "||_", "||▒"},
		{0, "||▁", "||_", "||▒"},
		{0.03, "||▁", "||_", "||▒"},
		{0.5, "|▄|█", "|=|#", "|▒|▒"},
		{0.7, "▁|█|█", "|#|#", "|▒|▒"},
		{1, "█|█|█", "#|#|#", "▒|▒|▒"},
		{9, "█|█|█", "#|#|#", "▒|▒|▒"},
	} {
		for want, got := range map[string][]string{c.bar: Column(blocks, c.share, 3, false), c.ascii: Column(ascii, c.share, 3, false), c.faint: Column(blocks, c.share, 3, true)} {
			if strings.Join(got, "|") != want {
				t.Errorf("%v: %q, want %s", c.share, got, want)
			}
		}
	}
}

// Poster 16: no cell is full, so that two rows do not merge.
func TestHeatIsHigherForMore(t *testing.T) {
	for look, want := range map[string]string{"blocks": "·▁▂▄▆", "ascii": ".-+*#"} {
		if got := Heat(theme.New(looks[look]), []float64{0, 1, 2, 3, 4}, 4); got != want {
			t.Errorf("%s: %q, want %q", look, got, want)
		}
	}
}

// No sparkline fills a cell: those of two rows do not merge.
func TestSparklinesOfTwoRowsStayApart(t *testing.T) {
	if got := Spark(theme.New(looks["blocks"]), []float64{5, 5, 4.9}); strings.ContainsAny(got, "▇█") {
		t.Errorf("%q", got)
	}
}

func TestAPlotIsExactWhateverItShows(t *testing.T) {
	number := rapid.OneOf(rapid.Float64Range(-30, 30), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, 1e308, -1e308}))
	words := rapid.SampledFrom([]string{"", "a", "a long name that fits nowhere"})
	testkit.Check(t, func(t *rapid.T) {
		draw := func(name string) float64 { return number.Draw(t, name) }
		p := Plot{Top: draw("top"), Rule: Rule{At: draw("rule"), Label: words.Draw(t, "label")}}
		for range rapid.IntRange(0, 5).Draw(t, "ticks") {
			p.Ticks = append(p.Ticks, Tick{draw("tick"), words.Draw(t, "label")})
		}
		for range rapid.IntRange(0, 4).Draw(t, "bars") {
			p.Bars = append(p.Bars, Bar{Y: draw("bar"), More: draw("more"), Label: words.Draw(t, "label")})
		}
		o := looks[rapid.SampledFrom([]string{"blocks", "ascii"}).Draw(t, "look")]
		o.Plain, o.Dark, o.Profile = rapid.Bool().Draw(t, "plain"), true, colorprofile.TrueColor
		w, h := rapid.IntRange(0, 120).Draw(t, "w"), rapid.IntRange(0, 30).Draw(t, "h")
		lines := p.Draw(theme.New(o), w, h)
		if len(lines) != h {
			t.Fatalf("%d lines, want %d", len(lines), h)
		}
		for _, l := range lines {
			plain := ansi.Strip(l)
			if n := displaywidth.String(plain); n != w || strings.ContainsAny(plain, "\x1b\n") {
				t.Fatalf("%q takes %d cells, want %d", l, n, w)
			}
		}
	})
}

// Ten rows for five tokens: 4 stood one row too high.
func TestTicksAreAsFarApartAsTheirNumbers(t *testing.T) {
	p := &Plot{Top: 5}
	for v, want := range []int{9, 8, 6, 4, 2, 0} {
		if got := p.row(float64(v), 10); got != want {
			t.Errorf("%d is in row %d, want %d", v, got, want)
		}
	}
}
