// Package away is the page of what the bot did while its user was away, by task, and
// below it the audit log: what was asked, allowed and changed, and by whom. It reads
// both off the frame; each line of the upper half opens its run.
package away

import (
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
)

// Page is the page of what was missed. Use New.
type Page struct {
	pane.Still
	report *away.Report // nil until it was read
	tasks  pane.List[row]
	log    pane.List[row]
	inLog  bool // the lower half has the keys
	read   stamp
	told   bool // on start, that there is something to see
	snap   *core.Snapshot
}

// stamp tells whether a report is still good.
type stamp struct {
	from      time.Time
	decisions uint64
	run       string // that has ended last
}

// New returns the page.
func New() *Page {
	p := &Page{}
	p.tasks.Columns, p.tasks.Note = taskColumns, row.note
	p.log.Columns, p.log.First = p.logColumns(), lower
	for _, half := range []*pane.List[row]{&p.tasks, &p.log} {
		half.Noun, half.Text, half.Open = textLine, row.text, action.AwayOpen
	}
	return p
}

// Title implements pane.Pane.
func (p *Page) Title(c pane.Context) (name, state string) {
	if p.report == nil || p.report.From.IsZero() {
		return textTitle, ""
	}
	return textTitle, textSpan(c.Snap, p.report.Span)
}

// Sync implements pane.Pane.
func (p *Page) Sync(c pane.Context) { p.snap = c.Snap }

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
	p.tasks.Fill(tasksOf(o.Away))
	p.log.Fill(entriesOf(o.Away.Log))
	switch {
	case c.Zoomed && p.report.Damaged > 0 && !said:
		return pane.Answer{Toast: textDamaged(p.report.Damaged)}
	case !c.Zoomed && !told && p.report.Sum.Runs > 0:
		return pane.Answer{Toast: textBack(p.report, c.Names(action.Everywhere).Key(action.GoAway))}
	}
	return pane.Answer{}
}

// half is the table that has the keys.
func (p *Page) half() *pane.List[row] {
	if p.inLog {
		return &p.log
	}
	return &p.tasks
}

// Do implements pane.Pane.
func (p *Page) Do(c pane.Context, id action.ID) pane.Answer {
	switch id {
	case action.AwayOpen:
		return p.open()
	case action.AwayHalf:
		p.inLog = !p.inLog
		return pane.Answer{}
	}
	return p.half().Do(c, id)
}

// open shows what stands behind the selected line: a run, or a decision in full.
func (p *Page) open() pane.Answer {
	r, ok := p.half().Row()
	switch {
	case !ok:
		return pane.Answer{Toast: textNothing}
	case r.task != nil:
		return pane.Answer{Window: r.task.Run, Zoom: true}
	}
	return pane.Answer{Show: &pane.Page{Title: what(*r.entry), Body: decision(p.snap, *r.entry)}}
}

// lower is the place of the first line of the lower half.
const lower = 1 << 20

// Press implements pane.Pane.
func (p *Page) Press(c pane.Context, at widget.Place, focused bool) action.ID {
	if at == widget.Nowhere || at == widget.Ruled {
		return ""
	}
	was := p.inLog
	p.inLog = p.log.Has(at)
	return p.half().Press(c, at, focused && was == p.inLog)
}

// Capture implements pane.Pane.
func (p *Page) Capture() bool { return p.half().Capture() }

// Hint is the help line while the filter takes every key.
func (p *Page) Hint() []key.Binding { return p.half().Hint() }

// Type implements pane.Pane.
func (p *Page) Type(c pane.Context, msg tea.Msg) pane.Answer { return p.half().Type(c, msg) }

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
		if len(p.report.Log) == 0 {
			return append(rows, widget.Rows(widget.Nowhere, b.Empty(w, rest, textNoLog)...)...)
		}
		rows = append(rows, p.log.Draw(c.Theme, w, rest, focused && p.inLog)...)
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
	if p.tasks.Len() == 0 {
		return append(rows, widget.Rows(widget.Nowhere, b.Empty(w, min(h, 2), textQuiet)...)...)
	}
	room := max(h/2, h-16)
	lines := min(p.tasks.Lines(), room, h-1)
	return append(rows, p.tasks.Draw(c.Theme, w, lines, focused && !p.inLog)...)
}
