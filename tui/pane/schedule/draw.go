package schedule

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/query"
	"ollimbot/tui/widget/table"
)

// group returns the heading of an item's part of the list: the day, or the rest of today after now.
func (p *Pane) group(it item) widget.Span {
	s := p.snap
	switch {
	case it.stage == broken:
		return widget.Span{Role: theme.Bad, Text: "files to fix"}
	case it.stage == untimed:
		return widget.Span{Role: theme.Dim, Text: "without a time"}
	case p.view == every && len(s.Schedule.Problems) == 0:
		return widget.Span{}
	case p.view == every:
		return widget.Span{Role: theme.Dim, Text: strings.TrimSpace(textAllView)}
	case it.stage == present:
		return widget.Span{Role: theme.Dim, Text: textToday}
	}
	day := dayOf(s, it.FireTime)
	if it.stage == past || !words.SameDay(it.FireTime, p.next, s.Local(s.At).Location()) {
		return widget.Span{Role: theme.Dim, Text: day}
	}
	now := widget.Span{Role: theme.Accent, Text: "now " + s.Clock(s.At, "15:04")}
	if day != textToday {
		now.Text += " · " + day
	}
	return now
}

// columns returns the columns of the list. In narrow lists the outcome is dropped first, then the time; the title is
// cut last.
func (p *Pane) columns() []table.Column[item] {
	return []table.Column[item]{
		{Head: "WHEN", Cell: p.when, Compare: func(a, b item) int { return a.FireTime.Compare(b.FireTime) }},
		{Cells: 1, Essential: true, Cell: p.sign},
		{Head: "WHAT", Least: 12, Cell: func(it item) widget.Span { return widget.Span{Role: p.role(it), Text: it.title()} }},
		{Head: "OUTCOME", Cells: 14, Cell: p.outcome},
	}
}

// leastDetail is the height from which a page shows the selected row in full, too.
const leastDetail = 24

// Draw implements pane.Pane: the list and, on a page, the selected row.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	list := func(w, h int) []widget.Row { return p.list(c, w, h, focused) }
	if p.beside = c.Zoomed && p.Len() > 0 && h >= leastDetail; !p.beside {
		return list(w, h)
	}
	detail := func(w, h int) pane.Detail { return p.Detail(c, w, h) }
	return pane.Duo{List: list, Detail: detail, Lines: p.Lines(), Most: h / 2}.Draw(c, w, h)
}

// Detail returns the selected row in full: the output of a run, a task, or the text of something else.
func (p *Pane) Detail(c pane.Context, w, h int) (d pane.Detail) {
	it, ok := p.Row()
	if !ok {
		d.Title = pane.Named(action.Schedule.Name(), w)
		d.Rows = widget.Rows(widget.Nowhere, widget.Brush{Theme: c.Theme}.Empty(w, h, widget.TextNoMatch(p.Len(), p.Noun)...)...)
		return d
	}
	d.Title = pane.Named(it.title(), w)
	switch {
	case it.run != nil:
		d.Rows = p.tail.Draw(c, *it.run, w, h)
	case it.date != nil:
		d.Rows = pane.Text(c, w, h, dateText(c.Snap, *it.date))
	case it.problem != nil:
		d.Rows = pane.Text(c, w, h, problemText(*it.problem))
	default:
		p.beside = true
		p.page.Show(c, it.ID)
		d.Rows = p.page.Panel(c, w, h)
	}
	return d
}

// reasonRows is the room for the reason why an item needs the user.
const reasonRows = 4

// Needs returns how many rows the pane can fill.
func (p *Pane) Needs(c pane.Context, _ int) int {
	rows := p.Lines()
	if len(c.Snap.Schedule.Problems) > 0 {
		rows += reasonRows
	}
	return max(rows, 2*reasonRows)
}

