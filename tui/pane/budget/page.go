package budget

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/work/budget"
	"ollimbot/routines/cron"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
)

// drawn is the input of a drawing, except for the level's drift within a second.
type drawn struct {
	theme  *theme.Theme
	keys   action.Keys
	w, h   int
	second int64
	twelve bool
	budget core.BudgetView
}

// Draw implements pane.Pane. It keeps its drawing, because the budget is unchanged in most frames.
func (p *Pane) Draw(c pane.Context, w, h int, _ bool) []widget.Row {
	now := drawn{c.Theme, c.Keys, w, h, c.Snap.At.Unix(), c.Snap.TwelveHours, c.Snap.Budget}
	b := &now.budget
	b.State.Available, b.State.LastRefill = math.Floor(b.State.Available*10), time.Time{}
	if now.theme != p.kept.theme || !reflect.DeepEqual(now, p.kept) {
		p.kept, p.rows = now, draw(c, w, h)
	}
	return p.rows
}

// draw draws the level in words, the newest messages, and when pings are answered; the day draws the level as a picture.
func draw(c pane.Context, w, h int) []widget.Row {
	s, out := c.Snap, pane.Sheet{Context: c, W: w}
	lines := append([][]widget.Span{gauge(c, w-2)}, outlook(c, w-2)...)
	for _, l := range append(lines, widget.Flow(facts(c), widget.Span{Role: theme.Dim, Text: " · "}, w-2)...) {
		out.Line(widget.Nowhere, l...)
	}
	hot := 0
	if h >= heatHeight {
		hot = heatRows + 1 // the rule
	}
	all := out.Rows
	if room := h - len(all) - hot - 1; room > 0 && w >= leastMessage {
		all = append(all, messages(c, min(len(s.Budget.Pings), room), w)...)
	}
	return widget.FillRows(append(all, heat(c, w, hot)...), w, h)
}

// leastMessage is the width from which messages are listed.
const leastMessage = 24

// messages returns the newest rows of the pings and refusals, below a rule.
func messages(c pane.Context, rows, w int) []widget.Row {
	brush, all, count := widget.Brush{Theme: c.Theme}, c.Snap.Budget.Pings, ""
	if n := len(all); n > rows {
		count = fmt.Sprintf("newest %d of %d", rows, n)
	}
	head := brush.Rule(w, []widget.Span{{Role: theme.Strong, Text: textMessages}}, []widget.Span{{Role: theme.Dim, Text: count}})
	out := []widget.Row{{Place: widget.Ruled, Text: head}}
	for i := range rows {
		out = append(out, Message(c, &all[len(all)-1-i], w))
	}
	return out
}

// The columns of a message, in cells; the text takes the rest. As the width shrinks, the text is dropped first.
const (
	taskCells   = 20
	answerCells = 16
	withText    = 72
)

// sentAt is when a message was sent: the time, the day and the time, or the day.
var sentAt = cron.Layouts{Today: "15:04", Week: "Mon 15:04", Else: "2 Jan"}

// Message is one row: time, task, text, and when it was answered.
func Message(c pane.Context, ping *budget.Ping, w int) widget.Row {
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
		{Role: theme.Dim, Text: fmt.Sprintf(" %*s ", c.Snap.ClockCells()+len("Mon "), c.Snap.When(ping.At, sentAt))},
		{Role: role, Text: c.Theme.Glyph(glyph) + " "},
		{Text: widget.Fit(ping.Title, taskCells) + "  "},
	}
	if w >= withText {
		out = append(out, widget.Span{Role: theme.Dim, Text: widget.Fit(text, w-widget.Width(out)-answerCells-2) + "  "})
	}
	out = append(out, widget.Span{Role: answers, Text: answer})
	return widget.Row{Text: widget.Brush{Theme: c.Theme}.Line(w, out...), Place: widget.Nowhere}
}

const (
	// heatRows are the hours, and the days of the week.
	heatRows = 1 + 7
	// heatCells is the room for the name of a day, and for each hour two cells.
	heatCells = 5 + 2*24
	// heatHeight is the height from which the page has the heat map.
	heatHeight = 24
)

// heat shows in which hours and on which weekdays pings were answered: a rule, the hours, and a row for each weekday. It
// is empty if h rows of w cells are too few.
func heat(c pane.Context, w, h int) (rows []widget.Row) {
	if h <= heatRows || w < heatCells {
		return nil
	}
	brush := widget.Brush{Theme: c.Theme}
	rows = append(rows, widget.Row{Place: widget.Ruled, Text: brush.Rule(w, []widget.Span{{Role: theme.Strong, Text: textHeat}}, nil)})
	for _, row := range HeatMap(c, 2) {
		rows = append(rows, widget.Row{Place: widget.Nowhere, Text: brush.Line(w, row...)})
	}
	return rows
}

// HeatMap returns the hours and the rows of the weekdays, with so many cells for each hour.
func HeatMap(c pane.Context, each int) (rows [][]widget.Span) {
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
	for h := 0; h < 24; h += 6 / each {
		at := time.Date(2000, 1, 1, h, 0, 0, 0, c.Snap.Local(c.Snap.At).Location())
		hours.Text += widget.Fit(c.Snap.Clock(at, "15"), 6)
	}
	count := fmt.Sprintf("%d of %s answered, at most %.0f in an hour", n, words.Count(sent(c.Snap.Budget.Pings), "ping"), top)
	rows = append(rows, []widget.Span{hours, {Role: theme.Dim, Text: count}})
	for day := range answered {
		cells := make([]float64, 0, each*24)
		for _, v := range answered[day] {
			cells = append(cells, slices.Repeat([]float64{v}, each)...)
		}
		name := time.Weekday((day + 1) % 7).String()[:3]
		rows = append(rows, []widget.Span{{Role: theme.Dim, Text: " " + name + " "}, {Role: theme.Ping, Text: chart.Heat(c.Theme, cells, top)}})
	}
	return rows
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
