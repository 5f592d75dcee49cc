// Package away is the page of what the bot did while its user was away, by task, and
// below it the audit log: what was asked, allowed and changed, and by whom. It reads
// both off the frame; each line of the upper half opens its run.
package away

import (
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/away"
	"ollimbot/core/command"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/table"
)

// Page is the page of what was missed. Use New.
type Page struct {
	report *away.Report // nil until it was read
	rows   []row        // of the upper half
	tasks  table.Table
	log    table.Table
	inLog  bool // the lower half has the keys
	read   stamp
	told   bool // on start, that there is something to see
	snap   *core.Snapshot
	look   uint64
}

// stamp tells whether a report is still good.
type stamp struct {
	from      time.Time
	decisions uint64
	run       string // that has ended last
}

// New returns the page.
func New() *Page {
	return &Page{
		tasks: table.Table{Columns: []table.Column{
			{Head: "TASK", Least: 14, Most: 40},
			{Head: "RUNS", Cells: 5, Right: true, Falls: true},
			{Head: "PING", Cells: 5, Right: true, Falls: true},
			{Head: "REPORT", Cells: 7, Right: true, Falls: true},
			{Head: "REFUSED", Cells: 8, Right: true, Falls: true},
			{Head: "FAILED", Cells: 7, Right: true, Falls: true},
			{Head: "TOKENS", Cells: 7, Right: true, Falls: true},
			{Head: "$", Cells: 6, Right: true, Falls: true},
		}},
		log: table.Table{Columns: []table.Column{
			{Head: "WHEN", Cells: 14, Falls: true},
			{Head: "WHO", Cells: 6},
			{Head: "WHAT", Cells: 17},
			{Head: "DETAIL", Least: 16},
			{Head: "FROM", Cells: 14},
		}},
	}
}

// Title implements pane.Pane.
func (p *Page) Title(c pane.Context) (name, state string) {
	if p.report == nil || p.report.From.IsZero() {
		return textTitle, ""
	}
	return textTitle, textSpan(c.Snap, p.report.Span)
}

// Line implements pane.Pane.
func (p *Page) Line(c pane.Context, w int) string {
	return widget.Brush{Theme: c.Theme}.Line(w, widget.Span{Text: " " + textTitle})
}

// Sync implements pane.Pane.
func (p *Page) Sync(c pane.Context) {
	was := p.snap
	p.snap = c.Snap
	if was != nil && (was.At.Day() != p.snap.At.Day() || was.TwelveHours != p.snap.TwelveHours) {
		p.fill()
	}
}

// stampOf is what a report that is read now would depend on.
func stampOf(c pane.Context) stamp {
	s := stamp{from: c.Snap.Away.From, decisions: c.Snap.Decisions}
	for i := range c.Snap.Forks {
		if f := &c.Snap.Forks[i]; !f.Live() {
			s.run = f.ID
			break
		}
	}
	return s
}

// Wants implements pane.Reader: on start, where there may be something to say, and
// while the page is looked at.
func (p *Page) Wants(c pane.Context) command.Value {
	start := !p.told && !c.Snap.Started.IsZero() && !c.Snap.Away.From.IsZero()
	if !start && (!c.Zoomed || p.report != nil && p.read == stampOf(c)) {
		return nil
	}
	p.read = stampOf(c)
	return command.Away{}
}

// Read implements pane.Reader.
func (p *Page) Read(c pane.Context, o command.Outcome, err error) pane.Answer {
	told := p.told
	p.told = true
	if err != nil || o.Away == nil {
		if p.report == nil {
			p.report = &away.Report{}
		}
		if err != nil && c.Zoomed {
			return pane.Answer{Toast: err.Error()}
		}
		return pane.Answer{}
	}
	said := p.report != nil && p.report.Damaged > 0
	p.report = o.Away
	p.Sync(c)
	p.fill()
	switch {
	case c.Zoomed && p.report.Damaged > 0 && !said:
		return pane.Answer{Toast: textDamaged(p.report.Damaged)}
	case !c.Zoomed && !told && p.report.Sum.Runs > 0:
		return pane.Answer{Toast: textBack(p.report, c.Names(action.Everywhere).Key(action.GoAway))}
	}
	return pane.Answer{}
}

// half is the table that has the keys.
func (p *Page) half() *table.Table {
	if p.inLog {
		return &p.log
	}
	return &p.tasks
}

// Do implements pane.Pane.
func (p *Page) Do(_ pane.Context, id action.ID) pane.Answer {
	_, verb, _ := strings.Cut(string(id), ".")
	switch verb {
	case "open":
		return p.open()
	case "half":
		p.inLog = !p.inLog
	default:
		p.half().Do(verb)
	}
	return pane.Answer{}
}

