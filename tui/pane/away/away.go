// Package away is the page of events during the user's absence, by task, with the audit log below. It reads both in
// the background; a line of the upper half opens its run. It must not decide what to report.
package away

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/safety/audit"
	"ollimbot/core/talk/absence"
	"ollimbot/routines/cron"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/query"
	"ollimbot/tui/widget/table"
)

// Page is the page of missed events. Use New.
type Page struct {
	*pane.List[row]                 // the focused half
	report          *absence.Report // nil until it has been read
	tasks, log      pane.List[row]
	read            stamp
	greeted         bool // the toast of the start was shown
	snap            *core.Snapshot
}

// stamp changes when a report is out of date.
type stamp struct {
	from      time.Time
	decisions uint64
	ended     int // runs
}

// New returns the page.
func New() *Page {
	p := &Page{}
	p.List = &p.tasks
	p.tasks.Columns, p.tasks.Note = taskColumns, row.note
	p.log.Columns, p.log.First = p.logColumns(), logPlace
	for _, half := range []*pane.List[row]{&p.tasks, &p.log} {
		half.Noun, half.Facts, half.Open = "line", p.facts, action.AwayOpen
	}
	return p
}

// State implements pane.Pane: the time of the absence.
func (p *Page) State(c pane.Context) string {
	if p.report == nil || p.report.From.IsZero() {
		return ""
	}
	return textSpan(c.Snap, p.report.Span)
}

// Sync implements pane.Pane.
func (p *Page) Sync(c pane.Context) { p.snap = c.Snap }

// Wants implements pane.Loader: at the start, if there was an absence, and while the page is
// visible.
func (p *Page) Wants(c pane.Context) pane.Answer {
	s := c.Snap
	now := stamp{s.Away.From, s.Decisions, len(s.Ended)}
	if s.Away.From.IsZero() && !s.Started.IsZero() {
		p.greeted = true // the user sat here when the absence began
	}
	start := !p.greeted && !s.Started.IsZero() && !s.Away.From.IsZero()
	if !start && (!c.Zoomed || p.report != nil && p.read == now) {
		return pane.Answer{}
	}
	p.read = now
	return pane.Answer{Load: func(ctx context.Context, r pane.Reader) pane.Loaded {
		report, err := r.Away(ctx)
		return func(c pane.Context) pane.Answer { return p.take(c, &report, err) }
	}}
}

// take shows a report that was read.
func (p *Page) take(c pane.Context, report *absence.Report, err error) pane.Answer {
	greeted, was := p.greeted, cmp.Or(p.report, &absence.Report{})
	p.greeted, p.report = true, was
	switch {
	case err != nil && c.Zoomed:
		return pane.Answer{Toast: err.Error()}
	case err != nil:
		return pane.Answer{}
	}
	p.report = report
	p.tasks.Fill(tasksOf(report))
	p.log.Fill(entriesOf(slices.DeleteFunc(report.Log, func(e audit.Entry) bool { return e.Action == audit.ViewerAttached }))) // to look decides nothing
	switch {
	case c.Zoomed && p.report.Damaged > 0 && was.Damaged == 0:
		return pane.Answer{Toast: fmt.Sprintf(textDamaged, words.Grouped(uint64(p.report.Damaged), "line"))}
	case !c.Zoomed && !greeted && p.report.Sum.Runs > 0:
		return pane.Answer{Toast: textBack(p.report, c.Names(action.Everywhere).Key(action.Away.Go()))}
	}
	return pane.Answer{}
}

// Do implements pane.Pane.
func (p *Page) Do(c pane.Context, id action.ID) pane.Answer {
	switch id {
	case action.AwayOpen:
		return p.open()
	case action.AwayHalf:
		if p.inLog() {
			p.List = &p.tasks
		} else {
			p.List = &p.log
		}
		return pane.Answer{}
	}
	return p.List.Do(c, id)
}

// open shows the run or the decision of the selected line.
func (p *Page) open() pane.Answer {
	r, ok := p.Row()
	switch {
	case !ok:
		return pane.Answer{Toast: textNothing}
	case r.entry == nil:
		return pane.Answer{Focus: action.Forks, Item: r.Run, Zoom: true}
	}
	return pane.Answer{Open: dialog.NewPage(what(*r.entry), decision(p.snap, *r.entry))}
}

// logPlace is the Place of the first line of the log.
const logPlace = 1 << 20

