package schedule

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/work/google"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
	"ollimbot/tui/widget/table"
)

// view is which part of the schedule the pane shows.
type view uint8

const (
	window   view = iota // what agents see, and the foreground tasks beside it; on a page what follows, too
	wholeDay             // every fire of 24 hours
	every                // every task, whenever it fires
	numViews
)

// item is one thing that can be selected: a fire, a task with its next fire, something of
// the user's own day, or a problem.
type item struct {
	schedule.Entry        // of a date its begin, title, calendar and place; of a problem its words and its file
	when           string // how often a task fires, or which link of a chain it is
	task           bool
	date           *google.Item
	problem        *routines.Problem
	comes          bool // it lies ahead, or has no moment
}

func ofFire(e schedule.Entry) item { return item{Entry: e, when: chain(e.Label)} }

func ofTask(s *core.Snapshot, t schedule.TaskView) item {
	e := schedule.Entry{
		ID: t.ID, FireTime: t.Next, Label: t.Label, Description: t.Title, FilePath: t.Path, Kind: t.Kind, Silent: t.Silent,
		Foreground: t.Foreground, Held: t.Waits != "" || t.Paused || !t.Snoozed.IsZero(), Why: t.Waits,
	}
	switch {
	case t.Waits != "":
		e.Tag = schedule.TagWaits
	case t.Paused:
		e.Tag = schedule.TagPaused
	case e.Held:
		e.Tag = "snoozed until " + moment(s, t.Snoozed)
	case t.Proposed.Version != "":
		e.Tag = schedule.TagProposed
	}
	when := cmp.Or(t.When, chain(t.Label))
	if when == "" && t.Kind == routines.KindReminder {
		when = textReminder
	}
	return item{Entry: e, when: when, task: true}
}

func ofDate(s *core.Snapshot, d *google.Item) item {
	e := schedule.Entry{ID: d.ID, FireTime: d.Start, Description: dateTitle(*d), FilePath: d.Calendar, Why: d.Place}
	if !d.AllDay {
		e.Tag = "until " + moment(s, d.End)
	}
	return item{Entry: e, date: d}
}

// items are those of the view: fires and dates by time, a date before the fires of its
// moment, and last the problems.
func (v view) items(c pane.Context) (items []item) {
	s := c.Snap
	until, fires, tasks := s.Midnight().AddDate(0, 0, 1), s.Schedule.Entries, []schedule.TaskView(nil)
	switch {
	case v == wholeDay:
		until, fires = s.At.Add(24*time.Hour), s.Schedule.Day
	case v == every:
		until, fires, tasks = time.Time{}, nil, s.Schedule.Tasks
	case c.Zoomed:
		until, fires = s.At.Add(24*time.Hour), beyond(fires, s.Schedule.Day)
	}
	items = make([]item, 0, len(s.Day)+len(fires)+len(tasks)+len(s.Schedule.Problems))
	for i := range s.Day {
		if s.Day[i].Start.Before(until) {
			items = append(items, ofDate(s, &s.Day[i]))
		}
	}
	for _, e := range fires {
		items = append(items, ofFire(e))
	}
	slices.SortStableFunc(items, func(a, b item) int { return a.FireTime.Compare(b.FireTime) })
	for _, t := range tasks {
		items = append(items, ofTask(s, t))
	}
	for _, p := range s.Schedule.Problems {
		items = append(items, item{Entry: schedule.Entry{Description: p.Message, FilePath: p.File}, problem: &p})
	}
	for i := range items {
		it := &items[i]
		it.comes = it.FireTime.IsZero() || it.FireTime.After(s.At)
	}
	return items
}

// beyond are the fires of the window and the later ones of the day.
func beyond(window, day []schedule.Entry) []schedule.Entry {
	for i, e := range day {
		if n := len(window); n == 0 || e.FireTime.After(window[n-1].FireTime) {
			return slices.Concat(window, day[i:])
		}
	}
	return window
}

// allDay reports whether the rows are fires of twenty-four hours, of which a task has several.
func (p *Pane) allDay(zoomed bool) bool { return p.view == wholeDay || p.view == window && zoomed }

// title is what people call the item: of a task the words on it, not its label, unless
// there are none.
func (i item) title() string {
	return strings.ReplaceAll(cmp.Or(i.Description, i.Label, i.ID), "\n", " ")
}

