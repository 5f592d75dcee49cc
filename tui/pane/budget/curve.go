package budget

import (
	"cmp"
	"strconv"
	"time"

	"ollimbot/core"
	"ollimbot/core/budget"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
)

// reach is how far the curve goes back and ahead.
const reach = 24 * time.Hour

// ahead is the level around now, and beside it the one that it is compared with.
type ahead struct {
	budget.Curve
	now, before numbers
	other       budget.Curve // with the numbers before, where they differ
}

func aheadOf(s *core.Snapshot, before numbers) ahead {
	a := ahead{now: numbersOf(s.Budget.State), before: before}
	a.Curve = s.Budget.Curve(a.now.capacity, a.now.refill)
	if a.compares() {
		a.other = s.Budget.Curve(before.capacity, before.refill)
	}
	return a
}

// compares reports that numbers have just been changed.
func (a ahead) compares() bool { return a.now != a.before }

// verdict says whether there will be enough.
func (a ahead) verdict(t *theme.Theme, s *core.Snapshot) []widget.Span {
	good := widget.Span{Role: theme.Good, Text: t.Glyph(theme.Check) + " "}
	bad := widget.Span{Role: theme.Bad, Text: t.Glyph(theme.Bang) + " "}
	until := clock(s, s.Budget.FiresUntil)
	refusal := func(n numbers, dry time.Time) string {
		switch {
		case n.capacity <= 0:
			return textAtOnce
		case dry.IsZero():
			return textNoRefusal(until)
		}
		return clock(s, dry)
	}
	switch {
	case a.compares():
		return []widget.Span{
			{Role: theme.Strong, Text: textFirstRefusal + refusal(a.before, a.other.Dry) + " "},
			{Role: theme.Strong, Text: t.Glyph(theme.Arrow) + " " + refusal(a.now, a.Dry)},
		}
	case a.now.capacity <= 0:
		return nil
	case !a.ExpectedDry.IsZero():
		return []widget.Span{bad, {Role: theme.Warn, Text: textLikelyDry(clock(s, a.ExpectedDry), titleAt(s, a.ExpectedDry))}}
	case !a.Dry.IsZero():
		return []widget.Span{bad, {Role: theme.Warn, Text: textDry(clock(s, a.Dry), titleAt(s, a.Dry))}, {Role: theme.Dim, Text: textIfAll}}
	}
	return []widget.Span{good, {Role: theme.Dim, Text: textEnoughUntil(until)}, {Role: theme.Dim, Text: textEvenIfAll}}
}

// titleAt is the task that fires at a moment and may cost a token.
func titleAt(s *core.Snapshot, at time.Time) string {
	for _, f := range s.Budget.Fires {
		if f.At.Equal(at) {
			return f.Title
		}
	}
	return ""
}

// legend says what the curves and the signs are.
func (a ahead) legend(t *theme.Theme) []widget.Span {
	solid, dashed := "━━ ", "╍╍ "
	if t.ASCII() {
		solid, dashed = "** ", ".. "
	}
	first, second := textExpected, textWorst
	if a.compares() {
		first, second = a.now.words(), a.before.words()
	}
	quiet := "░ "
	if t.ASCII() {
		quiet = ": "
	}
	dim := func(text string) widget.Span { return widget.Span{Role: theme.Dim, Text: text + "   "} }
	return []widget.Span{
		{Role: theme.Accent, Text: solid},
		dim(first),
		{Role: theme.Warn, Text: dashed},
		dim(second),
		{Role: theme.Ping, Text: t.Glyph(theme.Message) + " "},
		dim(textPing),
		{Role: theme.Warn, Text: t.Glyph(theme.Refused) + " "},
		dim(textRefusal),
		{Role: theme.Track, Text: quiet},
		dim(textQuietHours),
	}
}

// words are the numbers as a legend names them.
func (n numbers) words() string { return textCapacity(n.capacity) + ", " + textRate(n.refill) }