// open shows what stands behind the selected line: a run, or a decision in full.
func (p *Page) open() pane.Answer {
	i := p.half().Row()
	switch {
	case i < 0:
		return pane.Answer{Toast: textNothing}
	case p.inLog:
		e := p.report.Log[i]
		return pane.Answer{Show: &pane.Page{Title: what(e), Body: decision(p.snap, e)}}
	case p.rows[i].task != nil:
		return pane.Answer{Window: p.rows[i].task.Run, Zoom: true}
	}
	e := *p.rows[i].entry
	return pane.Answer{Show: &pane.Page{Title: what(e), Body: decision(p.snap, e)}}
}

// lower is what is added to the places of the lower half.
const lower = 1 << 20

// Press implements pane.Pane: a head sorts, a line is selected, the selected line is
// opened.
func (p *Page) Press(_ pane.Context, at widget.Place, focused bool) action.ID {
	if column, ok := table.Heading(at); ok {
		if column >= len(p.tasks.Columns) {
			p.log.Sort(column - len(p.tasks.Columns))
		} else {
			p.tasks.Sort(column)
		}
		return ""
	}
	if at < 0 {
		return ""
	}
	in, i := at >= lower, int(at%lower)
	was := p.inLog
	p.inLog = in
	if t := p.half(); t.Row() != i || was != in {
		t.Select(i)
	} else if focused {
		return action.AwayOpen
	}
	return ""
}

// Capture implements pane.Pane.
func (p *Page) Capture() bool { return p.half().Query.Typing() }

// Hint is the help line while the filter takes every key.
func (p *Page) Hint() []key.Binding { return p.half().Query.Hint() }

// Type implements pane.Pane.
func (p *Page) Type(_ pane.Context, msg tea.Msg) pane.Answer {
	p.half().Type(msg)
	return pane.Answer{}
}

// End takes a filter away and reports whether there was one.
func (p *Page) End(pane.Context) bool { return p.half().EndQuery() }

// Draw implements pane.Pane.
func (p *Page) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	w, h = max(w, 0), max(h, 0)
	b := widget.Brush{Theme: c.Theme}
	if p.report == nil {
		return widget.FillRows(widget.Rows(widget.Nowhere, b.Empty(w, h, textReading)...), w, h)
	}
	rows := p.upper(c, w, h, focused)
	if rest := h - len(rows) - 1; rest > 1 {
		state := []widget.Span{{Role: theme.Dim, Text: textDecisions(len(p.report.Log))}}
		title := []widget.Span{{Role: theme.Strong, Text: textLog}}
		if p.inLog {
			title = []widget.Span{{Role: theme.Accent, Text: c.Theme.Glyph(theme.Pointer) + " " + textLog}}
		}
		rows = append(rows, widget.Row{Text: b.Rule(w, title, state), Place: widget.Ruled})
		rows = append(rows, shifted(p.log.Draw(c.Theme, w, rest, focused && p.inLog, textShown(&p.log, len(p.report.Log))), len(p.tasks.Columns))...)
		if len(p.report.Log) == 0 {
			rows = append(rows[:len(rows)-rest], widget.Rows(widget.Nowhere, b.Empty(w, rest, textNoLog)...)...)
		}
	}
	return widget.FillRows(rows, w, h)
}

// upper is the half of what happened.
func (p *Page) upper(c pane.Context, w, h int, focused bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	if p.report.From.IsZero() {
		return widget.Rows(widget.Nowhere, b.Empty(w, min(h, 3), textNever, textTeach)...)
	}
	rows := []widget.Row{{Text: b.Line(w, sum(p.report)...), Place: widget.Nowhere}}
	if len(p.rows) == 0 {
		return append(rows, widget.Rows(widget.Nowhere, b.Empty(w, min(h, 2), textQuiet)...)...)
	}
	room := max(h/2, h-16)
	lines := min(p.tasks.Lines(), room, h-1)
	return append(rows, p.tasks.Draw(c.Theme, w, lines, focused && !p.inLog, textShown(&p.tasks, len(p.rows)))...)
}

// shifted gives the rows of the lower half places of their own.
func shifted(rows []widget.Row, columns int) []widget.Row {
	out := make([]widget.Row, len(rows))
	for i, r := range rows {
		if r.Place >= 0 {
			r.Place += lower
		}
		spots := make([]widget.Spot, len(r.Spots))
		for j, s := range r.Spots {
			s.Place -= widget.Place(columns)
			spots[j] = s
		}
		r.Spots = spots
		out[i] = r
	}
	return out
}
