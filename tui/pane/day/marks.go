package day

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/core/fork"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// kind is what a mark stands for. Of several in one cell the lowest is seen.
type kind uint8

const (
	failed kind = iota
	missed
	refused
	pinged
	running
	done
	stopped
	date
	coming
)

// looks is how a kind is shown: always a sign and a word.
var looks = [...]struct {
	glyph theme.Glyph
	role  theme.Role
	word  string
}{
	failed: {theme.Cross, theme.Bad, "failed"}, missed: {theme.Missed, theme.Warn, "missed"}, refused: {theme.Refused, theme.Warn, "refused"},
	pinged: {theme.Message, theme.Ping, "ping"}, running: {theme.Running, theme.Good, "running"}, done: {theme.Check, theme.Good, "run"},
	stopped: {theme.Stopped, theme.Dim, "stopped"}, date: {theme.Event, theme.Report, "appointment"}, coming: {theme.Coming, theme.Accent, "to come"},
}

// legend is which kinds are explained, in order.
var legend = []kind{done, pinged, failed, missed, coming}

// mark is something of the day.
type mark struct {
	at        time.Time // in the user's zone
	kind      kind
	run, task string // ids; what is empty cannot be opened
	title     string
	note      string // more in words; may be empty
}

func (m mark) same(o mark) bool {
	return m.at.Equal(o.at) && m.run == o.run && m.task == o.task && m.title == o.title
}

// open is where the mark leads: to its run, else to its task, else to its words.
func (m mark) open(s *core.Snapshot) pane.Answer {
	switch {
	case m.run != "":
		return pane.Answer{Window: m.run}
	case m.task != "":
		return pane.Answer{Task: m.task}
	}
	return pane.Answer{Show: &pane.Page{Title: m.title, Body: s.Clock(m.at, "15:04") + "  " + m.title + "\n\n" + m.note}}
}

// words are the mark in a sentence.
func (m mark) words(s *core.Snapshot) string {
	text := s.Clock(m.at, "15:04") + " " + looks[m.kind].word + textDot + m.title
	if m.note != "" {
		text += textDot + m.note
	}
	return text
}

// marksOf are the marks of the snapshot's day, by time.
func marksOf(s *core.Snapshot) (out []mark) {
	zone := cmp.Or(s.Zone, time.UTC)
	from := s.Midnight()
	to := from.AddDate(0, 0, 1)
	add := func(m mark) {
		if m.at = m.at.In(zone); !m.at.Before(from) && m.at.Before(to) {
			m.title, m.note = clean.Line(m.title), clean.Line(m.note)
			out = append(out, m)
		}
	}
	for i := range s.Ended {
		r := &s.Ended[i]
		add(mark{at: r.Ended, kind: ending(r.State), run: r.ID, task: r.TaskID, title: r.Title, note: r.Error})
	}
	for i := range s.Forks {
		if r := &s.Forks[i]; r.State == fork.Running {
			add(mark{at: r.Started, kind: running, run: r.ID, task: r.TaskID, title: r.Title, note: r.Activity})
		}
	}
	for i := range s.Budget.Pings {
		p := &s.Budget.Pings[i]
		m := mark{at: p.At, kind: pinged, run: p.Run, task: p.Task, title: p.Title, note: p.Text}
		if p.Refused != "" {
			m.kind, m.note = refused, p.Refused
		}
		add(m)
	}
	for _, e := range s.Schedule.Missed {
		add(mark{at: e.FireTime, kind: missed, task: e.ID, title: cmp.Or(e.Description, e.Label, e.ID)})
	}
	for _, e := range s.Schedule.Day {
		if e.FireTime.After(s.At) && !e.Held {
			add(mark{at: e.FireTime, kind: coming, task: e.ID, title: cmp.Or(e.Description, e.Label, e.ID)})
		}
	}
	for _, d := range s.Day {
		if !d.AllDay && d.Tasks == nil {
			add(mark{at: d.Start, kind: date, title: d.Title, note: d.Place})
		}
	}
	slices.SortStableFunc(out, func(a, b mark) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.kind, b.kind)) })
	return out
}

// ending is what became of a run.
func ending(s fork.State) kind {
	switch {
	case s.Failed():
		return failed
	case s == fork.Done:
		return done
	}
	return stopped
}

const (
	dayMinutes = 24 * 60
	// leastAxis is how wide the day is at least where there is room for more.
	leastAxis = 60
)

// cellOf is the cell of a moment on an axis of n cells, by the clock on the wall.
func cellOf(t time.Time, n int) int { return (t.Hour()*60 + t.Minute()) * n / dayMinutes }

// axis is how many of w cells the day has: what the legend leaves, and with little
// room what the words of the chosen mark leave.
func axis(w int) int {
	switch {
	case w >= leastAxis+legendCells+4:
		return w - legendCells - 4
	case w >= leastAxis+minWords:
		return max(leastAxis, w-w/3)
	}
	return max(1, w-2)
}

const (
	legendCells = 62
	minWords    = 18
)

// cell is what is drawn in one cell of the day.
type cell struct {
	kind   kind
	marked bool // there is a mark
	quiet  bool
	chosen bool
}

