// Package day is the day as a picture around now: twelve hours back and twelve ahead on one axis, with the level of
// the token bucket as an area, the pings on its ground, a lane for runs, and the hours. It reads the past from
// storage, so that it survives a restart. The package owns only the chosen mark.
package day

import (
	"cmp"
	"math"
	"slices"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/fork"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Pane is the day. The zero Pane is ready to use.
type Pane struct {
	pane.Still
	marks  []mark
	levels []budget.Level // of the bucket, from the first known hour to the last
	dry    time.Time      // when it is expected to be empty; zero if it is not
	chosen int            // of marks
	picked bool           // by the user; else the next upcoming mark is chosen
	dense  bool           // there are several marks of one lane in a cell
	made   made
	kept   drawn
	rows   []widget.Row
}

// made is the input of the marks and levels. The lists are immutable, so they are compared by address.
type made struct {
	minute        int64
	pings         *budget.Ping
	ended         *fork.View
	upcoming      *time.Time
	lists         [7]int // their lengths
	capacity, per int
}

func madeOf(s *core.Snapshot) made {
	b := &s.Budget
	running, _ := fork.Count(s.Forks)
	m := made{
		minute: s.At.Unix() / 60, capacity: b.State.Capacity, per: b.State.RefillRateMinutes,
		lists: [...]int{len(b.Pings), len(s.Ended), len(s.Schedule.Day), len(s.Schedule.Missed), len(s.Day), running, len(s.Schedule.Tasks)},
	}
	if len(b.Pings) > 0 {
		m.pings = &b.Pings[0]
	}
	if len(s.Ended) > 0 {
		m.ended = &s.Ended[0]
	}
	if len(s.Schedule.Day) > 0 {
		m.upcoming = &s.Schedule.Day[0].FireTime
	}
	return m
}

// Sync implements pane.Pane. It rebuilds the marks each minute, and when their input has changed.
func (p *Pane) Sync(c pane.Context) {
	now := madeOf(c.Snap)
	if now == p.made {
		return
	}
	was, had := p.at()
	curve := c.Snap.Budget.Curve(now.capacity, now.per)
	p.made, p.marks = now, marksOf(c.Snap, curve)
	p.levels, p.dry = slices.Concat(curve.Past, curve.Expected), curve.ExpectedDry
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
	last := max(0, len(p.marks)-1)
	switch id {
	case action.DayEarlier:
		p.chosen, p.picked = max(0, p.chosen-1), true
	case action.DayLater:
		p.chosen, p.picked = min(p.chosen+1, last), true
	case action.DayFirst:
		p.chosen, p.picked = 0, true
	case action.DayLast:
		p.chosen, p.picked = last, true
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

// End resets the chosen mark: esc leaves the day for the previous pane.
func (p *Pane) End(c pane.Context) bool {
	p.Do(c, action.DayNow)
	return false
}

// Point chooses the mark nearest to a cell of h rows of w cells, in the lane of its row; of equally near ones, the
// most important. again reports whether it was already chosen.
func (p *Pane) Point(c pane.Context, x, y, w, h int) (again, ok bool) {
	a := axisOf(c.Snap.At, w, h)
	best, least := -1, [3]int{}
	for i, m := range p.marks {
		away, other := a.cell(m.at)-(x-a.left), 0
		if row := y - a.level; a.level > 0 && row >= 0 && row < lanes && row != m.kind.lane() {
			other = 1
		}
		now := [3]int{max(away, -away) + 2*other, other, int(m.kind)}
		if now[0] < 2 && (best < 0 || slices.Compare(now[:], least[:]) < 0) {
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

// Beside reports whether a cell of h rows of w cells is right of the picture, in the words about the budget.
func Beside(x, w, h int) bool {
	a := axisOf(time.Time{}, w, h)
	return a.right > 0 && x >= a.left+a.n
}

// here returns the indices of the marks in the cell of the chosen one, and which of them it is.
func (p *Pane) here(a axis) (of []int, which int) {
	m, ok := p.at()
	if !ok {
		return nil, 0
	}
	for i, o := range p.marks {
		if a.cell(o.at) == a.cell(m.at) && (a.level == 0 || o.kind.lane() == m.kind.lane()) {
			of = append(of, i)
		}
	}
	return of, slices.Index(of, p.chosen)
}

// reach is the time range of the band, back and ahead.
const reach = 12 * time.Hour

// axis maps times to cells. The middle cell contains only now. The times of cells are fixed until now reaches the
// next one; then all cells move together.
type axis struct {
	now            time.Time
	left, n, right int // cells before the axis, on it, and after it
	half           int // the cell of now
	cells          time.Duration
	level          int // rows of the level, above the lanes; 0 if all marks share one row
}

func axisOf(now time.Time, w, h int) axis {
	a := axis{now: now, left: 1, level: max(0, h-under)}
	if a.level > 0 {
		a.left = labelCells
		if w >= asideWidth && h >= asideHeight {
			a.right = asideCells
		}
	}
	a.half = max(1, (w-a.left-a.right-1)/2)
	a.n, a.cells = 2*a.half+1, reach/time.Duration(a.half)
	return a
}

// slot numbers the stretches of time.
func (a axis) slot(t time.Time) int { return int(t.UnixNano() / int64(a.cells)) }

// from returns the start time of a cell.
func (a axis) from(cell int) time.Time {
	return time.Unix(0, int64(a.slot(a.now)+cell-a.half)*int64(a.cells))
}

// cell returns the cell of a time, or the first or last one if it is outside.
func (a axis) cell(t time.Time) int {
	i := a.half + a.slot(t) - a.slot(a.now)
	if t.After(a.now) {
		return min(max(i, a.half+1), a.n-1)
	}
	return max(0, min(i, a.half-1))
}

// lows returns the lowest level within each cell, so that a ping does not vanish between two of them; NaN where none
// is known.
func (a axis) lows(levels []budget.Level) []float64 {
	lows := make([]float64, a.n)
	for i := range lows {
		from, to := a.from(i), a.from(i+1)
		if len(levels) == 0 || levels[0].At.After(to) {
			lows[i] = math.NaN()
			continue
		}
		for len(levels) > 1 && levels[1].At.Before(from) {
			levels = levels[1:]
		}
		lows[i] = min(budget.LeftAt(levels, from), budget.LeftAt(levels, to))
		for _, l := range levels {
			if l.At.After(to) {
				break
			}
			if !l.At.Before(from) {
				lows[i] = min(lows[i], l.Left)
			}
		}
	}
	return lows
}

// each returns the interval of hour labels that fit, for a label width.
func (a axis) each(width int) int {
	for _, n := range []int{1, 2, 3, 4, 6, 12} {
		if time.Duration(n)*time.Hour/a.cells > time.Duration(width) {
			return n
		}
	}
	return 24
}

// kind is the meaning of a mark. If there are several in one cell, the lowest kind is shown.
type kind uint8

const (
	failed kind = iota
	missed
	refused
	short
	critical
	pinged
	running
	done
	stopped
	date
	likely
	coming
)

// kinds are the sign and the word of each kind.
var kinds = [...]struct {
	glyph theme.Glyph
	role  theme.Role
	word  string
}{
	failed: {theme.Cross, theme.Bad, "failed"}, missed: {theme.Missed, theme.Warn, "missed"},
	refused: {theme.Refused, theme.Warn, "refused"}, short: {theme.Refused, theme.Warn, "no token expected"},
	critical: {theme.Bell, theme.Ping, "critical"}, pinged: {theme.Message, theme.Ping, "sent"}, likely: {theme.Likely, theme.Ping, "likely"},
	running: {theme.Running, theme.Good, "running"}, done: {theme.Check, theme.Good, "done"}, stopped: {theme.Stopped, theme.Dim, "stopped"},
	date: {theme.Event, theme.Report, "date"}, coming: {theme.Coming, theme.Accent, "to come"},
}

// The lanes, from top to bottom.
const (
	pings = iota
	runs
	lanes // how many there are
)

// lane is the lane of a kind.
func (k kind) lane() int {
	switch k {
	case refused, short, critical, pinged, likely:
		return pings
	}
	return runs
}

// mark is an event of the day.
type mark struct {
	at        time.Time // in the user's zone
	kind      kind
	run, task string // ids; may be empty
	title     string
	note      string // what happened, in words; may be empty
}

func (m mark) same(o mark) bool {
	return m.at.Equal(o.at) && m.run == o.run && m.task == o.task && m.title == o.title && m.kind.lane() == o.kind.lane()
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

// marksOf returns the marks around the snapshot's time, in order.
func marksOf(s *core.Snapshot, curve budget.Curve) (out []mark) {
	add := func(m mark) {
		if m.at = s.Local(m.at); m.at.Sub(s.At).Abs() <= reach {
			m.title, m.note = clean.Line(m.title), clean.Line(m.note)
			out = append(out, m)
		}
	}
	for i := range s.Ended {
		r := &s.Ended[i]
		m := mark{at: r.Ended, kind: ending(r.State), run: r.ID, task: r.TaskID, title: r.Title, note: r.Error}
		if m.kind == done && !r.Started.IsZero() {
			m.note = "took " + words.Elapsed(r.Ended.Sub(r.Started))
		}
		add(m)
	}
	for i := range s.Forks {
		if r := &s.Forks[i]; r.State == fork.Running {
			add(mark{at: r.Started, kind: running, run: r.ID, task: r.TaskID, title: r.Title})
		}
	}
	for i := range s.Budget.Pings {
		add(ofPing(&s.Budget.Pings[i]))
	}
	for _, f := range s.Budget.Fires {
		if !f.At.After(s.At) || f.Rate < 0.5 {
			continue
		}
		m := mark{at: f.At, kind: likely, task: f.Task, title: f.Title, note: textPing}
		if !core.HasToken(curve.Expected, f.At) {
			m.kind, m.note = short, textRefusal
		}
		add(m)
	}
	for _, e := range s.Schedule.Missed {
		add(mark{at: e.FireTime, kind: missed, task: e.ID, title: core.TitleOf(e)})
	}
	for _, e := range s.Schedule.Day {
		if e.FireTime.After(s.At) && !e.Held {
			m := mark{at: e.FireTime, kind: coming, task: e.ID, title: core.TitleOf(e), note: e.Reason}
			if !e.Until.IsZero() {
				m.note = "between " + s.FireClock(e)
			}
			add(m)
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

func ofPing(p *budget.Ping) mark {
	m := mark{at: p.At, kind: pinged, run: p.Run, task: p.Task, title: p.Title, note: p.Text}
	switch {
	case p.Refused != "":
		m.kind, m.note = refused, p.Refused
		return m
	case p.Critical:
		m.kind = critical
	}
	answer := "not answered"
	switch {
	case p.Quiet && p.Answered.IsZero():
		answer = "quiet"
	case p.How == budget.Useless:
		answer = budget.TextUseless
	case !p.Answered.IsZero():
		answer = pane.Answered(p)
	}
	if m.note != "" {
		answer += " · " + m.note
	}
	m.note = answer
	return m
}

// ending returns the kind of a finished run.
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
	textPing    = "it usually pings"
	textRefusal = "its ping will be refused"
	textNothing = "nothing has happened in the last 12 hours, and nothing is scheduled in the next 12"
)