// Press implements pane.Pane.
func (p *Page) Press(c pane.Context, at widget.Place, focused bool) action.ID {
	if at == widget.Nowhere || at == widget.Ruled {
		return ""
	}
	was := p.List
	if p.List = &p.tasks; p.log.Has(at) {
		p.List = &p.log
	}
	return p.List.Press(c, at, focused && was == p.List)
}

func (p *Page) inLog() bool { return p.List == &p.log }

// Draw implements pane.Pane.
func (p *Page) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	if p.report == nil {
		return widget.Rows(widget.Nowhere, widget.Brush{Theme: c.Theme}.Empty(w, h, textReading)...)
	}
	lines := 1 + p.tasks.Lines()
	if p.tasks.Len() == 0 {
		lines = 3
	}
	return pane.Duo{
		Lines: lines, Most: h - 2 - max(h/2, h-16),
		List:   func(w, h int) []widget.Row { return widget.FillRows(p.upper(c, w, h, focused), w, h) },
		Detail: func(w, h int) pane.Detail { return p.lower(c, w, h, focused) },
	}.Draw(c, w, h)
}

// upper is the half of the report.
func (p *Page) upper(c pane.Context, w, h int, focused bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	if p.report.From.IsZero() {
		return widget.Rows(widget.Nowhere, b.Empty(w, h, textNever, textTeach)...)
	}
	rows := []widget.Row{{Text: b.Line(w, sum(p.report)...), Place: widget.Nowhere}}
	if p.tasks.Len() == 0 {
		return append(rows, widget.Rows(widget.Nowhere, b.Empty(w, h-1, textQuiet)...)...)
	}
	return append(rows, p.tasks.Draw(c.Theme, w, h-1, focused && !p.inLog())...)
}

// lower is the half of the audit log.
func (p *Page) lower(c pane.Context, w, h int, focused bool) (d pane.Detail) {
	d.State = []widget.Span{{Role: theme.Dim, Text: words.Grouped(uint64(p.log.Len()), "decision")}}
	d.Title = []widget.Span{{Role: theme.Strong, Text: textLog}}
	if p.inLog() {
		d.Title = []widget.Span{{Role: theme.Accent, Text: c.Theme.Glyph(theme.Pointer) + " " + textLog}}
	}
	if d.Rows = p.log.Draw(c.Theme, w, h, focused && p.inLog()); p.log.Len() == 0 {
		d.Rows = widget.Rows(widget.Nowhere, widget.Brush{Theme: c.Theme}.Empty(w, h, textNoLog)...)
	}
	return d
}

// row is a line: a task, or an entry of the audit log.
type row struct {
	absence.Task
	entry *audit.Entry
}

func entriesOf(lists ...[]audit.Entry) (rows []row) {
	for _, list := range lists {
		for i := range list {
			rows = append(rows, row{entry: &list[i]})
		}
	}
	return rows
}

// tasksOf are the lines of the upper half.
func tasksOf(r *absence.Report) (rows []row) {
	for _, t := range r.Tasks {
		rows = append(rows, row{Task: t})
	}
	return append(rows, entriesOf(r.Held, r.Front, r.Notes, r.Answers)...)
}

func (r row) name() widget.Span {
	if r.entry != nil {
		return widget.Span{Role: theme.Warn, Text: what(*r.entry)}
	}
	return widget.Span{Role: theme.Strong, Text: r.Title}
}

func (r row) note() widget.Span {
	if r.entry != nil {
		return widget.Span{Role: theme.Dim, Text: oneLine(*r.entry)}
	}
	return widget.Span{Role: theme.Dim, Text: r.Why}
}

// facts returns the searchable properties of a line.
func (p *Page) facts(r row) query.Facts {
	if e := r.entry; e != nil {
		text := e.Actor + " " + e.From + " " + what(*e) + " " + oneLine(*e)
		return query.Facts{Text: text, At: p.snap.Local(e.At), Now: p.snap.Local(p.snap.At)}
	}
	f := query.Facts{Text: r.Title + " " + r.Why}
	for is, n := range map[string]int{"pinged": r.Pings, "quiet": r.Quiet, "reported": r.Reports, "refused": r.Refused, "failed": r.Failed} {
		if n > 0 {
			f.Is = append(f.Is, is)
		}
	}
	return f
}

