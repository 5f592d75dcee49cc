package schedule

import (
	"path"
	"strings"
	"time"

	"ollimbot/core/words"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/table"
)

// columns are those of the list. A title is cut last: first the distance goes, then the
// time.
func (p *Pane) columns() []table.Column[item] {
	byTime := func(a, b item) int { return a.start().Compare(b.start()) }
	return []table.Column[item]{
		{Head: "WHEN", Cell: p.when, Compare: byTime},
		{Head: "IN", Cells: 8, Cell: p.distance, Compare: byTime},
		{Cells: 1, Stays: true, Cell: p.sign},
		{Head: "WHAT", Least: 16, Cell: p.name},
	}
}

// Draw implements pane.Pane: the list, why the selected item waits or is wrong, and what
// there is beyond the list. Problems are never out of sight: where there is no room for
// them their count is.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	w, h = max(w, 0), max(h, 0)
	b := widget.Brush{Theme: c.Theme}
	if p.Len() == 0 {
		return widget.Rows(widget.Nowhere, b.Empty(w, h, p.view.empty(c.Snap, c.Names(action.Schedule))...)...)
	}
	p.theme, p.Bare, p.Columns[0].Cells = c.Theme, !c.Zoomed, c.Snap.ClockCells()
	if p.view == every {
		p.Columns[0].Cells = len("Mon 15:04")
	}
	var foot []string
	if s := c.Snap.Schedule; s.Refills != "" && p.view == window {
		foot = append(foot, b.Line(w, widget.Span{Role: theme.Dim, Text: " " + s.Refills}))
	}
	if from, ok := p.view.more(c.Snap); ok {
		foot = append(foot, b.Line(w, widget.Span{Role: theme.Warn, Text: " " + textMore(moment(c.Snap, from), c.Names(action.Schedule))}))
	}
	reason := p.reason(c, w, h, focused)
	if problems := c.Snap.Schedule.Problems; len(problems) > 0 && p.Lines()+len(reason)+len(foot) > h {
		foot = append(foot, b.Line(w, problemHead(c)...))
	}
	foot = foot[max(0, len(foot)-max(min(h-1, 1), h/3)):]
	rows := p.Table.Draw(c.Theme, w, min(p.Lines(), h-len(reason)-len(foot)), focused)
	rows = append(append(rows, reason...), widget.Rows(widget.Nowhere, foot...)...)
	return widget.FillRows(rows, w, h)
}

// reason is why the selected item waits for its user, or what is wrong with it, in a
// third of h lines. Where there is room, the first problem says what is wrong while
// another item is selected.
func (p *Pane) reason(c pane.Context, w, h int, focused bool) []widget.Row {
	it, ok := p.Row()
	waits := held(c.Snap, it).Waits
	var title, text string
	switch problems := c.Snap.Schedule.Problems; {
	case !ok || h < 6:
	case focused && it.problem != nil:
		title, text = place(*it.problem), it.problem.Message
	case focused && waits != "":
		title, text = textWaits, c.Names(action.Schedule).Key(action.ScheduleAllow)+" allows it: "+waits
	case len(problems) > 0 && p.Lines()+1+h/3 <= h:
		title, text = place(problems[0]), problems[0].Message
	}
	if text == "" {
		return nil
	}
	b, cut := widget.Brush{Theme: c.Theme}, c.Theme.Glyph(theme.Ellipsis)
	name := widget.Span{Role: theme.Strong, Text: widget.CutFront(title, w-4, cut)}
	rows := []widget.Row{{Text: b.Rule(w, []widget.Span{name}, nil), Place: widget.Ruled}}
	for _, l := range widget.WrapN(text, max(1, w-2), h/3-1, cut) {
		rows = append(rows, widget.Row{Text: b.Line(w, widget.Span{Role: theme.Warn, Text: " " + l}), Place: widget.Nowhere})
	}
	return rows
}

// role dims what has been and what does not fire.
func (p *Pane) role(it item) theme.Role {
	past := it.date == nil && it.problem == nil && !it.start().After(p.snap.At)
	if past || it.fire != nil && it.fire.Held || it.task != nil && stopped(*it.task) {
		return theme.Dim
	}
	return theme.Text
}

