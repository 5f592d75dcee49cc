// Package costs is the page of costs, day by day and by task. It owns which tasks are marked, and must not compute
// costs: it reads a report.
package costs

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
	"ollimbot/tui/widget/query"
	"ollimbot/tui/widget/table"
)

// days is the number of days shown.
const days = 30

// Page is the page of costs. Use New.
type Page struct {
	pane.List[row]
	report *command.CostReport
	failed string          // why reading the report failed
	asked  asked           // the state for which the report was read
	all    float64         // total cost of its rows
	marked map[string]bool // ids of tasks
	theme  *theme.Theme    // of the drawing, for the cells of the table
}

// asked changes when a report is out of date: at a new minute, or when money is spent or reserved.
type asked struct {
	minute          time.Time
	spent, reserved float64
	lifted          bool
}

// New returns the page.
func New() *Page {
	p := &Page{marked: map[string]bool{}}
	p.Columns, p.Noun, p.Open = p.columns(), "row", action.CostsOpen
	p.Facts = func(r row) query.Facts { return query.Facts{Text: r.Title} }
	p.Same = func(was, r row) bool { return was.ID == r.ID }
	return p
}

// Wants implements pane.Loader. After an error the last report stays.
func (p *Page) Wants(c pane.Context) pane.Answer {
	m := c.Snap.Money
	now := asked{c.Snap.At.Truncate(time.Minute), m.Today.Spent.Dollars(), m.Reserved, m.Lifted}
	if !c.Zoomed || now == p.asked {
		return pane.Answer{}
	}
	p.asked = now
	return pane.Answer{Load: func(ctx context.Context, r pane.Reader) pane.Loaded {
		report, err := r.Costs(ctx, days)
		return func(pane.Context) pane.Answer {
			if err != nil {
				p.failed = clean.Line(err.Error())
				return pane.Answer{}
			}
			p.report, p.failed = &report, ""
			rows, all := rowsOf(&report)
			p.all = all
			p.Fill(rows)
			return pane.Answer{}
		}
	}}
}

// State implements pane.Pane.
func (p *Page) State(c pane.Context) string {
	parts := []string{textToday + words.Dollars(c.Snap.Money.Today.Spent.Dollars())}
	return strings.Join(append(parts, p.Order()...), " · ")
}

// Draw implements pane.Pane.
func (p *Page) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	p.theme = c.Theme
	if p.report == nil {
		return widget.Rows(widget.Nowhere, b.Empty(w, h, cmp.Or(p.failed, textReading))...)
	}
	rows := p.heads(c, w, h)
	below, least := 0, (h-len(rows))/2
	if h >= leastDetail {
		below, least = mostFacts+1, (h-len(rows))/3
	}
	if plot := max(h-len(rows)-1-p.Lines()-below, least); plot >= leastPlot {
		rows = append(rows, widget.Rows(widget.Nowhere, p.plot(w).Draw(c.Theme, w, plot)...)...)
		rows = append(rows, widget.Row{Text: b.Rule(w, p.listed(), nil), Place: widget.Ruled})
	}
	list := func(w, h int) []widget.Row { return p.Table.Draw(c.Theme, w, h, focused) }
	left := max(0, h-len(rows))
	if below == 0 {
		return append(rows, list(w, left)...)[:h]
	}
	detail := func(w, _ int) pane.Detail { return p.detail(c, w) }
	return append(rows, pane.Duo{List: list, Detail: detail, Lines: left, Most: mostFacts}.Draw(c, w, left)...)
}

// leastPlot is the least height of the picture, leastDetail that of a page with the selected row in full.
const leastPlot, leastDetail = 4, 24

// mostFacts is the number of rows of the selected row in full.
const mostFacts = 3

// detail returns what the columns do not say about the selected row.
func (p *Page) detail(c pane.Context, w int) pane.Detail {
	r, ok := p.Row()
	if !ok {
		return pane.Detail{}
	}
	s := pane.Sheet{Context: c, W: w}
	say := func(name, text string) { s.Named(widget.Nowhere, name, widget.Span{Text: text}) }
	say("cost", fmt.Sprintf("%s of %s in %s, %s today", words.Dollars(r.Dollars), words.Dollars(p.all), words.Count(days, "day"), words.Dollars(today(r))))
	if r.Tokens > 0 {
		say("tokens", fmt.Sprintf("%s, about %s a run", words.Tokens(r.Tokens), words.Tokens(r.Tokens/max(1, r.Runs))))
	}
	if r.Quiet > 0 {
		say("silent", fmt.Sprintf("%d of %s left no ping and no report: %s", r.Quiet, words.Count(r.Runs, "run"), words.Dollars(r.QuietDollars)))
	}
	for i, a := range p.report.Advice { // the first one is above the bars
		if i > 0 && a.ID == r.ID && a.Change != "" {
			say("advice", a.Change+": "+a.Words)
		}
	}
	return pane.Detail{Title: pane.Named(r.Title, w), Rows: s.Rows}
}

