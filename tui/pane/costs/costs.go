// Package costs is the page of what everything has cost: the bot, day by day, and
// each of its tasks. It owns which tasks are marked; the numbers are read for it.
package costs

import (
	"cmp"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/words"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/chart"
	"ollimbot/tui/widget/table"
)

// days is how many are shown.
const days = 30

// Page is the page of costs. Use New.
type Page struct {
	pane.Still
	table  table.Table
	report *command.CostReport
	failed string // why it could not be read
	// asked is what the report was read for, version how often one was read.
	asked   asked
	version uint64
	marked  map[string]bool // ids of tasks
	marks   uint64          // how often that has changed
	picture widget.Cache[pictureKey]
	// theme is that of the drawing, for the cells of the table, and full a full cell
	// of a bar in it.
	theme *theme.Theme
	full  string
}

// asked is what makes another report: another minute, a run that has ended, money that
// was spent or set aside.
type asked struct {
	minute          time.Time
	ended           int
	spent, reserved float64
	lifted          bool
}

// New returns the page.
func New() *Page {
	return &Page{marked: map[string]bool{}, table: table.Table{Columns: columns()}}
}

func askedOf(s *core.Snapshot) asked {
	a := asked{minute: s.At.Truncate(time.Minute), spent: s.Money.Today.Spent, reserved: s.Money.Reserved, lifted: s.Money.Lifted}
	for i := range s.Forks {
		if !s.Forks[i].Live() {
			a.ended++
		}
	}
	return a
}

// Wants implements pane.Reader.
func (p *Page) Wants(c pane.Context) command.Value {
	now := askedOf(c.Snap)
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
	row := p.table.Row()
	p.report, p.failed = o.Costs, ""
	p.version++
	p.fill()
	p.table.Select(row)
	return pane.Answer{}
}

// Title implements pane.Pane.
func (p *Page) Title(c pane.Context) (name, state string) {
	state = textToday + words.Dollars(c.Snap.Engine.Today.CostUSD)
	if head, _ := p.table.Order(); head != "" {
		state += " · " + textBy + head
	}
	return textTitle, state
}

// Draw implements pane.Pane.
func (p *Page) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	if p.theme, p.full = c.Theme, "█"; c.Theme.ASCII() {
		p.full = "#"
	}
	switch {
	case p.report == nil && p.failed == "":
		return widget.FillRows(widget.Rows(widget.Nowhere, b.Line(w, widget.Span{Role: theme.Dim, Text: " " + textReading})), w, h)
	case p.report == nil:
		return widget.Rows(widget.Nowhere, b.Empty(w, h, p.failed)...)
	}
	rows := widget.Rows(widget.Nowhere, p.heads(c, w, h)...)
	list := p.table.Lines()
	if plot := max(h-len(rows)-1-list, (h-len(rows))/2); plot >= leastPlot {
		picture := p.picture.Rows(pictureKey{c.Theme, w, plot, p.version, p.marks}, func() []widget.Row {
			return widget.Rows(widget.Nowhere, p.plot(w).Draw(c.Theme, w, plot)...)
		})
		rows = append(rows, picture...)
		rows = append(rows, widget.Row{Text: b.Rule(w, p.listed(), nil), Place: widget.Ruled})
	}
	return append(rows, p.table.Draw(c.Theme, w, max(0, h-len(rows)), focused, textFound(p.table.Shown()))...)[:h]
}

// leastPlot is the least height of the picture.
const leastPlot = 4

// pictureKey is what the bars depend on.
type pictureKey struct {
	theme          *theme.Theme
	w, h           int
	version, marks uint64
}

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

// Do implements pane.Pane.
func (p *Page) Do(c pane.Context, id action.ID) pane.Answer {
	_, verb, _ := strings.Cut(string(id), ".")
	switch id {
	case action.CostsOpen:
		if t := p.selected(); t != nil {
			return pane.Answer{Task: t.ID}
		}
	case action.CostsMark:
		if t := p.selected(); t != nil {
			p.mark(t.ID)
		}
	case action.Back:
		p.End(c)
	default:
		p.table.Do(verb)
	}
	return pane.Answer{}
}

// mark marks a task, or no longer, and goes on to the next one.
func (p *Page) mark(id string) {
	p.marks++
	if p.marked[id] {
		delete(p.marked, id)
	} else {
		p.marked[id] = true
	}
	p.table.Move("down")
}

// End takes the filter away, then the marks, and reports whether there was one of them.
func (p *Page) End(pane.Context) bool {
	if p.table.EndQuery() {
		return true
	}
	was := len(p.marked) > 0
	clear(p.marked)
	p.marks++
	return was
}

// Off says why something cannot be done with the selected row.
func (p *Page) Off(_ pane.Context, id action.ID) string {
	switch id {
	case action.CostsOpen, action.CostsMark:
		if p.selected() == nil {
			return textNoTask
		}
	}
	return ""
}

// Press implements pane.Pane.
func (p *Page) Press(_ pane.Context, at widget.Place, focused bool) action.ID {
	switch i := int(at); {
	case p.table.Press(at), i < 0:
	case p.table.Row() != i:
		p.table.Select(i)
	case focused:
		return action.CostsOpen
	}
	return ""
}

// Capture implements pane.Pane.
func (p *Page) Capture() bool { return p.table.Query.Typing() }

// Hint is the help line while the filter is written.
func (p *Page) Hint() []key.Binding { return p.table.Query.Hint() }

// Type implements pane.Pane.
func (p *Page) Type(_ pane.Context, msg tea.Msg) pane.Answer {
	p.table.Type(msg)
	return pane.Answer{}
}