// taskColumns are those of the upper half.
var taskColumns = []table.Column[row]{
	{Head: "TASK", Least: 14, Cell: row.name},
	table.Number("RUNS", 5, theme.Text, func(r row) int { return r.Runs }, strconv.Itoa),
	table.Number("PING", 5, theme.Ping, func(r row) int { return r.Pings }, strconv.Itoa),
	table.Number("QUIET", 6, theme.Ping, func(r row) int { return r.Quiet }, strconv.Itoa),
	table.Number("REPORT", 7, theme.Report, func(r row) int { return r.Reports }, strconv.Itoa),
	table.Number("REFUSED", 8, theme.Warn, func(r row) int { return r.Refused }, strconv.Itoa),
	table.Number("FAILED", 7, theme.Bad, func(r row) int { return r.Failed }, strconv.Itoa),
	table.Number("TOKENS", 7, theme.Dim, func(r row) int { return r.Tokens }, words.Big),
	table.Number("$", 6, theme.Dim, func(r row) float64 { return r.Dollars }, words.Cents),
}

// logColumns are those of the lower half.
func (p *Page) logColumns() []table.Column[row] {
	when := func(r row) string {
		return p.snap.When(r.entry.At, cron.Layouts{Today: "15:04", Else: "2 Jan 15:04"})
	}
	columns := []table.Column[row]{
		table.Words("WHEN", 14, theme.Dim, when),
		table.Words("WHO", 6, theme.Text, func(r row) string { return r.entry.Actor }),
		table.Words("WHAT", 17, theme.Strong, func(r row) string { return what(*r.entry) }),
		table.Words("DETAIL", 0, theme.Text, func(r row) string { return oneLine(*r.entry) }),
		table.Words("FROM", 14, theme.Dim, func(r row) string { return r.entry.From }),
	}
	columns[0].Descending, columns[3].Least = true, 16
	columns[0].Compare = func(a, b row) int { return a.entry.At.Compare(b.entry.At) }
	return columns
}

// sum returns the report in one line.
func sum(r *absence.Report) []widget.Span {
	out := []widget.Span{{Text: " "}}
	for _, part := range []struct {
		n    int
		noun string
		role theme.Role
	}{
		{r.Sum.Runs, "run", theme.Strong},
		{r.Sum.Pings, "ping", theme.Ping},
		{r.Sum.Quiet, "quiet message", theme.Ping},
		{r.Sum.Refused, "refused ping", theme.Warn},
		{r.Sum.Failed, "failure", theme.Bad},
		{len(r.Front), "foreground run", theme.Text},
		{len(r.Held), "held run", theme.Warn},
		{len(r.Notes), "note", theme.Warn},
		{len(r.Answers), "answered request", theme.Text},
	} {
		if part.n > 0 || part.noun == "run" {
			out = append(out, widget.Span{Role: part.role, Text: words.Grouped(uint64(part.n), part.noun)}, widget.Span{Role: theme.Dim, Text: " · "})
		}
	}
	return append(out, widget.Span{Text: words.Dollars(r.Sum.Dollars)})
}

// Line is a line of the page as text, for plain mode.
type Line struct {
	Text  string
	Whole string      // a decision in full
	Facts query.Facts // what a filter finds it by
}

// Lines describes an absence as text: its time and totals, then each task and the other events.
func Lines(s *core.Snapshot, r *absence.Report) (head string, lines []Line) {
	switch {
	case r.From.IsZero():
		return textNever, nil
	case r.Sum.Runs+len(r.Held)+len(r.Front)+len(r.Notes)+len(r.Answers) == 0:
		return textSpan(s, r.Span) + ". " + textQuiet, nil
	}
	head = textSpan(s, r.Span) + ": "
	for _, span := range sum(r) {
		head += span.Text
	}
	p := &Page{snap: s}
	for _, row := range tasksOf(r) {
		lines = append(lines, Line{Text: row.words(s), Facts: p.facts(row)})
	}
	return head, lines
}

// words returns a line of the upper half as text.
func (r row) words(s *core.Snapshot) string {
	if r.entry != nil {
		return words.Joined(s.Moment(r.entry.At), what(*r.entry), oneLine(*r.entry))
	}
	failed := ""
	if r.Failed > 0 {
		failed = words.Count(r.Failed, "failure")
	}
	cost := ""
	if r.Dollars > 0 {
		cost = words.Dollars(r.Dollars)
	}
	return words.Joined(r.Title, words.Count(r.Runs, "run"), failed, words.Some(r.Pings, "ping", ""),
		words.Some(r.Quiet, "quiet message", ""), words.Some(r.Refused, "ping", " refused"),
		words.Some(r.Reports, "report", ""), cost, r.Why)
}
