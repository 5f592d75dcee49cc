package day

import (
	"fmt"
	"slices"
	"time"

	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
)

const (
	// bandRows is the number of rows for lanes, the level and the hours; with fewer, there is one row of marks, and the
	// hours.
	bandRows = 4
	// labelCells is the room for the names of the rows.
	labelCells = 8
	// legendCells is the width of the legend after the rows, shown from a width of legendWidth.
	legendCells, legendWidth = 29, 96
)

// gap is between the entries of the legend, and before it.
var gap = widget.Span{Text: "  "}

// laneNames are the names of the rows of marks.
var laneNames = [...]string{pings: "pings", runs: "runs"}

// drawn is the input of a drawing.
type drawn struct {
	theme           *theme.Theme
	w, h, slot      int
	made            made
	chosen          int
	focused, twelve bool
	quiet           [2]time.Time // the first quiet hours
	muted           time.Time
}

// Draw implements pane.Pane. It keeps its drawing, because the day is unchanged in most frames.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	s, a := c.Snap, axisOf(c.Snap.At, w, h)
	now := drawn{
		theme: c.Theme, w: w, h: h, slot: a.slot(s.At), made: p.made, chosen: p.chosen,
		focused: focused, twelve: s.TwelveHours, muted: s.Budget.Muted,
	}
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
	names, rows := []string{""}, [][]widget.Span{p.lane(c, a, pings, focused)}
	if a.lanes {
		names = []string{laneNames[pings], laneNames[runs], "tokens"}
		rows = append(rows, p.lane(c, a, runs, focused), p.area(c, a))
	}
	names, rows = append(names, ""), append(rows, hours(c, a))
	var legend [][]widget.Span
	if a.explains {
		legend = widget.Flow(p.legend(c), gap, legendCells-2)
	}
	out := make([]string, 0, h)
	for i, row := range rows[len(rows)-min(h, len(rows)):] {
		lead := widget.Span{Role: theme.Dim, Text: " " + names[i]}
		if focused && i == 0 {
			lead = widget.Span{Role: theme.Focus, Text: c.Theme.Glyph(theme.Pointer) + names[i]}
		}
		row = append([]widget.Span{{Role: lead.Role, Text: widget.Fit(lead.Text, a.left)}}, row...)
		if i < len(legend) {
			row = append(append(row, gap), legend[i]...)
		}
		out = append(out, brush.Line(w, row...))
	}
	return out
}

// joined returns cells as spans, with the rule for now between them.
func joined(c pane.Context, a axis, cells []widget.Span) (out []widget.Span) {
	cells[a.half] = widget.Span{Role: theme.Focus, Text: c.Theme.Box().Left}
	for _, s := range cells {
		if k := len(out) - 1; k >= 0 && out[k].Role == s.Role {
			out[k].Text += s.Text
			continue
		}
		out = append(out, s)
	}
	return out
}

// blank is a row of empty cells.
func blank(a axis) []widget.Span {
	return slices.Repeat([]widget.Span{{Text: " "}}, a.n)
}

// lane draws a row of marks; without lanes, of all marks. The lane of pings shows the quiet hours in the background.
// The chosen mark is always visible.
func (p *Pane) lane(c pane.Context, a axis, lane int, focused bool) []widget.Span {
	cells := blank(a)
	if lane == pings {
		shade(c, a, cells)
	}
	seen := make([]kind, a.n)
	for i := range seen {
		seen[i] = kind(len(kinds))
	}
	for i, m := range p.marks {
		at := a.cell(m.at)
		if a.lanes && m.kind.lane() != lane {
			continue
		}
		chosen := focused && i == p.chosen
		if chosen || m.kind < seen[at] && cells[at].Role != theme.Caret {
			seen[at], cells[at] = m.kind, widget.Span{Role: kinds[m.kind].role, Text: c.Theme.Glyph(kinds[m.kind].glyph)}
		}
		if chosen {
			cells[at].Role = theme.Caret
		}
	}
	name(c, a, cells)
	return joined(c, a, cells)
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
			at := (from + to - len(word)) / 2
			for i := range word {
				cells[at+i] = widget.Span{Role: theme.Dim, Text: word[i : i+1]}
			}
		}
		from = to
	}
}

// area draws the level of the bucket, past and expected.
func (p *Pane) area(c pane.Context, a axis) []widget.Span {
	lows := a.lows(p.levels)
	level := chart.Levels(c.Theme, lows, float64(c.Snap.Budget.State.Capacity))
	cells := blank(a)
	for i, text := range level {
		role := theme.Accent
		switch {
		case lows[i] < 1:
			role = theme.Warn
		case i > a.half:
			role = theme.Gauge
		}
		cells[i] = widget.Span{Role: role, Text: text}
	}
	return joined(c, a, cells)
}

// hours draws the labels, each starting at the cell of its hour; those overlapping now are omitted.
func hours(c pane.Context, a axis) []widget.Span {
	width := 4
	if c.Snap.TwelveHours {
		width = 6
	}
	cells := blank(a)
	for at, label := range pane.Hours(c.Snap, reach, a.each(width)) {
		x := a.cell(at)
		if at.Sub(a.now).Abs() >= reach || x+len(label) > a.n || x <= a.half && x+len(label) > a.half {
			continue
		}
		for k := range label {
			cells[x+k] = widget.Span{Role: theme.Dim, Text: label[k : k+1]}
		}
	}
	return joined(c, a, cells)
}

// legend explains the signs in the band.
func (p *Pane) legend(c pane.Context) (out [][]widget.Span) {
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
	if b := &c.Snap.Budget; len(b.QuietSpans) > 0 || !b.Muted.IsZero() {
		entry(theme.Track, c.Theme.Glyph(theme.Quiet), textQuiet)
	}
	return out
}

// Legend are rows of w cells that explain the signs in the band.
func (p *Pane) Legend(c pane.Context, w int) (rows []string) {
	brush := widget.Brush{Theme: c.Theme}
	for _, line := range widget.Flow(p.legend(c), gap, w-2) {
		rows = append(rows, brush.Line(w, append([]widget.Span{{Text: " "}}, line...)...))
	}
	return rows
}

// Caption returns a row of w cells for a day of h rows: the chosen mark while the day has the focus, and the legend
// if it does not fit in the day. It may be empty.
func (p *Pane) Caption(c pane.Context, w, h int, focused bool) string {
	a := axisOf(c.Snap.At, w, h)
	var said, legend []widget.Span
	if focused {
		said = p.words(c, a)
	}
	if !a.explains {
		room := w - widget.Width(said) - 3
		if lines := widget.Flow(p.legend(c), gap, room); len(lines) > 0 && widget.Width(lines[0]) <= room {
			legend = lines[0]
		}
	}
	switch {
	case said == nil && legend == nil:
		return ""
	case said == nil:
		said, legend = append([]widget.Span{{Text: " "}}, legend...), nil
	case legend != nil && widget.Width(legend) <= w/2:
		legend = append(legend, widget.Span{Text: " "})
	}
	return widget.Brush{Theme: c.Theme}.Spread(w, said, legend)
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
)
