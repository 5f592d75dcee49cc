package budget

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/work/budget"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
)

const (
	// The minimum size of the curve.
	leastPlot, leastPlotWidth = 5, 24
	// roomy is the height from which the page has a legend, and a third of it shows today's messages.
	roomy = 14
	// proposes is how long the curve shows the effect of a change.
	proposes = 15 * time.Second
)

// drawn is the input of a drawing, except for the level's drift within a second.
type drawn struct {
	theme  *theme.Theme
	keys   action.Keys
	w, h   int
	second int64
	before numbers
	twelve bool
	budget core.BudgetView
}

// Draw implements pane.Pane. It keeps its drawing, because the curve of a day with many pings
// costs a millisecond.
func (p *Pane) Draw(c pane.Context, w, h int, _ bool) []widget.Row {
	now := drawn{c.Theme, c.Keys, w, h, c.Snap.At.Unix(), p.compared(c.Snap), c.Snap.TwelveHours, c.Snap.Budget}
	b := &now.budget
	b.State.Available, b.State.LastRefill = math.Floor(b.State.Available*10), time.Time{}
	if now.theme != p.kept.theme || !reflect.DeepEqual(now, p.kept) {
		p.kept, p.rows = now, p.draw(c, w, h)
	}
	return p.rows
}

// draw draws the level and its facts and, if there is room, the curve of the last and the
// next day, and today's messages.
func (p *Pane) draw(c pane.Context, w, h int) []widget.Row {
	s, brush := c.Snap, widget.Brush{Theme: c.Theme}
	var out []string
	line := func(spans ...widget.Span) {
		out = append(out, brush.Line(w, append([]widget.Span{{Text: " "}}, spans...)...))
	}
	a := aheadOf(s, p.compared(s))
	line(gauge(c, w-2)...)
	for _, l := range a.verdict(c, w-2) {
		line(l...)
	}
	for _, l := range widget.Flow(facts(c), widget.Span{Role: theme.Dim, Text: " · "}, w-2) {
		line(l...)
	}
	rows, foot, hot := 0, 0, 0
	if h >= heatHeight && w >= heatCells {
		hot = heatRows + 1 // the rule
	}
	today := slices.Clone(s.Budget.Today())
	slices.Reverse(today)
	if h >= roomy && w >= leastPlotWidth {
		line(a.legend(c.Theme)...)
		rows = min(len(today), max(1, (h-hot)/3-2))
		foot = rows + 1 // the rule
	}
	if room := h - len(out) - foot - hot; room >= leastPlot && w >= leastPlotWidth {
		out = append(out, a.plot(c.Theme, s, w).Draw(c.Theme, w, room)...)
	}
	all := widget.Rows(widget.Nowhere, out...)
	if foot > 0 {
		all = append(all, messages(c, today, rows, w)...)
	}
	if hot > 0 {
		head := brush.Rule(w, []widget.Span{{Role: theme.Strong, Text: textHeat}}, nil)
		all = append(all, widget.Row{Place: widget.Ruled, Text: head})
		for _, row := range heat(c) {
			all = append(all, widget.Row{Place: widget.Nowhere, Text: brush.Line(w, row...)})
		}
	}
	return widget.FillRows(all, w, h)
}

// messages returns the newest rows of today's pings and refusals, below a rule.
func messages(c pane.Context, today []budget.Ping, rows, w int) []widget.Row {
	brush := widget.Brush{Theme: c.Theme}
	count := c.Snap.Glance().PingsText()
	if n := len(today); n > rows {
		count = fmt.Sprintf("newest %d of %d · ", rows, n) + count
	}
	head := brush.Rule(w, []widget.Span{{Role: theme.Strong, Text: "Today"}}, []widget.Span{{Role: theme.Dim, Text: count}})
	out := []widget.Row{{Place: widget.Ruled, Text: head}}
	for _, ping := range today[:rows] {
		out = append(out, widget.Row{Text: brush.Line(w, message(c, ping, w)...), Place: widget.Nowhere})
	}
	return out
}

// The columns of a message, in cells; the text takes the rest. As the width shrinks, the text is dropped first.
const (
	taskCells   = 20
	answerCells = 16
	withText    = 72
)