// plot is the picture: hours from now across, tokens upright.
func (a ahead) plot(t *theme.Theme, s *core.Snapshot, w int) *chart.Plot {
	now := s.At
	hours := func(at time.Time) float64 { return at.Sub(now).Hours() }
	top := max(1, a.now.capacity, a.before.capacity)
	p := &chart.Plot{
		X:     chart.Axis{From: -reach.Hours(), To: reach.Hours(), Ticks: hourTicks(s, w)},
		Y:     chart.Axis{From: 0, To: float64(top), Ticks: []chart.Tick{{At: float64(top), Label: strconv.Itoa(top)}}},
		Rules: []chart.Rule{{At: 0, Role: theme.Border, Label: textNow}},
	}
	for _, v := range chart.Ticks(float64(top), min(top, 6)) {
		if v != float64(top) {
			p.Y.Ticks = append(p.Y.Ticks, chart.Tick{At: v, Label: chart.Whole(v)})
		}
	}
	for _, q := range s.Budget.QuietSpans {
		p.Shades = append(p.Shades, chart.Range{From: hours(q[0]), To: hours(q[1])})
	}
	if !s.Budget.Muted.IsZero() {
		p.Shades = append(p.Shades, chart.Range{From: 0, To: hours(s.Budget.Muted)})
	}
	curve := func(role theme.Role, dashed bool, levels ...budget.Level) {
		c := chart.Curve{Role: role, Dashed: dashed}
		for _, l := range levels {
			c.Points = append(c.Points, chart.Point{X: hours(l.At), Y: l.Left})
		}
		p.Curves = append(p.Curves, c)
	}
	if a.compares() {
		curve(theme.Warn, true, a.other.Worst...)
		curve(theme.Accent, false, a.Worst...)
	} else {
		curve(theme.Warn, true, a.Worst...)
		curve(theme.Accent, false, a.Expected...)
	}
	curve(theme.Accent, false, a.Past...)
	p.Marks = marks(t, s, a, hours)
	return p
}

// marks are the pings and refusals of the last 24 hours, at the level that they left.
func marks(t *theme.Theme, s *core.Snapshot, a ahead, hours func(time.Time) float64) (out []chart.Mark) {
	for _, ping := range s.Budget.Pings {
		if ping.At.After(s.At) || s.At.Sub(ping.At) > reach {
			continue
		}
		left := budget.LeftAt(a.Past, ping.At.Add(time.Second)) // behind the drop
		m := chart.Mark{X: hours(ping.At), Y: left, Sign: t.Glyph(theme.Message), Role: theme.Ping, Name: ping.Title}
		switch {
		case ping.Refused != "":
			m.Sign, m.Role = t.Glyph(theme.Refused), theme.Warn
		case ping.Critical:
			m.Sign = t.Glyph(theme.Bell)
		}
		out = append(out, m)
	}
	return out
}

// hourTicks are the hours of the clock at steps for which there is room; midnight has
// the name of its day.
func hourTicks(s *core.Snapshot, w int) []chart.Tick {
	zone := cmp.Or(s.Zone, time.UTC)
	step := 24
	for _, n := range []int{1, 2, 3, 6, 12} {
		if 2*int(reach.Hours())/n*tickCells <= w {
			step = n
			break
		}
	}
	from := s.At.In(zone).Add(-reach)
	var out []chart.Tick
	for i := range 2*int(reach.Hours()) + 2 {
		at := time.Date(from.Year(), from.Month(), from.Day(), from.Hour()+i, 0, 0, 0, zone)
		if at.Hour()%step != 0 {
			continue
		}
		label := s.Clock(at, "15")
		if at.Hour() == 0 {
			label = at.Format("Mon")
		}
		out = append(out, chart.Tick{At: at.Sub(s.At).Hours(), Label: label})
	}
	return out
}

// tickCells is how much room an hour at the axis wants.
const tickCells = 6
