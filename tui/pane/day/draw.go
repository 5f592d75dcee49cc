package day

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/work/budget"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	budgetpane "ollimbot/tui/pane/budget"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
)

const (
	// under is the number of rows below the level: the lanes and the hours. A day that is not higher has one row of
	// marks, and the hours.
	under = lanes + 1
	// labelCells is the room for the names of the rows.
	labelCells = 6
	// asideCells is the width of the words about the budget after the rows, from a size of asideWidth and asideHeight.
	asideCells, asideWidth, asideHeight = 32, 160, 15
	// headWidth is the width from which the caption has words about the budget.
	headWidth = 96
)

// gap is between the entries of the legend, and before it.
var gap = widget.Span{Text: "  "}

// drawn is the input of a drawing.
type drawn struct {
	theme           *theme.Theme
	w, h, slot      int
	made            made
	chosen          int
	focused, twelve bool
	quiet           [2]time.Time // the first quiet hours
	muted, closed   time.Time
	left            int // tenths of a token
	cost, limit     float64
	fresh           bool
}

// Draw implements pane.Pane. It keeps its drawing, because the day is unchanged in most frames.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	s, a := c.Snap, axisOf(c.Snap.At, w, h)
	now := drawn{
		theme: c.Theme, w: w, h: h, slot: a.slot(s.At), made: p.made, chosen: p.chosen,
		focused: focused, twelve: s.TwelveHours, muted: s.Budget.Muted, closed: s.Budget.Quiet, left: int(s.Budget.State.Available * 10),
	}
	now.fresh = spent(c)
	now.cost, now.limit = s.Money.Today.Spent.Dollars(), s.Money.Today.Cap
	if len(s.Budget.QuietSpans) > 0 {
		now.quiet = s.Budget.QuietSpans[0]
	}
	if now != p.kept {
		p.kept, p.rows = now, widget.Rows(widget.Nowhere, p.draw(c, a, w, h, focused)...)
	}
	return p.rows
}

func (p *Pane) draw(c pane.Context, a axis, w, h int, focused bool) []string {
	brush := widget.Brush{Theme: c.Theme}
	p.dense = false
	rows := append(p.area(c, a), p.lane(c, a, pings, focused))
	names := make([]string, h)
	if a.level > 0 {
		names[0], names[a.level+pings], names[a.level+runs] = fmt.Sprintf("%4.0f", p.top(c.Snap)), "   0", "runs"
		rows = append(rows, p.lane(c, a, runs, focused))
	}
	rows = append(rows, hours(c, a))
	var aside [][]widget.Span
	if a.right > 0 {
		aside = append(budgetpane.Head(c), cost(c))
		if len(c.Snap.Budget.Pings) > 0 {
			heat := budgetpane.HeatMap(c, 1)
			heat[0] = heat[0][:1] // the hours, without the count
			aside = append(append(aside, nil, []widget.Span{{Role: theme.Dim, Text: textHeat}}), heat...)
		}
	}
	out := make([]string, 0, h)
	for i, row := range rows[len(rows)-min(h, len(rows)):] {
		lead := widget.Span{Role: theme.Dim, Text: " " + names[i]}
		if focused && i == a.level+pings {
			lead = widget.Span{Role: theme.Focus, Text: c.Theme.Glyph(theme.Pointer) + names[i]}
		}
		row = append([]widget.Span{{Role: lead.Role, Text: widget.Fit(lead.Text, a.left)}}, row...)
		if i < len(aside) {
			row = append(append(row, gap), aside[i]...)
		}
		out = append(out, brush.Line(w, row...))
	}
	return out
}

// cost is what today has cost, with the key of the page of costs.
func cost(c pane.Context) []widget.Span {
	today := c.Snap.Money.Today
	out := []widget.Span{
		{Role: theme.Dim, Text: c.Names(action.Everywhere).Key(action.Costs.Go()) + " "},
		{Role: theme.Strong, Text: action.Costs.Name()},
		{Text: "  " + words.Dollars(today.Spent.Dollars())},
		{Role: theme.Dim, Text: " today"},
	}
	if today.Capped() && today.Cap > 0 {
		out = append(out, widget.Span{Role: theme.Dim, Text: " of " + words.Dollars(today.Cap)})
	}
	return out
}