// message is one row: time, task, text, and when it was answered.
func message(c pane.Context, ping budget.Ping, w int) []widget.Span {
	glyph, role := theme.Message, theme.Ping
	text, answer, answers := ping.Text, "not answered", theme.Dim
	switch {
	case ping.Refused != "":
		glyph, role, text, answer, answers = theme.Refused, theme.Warn, ping.Refused, textRefusal, theme.Warn
	case ping.Essential && ping.Answered.IsZero():
		answer = textEssential
	case ping.Quiet && ping.Answered.IsZero():
		role, answer = theme.Dim, textQuiet
	case !ping.Answered.IsZero():
		answer, answers = "after "+words.Minutes(ping.Answered.Sub(ping.At)), theme.Good
	}
	out := []widget.Span{
		{Role: theme.Dim, Text: fmt.Sprintf(" %*s ", c.Snap.ClockCells(), c.Snap.Hour(ping.At))},
		{Role: role, Text: c.Theme.Glyph(glyph) + " "},
		{Text: widget.Fit(ping.Title, taskCells) + "  "},
	}
	if w >= withText {
		out = append(out, widget.Span{Role: theme.Dim, Text: widget.Fit(text, w-widget.Width(out)-answerCells-2) + "  "})
	}
	return append(out, widget.Span{Role: answers, Text: answer})
}

// reach is the time range of the curve, back and ahead.
const reach = 24 * time.Hour

// ahead is the level around now, and the level for comparison.
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

// compares reports whether the numbers have just changed.
func (a ahead) compares() bool { return a.now != a.before }

// verdict returns the outlook or, after a change of the numbers, its effect.
func (a ahead) verdict(c pane.Context, w int) [][]widget.Span {
	if !a.compares() || a.now.capacity <= 0 || a.Dry.IsZero() && a.other.Dry.IsZero() {
		return outlook(c, w)
	}
	text := a.refusal(c.Snap, a.now, a.Dry)
	if before := a.refusal(c.Snap, a.before, a.other.Dry); before != text {
		text = before + " " + c.Theme.Glyph(theme.Arrow) + " " + text
	}
	if widget.Cells(textFirstRefusal+text) > w {
		return [][]widget.Span{{{Role: theme.Dim, Text: strings.TrimSpace(textFirstRefusal)}}, {{Role: theme.Strong, Text: text}}}
	}
	return [][]widget.Span{{{Role: theme.Strong, Text: textFirstRefusal + text}}}
}

// refusal returns when the first ping would be refused with the given numbers.
func (a ahead) refusal(s *core.Snapshot, n numbers, dry time.Time) string {
	switch {
	case n.capacity <= 0:
		return "at once"
	case dry.IsZero():
		return "none until " + s.Hour(s.Budget.FiresUntil)
	}
	return s.Hour(dry)
}

// legend explains the curves and the signs.
func (a ahead) legend(t *theme.Theme) (out []widget.Span) {
	first, role, more, second := textWorst, theme.Track, chart.More(t), textExpected
	if a.compares() {
		first, role, more, second = a.now.words(), theme.Warn, "━━", a.before.words()
	}
	for _, e := range []struct {
		role       theme.Role
		sign, word string
	}{
		{theme.Track, "█", first},
		{role, more, second},
		{theme.Ping, t.Glyph(theme.Message), "ping"},
		{theme.Warn, t.Glyph(theme.Refused), textRefusal},
		{theme.Track, t.Glyph(theme.Quiet), "quiet hours"},
	} {
		out = append(out, widget.Span{Role: e.role, Text: e.sign + " "}, widget.Span{Role: theme.Dim, Text: e.word + "   "})
	}
	return out
}

func (n numbers) words() string { return words.Count(n.capacity, "token") + ", " + textRate(n.refill) }

// plot returns the chart: hours from now on the x axis, tokens on the y axis.
func (a ahead) plot(t *theme.Theme, s *core.Snapshot, w int) *chart.Plot {
	now := s.At.Truncate(time.Minute) // the ticks keep their places meanwhile
	hours := func(at time.Time) float64 { return at.Sub(now).Hours() }
	top := max(1, a.now.capacity, a.before.capacity)
	p := &chart.Plot{
		X:     chart.Axis{From: -reach.Hours(), To: reach.Hours(), Ticks: hourTicks(s, w)},
		Y:     chart.Axis{From: 0, To: float64(top), Ticks: []chart.Tick{{At: float64(top), Label: strconv.Itoa(top)}}},
		Rules: []chart.Rule{{At: 0, Role: theme.Border, Label: "now"}},
	}
	for _, v := range chart.Ticks(float64(top), min(top, 6)) {
		if v != float64(top) {
			p.Y.Ticks = append(p.Y.Ticks, chart.Tick{At: v, Label: chart.Label(v)})
		}
	}
	for _, q := range s.Budget.QuietSpans {
		p.Shades = append(p.Shades, chart.Range{From: hours(q[0]), To: hours(q[1])})
	}
	if !s.Budget.Muted.IsZero() {
		p.Shades = append(p.Shades, chart.Range{From: 0, To: hours(s.Budget.Muted)})
	}
	points := func(levels []budget.Level) (out []chart.Point) {
		for _, l := range levels {
			out = append(out, chart.Point{X: hours(l.At), Y: l.Left})
		}
		return out
	}
	p.Areas = []chart.Area{
		{Role: theme.Border, Points: points(a.Past)},
		{Role: theme.Track, Points: points(a.Worst), More: points(a.Expected)},
	}
	if a.compares() {
		p.Areas[1].More = nil
		p.Curves = []chart.Curve{{Role: theme.Warn, Points: points(a.other.Worst)}}
	}
	p.Marks = marks(t, s, a, hours)
	return p
}