// marks are the words on an item, the most telling first.
func (i item) marks(s *core.Snapshot) []string {
	out := []string{i.Tag, i.Why, strings.TrimSpace(cron.Offset(s.Local(i.FireTime))), i.when} // an offset where the clock shows a time twice
	if i.Foreground {
		out = append(out, textForeground)
	}
	if i.Silent {
		out = append(out, textSilent)
	}
	if !i.task && i.FireTime.After(s.At) && !s.IsToday(i.FireTime) {
		out = append(out, textTomorrow)
	}
	return slices.DeleteFunc(out, func(word string) bool { return word == "" })
}

// of is the task of an item, of a problem the one whose file it is about; without an id
// where there is none.
func (i item) of(s *core.Snapshot) schedule.TaskView {
	for _, t := range s.Schedule.Tasks {
		if t.ID == i.ID || i.problem != nil && t.Path == i.FilePath {
			return t
		}
	}
	return schedule.TaskView{ID: i.ID, Title: i.title(), Path: i.FilePath, Kind: i.Kind}
}

// edit is the edit that waits in the file of an item.
func (i item) edit(s *core.Snapshot) routines.Proposal {
	if i.problem != nil && i.problem.Proposed.Version != "" {
		return i.problem.Proposed
	}
	return i.of(s).Proposed
}

// state names the view next to the title.
func (v view) state(c pane.Context) string {
	switch {
	case v == every:
		return textAllView + strconv.Itoa(len(c.Snap.Schedule.Tasks))
	case v == wholeDay, c.Zoomed:
		return textDayView
	}
	return c.Snap.Schedule.Window
}

// same tells items apart, so that a selection can stay with one. In the window
// the next fire of a task is another item than the one that has just been; in
// the day every fire is one of its own.
func (p *Pane) same(was, it item) bool {
	switch {
	case was.ID != it.ID || was.FilePath != it.FilePath:
		return false
	case it.problem != nil:
		return was.Description == it.Description
	case it.date != nil || p.allDay(p.wide):
		return was.FireTime.Equal(it.FireTime)
	}
	return was.comes == it.comes
}

// columns are those of the list. A title is cut last: first the distance goes, then the
// time.
func (p *Pane) columns() []table.Column[item] {
	byTime := func(a, b item) int { return a.FireTime.Compare(b.FireTime) }
	return []table.Column[item]{
		{Head: "WHEN", Cell: p.when, Compare: byTime},
		{Head: "IN", Cells: 8, Cell: p.distance, Compare: byTime},
		{Cells: 1, Essential: true, Cell: p.sign},
		{Head: "WHAT", Least: 16, Cell: func(it item) widget.Span { return widget.Span{Role: p.role(it), Text: it.title()} }},
	}
}