// heads are the lines above the bars, fewer of them on a low page.
func (p *Page) heads(c pane.Context, w, h int) []widget.Row {
	r, s := p.report, pane.Sheet{Context: c, W: w}
	m, line := r.Money, func(spans ...widget.Span) { s.Line(widget.Nowhere, spans...) }
	dim := func(text string) widget.Span { return widget.Span{Role: theme.Dim, Text: text} }
	today := []widget.Span{dim(textToday), {Role: theme.Strong, Text: m.Today.Spent.Text()}, dim(textMidnight + words.Dollars(r.Projected))}
	month := []widget.Span{dim("this month "), {Text: m.Month.Spent.Text()}}
	if m.Today.Capped() {
		today = append(today, dim(textCap(m.Today.Cap, "a day")))
		if r.Projected > m.Today.Cap {
			today[3].Role = theme.Warn
		}
	}
	if m.Month.Capped() {
		month = append(month, dim(textCap(m.Month.Cap, "a month")))
	}
	if m.Reserved > 0 {
		month = append(month, dim(" · "+words.Dollars(m.Reserved)+" set aside for runs"))
	}
	if !m.Today.Capped() && !m.Month.Capped() {
		month = append(month, dim(" · no cap is set"))
	}
	line(today...)
	if h >= roomyHeads {
		line(month...)
	}
	if text := command.Blocks(r.Used); text != "" && h >= roomyHeads {
		line(dim(text))
	}
	if a := r.Advice; len(a) > 0 && a[0].Change != "" && h >= roomyAdvice {
		line(dim(a[0].Text()))
	}
	if held := p.held(c); held != nil {
		line(held...)
	}
	return s.Rows
}

// The rows from which on the month has a line, and what would have saved most.
const (
	roomyHeads  = 9
	roomyAdvice = 14
)

// held describes the runs that wait once today has reached a cap, or that the caps are suspended.
func (p *Page) held(c pane.Context) []widget.Span {
	if p.report.Money.Lifted {
		return []widget.Span{{Role: theme.Warn, Text: textLifted}}
	}
	n, dollars, first := 0, 0.0, ""
	for i := range p.report.Ahead {
		if e := &p.report.Ahead[i]; e.Money {
			n, dollars, first = n+1, dollars+e.Cost, cmp.Or(first, e.Description)
		}
	}
	if n == 0 {
		return nil
	}
	waits := words.Count(n, "run") + " wait"
	if n == 1 {
		waits += "s"
	}
	return []widget.Span{
		{Role: theme.Warn, Text: c.Theme.Glyph(theme.Bang) + " " + fmt.Sprintf(textHeld, waits, words.Dollars(dollars))}, {Text: " " + first},
	}
}

// listed returns the heading of the rows, which explains the bars.
func (p *Page) listed() []widget.Span {
	which := widget.Span{Role: theme.Dim, Text: textLastDays}
	if n := len(p.marked); n > 0 {
		which = widget.Span{Role: theme.Accent, Text: fmt.Sprintf(", the bars show the %d marked", n)}
	}
	return []widget.Span{{Role: theme.Strong, Text: "By task"}, which}
}

// plot draws a bar for each day: of all costs, or of the marked tasks.
func (p *Page) plot(w int) *chart.Plot {
	r := p.report
	n := len(r.Days)
	plot := &chart.Plot{}
	top, step := 0.0, 7 // days with a date below them
	if w < 60 {
		step = 14
	}
	for i, d := range r.Days {
		bar := chart.Bar{Y: d.Dollars, Role: theme.Accent}
		if len(p.marked) > 0 {
			bar.Y = p.ofMarked(i)
		} else if i == n-1 {
			bar.More = max(0, r.Projected-d.Dollars)
		}
		switch {
		case i == n-1:
			bar.Label = "today"
		case (n-1-i)%step == 0:
			bar.Label = d.Date.Format("2 Jan")
		}
		top = max(top, bar.Y+bar.More)
		plot.Bars = append(plot.Bars, bar)
	}
	most := r.Money.Today.Cap
	if r.Money.Today.Capped() && most <= 4*max(top, most/8) && len(p.marked) == 0 {
		plot.Rule = chart.Rule{At: most, Role: theme.Warn, Label: "cap " + words.Dollars(most)}
		top = max(top, most*1.1)
	}
	plot.Top = max(top, 0.01)
	for _, v := range chart.Ticks(plot.Top, 4) {
		plot.Ticks = append(plot.Ticks, chart.Tick{At: v, Label: "$" + chart.Label(v)})
	}
	return plot
}

// ofMarked returns the cost of the marked tasks on a day.
func (p *Page) ofMarked(day int) (dollars float64) {
	for i := range p.report.Tasks {
		if t := &p.report.Tasks[i]; p.marked[t.ID] && day < len(t.Days) {
			dollars += t.Days[day]
		}
	}
	return dollars
}