// joined returns cells as spans, with the rule for now between them.
func joined(c pane.Context, a axis, cells []widget.Span) []widget.Span {
	cells[a.half] = widget.Span{Role: theme.Focus, Text: c.Theme.Box().Left}
	return chart.Merged(cells)
}

// lane draws a row of marks; without lanes, of all marks. The lane of pings is the ground of the level, and shows the
// quiet hours in the background.
// The chosen mark is always visible.
func (p *Pane) lane(c pane.Context, a axis, lane int, focused bool) []widget.Span {
	cells := chart.Row(a.n, theme.Text, " ")
	if lane == pings && a.level > 0 {
		ground := c.Theme.Box().Top
		if c.Theme.ASCII() {
			ground = "_"
		}
		cells = chart.Row(a.n, theme.Border, ground)
	}
	if lane == pings {
		shade(c, a, cells)
	}
	seen, marked := make([]kind, a.n), make([]int, a.n)
	for i := range seen {
		seen[i] = kind(len(kinds))
	}
	for i, m := range p.marks {
		at := a.cell(m.at)
		if a.level > 0 && m.kind.lane() != lane {
			continue
		}
		marked[at]++
		chosen := focused && i == p.chosen
		if chosen || m.kind < seen[at] && cells[at].Role != theme.Caret {
			seen[at], cells[at] = m.kind, widget.Span{Role: kinds[m.kind].role, Text: c.Theme.Glyph(kinds[m.kind].glyph)}
		}
		if chosen {
			cells[at].Role = theme.Caret
		}
	}
	for at, n := range marked {
		if n > 1 && a.level > 0 && cells[at].Role != theme.Caret {
			cells[at].Text, p.dense = dense(c.Theme, n), true
		}
	}
	name(c, a, cells)
	if len(c.Snap.Schedule.Tasks)+len(p.marks) == 0 && lane == runs && a.level > 0 {
		cells[min(a.half+2, a.n-1)] = widget.Span{Role: kinds[coming].role, Text: c.Theme.Glyph(kinds[coming].glyph)}
		n := c.Names(action.Schedule)
		chart.Write(cells, a.half+4, theme.Dim, fmt.Sprintf(textFirst, n.Key(action.Schedule.Go()), n.Key(action.ScheduleNew)))
	}
	return joined(c, a, cells)
}

// dense is the sign of several marks of a lane in one cell, so that none hides another: a bar that grows with their
// number.
func dense(t *theme.Theme, n int) string {
	if t.ASCII() {
		return strconv.Itoa(min(n, 9))
	}
	return []string{"▂", "▅", "█"}[min(n, 4)-2]
}

// shade fills the times in which non-critical pings are refused.
func shade(c pane.Context, a axis, cells []widget.Span) {
	spans := c.Snap.Budget.QuietSpans
	if muted := c.Snap.Budget.Muted; muted.After(a.now) {
		spans = append(slices.Clone(spans), [2]time.Time{a.now.Add(1), muted})
	}
	for _, q := range spans {
		if q[1].After(a.from(0)) && q[0].Before(a.from(a.n)) {
			for i := a.cell(q[0]); i < a.cell(q[1]); i++ {
				cells[i] = widget.Span{Role: theme.Track, Text: c.Theme.Glyph(theme.Quiet)}
			}
		}
	}
}

// name labels the shaded times where marks and now leave room.
func name(c pane.Context, a axis, cells []widget.Span) {
	for from := 0; from < len(cells); from++ {
		to := from
		for to < len(cells) && to != a.half && cells[to].Role == theme.Track {
			to++
		}
		word := " " + textQuiet + " "
		if from == a.half+1 && c.Snap.Budget.Muted.After(a.now) {
			word = " muted "
		}
		if to-from >= len(word)+2 {
			chart.Write(cells, (from+to-len(word))/2, theme.Dim, word)
		}
		from = to
	}
}

// top is the level at the upper edge: the capacity, or a higher level of the past.
func (p *Pane) top(s *core.Snapshot) float64 {
	top := float64(max(1, s.Budget.State.Capacity))
	for _, l := range p.levels {
		top = max(top, l.Left)
	}
	return top
}

