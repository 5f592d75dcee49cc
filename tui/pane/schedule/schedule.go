// Package schedule is the dashboard's pane of what fires next: the forward
// schedule as agents see it, the foreground tasks of the same window, and the
// files that need the user. It computes no times: what it shows comes with the
// snapshot.
package schedule

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/routines"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Pane is the schedule pane. Use New.
type Pane struct {
	list widget.List
	// chosen is what is selected, so that the selection stays with its task
	// when the schedule moves on.
	chosen  string
	h       int // lines when drawn last, for paging
	version uint64
	cache   widget.Cache[key]
}

type key struct {
	w, h    int
	version uint64
	focused bool
	theme   *theme.Theme
	snap    *core.Snapshot
}

// New returns the pane.
func New() *Pane { return &Pane{} }

// Title implements pane.Pane.
func (p *Pane) Title(c pane.Context) (name, state string) {
	s := c.Snap.Schedule
	if len(s.Problems) == 0 {
		return textTitle, s.Window
	}
	return textTitle, problemCount(s.Problems) + " · " + s.Window
}

// Lines implements pane.Pane.
func (p *Pane) Lines(c pane.Context, w, h int, focused bool) []string {
	w, h = max(w, 0), max(h, 0)
	p.h = h
	k := key{w, h, p.version, focused, c.Theme, c.Snap}
	return p.cache.Lines(k, func() []string { return p.draw(c, w, h, focused) })
}

// Line implements pane.Pane: the next task.
func (p *Pane) Line(c pane.Context, w int) string {
	return widget.Brush{Theme: c.Theme}.Line(w, oneLine(c)...)
}

// Do implements pane.Pane.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	p.version++
	n := len(c.Snap.Schedule.Entries) + len(c.Snap.Schedule.Problems)
	if _, verb, _ := strings.Cut(string(id), "."); p.list.Move(verb, n, p.h) {
		p.chosen = nameAt(c.Snap, p.list.At)
		return pane.Answer{}
	}
	if n == 0 {
		return pane.Answer{Toast: textNothing}
	}
	p.chosen = nameAt(c.Snap, p.list.At) // what the user works with stays selected
	entry, problem := at(c.Snap, p.list.At)
	switch {
	case problem != nil && id == action.ScheduleDetails:
		return pane.Answer{Show: &pane.Page{Title: problem.File, Body: problemText(*problem)}}
	case problem != nil:
		return pane.Answer{Toast: textProblemFirst}
	case id == action.ScheduleDetails:
		return pane.Answer{Show: &pane.Page{Title: title(*entry), Body: details(c.Snap, *entry)}}
	case id == action.SchedulePreview:
		return pane.Answer{Show: &pane.Page{Title: textPreview(title(*entry)), Load: core.Preview{ID: entry.ID}}}
	case id == action.ScheduleFire && c.ReadOnly:
		return pane.Answer{Toast: textReadOnly}
	case id == action.ScheduleFire:
		return pane.Answer{Do: core.FireNow{ID: entry.ID}}
	}
	return pane.Answer{}
}

// Capture implements pane.Pane: this pane has no text to write.
func (p *Pane) Capture() bool { return false }

// Type implements pane.Pane.
func (p *Pane) Type(pane.Context, tea.Msg) pane.Answer { return pane.Answer{} }

// Sync implements pane.Pane: the selection follows its task.
func (p *Pane) Sync(c pane.Context) {
	p.version++
	n := len(c.Snap.Schedule.Entries) + len(c.Snap.Schedule.Problems)
	p.list.Clamp(n)
	if p.chosen == "" {
		p.list.At = upcoming(c.Snap) // until the user chooses
		return
	}
	if nameAt(c.Snap, p.list.At) == p.chosen {
		return
	}
	for i := range n {
		if nameAt(c.Snap, i) == p.chosen {
			p.list.At = i
			return
		}
	}
	p.chosen = nameAt(c.Snap, p.list.At)
}

// at is the entry or the problem of the nth item: entries first.
func at(s *core.Snapshot, i int) (*routines.Entry, *routines.Problem) {
	if n := len(s.Schedule.Entries); i >= n {
		return nil, &s.Schedule.Problems[i-n]
	}
	return &s.Schedule.Entries[i], nil
}

// upcoming is the index of the first entry that is still to come.
func upcoming(s *core.Snapshot) int {
	for i, e := range s.Schedule.Entries {
		if e.FireTime.After(s.At) {
			return i
		}
	}
	return 0
}

// nameAt tells items apart: the next fire of a task is another item than the
// one that has just been.
func nameAt(s *core.Snapshot, i int) string {
	if i >= len(s.Schedule.Entries)+len(s.Schedule.Problems) {
		return ""
	}
	entry, problem := at(s, i)
	if problem != nil {
		return "problem " + problem.File + " " + problem.Message
	}
	if entry.FireTime.After(s.At) {
		return "next " + entry.ID
	}
	return "past " + entry.ID
}