// list draws the rows, the reason if the selected item waits or is invalid, and a note about omitted fires. Problems
// are always visible: if the list is longer than the pane, their count is below it.
func (p *Pane) list(c pane.Context, w, h int, focused bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	if p.Len() == 0 {
		return widget.Rows(widget.Nowhere, b.Empty(w, h, textEmpty, fmt.Sprintf(textFirst, c.Names(action.Schedule).Name(action.ScheduleNew)), textTeach)...)
	}
	p.theme, p.NoHeads, p.Columns[0].Cells = c.Theme, !c.Zoomed, p.whenCells(c.Snap, w)
	var foot []string
	// The fires of 24 hours were listed at the start of the minute.
	if until := c.Snap.Schedule.DayUntil; p.view == around && !until.IsZero() && until.Sub(c.Snap.At) < 24*time.Hour-2*time.Minute {
		text := fmt.Sprintf(" "+textMore, moment(c.Snap, until))
		foot = append(foot, b.Line(w, widget.Span{Role: theme.Warn, Text: text}))
	}
	reason := p.reason(c, w, h, focused)
	if problems := c.Snap.Schedule.Problems; len(problems) > 0 && p.Lines()+len(reason)+len(foot) > h {
		text := " " + c.Theme.Glyph(theme.Bang) + " " + problemCount(problems)
		foot = append(foot, b.Line(w, widget.Span{Role: theme.Bad, Text: text}))
	}
	foot = foot[max(0, len(foot)-max(min(h-1, 1), h/3)):]
	rows := p.Table.Draw(c.Theme, w, min(max(p.Lines(), 3), h-len(reason)-len(foot)), focused)
	rows = append(append(rows, reason...), widget.Rows(widget.Nowhere, foot...)...)
	return widget.FillRows(rows, w, h)
}

// reason returns why the selected item needs the user, or what is wrong with it, in a third of h lines. If there is
// room, it shows the first problem even while another item is selected.
func (p *Pane) reason(c pane.Context, w, h int, focused bool) []widget.Row {
	it, ok := p.Row()
	waits, edit, lacks := it.of(c.Snap).Waits, it.edit(c.Snap), it.lacks(c.Snap)
	var title, text string
	switch problems := c.Snap.Schedule.Problems; {
	case !ok || h < 6:
	case focused && edit.Version != "":
		title, text = schedule.TagProposed, c.Names(action.Schedule).Key(action.ScheduleAllow)+" shows it: "+edit.Why
	case focused && it.problem != nil:
		title, text = it.problem.Position(), it.problem.Message
	case focused && waits != "":
		title, text = schedule.TagWaits, c.Names(action.Schedule).Key(action.ScheduleAllow)+" allows it: "+waits
	case focused && lacks != nil:
		title, text = lacks.Lacks, lacks.Message
	case len(problems) > 0 && p.Lines()+1+h/3 <= h:
		title, text = problems[0].Position(), problems[0].Message
	}
	if text == "" {
		return nil
	}
	name := widget.Span{Role: theme.Strong, Text: widget.CutFront(title, w-4, c.Theme.Glyph(theme.Ellipsis))}
	head := widget.Row{Text: widget.Brush{Theme: c.Theme}.Rule(w, []widget.Span{name}, nil), Place: widget.Ruled}
	s := pane.Sheet{Context: c, W: w, Rows: []widget.Row{head}}
	s.Say(widget.Nowhere, theme.Warn, text, h/3-1)
	return s.Rows
}

// role dims past items, items that do not fire, and items that agents do not see yet.
func (p *Pane) role(it item) theme.Role {
	until := p.snap.Schedule.Until
	if it.stage == past || it.Held || p.view == around && it.stage == ahead && !until.IsZero() && it.FireTime.After(until) {
		return theme.Dim
	}
	return theme.Text
}

// wideWindow is the width of the list from which ranges of windows have all their minutes.
const wideWindow = 50

// whenCells is the width of the times: no range of a window is cut.
func (p *Pane) whenCells(s *core.Snapshot, w int) int {
	if p.view == every {
		return len("Mon 15:04")
	}
	p.short = w < wideWindow
	cells := s.ClockCells()
	for _, e := range p.windows {
		cells = max(cells, widget.Cells(p.fireClock(s, e)))
	}
	return cells
}

func (p *Pane) fireClock(s *core.Snapshot, e schedule.Entry) string {
	if p.short {
		return s.FireClockShort(e)
	}
	return s.FireClock(e)
}

// when returns the time of an item; in the list of all tasks, with its day.
func (p *Pane) when(it item) widget.Span {
	text := " "
	switch {
	case it.problem != nil:
	case it.date != nil && it.date.AllDay:
	case it.run != nil && it.FireTime.IsZero():
	case it.FireTime.IsZero() && !it.Held: // otherwise the outcome column says so
		text = "never"
	case it.FireTime.IsZero():
	case p.view == every:
		text = moment(p.snap, it.FireTime)
	default:
		text = p.fireClock(p.snap, it.Entry)
	}
	return widget.Span{Role: p.role(it), Text: text}
}