// area draws the level of the bucket in rows: the past is solid, what is expected is not. On it are the number at
// now, and the times at which it is empty or full.
func (p *Pane) area(c pane.Context, a axis) [][]widget.Span {
	if a.level == 0 {
		return nil
	}
	rows, top, lows := make([][]widget.Span, a.level), p.top(c.Snap), a.lows(p.levels)
	for y := range rows {
		rows[y] = chart.Row(a.n, theme.Text, " ")
		rows[y][a.half] = widget.Span{Role: theme.Focus, Text: c.Theme.Box().Left}
	}
	for x, low := range lows {
		role := theme.Level
		if low < 1 {
			role = theme.Warn
		}
		if x == a.half || math.IsNaN(low) {
			continue
		}
		for y, text := range chart.Column(c.Theme, low/top, a.level, x > a.half) {
			if text != "" {
				rows[y][x] = widget.Span{Role: role, Text: text}
			}
		}
	}
	p.notes(c, a, rows)
	for y := range rows {
		rows[y] = chart.Merged(rows[y])
	}
	return rows
}

// notes writes the numbers and times on the level, the most important first.
func (p *Pane) notes(c pane.Context, a axis, rows [][]widget.Span) {
	left := c.Snap.Budget.State.Available
	text := " " + budgetpane.Tokens(left) + " "
	y := a.level - 1 - int(min(left/p.top(c.Snap), 0.999)*float64(a.level))
	role := theme.Strong
	if spent(c) {
		role = theme.Here
	}
	chart.Write(rows[max(0, y)], a.half-len(text)/2, role, text)
	note := func(at time.Time, word string) {
		overlay(rows, a.cell(at), " "+word+" "+c.Snap.Clock(c.Snap.Local(at), "15:04")+" ")
	}
	if !p.dry.IsZero() {
		note(p.dry, textEmpty)
	}
	full := slices.IndexFunc(p.levels, func(l budget.Level) bool {
		return l.At.After(a.now) && l.Left > float64(c.Snap.Budget.State.Capacity)-0.01
	})
	if capacity := float64(c.Snap.Budget.State.Capacity); full >= 0 && left < capacity-0.01 {
		note(p.levels[full].At, textFull)
	}
	for i := len(p.levels) - 1; i > 0; i-- {
		if was, l := p.levels[i-1], p.levels[i]; l.At.Before(a.now) && l.At.After(a.from(0)) && was.Left >= 1 && l.Left < 1 {
			note(l.At, textEmpty)
		}
	}
}

// spent reports whether a token was spent just now.
func spent(c pane.Context) bool {
	n := len(c.Snap.Budget.Pings)
	return n > 0 && c.Snap.Budget.Pings[n-1].Refused == "" && c.Fresh(c.Snap.Budget.Pings[n-1].At)
}

// overlay writes a note from a cell on (earlier at the right edge), or up to it, in the row right above the area; on the area only if there is no
// such room on either side. It is omitted if other notes take the room.
func overlay(rows [][]widget.Span, x int, text string) {
	area := func(s widget.Span) bool { return s.Role == theme.Level || s.Role == theme.Warn }
	noted := func(s widget.Span) bool {
		return s.Role == theme.Strong || s.Role == theme.Here || s.Role == theme.Dim || s.Role == theme.Focus
	}
	for _, on := range []bool{false, true} {
		for _, from := range []int{min(x, len(rows[0])-len(text)), x - len(text)} {
			to := from + len(text)
			if from < 0 || to > len(rows[0]) {
				continue
			}
			y := slices.IndexFunc(rows, func(row []widget.Span) bool { return slices.ContainsFunc(row[from:to], area) })
			last := len(rows) - 1
			switch {
			case y < 0:
				y = last
			case y == 0 && !on:
				continue
			case on:
				y = min(y+1, last) // below its edge
			default:
				y--
				last = y
			}
			for ; y <= last; y++ {
				if !slices.ContainsFunc(rows[y][from:to], noted) {
					chart.Write(rows[y], from, theme.Dim, text)
					return
				}
			}
		}
	}
}

// hours draws the labels, each starting at the cell of its hour, and a dot at each hour between them; what overlaps
// now is omitted.
func hours(c pane.Context, a axis) []widget.Span {
	width := 4
	if c.Snap.TwelveHours {
		width = 6
	}
	cells, dot := chart.Row(a.n, theme.Text, " "), widget.Span{Role: theme.Track, Text: "·"}
	if c.Theme.ASCII() {
		dot.Text = "."
	}
	if time.Hour/a.cells >= time.Duration(width) {
		for at := range pane.Hours(c.Snap, reach, 1) {
			if at.Sub(a.now).Abs() < reach {
				cells[a.cell(at)] = dot
			}
		}
	}
	for at, label := range pane.Hours(c.Snap, reach, a.each(width)) {
		x := a.cell(at)
		if at.Sub(a.now).Abs() >= reach || x+len(label) > a.n || x <= a.half && x+len(label) > a.half {
			continue
		}
		chart.Write(cells, x, theme.Dim, label)
	}
	return joined(c, a, cells)
}