// marks returns the pings and refusals of the last 24 hours, at the level after each.
func marks(t *theme.Theme, s *core.Snapshot, a ahead, hours func(time.Time) float64) (out []chart.Mark) {
	for _, ping := range s.Budget.Pings {
		if ping.At.After(s.At) || s.At.Sub(ping.At) > reach {
			continue
		}
		left := budget.LeftAt(a.Past, ping.At.Add(time.Second)) // after the drop
		m := chart.Mark{X: hours(ping.At), Y: left, Sign: t.Glyph(theme.Message), Role: theme.Ping, Name: ping.Title}
		switch {
		case ping.Refused != "":
			m.Sign, m.Role = t.Glyph(theme.Refused), theme.Warn
		case ping.Critical:
			m.Sign = t.Glyph(theme.Bell)
		case ping.Quiet:
			m.Role = theme.Dim
		}
		out = append(out, m)
	}
	return out
}

// hourTicks returns as many clock hours as fit.
func hourTicks(s *core.Snapshot, w int) (out []chart.Tick) {
	step := 24
	for _, n := range []int{1, 2, 3, 6, 12} {
		if 2*int(reach.Hours())/n*tickCells <= w {
			step = n
			break
		}
	}
	for at, label := range pane.Hours(s, reach, step) {
		out = append(out, chart.Tick{At: at.Sub(s.At.Truncate(time.Minute)).Hours(), Label: label})
	}
	return out
}

// tickCells is the width of an hour at the axis.
const tickCells = 6

const (
	// heatRows are the hours, and the days of the week.
	heatRows = 1 + 7
	// heatCells is the room for the name of a day, and for each hour two cells.
	heatCells = 5 + 2*24
	// heatHeight is the height from which the page has the heat map.
	heatHeight = 24
)

// heat shows in which hours and on which weekdays pings were answered: a heading, and a row for each weekday.
func heat(c pane.Context) [][]widget.Span {
	var answered [7][24]float64
	top, n := 0.0, 0
	for i := range c.Snap.Budget.Pings {
		p := &c.Snap.Budget.Pings[i]
		if p.Answered.IsZero() {
			continue
		}
		at := c.Snap.Local(p.At)
		cell := &answered[(at.Weekday()+6)%7][at.Hour()]
		*cell++
		top, n = max(top, *cell), n+1
	}
	hours := widget.Span{Role: theme.Dim, Text: "     "}
	for h := 0; h < 24; h += 3 {
		at := time.Date(2000, 1, 1, h, 0, 0, 0, c.Snap.Local(c.Snap.At).Location())
		hours.Text += widget.Fit(c.Snap.Clock(at, "15"), 6)
	}
	out := [][]widget.Span{{hours, {Role: theme.Dim, Text: fmt.Sprintf("%d of %s answered", n, words.Count(sent(c.Snap.Budget.Pings), "ping"))}}}
	for day := range answered {
		cells := make([]float64, 0, 2*24)
		for _, v := range answered[day] {
			cells = append(cells, v, v)
		}
		name := time.Weekday((day + 1) % 7).String()[:3]
		out = append(out, []widget.Span{{Role: theme.Dim, Text: " " + name + " "}, {Role: theme.Ping, Text: chart.Heat(c.Theme, cells, top)}})
	}
	return slices.Clip(out)
}

// sent returns the number of pings that reached the user.
func sent(pings []budget.Ping) (n int) {
	for i := range pings {
		if pings[i].Refused == "" {
			n++
		}
	}
	return n
}
