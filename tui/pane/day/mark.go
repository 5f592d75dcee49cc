package day

import (
	"cmp"
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
)

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
