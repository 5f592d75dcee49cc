// Package week is the page of a week: a row for each day, a summary, and the pings of the selected day. It owns which
// week and day are shown, and must not compute the summary: it reads a report.
package week

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/work/week"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	budgetpane "ollimbot/tui/pane/budget"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/table"
)

// Page is the page of a week. The zero Page shows this week.
type Page struct {
	pane.Still
	ago    int // number of weeks back
	days   table.Table[row]
	list   widget.List // the selected day
	moved  bool        // a day was selected; else it is the newest one
	report *week.Report
	before *week.Report // of the week before; nil if it could not be read
	failed string       // why reading the report failed
	asked  asked        // the state for which the report was read
}

// asked changes when a report is out of date.
type asked struct {
	ago           int
	minute        time.Time
	pings, asks   int
	ended, missed int
	spent         float64
}

// Wants implements pane.Loader. After an error the last report stays.
func (p *Page) Wants(c pane.Context) pane.Answer {
	s := c.Snap
	now := asked{
		p.ago, s.At.Truncate(time.Minute), len(s.Budget.Pings), len(s.Proposals), len(s.Ended), len(s.Schedule.Missed), s.Money.Today.Spent.Dollars(),
	}
	if !c.Zoomed || now == p.asked {
		return pane.Answer{}
	}
	p.asked = now
	return pane.Answer{Load: func(ctx context.Context, r pane.Reader) pane.Loaded {
		report, err := r.Week(ctx, now.ago)
		before, missing := r.Week(ctx, now.ago+1)
		return func(pane.Context) pane.Answer {
			if p.failed = ""; err != nil {
				p.failed = clean.Line(err.Error())
				return pane.Answer{}
			}
			if p.report, p.before = &report, &before; missing != nil {
				p.before = nil
			}
			return pane.Answer{}
		}
	}}
}

// Do implements pane.Pane.
func (p *Page) Do(_ pane.Context, id action.ID) pane.Answer {
	switch day := p.day(); id {
	case action.WeekEarlier:
		p.ago = min(p.ago+1, week.Most)
	case action.WeekLater:
		p.ago = max(p.ago-1, 0)
	case action.WeekOpen:
		if day == nil {
			return pane.Answer{Toast: textReading}
		}
		return pane.Answer{Focus: action.Forks, Zoom: true, Query: day.Date.Format(time.DateOnly)}
	default:
		p.moved = p.list.Move(id.Verb(), week.Days, 1)
	}
	return pane.Answer{}
}

// Press implements pane.Pane.
func (p *Page) Press(_ pane.Context, at widget.Place, focused bool) action.ID {
	if at < 0 { // a head sorts nothing: days have one order
		return ""
	}
	was := p.list.At
	p.days.Press(at)
	if r, ok := p.days.Row(); ok {
		p.list.At, p.moved = r.i, true
	}
	if p.list.At == was && focused {
		return action.WeekOpen
	}
	return ""
}

// day returns the selected day; nil until the report was read.
func (p *Page) day() *week.Day {
	if p.report == nil {
		return nil
	}
	if !p.moved {
		p.list.At = p.report.Begun() - 1
	}
	p.list.Clamp(len(p.report.Days))
	return &p.report.Days[p.list.At]
}

// Draw implements pane.Pane.
func (p *Page) Draw(c pane.Context, w, h int, _ bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	if p.report == nil {
		return widget.Rows(widget.Nowhere, b.Empty(w, h, cmp.Or(p.failed, textReading))...)
	}
	day := p.day()
	list := func(w, h int) []widget.Row { return page{&p.days, p.report, p.before, p.list.At}.lines(b, w, h) }
	detail := func(w, h int) pane.Detail { return pings(c, day, w, h) }
	most := len(list(w, h))
	if w < widget.Wide && h-most < leastPings {
		return widget.FillRows(list(w, h), w, h)
	}
	filled := func(w, h int) []widget.Row { return widget.FillRows(list(w, h), w, h) }
	return pane.Duo{List: filled, Detail: detail, Lines: most, Most: max(0, h-most-1)}.Draw(c, w, h)
}

