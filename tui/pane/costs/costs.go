// Package costs is the page of what everything has cost: the bot, day by day, and
// each of its tasks. It owns which tasks are marked; the numbers are read for it.
package costs

import (
	"cmp"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/words"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
)

// days is how many are shown.
const days = 30

// Page is the page of costs. Use New.
type Page struct {
	pane.List[*row]
	report *command.CostReport
	failed string          // why it could not be read
	asked  asked           // what the report was read for
	marked map[string]bool // ids of tasks
	theme  *theme.Theme    // of the drawing, for the cells of the table
}

// asked is what makes another report: another minute, money that was spent or set aside.
type asked struct {
	minute          time.Time
	spent, reserved float64
	lifted          bool
}

// New returns the page.
func New() *Page {
	p := &Page{marked: map[string]bool{}}
	p.Columns, p.Noun, p.Open = p.columns(), textRow, action.CostsOpen
	p.Text = func(r *row) string { return r.Title }
	return p
}

// Wants implements pane.Reader.
func (p *Page) Wants(c pane.Context) command.Value {
	m := c.Snap.Money
	now := asked{c.Snap.At.Truncate(time.Minute), m.Today.Spent, m.Reserved, m.Lifted}
	if !c.Zoomed || now == p.asked {
		return nil
	}
	p.asked = now
	return command.Costs{Days: days}
}

// Read implements pane.Reader. What was read before stays where nothing new comes.
func (p *Page) Read(_ pane.Context, o command.Outcome, err error) pane.Answer {
	if err != nil || o.Costs == nil {
		if p.failed = textNothing; err != nil {
			p.failed = clean.Line(err.Error())
		}
		return pane.Answer{}
	}
	was, _ := p.Row()
	p.report, p.failed = o.Costs, ""
	p.Fill(rowsOf(o.Costs))
	p.Select(func(r *row) bool { return was != nil && r.ID == was.ID })
	return pane.Answer{}
}

// Title implements pane.Pane.
func (p *Page) Title(c pane.Context) (name, state string) {
	state = textToday + words.Dollars(c.Snap.Engine.Today.CostUSD)
	if head, _ := p.Order(); head != "" {
		state += " · " + textBy + head
	}
	return textTitle, state
}

// Draw implements pane.Pane.
func (p *Page) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	p.theme = c.Theme
	switch {
	case p.report == nil && p.failed == "":
		return widget.FillRows(widget.Rows(widget.Nowhere, b.Line(w, widget.Span{Role: theme.Dim, Text: " " + textReading})), w, h)
	case p.report == nil:
		return widget.Rows(widget.Nowhere, b.Empty(w, h, p.failed)...)
	}
	rows := widget.Rows(widget.Nowhere, p.heads(c, w, h)...)
	if plot := max(h-len(rows)-1-p.Lines(), (h-len(rows))/2); plot >= leastPlot {
		rows = append(rows, widget.Rows(widget.Nowhere, p.plot(w).Draw(c.Theme, w, plot)...)...)
		rows = append(rows, widget.Row{Text: b.Rule(w, p.listed(), nil), Place: widget.Ruled})
	}
	return append(rows, p.Table.Draw(c.Theme, w, max(0, h-len(rows)), focused)...)[:h]
}

// leastPlot is the least height of the picture.
const leastPlot = 4

// heads are the lines above the bars, as many as a low page has room for.
func (p *Page) heads(c pane.Context, w, h int) []string {
	r, b := p.report, widget.Brush{Theme: c.Theme}
	m := r.Money
	line := func(spans ...widget.Span) string {
		return b.Line(w, append([]widget.Span{{Text: " "}}, spans...)...)
	}
	dim := func(text string) widget.Span { return widget.Span{Role: theme.Dim, Text: text} }
	today := []widget.Span{dim(textToday), {Role: theme.Strong, Text: words.Dollars(m.Today.Spent)}, dim(textMidnight + words.Dollars(r.Projected))}
	if m.Today.Capped() {
		role := theme.Dim
		if r.Projected > m.Today.Cap {
			role = theme.Warn
		}
		today = append(today, widget.Span{Role: role, Text: textCap(m.Today.Cap, textADay)})
	}
	month := []widget.Span{dim(textMonth), {Text: words.Dollars(m.Month.Spent)}}
	if m.Month.Capped() {
		month = append(month, dim(textCap(m.Month.Cap, textAMonth)))
	}
	if m.Reserved > 0 {
		month = append(month, dim(" · "+textReserved(m.Reserved)))
	}
	if !m.Today.Capped() && !m.Month.Capped() {
		month = append(month, dim(" · "+textNoCap))
	}
	out := []string{line(today...)}
	if h >= roomyHeads {
		out = append(out, line(month...))
	}
	if text := command.Blocks(r.Used); text != "" && h >= roomyHeads {
		out = append(out, line(dim(text)))
	}
	if held := p.held(c); held != nil {
		out = append(out, line(held...))
	}
	return out
}