// legend explains the signs in the band, and its area if it has one.
func (p *Pane) legend(c pane.Context, area bool) (out [][]widget.Span) {
	entry := func(role theme.Role, sign, word string) {
		out = append(out, []widget.Span{{Role: role, Text: sign}, {Role: theme.Dim, Text: " " + word}})
	}
	seen := [len(kinds)]bool{}
	for _, m := range p.marks {
		seen[m.kind] = true
	}
	seen[refused], seen[short] = seen[refused] || seen[short], false // they share one sign
	for _, k := range []kind{pinged, critical, refused, likely, done, failed, missed, running, stopped, date, coming} {
		if seen[k] {
			entry(kinds[k].role, c.Theme.Glyph(kinds[k].glyph), kinds[k].word)
		}
	}
	if area && p.dense {
		entry(theme.Text, dense(c.Theme, 3), textSeveral)
	}
	if b := &c.Snap.Budget; len(b.QuietSpans) > 0 || !b.Muted.IsZero() {
		entry(theme.Track, c.Theme.Glyph(theme.Quiet), textQuiet)
	}
	if area && len(p.levels) > 0 {
		entry(theme.Level, chart.More(c.Theme), textExpected)
	}
	return out
}

// Legend are rows of w cells that explain the signs in the band.
func (p *Pane) Legend(c pane.Context, w int) (rows []string) {
	brush := widget.Brush{Theme: c.Theme}
	for _, line := range widget.Flow(p.legend(c, true), gap, w-2) {
		rows = append(rows, brush.Line(w, append([]widget.Span{{Text: " "}}, line...)...))
	}
	return rows
}

// Caption returns a row of w cells for a day of h rows: the chosen mark while the day has the focus, else the budget,
// and the legend as far as there is room. It may be empty.
func (p *Pane) Caption(c pane.Context, w, h int, focused bool) string {
	a, said := axisOf(c.Snap.At, w, h), []widget.Span(nil)
	switch {
	case focused:
		said = append(p.words(c, a), gap)
	case w >= headWidth && a.right == 0:
		said = []widget.Span{{Text: " "}}
		for _, part := range budgetpane.Head(c) {
			said = append(append(said, part...), gap)
		}
	}
	room := w - 2
	if said != nil {
		room -= widget.Width(said) + 1
	}
	if lines := widget.Flow(p.legend(c, a.level > 0), gap, room); len(lines) > 0 && widget.Width(lines[0]) <= room {
		fill := 1
		if said != nil {
			fill = w - 1 - widget.Width(said) - widget.Width(lines[0])
		}
		said = append(append(said, widget.Span{Text: widget.Blank(fill)}), lines[0]...)
	}
	if said == nil {
		return ""
	}
	return widget.Brush{Theme: c.Theme}.Line(w, said...)
}

// words returns the sign of the chosen mark and a sentence.
func (p *Pane) words(c pane.Context, a axis) []widget.Span {
	m, ok := p.at()
	if !ok {
		return []widget.Span{{Role: theme.Dim, Text: " " + textNothing}}
	}
	look := kinds[m.kind]
	text := c.Snap.Clock(m.at, "15:04") + " " + m.title + " · " + look.word
	if of, which := p.here(a); len(of) > 1 {
		text = fmt.Sprintf("%d of %d here: ", which+1, len(of)) + text
	}
	if m.note != "" {
		text += " · " + m.note
	}
	return []widget.Span{{Text: " "}, {Role: look.role, Text: c.Theme.Glyph(look.glyph) + " "}, {Text: text}}
}

const (
	textQuiet = "quiet"
	textEmpty = "empty"
	textFull  = "full"

	textExpected = "expected"
	textSeveral  = "several"
	// textHeat names the map of hours and weekdays.
	textHeat = "when you answer, by hour"
	// textFirst is the first choice of the welcome.
	textFirst = "tomorrow 09:00 Plan the day? %s %s"
)