// Draw implements pane.Pane: the list, why the selected item waits or is wrong, and what
// there is beyond the list. Problems are never out of sight: where there is no room for
// them their count is.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	if p.wide != c.Zoomed {
		p.Sync(c)
	}
	if p.Len() == 0 {
		return widget.Rows(widget.Nowhere, b.Empty(w, h, p.view.empty(c.Snap, c.Names(action.Schedule))...)...)
	}
	p.theme, p.NoHeads, p.Columns[0].Cells = c.Theme, !c.Zoomed, c.Snap.ClockCells()
	if p.view == every {
		p.Columns[0].Cells = len("Mon 15:04")
	}
	var foot []string
	if s := c.Snap.Schedule; s.Refills != "" && p.view == window && !c.Zoomed && h > 3 {
		foot = append(foot, b.Line(w, widget.Span{Role: theme.Dim, Text: " " + s.Refills}))
	}
	// Twenty-four hours were counted when the minute began.
	if until := c.Snap.Schedule.DayUntil; p.allDay(c.Zoomed) && !until.IsZero() && until.Sub(c.Snap.At) < 24*time.Hour-2*time.Minute {
		text := fmt.Sprintf(" "+textMore, moment(c.Snap, until), c.Names(action.Schedule).Name(action.ScheduleView))
		foot = append(foot, b.Line(w, widget.Span{Role: theme.Warn, Text: text}))
	}
	reason := p.reason(c, w, h, focused)
	if problems := c.Snap.Schedule.Problems; len(problems) > 0 && p.Lines()+len(reason)+len(foot) > h {
		text := " " + c.Theme.Glyph(theme.Down) + " " + c.Theme.Glyph(theme.Bang) + " " + problemCount(problems)
		foot = append(foot, b.Line(w, widget.Span{Role: theme.Bad, Text: text}))
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
	waits, edit := it.of(c.Snap).Waits, it.edit(c.Snap)
	var title, text string
	switch problems := c.Snap.Schedule.Problems; {
	case !ok || h < 6:
	case focused && edit.Version != "":
		title, text = schedule.TagProposed, c.Names(action.Schedule).Key(action.ScheduleAllow)+" shows it: "+edit.Why
	case focused && it.problem != nil:
		title, text = Place(*it.problem), it.problem.Message
	case focused && waits != "":
		title, text = schedule.TagWaits, c.Names(action.Schedule).Key(action.ScheduleAllow)+" allows it: "+waits
	case len(problems) > 0 && p.Lines()+1+h/3 <= h:
		title, text = Place(problems[0]), problems[0].Message
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
	past := it.date == nil && it.problem == nil && !it.FireTime.After(p.snap.At)
	if past || it.Held {
		return theme.Dim
	}
	return theme.Text
}

// when is the time of an item, in the list of all tasks with its day.
func (p *Pane) when(it item) widget.Span {
	text := " "
	switch {
	case it.problem != nil: // its file stands there
		text = path.Base(it.FilePath)
	case it.date != nil && it.date.AllDay:
	case it.FireTime.IsZero() && !it.Held: // else the word for it stands at the right
		text = textNever
	case it.FireTime.IsZero():
	case p.view == every:
		text = moment(p.snap, it.FireTime)
	default:
		text = p.snap.Clock(it.FireTime, "15:04")
	}
	return widget.Span{Role: p.role(it), Text: text}
}

// distance is how far away an item is; an appointment is now while it lasts.
func (p *Pane) distance(it item) widget.Span {
	left := it.FireTime.Sub(p.snap.At)
	switch {
	case it.problem != nil:
		return widget.Span{}
	case it.date != nil && it.date.AllDay:
		return widget.Span{Role: theme.Dim, Text: textAllDay}
	case it.FireTime.IsZero():
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
	switch {
	case it.date != nil:
		return glyph(theme.Accent, theme.Event)
	case it.problem != nil && it.problem.Severity == routines.Error:
		return glyph(theme.Bad, theme.Cross)
	case it.problem != nil:
		return glyph(theme.Warn, theme.Bang)
	case it.Held:
		return glyph(theme.Warn, theme.Lock)
	case it.Tag == schedule.TagProposed:
		return glyph(theme.Warn, theme.Bang)
	case it.Silent:
		return glyph(theme.Dim, theme.Mute)
	case chain(it.Label) != "":
		return glyph(theme.Report, theme.Chain)
	case it.Foreground:
		return glyph(theme.You, theme.Front)
	}
	return widget.Span{}
}

// note are the words on an item.
func (p *Pane) note(it item) widget.Span {
	return widget.Span{Role: theme.Dim, Text: strings.Join(it.marks(p.snap), " · ")}
}

// nextItems is how many of what comes next stand in one line, the later ones in at
// least so many cells.
const nextItems, nextCells = 3, 12

// Line implements pane.Pane: the next fires and appointments.
func (p *Pane) Line(c pane.Context, w int) string {
	s := c.Snap
	out := []widget.Span{{Role: theme.Strong, Text: textName}}
	if problems := s.Schedule.Problems; len(problems) > 0 {
		out = append(out, widget.Span{Role: theme.Bad, Text: c.Theme.Glyph(theme.Bang) + " " + problemCount(problems) + " "})
	}
	n := 0
	for _, it := range wholeDay.items(pane.Context{Snap: s}) {
		if n == nextItems || n > 0 && widget.Width(out)+nextCells > w || it.Held || !it.FireTime.After(s.At) {
			continue
		}
		at := s.Clock(it.FireTime, "15:04") + " "
		if n++; n == 1 {
			at += words.Until(it.FireTime.Sub(s.At)) + " "
		}
		out = append(out, widget.Span{Role: theme.Dim, Text: at}, widget.Span{Text: widget.Cut(it.title(), 15) + "  "})
	}
	if n == 0 {
		out = append(out, widget.Span{Role: theme.Dim, Text: textQuietAll})
	}
	return widget.Brush{Theme: c.Theme}.Line(w, out...)
}
