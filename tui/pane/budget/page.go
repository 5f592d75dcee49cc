package budget

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"ollimbot/core/budget"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

const (
	// The least that the curve is drawn in.
	leastPlot, leastPlotWidth = 5, 24
	// roomy is from how many rows on there is a legend, and a third of the page is
	// today's messages.
	roomy = 14
	// proposes is how long after a change the curve shows what it has changed.
	proposes = 15 * time.Second
)

// drawn is what a drawing depends on. The level is told by the second, and by what else
// changes it.
type drawn struct {
	theme                *theme.Theme
	keys                 action.Keys
	w, h                 int
	second               int64
	now, before          numbers
	level                int // tenths of a token
	reserved             int
	daily, critical      int
	pings, fires         int
	muted, quiet, newest time.Time
	next, full, dry, end time.Time
	twelve               bool
}

// Draw implements pane.Pane. The curve of a day with many pings costs a millisecond, so
// that a drawing is kept.
func (p *Pane) Draw(c pane.Context, w, h int, _ bool) []widget.Row {
	b := &c.Snap.Budget
	key := drawn{
		theme: c.Theme, keys: c.Keys, w: w, h: h, second: c.Snap.At.Unix(), now: numbersOf(b.State), before: p.compared(c.Snap),
		level: int(b.State.Available * 10), reserved: b.Reserved, pings: len(b.Pings), fires: len(b.Fires), muted: b.Muted, quiet: b.Quiet,
		daily: b.State.DailyUsed, critical: b.State.CriticalUsed, next: b.NextAt, full: b.FullAt, dry: b.Dry, end: b.FiresUntil,
		twelve: c.Snap.TwelveHours,
	}
	if key.pings > 0 {
		key.newest = b.Pings[key.pings-1].At
	}
	return p.cache.Rows(key, func() []widget.Row { return p.draw(c, max(w, 0), max(h, 0)) })
}

// draw draws the level and what there is to say of it, and as far as
// there is room the level of a day back and a day ahead, and today's messages.
func (p *Pane) draw(c pane.Context, w, h int) []widget.Row {
	s, brush := c.Snap, widget.Brush{Theme: c.Theme}
	var out []string
	line := func(spans ...widget.Span) {
		out = append(out, brush.Line(w, append([]widget.Span{{Text: " "}}, spans...)...))
	}
	a := aheadOf(s, p.compared(s))
	line(gauge(c, w-2)...)
	if verdict := a.verdict(c.Theme, s); verdict != nil {
		if last := len(verdict) - 1; last > 1 && widget.Width(verdict) > w-2 {
			verdict = verdict[:last] // the rest has room on the page
		}
		line(verdict...)
	}
	for _, l := range state(c, w-2) {
		line(l...)
	}
	rows, foot := 0, 0
	today := slices.Clone(s.Budget.Today())
	slices.Reverse(today)
	if h >= roomy && w >= leastPlotWidth {
		line(a.legend(c.Theme)...)
		rows = min(len(today), max(1, h/3-2))
		foot = rows + 1 // the rule
	}
	if room := h - len(out) - foot; room >= leastPlot && w >= leastPlotWidth {
		out = append(out, a.plot(c.Theme, s, w).Draw(c.Theme, w, room)...)
	}
	all := widget.Rows(widget.Nowhere, out...)
	if foot > 0 {
		all = append(all, messages(c, today, rows, w)...)
	}
	return widget.FillRows(all, w, h)
}

// messages are the newest rows of today's pings and refusals, below a rule.
func messages(c pane.Context, today []budget.Ping, rows, w int) []widget.Row {
	brush := widget.Brush{Theme: c.Theme}
	count := textNoMessages
	if n := len(today); n > rows {
		count = textShown(rows, n)
	} else if n > 0 {
		count = strconv.Itoa(n)
	}
	head := brush.Rule(w, []widget.Span{{Role: theme.Strong, Text: textMessages}}, []widget.Span{{Role: theme.Dim, Text: count}})
	out := []widget.Row{{Place: widget.Ruled, Text: head}}
	for _, ping := range today[:rows] {
		out = append(out, widget.Row{Text: brush.Line(w, message(c, ping, w)...), Place: widget.Nowhere})
	}
	return out
}

// The columns of a message, in cells; the text takes the rest. As the width shrinks the
// text goes first, then the answer.
const (
	taskCells   = 20
	answerCells = 16
	withText    = 72
	withAnswer  = 46
)

// message is one row: when, which task, what it said, when it was answered.
func message(c pane.Context, ping budget.Ping, w int) []widget.Span {
	glyph, role := theme.Message, theme.Ping
	text, answer, answers := ping.Text, textNotAnswered, theme.Dim
	switch {
	case ping.Refused != "":
		glyph, role, text, answer = theme.Refused, theme.Warn, textRefused+ping.Refused, ""
	case !ping.Answered.IsZero():
		answer, answers = textAnswered(ping.Answered.Sub(ping.At)), theme.Good
	}
	out := []widget.Span{
		{Role: theme.Dim, Text: fmt.Sprintf(" %*s ", c.Snap.ClockCells(), clock(c.Snap, ping.At))},
		{Role: role, Text: c.Theme.Glyph(glyph) + " "},
	}
	if w < withAnswer {
		return append(out, widget.Span{Text: ping.Title})
	}
	used := widget.Width(out)
	if w < withText {
		if ping.Refused != "" {
			answer = textRefusedShort
		}
		return append(out, widget.Span{Text: widget.Fit(ping.Title, w-used-answerCells-1) + " "}, widget.Span{Role: answers, Text: answer})
	}
	return append(out, widget.Span{Text: widget.Fit(ping.Title, taskCells) + "  "},
		widget.Span{Role: theme.Dim, Text: widget.Fit(text, w-used-taskCells-answerCells-4) + "  "},
		widget.Span{Role: answers, Text: answer})
}
