// Package day is the day in one or two rows: what has happened since midnight, a line for
// now, and what is due before the next midnight. The past is read from storage, so that it
// survives a restart. The package owns only which mark is chosen.
package day

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/storage/config"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Pane is the day. Use New.
type Pane struct {
	pane.Still
	marks  []mark
	chosen int  // of marks
	picked bool // by the user; else the next upcoming mark is chosen
	made   made
}

// New returns the day.
func New() *Pane { return &Pane{} }

// made is what the marks depend on.
type made struct {
	second                                 int64
	ended, pings, live, fires, missed, day int
}

// Draw implements pane.Pane. With one row there is no scale.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	return widget.Rows(widget.Nowhere, p.draw(c, w, h, focused)...)
}

// Sync implements pane.Pane.
func (p *Pane) Sync(c pane.Context) {
	s := c.Snap
	now := made{s.At.Unix(), len(s.Ended), len(s.Budget.Pings), 0, len(s.Schedule.Day), len(s.Schedule.Missed), len(s.Day)}
	now.live, _ = fork.Count(s.Forks)
	if now == p.made {
		return
	}
	was, had := p.at()
	p.made, p.marks = now, marksOf(c.Snap)
	p.chosen = p.next(c.Snap.At)
	if i := slices.IndexFunc(p.marks, was.same); p.picked && had && i >= 0 {
		p.chosen = i
	}
}

// next is the first upcoming mark, else the last one.
func (p *Pane) next(now time.Time) int {
	i := slices.IndexFunc(p.marks, func(m mark) bool { return m.at.After(now) })
	if i < 0 {
		return max(0, len(p.marks)-1)
	}
	return i
}

// at is the chosen mark.
func (p *Pane) at() (m mark, ok bool) {
	if p.chosen >= len(p.marks) {
		return m, false
	}
	return p.marks[p.chosen], true
}

// Do implements pane.Pane.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	switch id {
	case action.DayEarlier:
		p.chosen, p.picked = max(0, p.chosen-1), true
	case action.DayLater:
		p.chosen, p.picked = max(0, min(p.chosen+1, len(p.marks)-1)), true
	case action.DayNow:
		p.chosen, p.picked = p.next(c.Snap.At), false
	case action.DayOpen:
		if m, ok := p.at(); ok {
			return m.open(c.Snap)
		}
		return pane.Answer{Toast: textNothing}
	}
	return pane.Answer{}
}

// Point chooses the mark nearest to a cell of rows of w cells; of equally near ones, the most
// important. again reports that it was chosen already.
func (p *Pane) Point(_ pane.Context, x, w int) (again, ok bool) {
	best, least := -1, [2]int{2}
	for i, m := range p.marks {
		away := cellOf(m.at, axis(w)) - (x - 1)
		if now := [2]int{max(away, -away), int(m.kind)}; slices.Compare(now[:], least[:]) < 0 {
			best, least = i, now
		}
	}
	if best < 0 {
		return false, false
	}
	again = p.chosen == best && p.picked
	p.chosen, p.picked = best, true
	return again, true
}

// kind is what a mark means. Of several in one cell the lowest is shown.
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

// looks are the sign and the word of each kind.
var looks = [...]struct {
	glyph theme.Glyph
	role  theme.Role
	word  string
}{
	failed: {theme.Cross, theme.Bad, "failed"}, missed: {theme.Missed, theme.Warn, "missed"}, refused: {theme.Refused, theme.Warn, "refused"},
	pinged: {theme.Message, theme.Ping, "ping"}, running: {theme.Running, theme.Good, "running"}, done: {theme.Check, theme.Good, "run"},
	stopped: {theme.Stopped, theme.Dim, "stopped"}, date: {theme.Event, theme.Report, "appointment"}, coming: {theme.Coming, theme.Accent, "upcoming"},
}

// legend are the explained kinds, in order.
var legend = []kind{done, pinged, failed, missed, coming}

// mark is an event of the day.
type mark struct {
	at        time.Time // in the user's zone
	kind      kind
	run, task string // ids; may be empty
	title     string
	note      string // more in words; may be empty
}

func (m mark) same(o mark) bool {
	return m.at.Equal(o.at) && m.run == o.run && m.task == o.task && m.title == o.title
}

// open opens the run of the mark, else its task, else a page with its words.
func (m mark) open(s *core.Snapshot) pane.Answer {
	switch {
	case m.run != "":
		return pane.Answer{Focus: action.Forks, Item: m.run}
	case m.task != "":
		return pane.Answer{Focus: action.Task, Item: m.task}
	}
	return pane.Answer{Open: dialog.NewPage(m.title, s.Clock(m.at, "15:04")+"  "+m.title+"\n\n"+m.note)}
}

