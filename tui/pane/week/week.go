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
)

// Page is the page of a week. The zero Page shows this week.
type Page struct {
	pane.Still
	ago    int // number of weeks back
	list   widget.List
	moved  bool // a day was selected; else it is the newest one
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
	switch was := p.list.At; {
	case at < 0:
	case int(at) == was && focused:
		return action.WeekOpen
	default:
		p.list.At, p.moved = int(at), true
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
	list := func(w, h int) []widget.Row {
		return widget.FillRows(table{p.report, p.before, p.list.At}.lines(b, w, h), w, h)
	}
	detail := func(w, h int) pane.Detail { return pings(c, day, w, h) }
	most := len(table{p.report, p.before, p.list.At}.lines(b, w, h))
	if w < widget.Wide && h-most < leastPings {
		return list(w, h)
	}
	return pane.Duo{List: list, Detail: detail, Lines: most, Most: max(0, h-most-1)}.Draw(c, w, h)
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
	nameCells, factCells = 8, 12
	// chartRows is the height of the days with their heads.
	chartRows = 1 + week.Days
)

// Lines draws a report in at most h lines of w cells. The facts have priority; the days are between the title and the
// facts if there is room, and each of them above the same day of the week before if there is more.
func Lines(t *theme.Theme, r, before *week.Report, w, h int) (out []string) {
	for _, row := range (table{r, before, -1}).lines(widget.Brush{Theme: t}, w, h) {
		out = append(out, row.Text)
	}
	return out
}

// table is a week beside the one before, which may be nil, with a mark at the chosen day.
type table struct {
	r, before *week.Report
	chosen    int
}

// lines are the rows of Lines.
func (t table) lines(b widget.Brush, w, h int) []widget.Row {
	r := t.r
	rows := widget.Rows(widget.Nowhere, b.Line(w, widget.Span{Role: theme.Strong, Text: " " + r.Title()}))
	said := widget.Rows(widget.Nowhere, facts(b, r, w)...)
	if columns := fitting(r, w-nameCells-1); len(columns) > 0 && len(rows)+len(said)+chartRows+2 <= h {
		if len(rows)+len(said)+chartRows+week.Days+2 > h {
			t.before = nil
		}
		blank := widget.Row{Place: widget.Nowhere, Text: b.Line(w)}
		rows = append(append(append(rows, blank), t.days(b, columns, w)...), blank)
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

// column is one figure of each day: a bar, with its successful part highlighted, and a number.
type column struct {
	head  string
	role  theme.Role
	cells int // of the bar
	text  int // of the number
	good  func(week.Day) float64
	all   func(week.Day) float64
	words func(week.Day) string
}

// fitting returns the columns that fit into w cells, with bars as wide as possible.
func fitting(r *week.Report, w int) []column {
	all := []column{
		{
			head: textPings, role: theme.Ping, text: 6,
			good:  func(d week.Day) float64 { return float64(d.Answered) },
			all:   func(d week.Day) float64 { return float64(d.Sent) },
			words: func(d week.Day) string { return share(d.Answered, d.Sent) },
		},
		{
			head: textDue, role: theme.Good, text: 6,
			good:  func(d week.Day) float64 { return float64(d.Ran) },
			all:   func(d week.Day) float64 { return float64(d.Due) },
			words: func(d week.Day) string { return share(d.Ran, d.Due) },
		},
		{
			head: textCost, role: theme.Accent, text: 7,
			good:  func(d week.Day) float64 { return d.Dollars },
			all:   func(d week.Day) float64 { return d.Dollars },
			words: func(d week.Day) string { return spent(d.Dollars) },
		},
	}
	const leastBar, mostBar, between = 8, 32, 2
	n := len(all)
	need := func(n int) (cells int) {
		for _, c := range all[:n] {
			cells += leastBar + c.text + between
		}
		return cells
	}
	for n > 0 && need(n) > w {
		n--
	}
	for i := range all[:n] {
		all[i].cells = min(mostBar, leastBar+(w-need(n))/n)
	}
	return all[:n]
}

// days draws the headings and a row for each day, with a lower one of the week before.
func (t table) days(b widget.Brush, columns []column, w int) []widget.Row {
	r, before := t.r, t.before
	head := []widget.Span{{Text: widget.Blank(nameCells + 1)}}
	for _, c := range columns {
		head = append(head, widget.Span{Role: theme.Dim, Text: widget.Fit(c.head, c.cells+c.text+2)})
	}
	rows := widget.Rows(widget.Nowhere, b.Line(w, head...))
	for i, d := range r.Days {
		begun, role := i < r.Begun(), theme.Text
		if !begun {
			role = theme.Dim
		} else if i == r.Begun()-1 && r.Ago == 0 {
			role = theme.Strong
		}
		brush, mark := b, " "
		if i == t.chosen {
			brush.Back, mark = theme.Select, b.Theme.Glyph(theme.Pointer)
		}
		row := []widget.Span{{Role: role, Text: mark + widget.Fit(d.Date.Format("Mon 2"), nameCells)}}
		was := []widget.Span{{Role: theme.Dim, Text: " " + widget.Fit(textBefore, nameCells)}}
		for _, c := range columns {
			top := c.top(r)
			if before != nil && i < len(before.Days) {
				top = max(top, c.top(before))
				was = append(was, c.row(b.Theme, lowBar, top, before.Days[i], true)...)
			}
			row = append(row, c.row(b.Theme, fullBar, top, d, begun)...)
		}
		rows = append(rows, widget.Row{Place: widget.Place(i), Text: brush.Line(w, row...)})
		if before != nil {
			rows = append(rows, widget.Row{Place: widget.Place(i), Text: b.Line(w, was...)})
		}
	}
	return rows
}

// The signs of a bar and their stand-ins. They are lower than a row, so that the bars of two days stay apart.
var fullBar, lowBar = [2]string{"▆", "#"}, [2]string{"▂", "="}

// top is the length of the longest bar.
func (c column) top(r *week.Report) (top float64) {
	for _, d := range r.Days {
		top = max(top, c.all(d))
	}
	return top
}

// row draws the column's part of a day's row; a bar of top is as long as the column is wide.
func (c column) row(t *theme.Theme, bar [2]string, top float64, d week.Day, begun bool) []widget.Span {
	length := func(v float64) int {
		if v <= 0 || top <= 0 {
			return 0
		}
		return max(1, int(math.Round(v/top*float64(c.cells))))
	}
	good, all := length(c.good(d)), length(c.all(d))
	if c.good(d) < c.all(d) { // an incomplete bar must not look complete
		good = min(good, max(0, all-1))
	}
	full, rest := bar[0], "▁"
	if t.ASCII() {
		full, rest = bar[1], "-"
	}
	text := ""
	if begun {
		text = c.words(d)
	}
	return []widget.Span{
		{Role: c.role, Text: strings.Repeat(full, good)},
		{Role: theme.Track, Text: strings.Repeat(rest, all-good)},
		{Text: widget.Blank(c.cells - all + 1)},
		{Role: theme.Dim, Text: widget.Fit(text, c.text) + " "},
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