// Do implements pane.Pane.
func (p *Page) Do(c pane.Context, id action.ID) pane.Answer {
	switch r, _ := p.Row(); {
	case id == action.CostsOpen && r.ID != "":
		return pane.Answer{Focus: action.Task, Item: r.ID}
	case id == action.CostsMark && r.ID != "":
		if p.marked[r.ID] = !p.marked[r.ID]; !p.marked[r.ID] {
			delete(p.marked, r.ID)
		}
		p.Table.Do("down")
	case id == action.Back:
		p.End(c)
	default:
		return p.List.Do(c, id)
	}
	return pane.Answer{}
}

// End removes the filter, then the marks, and reports whether there was one of them.
func (p *Page) End(pane.Context) bool {
	if p.EndQuery() {
		return true
	}
	was := len(p.marked) > 0
	clear(p.marked)
	return was
}

// Off returns why an action is disabled for the selected row.
func (p *Page) Off(_ pane.Context, id action.ID) string {
	if r, _ := p.Row(); r.ID == "" && (id == action.CostsOpen || id == action.CostsMark) {
		return textNoTask
	}
	return ""
}

// row is a task, or the conversation, which has no id.
type row = command.TaskCost

// rowsOf returns the tasks of a report and the conversation, the most expensive first; all is their total cost.
func rowsOf(r *command.CostReport) (rows []row, all float64) {
	rows = slices.Clone(r.Tasks)
	if r.Talk > 0 {
		rows = append(rows, row{Title: "conversation", Dollars: r.Talk})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.Dollars, a.Dollars) })
	for _, t := range rows {
		all += t.Dollars
	}
	return rows, all
}

const barCells = 10

// columns are those of the tasks. On a narrow page the right ones are dropped first; the task
// stays.
func (p *Page) columns() []table.Column[row] {
	cost := func(r row) float64 { return r.Dollars }
	percent := func(v float64) string { return fmt.Sprintf("%.0f %%", 100*v) }
	runs := func(r row) int { return r.Runs }
	return []table.Column[row]{
		{Head: "TASK", Least: 14, Cell: p.name},
		table.Number("COST", 8, theme.Text, cost, words.Cents),
		table.Number("SHARE", 6, theme.Dim, p.share, percent),
		{Cells: barCells, Cell: p.bar},
		table.Number("RUNS", 6, theme.Dim, runs, func(n int) string { return words.Thousands(uint64(n)) }),
		table.Number("A RUN", 8, theme.Dim, func(r row) float64 { return r.Mean }, words.Cents),
		{Head: "TREND", Cells: 6, Right: true, Descending: true, Cell: trend, Compare: func(a, b row) int { return cmp.Compare(a.Trend, b.Trend) }},
		{Head: "30 DAYS", Cells: days, Cell: p.spark, Compare: func(a, b row) int { return cmp.Compare(today(a), today(b)) }},
	}
}

// today returns a task's cost of today.
func today(r row) float64 {
	if n := len(r.Days); n > 0 {
		return r.Days[n-1]
	}
	return 0
}

// share returns a row's share of all costs.
func (p *Page) share(r row) float64 { return r.Dollars / max(p.all, 1e-9) }

func (p *Page) name(r row) widget.Span {
	if p.marked[r.ID] {
		return widget.Span{Role: theme.Accent, Text: "* " + r.Title + r.Missing()}
	}
	return widget.Span{Role: theme.Strong, Text: r.Title + r.Missing()}
}

func (p *Page) bar(r row) widget.Span {
	return widget.Span{Role: theme.Gauge, Text: strings.Repeat("▆", int(math.Round(p.share(r)*barCells)))}
}

// trend returns the change in cost per run; a small change is not shown.
func trend(r row) widget.Span {
	switch n := int(math.Round(100 * r.Trend)); {
	case n >= 5:
		return widget.Span{Role: theme.Warn, Text: fmt.Sprintf("+%d %%", min(n, 999))}
	case n <= -5:
		return widget.Span{Role: theme.Good, Text: fmt.Sprintf("%d %%", n)}
	}
	return table.Blank()
}

// spark draws a sparkline of a task's daily costs.
func (p *Page) spark(r row) widget.Span {
	if r.Days == nil {
		return table.Blank()
	}
	return widget.Span{Role: theme.Accent, Text: chart.Spark(p.theme, r.Days)}
}

const (
	textToday    = "today "
	textMidnight = ", by midnight about "
	textReading  = "reading what the runs have cost…"
	textLifted   = "the caps are lifted until midnight"
	textHeld     = "then %s for money, about %s:"
	textLastDays = ", in the last 30 days"
	textNoTask   = "no task is selected"
)

func textCap(dollars float64, per string) string {
	return fmt.Sprintf(" · cap %s %s", words.Dollars(dollars), per)
}