// leastPings is the least number of rows of the pings of a day, with their title.
const leastPings = 4

// pings returns the messages of a day, the newest first if there is not room for all.
func pings(c pane.Context, day *week.Day, w, h int) pane.Detail {
	d := pane.Detail{Title: pane.Named(day.Date.Format("Monday 2 January"), w)}
	for i := range c.Snap.Budget.Pings {
		p := &c.Snap.Budget.Pings[i]
		if at := c.Snap.Local(p.At); words.SameDay(at, day.Date, day.Date.Location()) {
			d.Rows = append(d.Rows, budgetpane.Message(c, p, w))
		}
	}
	d.State = []widget.Span{{Role: theme.Dim, Text: words.Count(day.Runs, "run")}}
	if d.Rows = d.Rows[max(0, len(d.Rows)-h):]; len(d.Rows) == 0 {
		d.Rows = widget.Rows(widget.Nowhere, widget.Brush{Theme: c.Theme}.Empty(w, h, textNoPings)...)
	}
	return d
}

const textReading, textNoPings = "reading the week…", "No pings are known of this day."

const (
	// nameCells is the width of a day's name, factCells of a fact's name.
	nameCells, factCells = 6, 12
	// chartRows is the height of the days with their heads.
	chartRows = 1 + week.Days
)

// Lines draws a report in at most h lines of w cells, without a selected day.
func Lines(t *theme.Theme, r *week.Report, w, h int) (out []string) {
	for _, row := range (page{&table.Table[row]{Bare: true}, r, nil, -1}).lines(widget.Brush{Theme: t}, w, h) {
		out = append(out, row.Text)
	}
	return out
}

// page is a week with the one before, which may be nil, and the selected day.
type page struct {
	days      *table.Table[row]
	r, before *week.Report
	chosen    int
}

// lines are at most h rows of w cells. The facts have priority; the days are between the title and the facts if there is
// room, and each of them above the same day of the week before if there is more.
func (p page) lines(b widget.Brush, w, h int) []widget.Row {
	r, before, days := p.r, p.before, p.days
	rows := widget.Rows(widget.Nowhere, b.Line(w, widget.Span{Role: theme.Strong, Text: " " + r.Title()}))
	said := widget.Rows(widget.Nowhere, facts(b, r, w)...)
	if n := len(rows) + len(said) + chartRows + 2; n <= h {
		if n+week.Days > h {
			before = nil
		}
		if days.Columns = columns(b.Theme, r, before, w); len(days.Columns) > 2 {
			days.Fill(rowsOf(r, before))
			days.Select(func(r row) bool { return r.i == p.chosen && !r.was })
			blank := widget.Row{Place: widget.Nowhere, Text: b.Line(w)}
			rows = append(append(append(rows, blank), days.Draw(b.Theme, w, days.Lines(), true)...), blank)
		}
	}
	rows = append(rows, said...)
	return rows[:min(len(rows), h)]
}

// facts draws the facts, with their names in a separate column if there is room.
func facts(b widget.Brush, r *week.Report, w int) (lines []string) {
	for _, f := range r.Facts() {
		if w < 4*factCells {
			for i, text := range widget.Wrap(f.Line(), max(1, w-2)) {
				lines = append(lines, b.Line(w, widget.Span{Text: strings.Repeat(" ", 1+min(i, 1)) + text}))
			}
			continue
		}
		name := f.Name
		for _, text := range widget.Wrap(f.Text, w-factCells-1) {
			lines = append(lines, b.Line(w, widget.Span{Role: theme.Dim, Text: " " + widget.Fit(name, factCells-1)}, widget.Span{Text: text}))
			name = ""
		}
	}
	return lines
}

// row is a day, or the same day of the week before.
type row struct {
	week.Day
	i     int
	role  theme.Role // of its name
	begun bool
	was   bool // it is of the week before
}