// when is the time of an item, in the list of all tasks with its day.
func (p *Pane) when(it item) widget.Span {
	text, at := " ", it.start()
	switch {
	case it.problem != nil || it.date != nil && it.date.AllDay:
	case !at.IsZero() && p.view == every:
		text = moment(p.snap, at)
	case !at.IsZero():
		text = p.snap.Clock(at, "15:04")
	case it.task == nil || !stopped(*it.task): // else the word for it stands at the right
		text = textNever
	}
	return widget.Span{Role: p.role(it), Text: text}
}

// distance is how far away an item is; an appointment is now while it lasts.
func (p *Pane) distance(it item) widget.Span {
	left := it.start().Sub(p.snap.At)
	switch {
	case it.date != nil && it.date.AllDay:
		return widget.Span{Role: theme.Dim, Text: textAllDay}
	case it.start().IsZero():
		return widget.Span{Text: " "} // where no note stands
	case it.date != nil:
		left = max(0, left)
	}
	role := theme.Dim
	if left > 0 && left <= 5*time.Minute {
		role = theme.Warn
	}
	return widget.Span{Role: role, Text: words.Until(left)}
}

// sign is the mark of an item in short, before the title so that they line up.
func (p *Pane) sign(it item) widget.Span {
	glyph := func(role theme.Role, g theme.Glyph) widget.Span {
		return widget.Span{Role: role, Text: p.theme.Glyph(g)}
	}
	var is schedule.Entry
	switch {
	case it.date != nil:
		return glyph(theme.Accent, theme.Event)
	case it.problem != nil && it.problem.Severity == routines.Error:
		return glyph(theme.Bad, theme.Cross)
	case it.problem != nil:
		return glyph(theme.Warn, theme.Bang)
	case it.fire != nil:
		is = *it.fire
	default:
		is = schedule.Entry{Label: it.task.Label, Silent: it.task.Silent, Foreground: it.task.Foreground, Held: stopped(*it.task)}
	}
	switch {
	case is.Held:
		return glyph(theme.Warn, theme.Lock)
	case is.Silent:
		return glyph(theme.Dim, theme.Mute)
	case chain(is.Label) != "":
		return glyph(theme.Report, theme.Chain)
	case is.Foreground:
		return glyph(theme.You, theme.Front)
	}
	return widget.Span{}
}

func (p *Pane) name(it item) widget.Span {
	if it.problem != nil { // below the list stands the whole of it
		short := *it.problem
		short.File = path.Base(short.File)
		return widget.Span{Role: p.role(it), Text: place(short)}
	}
	return widget.Span{Role: p.role(it), Text: it.title()}
}

// note are the words on an item, the most telling first.
func (p *Pane) note(it item) widget.Span {
	var text string
	switch {
	case it.problem != nil:
		text = it.problem.Message
	case it.date != nil:
		text = strings.Join(dateMarks(p.snap, *it.date), " · ")
	case it.task != nil:
		text = strings.Join(taskMarks(p.snap, *it.task), " · ")
	default:
		text = strings.Join(marks(p.snap, *it.fire), " · ")
	}
	return widget.Span{Role: theme.Dim, Text: text}
}

// problemHead is the count of problems.
func problemHead(c pane.Context) []widget.Span {
	problems := c.Snap.Schedule.Problems
	text := " " + c.Theme.Glyph(theme.Down) + " " + c.Theme.Glyph(theme.Bang) + " " + problemCount(problems)
	out := []widget.Span{{Role: theme.Bad, Text: text}}
	if len(problems) == 1 {
		out = append(out, widget.Span{Role: theme.Dim, Text: "  " + place(problems[0])})
	}
	return out
}

// Line implements pane.Pane: what comes next.
func (p *Pane) Line(c pane.Context, w int) string {
	s := c.Snap
	out := []widget.Span{{Role: theme.Strong, Text: textName}}
	if problems := s.Schedule.Problems; len(problems) > 0 {
		out = append(out, widget.Span{Role: theme.Bad, Text: c.Theme.Glyph(theme.Bang) + " " + problemCount(problems) + " "})
	}
	next := widget.Span{Role: theme.Dim, Text: textQuietDay}
	for _, it := range window.items(s) {
		if at := it.start(); at.After(s.At) {
			out = append(out, widget.Span{Text: s.Clock(at, "15:04") + " "}, widget.Span{Role: theme.Dim, Text: words.Until(at.Sub(s.At)) + " "})
			next = widget.Span{Text: it.title()}
			break
		}
	}
	return widget.Brush{Theme: c.Theme}.Line(w, append(out, next)...)
}