// words are the mark's sign and a sentence.
func (m mark) words(c pane.Context, role theme.Role) []widget.Span {
	look := looks[m.kind]
	text := c.Snap.Clock(m.at, "15:04") + " " + m.title + " · " + look.word
	if m.note != "" {
		text += " · " + m.note
	}
	return []widget.Span{{Text: " "}, {Role: look.role, Text: c.Theme.Glyph(look.glyph) + " "}, {Role: role, Text: text}}
}

// marksOf are the marks of the snapshot's day, by time.
func marksOf(s *core.Snapshot) (out []mark) {
	from := s.Midnight()
	to := from.AddDate(0, 0, 1)
	add := func(m mark) {
		if m.at = s.Local(m.at); !m.at.Before(from) && m.at.Before(to) {
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

// ending is the kind of a finished run.
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
	// leastAxis is the least width of the day on a wide screen.
	leastAxis = 60
)

// cellOf is the cell of a moment on an axis of n cells, by the clock on the wall.
func cellOf(t time.Time, n int) int { return (t.Hour()*60 + t.Minute()) * n / dayMinutes }

// axis is how many of w cells the day has: all but the legend's or, with less room, all but
// those of the words of the chosen mark.
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

// draw draws the scale and the marks, or the marks alone. Next to the scale it describes the
// chosen mark while the day has the focus, and next to the marks it shows the legend; with
// one row it describes the chosen mark there.
func (p *Pane) draw(c pane.Context, w, h int, focused bool) []string {
	b, n := widget.Brush{Theme: c.Theme}, axis(w)
	room, role := w-n-2, theme.Dim
	now := cellOf(c.Snap.Local(c.Snap.At), n)
	if focused {
		role = theme.Text
	}
	var words []widget.Span
	if m, ok := p.at(); ok && room >= minWords && (h < 2 || focused) {
		words = m.words(c, role)
	}
	marks := p.row(c, n, now, focused)
	if h < 2 {
		return []string{b.Line(w, append(marks, words...)...)}
	}
	return []string{b.Line(w, append(p.scale(c, n, now), words...)...), b.Line(w, append(marks, explained(c, room+1)...)...)}
}

// explained is as much of the legend as fits.
func explained(c pane.Context, room int) (out []widget.Span) {
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
		if at := min(hour*n/24, n+1-len(label)); now < at-1 || now > at+len(label) { // now covers the hour next to it
			copy(text[at:], label)
		}
	}
	line := string(text[:n+1])
	dim := func(s string) widget.Span { return widget.Span{Role: theme.Dim, Text: s} }
	return []widget.Span{dim(" " + line[:now]), {Role: theme.Focus, Text: c.Theme.Box().Left}, dim(line[min(now+1, n):])}
}

// row is the marks over the quiet hours. The mark that is described is always visible.
func (p *Pane) row(c pane.Context, n, now int, focused bool) []widget.Span {
	lead, chosen := " ", -1
	if focused {
		lead = c.Theme.Glyph(theme.Pointer)
	}
	seen := make([]*mark, n)
	for i := range p.marks {
		m := &p.marks[i]
		if at := &seen[cellOf(m.at, n)]; *at == nil || m.kind < (*at).kind {
			*at = m
		}
	}
	if m, ok := p.at(); ok && (p.picked || focused) {
		chosen = cellOf(m.at, n)
		seen[chosen] = &m
	}
	out := []widget.Span{{Role: theme.Focus, Text: lead}}
	for i, m := range seen {
		span := widget.Span{Text: " "}
		switch {
		case m != nil:
			span = widget.Span{Role: looks[m.kind].role, Text: c.Theme.Glyph(looks[m.kind].glyph)}
		case i == now:
			span = widget.Span{Role: theme.Focus, Text: c.Theme.Box().Left}
		case quiet(c.Snap.Budget.QuietHours, i*dayMinutes/n):
			span = widget.Span{Role: theme.Track, Text: c.Theme.Glyph(theme.Quiet)}
		case i*8%n < 8:
			span = widget.Span{Role: theme.Track, Text: "·"}
		}
		if i == chosen && focused {
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

// quiet reports whether a minute of the day is in the quiet hours.
func quiet(q config.Quiet, at int) bool {
	if q.From <= q.To {
		return at >= q.From && at < q.To
	}
	return at >= q.From || at < q.To
}

const (
	textQuiet   = "quiet"
	textNothing = "nothing has happened today, and nothing is scheduled"
)
