package schedule

import (
	"fmt"
	"strings"
	"time"

	"ollimbot/core/google"
	"ollimbot/core/words"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// sheet is what the lines of one drawing have in common.
type sheet struct {
	pane.Context
	view   view
	w, h   int
	marked int // the item with the pointer; -1 without focus
	reason int // the most lines that a problem's reason takes
	chosen int // the selected item, whose reason is whole
}

// brush draws an item's lines: with a pointer and a background when it is marked.
func (on sheet) brush(item int) (b widget.Brush, gutter widget.Span) {
	b, gutter = widget.Brush{Theme: on.Theme}, widget.Span{Role: theme.Accent, Text: " "}
	if item == on.marked {
		b.Back, gutter.Text = theme.Select, on.Theme.Glyph(theme.Pointer)
	}
	return b, gutter
}

// clock is the time of a moment in its column.
func (on sheet) clock(t time.Time) string {
	return fmt.Sprintf("%*s ", on.Snap.ClockCells(), on.Snap.Clock(t, "15:04"))
}

// draw renders the pane: the list, in the day view with a timeline above it
// where there is room for both.
func (p *Pane) draw(c pane.Context, w, h int, focused bool) []widget.Row {
	if p.view == wholeDay && h >= timelineRoom && w >= timelineWidth && len(c.Snap.Schedule.Day) > 0 {
		top := widget.Rows(widget.Nowhere, timeline(c, w)...)
		return append(top, p.items(c, w, h-len(top), focused)...)
	}
	return p.items(c, w, h, focused)
}

// items renders the list of items in exactly h lines.
func (p *Pane) items(c pane.Context, w, h int, focused bool) []widget.Row {
	b := widget.Brush{Theme: c.Theme}
	s := c.Snap.Schedule
	if p.view.count(c.Snap) == 0 {
		return widget.Rows(widget.Nowhere, b.Empty(w, h, p.view.empty(c.Snap, c.Names(action.Schedule))...)...)
	}
	on := sheet{Context: c, view: p.view, w: w, h: h, marked: -1, chosen: -1, reason: wholeReason}
	if focused {
		on.marked, on.chosen = p.list.At, p.list.At
	}
	rows := on.rows()
	for _, on.reason = range []int{2, 1} {
		if len(s.Problems) > 0 && len(rows) > h {
			rows = on.rows()
		}
	}
	from, to := -1, -1
	for i, r := range rows {
		if int(r.Place) == p.list.At {
			if from < 0 {
				from = i
			}
			to = i
		}
	}
	if h == 0 || from < 0 {
		return widget.FillRows(nil, w, h)
	}
	if _, ok := p.view.more(c.Snap); ok && p.list.At == p.view.fires(c.Snap)-1 && h > 1 {
		to++ // the last fire is not the last of the day: the row below says so
	}
	to = min(to, from+h-1) // of a tall item the beginning
	top := p.list.Window(from, to, len(rows), h)
	lines := make([]widget.Row, 0, h)
	problem := false
	for _, r := range rows[top:min(top+h, len(rows))] {
		problem = problem || int(r.Place) >= p.view.fires(c.Snap)
		lines = append(lines, widget.Row{Text: on.line(r), Place: r.Place})
	}
	if n := len(s.Problems); n > 0 && !problem && h > 1 {
		// Problems are never out of sight: their count takes the last line, and
		// the selection stays above it.
		if to-top == h-1 {
			lines = lines[1:]
		} else {
			lines = lines[:min(h-1, len(lines))]
		}
		lines = append(lines, none(b.Line(w, problemHead(c, c.Theme.Glyph(theme.Down)+" ")...)))
	}
	return widget.FillRows(lines, w, h)
}

// none is a row that belongs to no item.
func none(line string) widget.Row { return widget.Row{Text: line, Place: widget.Nowhere} }

// rows are all rows of the list, however many there are. The text of fires and
// tasks is drawn when they are in view: there may be thousands.
func (on sheet) rows() []widget.Row {
	s, w := on.Snap.Schedule, on.w
	b := widget.Brush{Theme: on.Theme}
	n := on.view.fires(on.Snap)
	rows := make([]widget.Row, 0, n+2*len(s.Problems)+4)
	for i := range n {
		rows = append(rows, widget.Row{Place: widget.Place(i)})
		if why := on.view.at(on.Snap, i).waits(); why != "" && w < narrow {
			rows = append(rows, widget.Row{Text: on.waits(i, why), Place: widget.Place(i)})
		}
	}
	if from, ok := on.view.more(on.Snap); ok {
		text := " " + textMore(moment(on.Snap, from), on.Names(action.Schedule))
		rows = append(rows, none(b.Line(w, widget.Span{Role: theme.Warn, Text: text})))
	}
	if s.Refills != "" && w >= 12 && on.view == window {
		rows = append(rows, none(b.Line(w, widget.Span{Role: theme.Dim, Text: " " + s.Refills})))
	}
	if len(s.Problems) == 0 {
		return rows
	}
	if len(rows) > 0 && len(rows)+2*len(s.Problems)+2 <= on.h {
		rows = append(rows, none(widget.Blank(w)))
	}
	if len(s.Problems) > 1 {
		rows = append(rows, none(b.Line(w, problemHead(on.Context, "")...)))
	}
	for i, problem := range s.Problems {
		rows = append(rows, widget.Rows(widget.Place(n+i), on.problem(n+i, problem)...)...)
	}
	return rows
}

// waits says below a task what it waits for, where its own row has no room.
func (on sheet) waits(item int, why string) string {
	b, _ := on.brush(item)
	text := "  " + textWaits + ": " + why
	if item == on.chosen {
		text = "  " + on.Names(action.Schedule).Key(action.ScheduleAllow) + " allows it: " + why
	}
	return b.Line(on.w, widget.Span{Role: theme.Warn, Text: text})
}

// line draws a row that is in view.
func (on sheet) line(r widget.Row) string {
	i := int(r.Place)
	if r.Text != "" || i < 0 {
		return r.Text
	}
	it := on.view.at(on.Snap, i)
	switch {
	case it.task != nil:
		return on.task(i, *it.task)
	case it.date != nil:
		return on.date(i, *it.date)
	}
	return on.entry(i, *it.fire)
}

// date draws an appointment, which is now while it lasts, or the tasks of a day, in the
// columns of a fire.
func (on sheet) date(item int, d google.Item) string {
	b, gutter := on.brush(item)
	left, near := max(0, d.Start.Sub(on.Snap.At)), theme.Dim
	if left > 0 && left.Minutes() <= 5 {
		near = theme.Warn
	}
	away := widget.Fit(words.Soon(left), 7)
	if on.w >= 40 {
		away = widget.Fit(words.Until(left), 9)
	}
	spans := []widget.Span{gutter}
	switch {
	case d.AllDay && on.w >= 16:
		spans = append(spans, widget.Span{Role: theme.Dim, Text: widget.Fit(textAllDay, on.Snap.ClockCells()+1+widget.Cells(away))})
	case d.AllDay:
		spans = append(spans, widget.Span{Role: theme.Dim, Text: widget.Fit(textDay, widget.Cells(away))})
	case on.w >= 16:
		spans = append(spans, widget.Span{Text: on.clock(d.Start)}, widget.Span{Role: near, Text: away})
	default:
		spans = append(spans, widget.Span{Role: near, Text: away})
	}
	spans = append(spans, widget.Span{Role: theme.Accent, Text: on.Theme.Glyph(theme.Event)}, widget.Span{Text: " " + dateTitle(d)})
	return on.spread(b, spans, dateMarks(on.Snap, d))
}

// entry draws one fire: when, how far away, what, and the marks on it.
func (on sheet) entry(item int, e schedule.Entry) string {
	t, s, w := on.Theme, on.Snap, on.w
	past := !e.FireTime.After(s.At)
	soft, name := theme.Text, theme.Text
	if past || e.Held {
		soft, name = theme.Dim, theme.Dim
	}
	b, gutter := on.brush(item)
	left := []widget.Span{gutter}
	if w >= 16 {
		left = append(left, widget.Span{Role: soft, Text: on.clock(e.FireTime)})
	}
	near := theme.Dim
	if d := e.FireTime.Sub(s.At); d > 0 && d.Minutes() <= 5 {
		near = theme.Warn
	}
	away := widget.Fit(words.Soon(e.FireTime.Sub(s.At)), 7)
	if w >= 40 {
		away = widget.Fit(words.Until(e.FireTime.Sub(s.At)), 9)
	}
	left = append(left, widget.Span{Role: near, Text: away})
	left = append(left, glyphs(t, e)...)
	left = append(left, widget.Span{Role: name, Text: title(e)})
	return on.spread(b, left, marks(s, e))
}

// spread draws a row with words at its right end, as many as leave half of the
// row to the title. In a narrow row the whole title comes first.
func (on sheet) spread(b widget.Brush, left []widget.Span, words []string) string {
	for n := len(words); n > 0; n-- {
		text := strings.Join(words[:n], " · ") + " "
		wide := widget.Cells(text) <= on.w/2
		if n == 1 && !wide && on.w >= narrow {
			text, wide = widget.Cut(words[0], on.w/2-1)+" ", true
		}
		right := []widget.Span{{Role: theme.Dim, Text: text}}
		if wide && (on.w >= narrow || widget.Width(left)+widget.Width(right) < on.w) {
			return b.Spread(on.w, left, right)
		}
	}
	return b.Line(on.w, left...)
}

// narrow is below which width a row is kept for its title.
const narrow = 56

// task draws a task of the list of all: when it fires next, what it is, and
// when it fires at all.
func (on sheet) task(item int, v schedule.TaskView) string {
	t, s, w := on.Theme, on.Snap, on.w
	b, gutter := on.brush(item)
	role := theme.Text
	if v.Next.IsZero() || v.Paused || v.Waits != "" || !v.Snoozed.IsZero() {
		role = theme.Dim
	}
	left := []widget.Span{gutter}
	at, away := textNever, ""
	if v.Paused || v.Waits != "" {
		at = "" // the word for it stands at the right, its sign before the title
	}
	if !v.Next.IsZero() {
		at, away = moment(s, v.Next), words.Until(v.Next.Sub(s.At))
	}
	switch {
	case w >= 40:
		left = append(left, widget.Span{Role: role, Text: widget.Fit(at, 10)}, widget.Span{Role: theme.Dim, Text: widget.Fit(away, 9)})
	case w >= 16:
		if !v.Next.IsZero() {
			away = words.Soon(v.Next.Sub(s.At))
		}
		left = append(left, widget.Span{Role: theme.Dim, Text: widget.Fit(away, 7)})
	}
	e := schedule.Entry{Label: v.Label, Silent: v.Silent, Foreground: v.Foreground, Held: v.Waits != "" || v.Paused || !v.Snoozed.IsZero()}
	left = append(left, glyphs(t, e)...)
	left = append(left, widget.Span{Role: role, Text: taskTitle(v)})
	return on.spread(b, left, taskMarks(s, v))
}

// glyphs are the marks in short, before the title so that they line up.
func glyphs(t *theme.Theme, e schedule.Entry) []widget.Span {
	mark := widget.Span{Text: " "}
	switch {
	case e.Held:
		mark = widget.Span{Role: theme.Warn, Text: t.Glyph(theme.Lock)}
	case e.Silent:
		mark = widget.Span{Role: theme.Dim, Text: t.Glyph(theme.Mute)}
	case chain(e.Label) != "":
		mark = widget.Span{Role: theme.Report, Text: t.Glyph(theme.Chain)}
	case e.Foreground:
		mark = widget.Span{Role: theme.You, Text: t.Glyph(theme.Front)}
	}
	return []widget.Span{mark, {Text: " "}}
}

// problemHead is the count of problems.
func problemHead(c pane.Context, before string) []widget.Span {
	problems := c.Snap.Schedule.Problems
	out := []widget.Span{{Role: theme.Bad, Text: " " + before + c.Theme.Glyph(theme.Bang) + " " + problemCount(problems)}}
	if len(problems) == 1 {
		out = append(out, widget.Span{Role: theme.Dim, Text: "  " + place(problems[0])})
	}
	return out
}

// wholeReason is the most lines that the reason of a problem ever takes here;
// the details have all of it.
const wholeReason = 5

// problem draws a problem in a few lines: where, and why. The place is what an
// editor needs: where it is too long its beginning is cut, never line and
// column.
func (on sheet) problem(item int, p routines.Problem) []string {
	b, gutter := on.brush(item)
	t, w := on.Theme, on.w
	role, glyph := theme.Warn, t.Glyph(theme.Bang)
	if p.Severity == routines.Error {
		role, glyph = theme.Bad, t.Glyph(theme.Cross)
	}
	where, word := place(p), string(p.Severity)+" "
	if 4+len(word)+widget.Cells(where) > w {
		word = "" // the signs differ too
	}
	out := []string{b.Line(w, gutter, widget.Span{Role: role, Text: glyph + " " + word},
		widget.Span{Role: theme.Text, Text: widget.CutFront(where, w-4, t.Glyph(theme.Ellipsis))})}
	most := on.reason
	if item == on.chosen {
		most = wholeReason
	}
	for _, l := range widget.WrapN(p.Message, max(1, w-4), most, t.Glyph(theme.Ellipsis)) {
		out = append(out, b.Line(w, widget.Span{Text: "   "}, widget.Span{Role: theme.Dim, Text: l}))
	}
	return out
}

// oneLine is the pane for tiny terminals: what fires next.
func oneLine(c pane.Context) []widget.Span {
	s := c.Snap.Schedule
	out := []widget.Span{{Role: theme.Strong, Text: textName}}
	if n := len(s.Problems); n > 0 {
		out = append(out, widget.Span{Role: theme.Bad, Text: c.Theme.Glyph(theme.Bang) + " " + problemCount(s.Problems) + " "})
	}
	for i := range window.fires(c.Snap) {
		it := window.at(c.Snap, i)
		if !it.comes(c.Snap) {
			continue
		}
		at := it.start()
		return append(out,
			widget.Span{Text: c.Snap.Clock(at, "15:04") + " "},
			widget.Span{Role: theme.Dim, Text: words.Until(at.Sub(c.Snap.At)) + " "},
			widget.Span{Text: it.title()})
	}
	return append(out, widget.Span{Role: theme.Dim, Text: textQuietDay})
}
