package schedule

import (
	"strings"

	"ollimbot/core"
	"ollimbot/routines"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// row is a line of the pane and the item it belongs to; -1 for none.
type row struct {
	line string
	item int
}

// draw renders the pane.
func (p *Pane) draw(c pane.Context, w, h int, focused bool) []string {
	b := widget.Brush{Theme: c.Theme}
	s := c.Snap.Schedule
	if len(s.Entries)+len(s.Problems) == 0 {
		if c.Snap.Routines+c.Snap.Reminders > 0 {
			return b.Empty(w, h, textQuietDay, textQuietTeach)
		}
		return b.Empty(w, h, textEmpty, textTeach)
	}
	rows := p.rows(c, w, h, focused)
	from, to := -1, -1
	for i, r := range rows {
		if r.item == p.list.At {
			if from < 0 {
				from = i
			}
			to = i
		}
	}
	if h == 0 || from < 0 {
		return widget.Fill(nil, w, h)
	}
	from = max(from, to-h+1)
	top := p.list.Window(from, to, len(rows), h)
	lines := make([]string, 0, h)
	problem := false
	for _, r := range rows[top:min(top+h, len(rows))] {
		problem = problem || r.item >= len(s.Entries)
		lines = append(lines, r.line)
	}
	if n := len(s.Problems); n > 0 && !problem && h > 1 {
		// Problems are never out of sight: their count takes the last line, and
		// the selection stays above it.
		if to-top == h-1 {
			lines = lines[1:]
		} else {
			lines = lines[:h-1]
		}
		lines = append(lines, b.Line(w, problemHead(c, c.Theme.Glyph(theme.Down)+" ")...))
	}
	return widget.Fill(lines, w, h)
}

// rows are all lines of the pane, however many there are.
func (p *Pane) rows(c pane.Context, w, h int, focused bool) []row {
	s := c.Snap.Schedule
	b := widget.Brush{Theme: c.Theme}
	rows := make([]row, 0, len(s.Entries)+2*len(s.Problems)+4)
	for i, e := range s.Entries {
		rows = append(rows, row{p.entry(c, e, w, focused && i == p.list.At), i})
	}
	if s.Refills != "" && w >= 12 {
		rows = append(rows, row{b.Line(w, widget.Span{Role: theme.Dim, Text: " " + s.Refills}), -1})
	}
	if len(s.Problems) == 0 {
		return rows
	}
	if len(rows) > 0 && len(rows)+2*len(s.Problems)+2 <= h {
		rows = append(rows, row{widget.Blank(w), -1})
	}
	if len(s.Problems) > 1 {
		rows = append(rows, row{b.Line(w, problemHead(c, "")...), -1})
	}
	for i, problem := range s.Problems {
		item := len(s.Entries) + i
		for _, line := range problemLines(c, problem, w, focused && item == p.list.At) {
			rows = append(rows, row{line, item})
		}
	}
	return rows
}

// entry draws one fire: when, how far away, what, and the marks on it.
func (p *Pane) entry(c pane.Context, e routines.Entry, w int, selected bool) string {
	t, s := c.Theme, c.Snap
	past := !e.FireTime.After(s.At)
	soft, name := theme.Text, theme.Text
	if past {
		soft, name = theme.Dim, theme.Dim
	}
	gutter := " "
	b := widget.Brush{Theme: t}
	if selected {
		gutter, b.Back = t.Glyph(theme.Pointer), theme.Select
	}
	left := []widget.Span{{Role: theme.Accent, Text: gutter}}
	if w >= 16 {
		left = append(left, widget.Span{Role: soft, Text: e.FireTime.In(zone(s)).Format("15:04") + " "})
	}
	near := theme.Dim
	if d := e.FireTime.Sub(s.At); d > 0 && d.Minutes() <= 5 {
		near = theme.Warn
	}
	wide := 7
	if w >= 40 {
		wide = 9
	}
	left = append(left, widget.Span{Role: near, Text: widget.Fit(widget.Until(e.FireTime.Sub(s.At)), wide)})
	left = append(left, glyphs(t, e)...)
	left = append(left, widget.Span{Role: name, Text: title(e)})
	var right []widget.Span
	if words := marks(s, e); len(words) > 0 && w >= 48 {
		right = []widget.Span{{Role: theme.Dim, Text: strings.Join(words, " · ") + " "}}
	}
	return b.Spread(w, left, right)
}

// glyphs are the marks in short, before the title so that they line up.
func glyphs(t *theme.Theme, e routines.Entry) []widget.Span {
	mark := widget.Span{Text: " "}
	switch {
	case e.Silent:
		mark = widget.Span{Role: theme.Dim, Text: t.Glyph(theme.Mute)}
	case chain(e) != "":
		mark = widget.Span{Role: theme.Report, Text: t.Glyph(theme.Chain)}
	case e.Foreground:
		mark = widget.Span{Role: theme.You, Text: t.Glyph(theme.Circle)}
	}
	return []widget.Span{mark, {Text: " "}}
}

// problemHead is the count of problems.
func problemHead(c pane.Context, before string) []widget.Span {
	return []widget.Span{
		{Role: theme.Bad, Text: " " + before + c.Theme.Glyph(theme.Bang) + " " + problemCount(c.Snap.Schedule.Problems)},
	}
}

// problemLines are a problem in up to three lines: where, and why.
func problemLines(c pane.Context, p routines.Problem, w int, selected bool) []string {
	b := widget.Brush{Theme: c.Theme}
	gutter := " "
	if selected {
		gutter, b.Back = c.Theme.Glyph(theme.Pointer), theme.Select
	}
	role := theme.Warn
	if p.Severity == routines.Error {
		role = theme.Bad
	}
	out := []string{b.Line(w,
		widget.Span{Role: theme.Accent, Text: gutter},
		widget.Span{Role: role, Text: c.Theme.Glyph(theme.Bang) + " " + string(p.Severity) + " "},
		widget.Span{Role: theme.Text, Text: place(p)})}
	for _, l := range widget.WrapN(p.Message, max(1, w-4), 2) {
		out = append(out, b.Line(w, widget.Span{Text: "   "}, widget.Span{Role: theme.Dim, Text: l}))
	}
	return out
}

// oneLine is the pane for tiny terminals: what fires next.
func oneLine(c pane.Context) []widget.Span {
	s := c.Snap.Schedule
	out := []widget.Span{{Role: theme.Strong, Text: "Next "}}
	if n := len(s.Problems); n > 0 {
		out = append(out, widget.Span{Role: theme.Bad, Text: c.Theme.Glyph(theme.Bang) + " " + problemCount(s.Problems) + " "})
	}
	if e, ok := next(c.Snap); ok {
		return append(out,
			widget.Span{Text: e.FireTime.In(zone(c.Snap)).Format("15:04") + " "},
			widget.Span{Role: theme.Dim, Text: widget.Until(e.FireTime.Sub(c.Snap.At)) + " "},
			widget.Span{Text: title(e)})
	}
	return append(out, widget.Span{Role: theme.Dim, Text: textQuietDay})
}

// next is the first entry that is still to come.
func next(s *core.Snapshot) (routines.Entry, bool) {
	for _, e := range s.Schedule.Entries {
		if e.FireTime.After(s.At) {
			return e, true
		}
	}
	return routines.Entry{}, false
}