// outcome returns an item's result, or the time until it fires and why it may not.
func (p *Pane) outcome(it item) widget.Span {
	left := words.Until(it.FireTime, p.snap.At)
	tag, _, _ := strings.Cut(it.Tag, " until ")
	text, role := "", theme.Dim
	switch {
	case it.problem != nil:
	case it.run != nil:
		return pane.OutcomeOf(p.snap, it.run).Short
	case it.date != nil && it.date.AllDay:
		text = "all day"
	case it.date != nil:
		text = left
		if it.stage != ahead {
			text = "now"
		}
	case tag == schedule.TagWaits:
		text, role = "waits for you", theme.Warn
	case tag != "":
		text = tag
		if it.Held {
			role = theme.Warn
		}
	case it.lacks(p.snap) != nil:
		text, role = it.lacks(p.snap).Lacks, theme.Warn
	case it.stage == ahead && it.Silent:
		text = textSilent + ", " + strings.TrimPrefix(left, "in ")
	case it.stage == ahead:
		if text = left; it.FireTime.Sub(p.snap.At) <= 5*time.Minute {
			role = theme.Warn
		}
	}
	return widget.Span{Role: role, Text: text}
}

// sign returns the short mark of an item, before the title so that marks align.
func (p *Pane) sign(it item) widget.Span {
	glyph := func(role theme.Role, g theme.Glyph) widget.Span {
		return widget.Span{Role: role, Text: p.theme.Glyph(g)}
	}
	switch {
	case it.run != nil:
		g, role := pane.Look(it.run.State)
		return glyph(role, g)
	case it.date != nil:
		return glyph(theme.Accent, theme.Event)
	case it.problem != nil && it.problem.Severity == routines.Error:
		return glyph(theme.Bad, theme.Cross)
	case it.problem != nil:
		return glyph(theme.Warn, theme.Bang)
	case it.Held, it.Tag == schedule.TagProposed, it.lacks(p.snap) != nil:
		return glyph(theme.Warn, theme.Bang)
	}
	return widget.Span{}
}

// note returns the marks of an item that are not already in its line.
func (p *Pane) note(it item) widget.Span {
	outcome := p.outcome(it).Text
	marks := slices.DeleteFunc(it.marks(p.snap), func(mark string) bool { return strings.HasPrefix(outcome, mark) || mark == textTomorrow })
	return widget.Span{Role: theme.Dim, Text: strings.Join(marks, " · ")}
}

// facts returns the searchable properties of an item.
func (p *Pane) facts(it item) query.Facts {
	s := p.snap
	f := query.Facts{
		Text: it.title() + " " + it.FilePath + " " + strings.Join(it.marks(s), " ") + " " + p.outcome(it).Text,
		At:   s.Local(it.FireTime), Now: s.Local(s.At),
	}
	if it.run != nil {
		f.Is = pane.OutcomeOf(s, it.run).Is
	}
	is := func(state string, holds bool) {
		if holds {
			f.Is = append(f.Is, state)
		}
	}
	is(string(it.Kind), it.Kind != "")
	is("silent", it.Silent)
	is("held", it.Held)
	is("foreground", it.Foreground)
	is("missed", it.Tag == textMissed)
	is("appointment", it.date != nil)
	is("lacking", it.lacks(s) != nil)
	is("error", it.problem != nil)
	return f
}

// nextItems is the number of upcoming items in one line; later ones need at least nextCells cells.
const nextItems, nextCells = 3, 12

// Line implements pane.Pane: the next fires and appointments.
func (p *Pane) Line(c pane.Context, w int) string {
	s := c.Snap
	out := []widget.Span{{Role: theme.Strong, Text: "Schedule "}}
	if problems := s.Schedule.Problems; len(problems) > 0 {
		out = append(out, widget.Span{Role: theme.Bad, Text: c.Theme.Glyph(theme.Bang) + " " + problemCount(problems) + " "})
	}
	n := 0
	for _, it := range around.items(s) {
		if n == nextItems || n > 0 && widget.Width(out)+nextCells > w || it.Held || it.stage != ahead {
			continue
		}
		at := s.FireClock(it.Entry) + " "
		if n++; n == 1 {
			at += words.Until(it.FireTime, s.At) + " "
		}
		out = append(out, widget.Span{Role: theme.Dim, Text: at}, widget.Span{Text: widget.Cut(it.title(), 15) + "  "})
	}
	if n == 0 {
		out = append(out, widget.Span{Role: theme.Dim, Text: textQuietAll})
	}
	return widget.Brush{Theme: c.Theme}.Line(w, out...)
}