// roomyHeads is from how many rows on the month has a line.
const roomyHeads = 9

// held is which runs wait for money, or that nothing does because the caps were lifted.
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
	return []widget.Span{
		{Role: theme.Warn, Text: c.Theme.Glyph(theme.Bang) + " " + textHeld(n, dollars)}, {Text: " " + first},
	}
}

// listed is the heading of the rows: what the bars show.
func (p *Page) listed() []widget.Span {
	if len(p.marked) == 0 {
		return []widget.Span{{Role: theme.Strong, Text: textByTask}, {Role: theme.Dim, Text: textLastDays}}
	}
	return []widget.Span{{Role: theme.Strong, Text: textByTask}, {Role: theme.Accent, Text: textMarkedOnly(len(p.marked))}}
}

// plot is a bar for each day: of everything, or of the tasks that are marked.
func (p *Page) plot(w int) *chart.Plot {
	r := p.report
	n := len(r.Days)
	plot := &chart.Plot{X: chart.Axis{To: float64(n)}}
	top := 0.0
	for i, d := range r.Days {
		bar := chart.Bar{Y: d.Dollars, Role: theme.Accent}
		if len(p.marked) > 0 {
			bar.Y = p.ofMarked(i)
		} else if i == n-1 {
			bar.More = max(0, r.Projected-d.Dollars)
		}
		top = max(top, bar.Y+bar.More)
		plot.Bars = append(plot.Bars, bar)
		if label := dayLabel(d.Date, i, n, w); label != "" {
			plot.X.Ticks = append(plot.X.Ticks, chart.Tick{At: float64(i) + 0.5, Label: label})
		}
	}
	most := r.Money.Today.Cap
	if r.Money.Today.Capped() && most <= 4*max(top, most/8) && len(p.marked) == 0 {
		plot.Rules = append(plot.Rules, chart.Rule{At: most, Level: true, Role: theme.Warn, Label: textCapLine + words.Dollars(most)})
		top = max(top, most*1.1)
	}
	plot.Y.To = max(top, 0.01)
	for _, v := range chart.Ticks(plot.Y.To, 4) {
		plot.Y.Ticks = append(plot.Y.Ticks, chart.Tick{At: v, Label: "$" + chart.Whole(v)})
	}
	return plot
}

// ofMarked is what the marked tasks have cost on a day.
func (p *Page) ofMarked(day int) (dollars float64) {
	for i := range p.report.Tasks {
		if t := &p.report.Tasks[i]; p.marked[t.ID] && day < len(t.Days) {
			dollars += t.Days[day]
		}
	}
	return dollars
}

// dayLabel is what stands below a day: every so many of them its date.
func dayLabel(date time.Time, i, n, w int) string {
	step := 7
	if w < 60 {
		step = 14
	}
	switch left := n - 1 - i; {
	case left == 0:
		return textTodayTick
	case left%step == 0:
		return date.Format("2 Jan")
	}
	return ""
}

// selected is the task of the selected row; nil where there is none.
func (p *Page) selected() *row {
	if r, ok := p.Row(); ok && r.ID != "" {
		return r
	}
	return nil
}

// Do implements pane.Pane.
func (p *Page) Do(c pane.Context, id action.ID) pane.Answer {
	switch r := p.selected(); {
	case id == action.CostsOpen && r != nil:
		return pane.Answer{Task: r.ID}
	case id == action.CostsMark && r != nil:
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

// End takes the filter away, then the marks, and reports whether there was one of them.
func (p *Page) End(pane.Context) bool {
	if p.EndQuery() {
		return true
	}
	was := len(p.marked) > 0
	clear(p.marked)
	return was
}

// Off says why something cannot be done with the selected row.
func (p *Page) Off(_ pane.Context, id action.ID) string {
	if (id == action.CostsOpen || id == action.CostsMark) && p.selected() == nil {
		return textNoTask
	}
	return ""
}