func rowsOf(r, before *week.Report) (rows []row) {
	for i, d := range r.Days {
		now := row{Day: d, i: i, role: theme.Text, begun: i < r.Begun()}
		if !now.begun {
			now.role = theme.Dim
		} else if i == r.Begun()-1 && r.Ago == 0 {
			now.role = theme.Strong
		}
		rows = append(rows, now)
		if before != nil && i < len(before.Days) {
			rows = append(rows, row{Day: before.Days[i], i: i, role: theme.Dim, begun: true, was: true})
		}
	}
	return rows
}

func (r row) name() widget.Span {
	if r.was {
		return widget.Span{Role: r.role, Text: textBefore}
	}
	return widget.Span{Role: r.role, Text: r.Date.Format("Mon 2")}
}

// figure is one number of each day: a bar, with its successful part highlighted, and the number.
type figure struct {
	head string
	role theme.Role
	text int // cells of the number
	of   func(d week.Day) (good, all float64, words string)
}

var figures = []figure{
	{textPings, theme.Ping, 6, func(d week.Day) (good, all float64, words string) {
		return float64(d.Answered), float64(d.Sent), share(d.Answered, d.Sent)
	}},
	{textDue, theme.Good, 6, func(d week.Day) (good, all float64, words string) {
		return float64(d.Ran), float64(d.Due), share(d.Ran, d.Due)
	}},
	{textCost, theme.Accent, 7, func(d week.Day) (good, all float64, words string) { return d.Dollars, d.Dollars, spent(d.Dollars) }},
}

// columns are the day, the figures that fit into w cells, with bars as wide as possible, and the rest of the line.
func columns(t *theme.Theme, r, before *week.Report, w int) []table.Column[row] {
	const leastBar, mostBar, between = 8, 32, 2
	out, need, n := []table.Column[row]{{Cells: nameCells, Essential: true, Cell: row.name}}, nameCells+3, 0
	for ; n < len(figures) && need+leastBar+figures[n].text+between <= w; n++ {
		need += leastBar + figures[n].text + between
	}
	for _, f := range figures[:n] {
		top, bar := 0.0, min(mostBar, leastBar+(w-need)/n)
		for _, d := range rowsOf(r, before) {
			_, all, _ := f.of(d.Day)
			top = max(top, all)
		}
		out = append(out, table.Column[row]{
			Head: f.head, Cells: bar + 1 + f.text, Spans: func(d row) []widget.Span { return f.spans(t, d, top, bar) },
		})
	}
	return append(out, table.Column[row]{})
}

// The signs of a bar and their stand-ins. They are lower than a row, so that the bars of two days stay apart.
var fullBar, lowBar = [2]string{"▆", "#"}, [2]string{"▂", "="}

// spans draw a figure of a day; a bar of top has so many cells.
func (f figure) spans(t *theme.Theme, d row, top float64, cells int) []widget.Span {
	length := func(v float64) int {
		if v <= 0 || top <= 0 {
			return 0
		}
		return max(1, int(math.Round(v/top*float64(cells))))
	}
	part, whole, text := f.of(d.Day)
	good, all := length(part), length(whole)
	if part < whole { // an incomplete bar must not look complete
		good = min(good, max(0, all-1))
	}
	full, rest := fullBar, "▁"
	if d.was {
		full = lowBar
	}
	if !d.begun {
		text = ""
	}
	sign := full[0]
	if t.ASCII() {
		sign, rest = full[1], "-"
	}
	return []widget.Span{
		{Role: f.role, Text: strings.Repeat(sign, good)},
		{Role: theme.Track, Text: strings.Repeat(rest, all-good)},
		{Text: widget.Blank(cells - all + 1)},
		{Role: theme.Dim, Text: widget.Fit(text, f.text)},
	}
}

const (
	textPings = "pings, answered"
	textDue   = "due times, ran"
	textCost  = "cost"

	textBefore = "before"
)

// share formats a ratio such as "5/7"; a dash if there are none.
func share(n, of int) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%d/%d", n, of)
}

func spent(dollars float64) string {
	if dollars == 0 {
		return "-"
	}
	return words.Dollars(dollars)
}