func (p *Pane) cells(c pane.Context, n int, focused bool) []cell {
	out := make([]cell, n)
	if q := c.Snap.Budget.QuietHours; q.From != q.To {
		for i := range out {
			at := i * dayMinutes / n
			out[i].quiet = q.From < q.To && at >= q.From && at < q.To || q.From > q.To && (at >= q.From || at < q.To)
		}
	}
	for i, m := range p.marks {
		at := &out[cellOf(m.at, n)]
		if !at.marked || m.kind < at.kind {
			at.kind, at.marked = m.kind, true
		}
		at.chosen = at.chosen || i == p.chosen
	}
	if m, ok := p.at(); ok && (p.picked || focused) { // what is told in words is seen
		out[cellOf(m.at, n)].kind = m.kind
	}
	return out
}

// draw gives the scale and the marks, or the marks alone.
func (p *Pane) draw(c pane.Context, w, h int, focused bool) []string {
	b := widget.Brush{Theme: c.Theme}
	n := axis(w)
	now := cellOf(c.Snap.At.In(cmp.Or(c.Snap.Zone, time.UTC)), n)
	side := p.side(c, focused, h, w-n-1)
	marks := b.Line(w, append(p.row(c, n, now, focused), side...)...)
	if h < 2 {
		return []string{marks}
	}
	scale := b.Line(w, append(p.scale(c, n, now), p.above(c, focused, w-n-2)...)...)
	return []string{scale, marks}
}

// side is what stands behind the marks: the legend, as far as there is room for it,
// and with one row the chosen mark.
func (p *Pane) side(c pane.Context, focused bool, h, room int) []widget.Span {
	m, ok := p.at()
	if h < 2 {
		if !ok || room < minWords {
			return nil
		}
		look := looks[m.kind]
		role := theme.Dim
		if focused {
			role = theme.Text
		}
		return []widget.Span{{Text: " "}, {Role: look.role, Text: c.Theme.Glyph(look.glyph) + " "}, {Role: role, Text: c.Snap.Clock(m.at, "15:04") + " " + m.title}}
	}
	var out []widget.Span
	entry := func(role theme.Role, g theme.Glyph, word string) {
		spans := []widget.Span{{Text: "  "}, {Role: role, Text: c.Theme.Glyph(g)}, {Role: theme.Dim, Text: " " + word}}
		if widget.Width(out)+widget.Width(spans) <= room {
			out = append(out, spans...)
		}
	}
	for _, k := range legend {
		entry(looks[k].role, looks[k].glyph, looks[k].word)
	}
	entry(theme.Track, theme.Quiet, textQuiet)
	return out
}

// above is the chosen mark in words, beside the scale.
func (p *Pane) above(c pane.Context, focused bool, room int) []widget.Span {
	m, ok := p.at()
	if !ok || !focused || room < minWords {
		return nil
	}
	return []widget.Span{{Text: "  "}, {Role: looks[m.kind].role, Text: c.Theme.Glyph(looks[m.kind].glyph) + " "}, {Text: m.words(c.Snap)}}
}

// scale is the hours, and the line for now.
func (p *Pane) scale(c pane.Context, n, now int) []widget.Span {
	each := 3
	if n >= 144 {
		each = 1
	}
	text := []byte(strings.Repeat(" ", n+1))
	for hour := 0; hour <= 24; hour += each {
		label := strconv.Itoa(100 + hour)[1:]
		if c.Snap.TwelveHours {
			label = time.Date(2000, 1, 1, hour, 0, 0, 0, time.UTC).Format("3pm")
		}
		if at := min(hour*n/24, n+1-len(label)); now < at-1 || now > at+len(label) { // now is seen before the hour beside it
			copy(text[at:], label)
		}
	}
	line := string(text[:n+1])
	dim := func(s string) widget.Span { return widget.Span{Role: theme.Dim, Text: s} }
	return []widget.Span{dim(" " + line[:now]), {Role: theme.Focus, Text: c.Theme.Box().Vertical}, dim(line[min(now+1, n):])}
}

// row is the marks, quiet hours behind them.
func (p *Pane) row(c pane.Context, n, now int, focused bool) []widget.Span {
	lead := " "
	if focused {
		lead = c.Theme.Glyph(theme.Pointer)
	}
	out := []widget.Span{{Role: theme.Focus, Text: lead}}
	for i, at := range p.cells(c, n, focused) {
		span := widget.Span{Text: " "}
		switch {
		case at.marked:
			span = widget.Span{Role: looks[at.kind].role, Text: c.Theme.Glyph(looks[at.kind].glyph)}
		case i == now:
			span = widget.Span{Role: theme.Focus, Text: c.Theme.Box().Vertical}
		case at.quiet:
			span = widget.Span{Role: theme.Track, Text: c.Theme.Glyph(theme.Quiet)}
		case i*8%n < 8:
			span = widget.Span{Role: theme.Track, Text: "·"}
		}
		if at.chosen && focused {
			span.Role = theme.Caret
		}
		if k := len(out) - 1; k > 0 && out[k].Role == span.Role && span.Role != theme.Caret {
			out[k].Text += span.Text
			continue
		}
		out = append(out, span)
	}
	return out
}

const (
	textDot     = " · "
	textQuiet   = "quiet"
	textNothing = "nothing has happened today, and nothing is to come"
)
