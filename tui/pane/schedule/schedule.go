// Package schedule is the dashboard's pane of what fires next: the forward
// schedule as agents see it, the foreground tasks of the same window, the
// appointments of the user's day among them, and the files that need the user; in
// other views all fires of 24 hours, and every task. It computes no times: what it shows comes with the snapshot.
package schedule

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/google"
	"ollimbot/core/words"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Pane is the schedule pane. Use New.
type Pane struct {
	list widget.List
	view view
	// chosen is what is selected, so that the selection stays with its task
	// when the schedule moves on; zero until the user chooses.
	chosen  name
	h       int // lines when drawn last, for paging
	version uint64
	seen    seen
	cache   widget.Cache[key]
}

type key struct {
	w, h    int
	version uint64
	focused bool
	theme   *theme.Theme
	keys    action.Keys
}

// New returns the pane.
func New() *Pane { return &Pane{} }

// Title implements pane.Pane. The view stands first: problems stand in the list too.
func (p *Pane) Title(c pane.Context) (name, state string) {
	state = p.view.state(c.Snap)
	if problems := c.Snap.Schedule.Problems; len(problems) > 0 {
		state += " · " + problemCount(problems)
	}
	if n := c.Snap.Routines + c.Snap.Reminders; n > 0 {
		state += " · " + words.Count(c.Snap.Routines, "routine") + " · " + words.Count(c.Snap.Reminders, "reminder")
	}
	return textTitle, state
}

// Draw implements pane.Pane.
func (p *Pane) Draw(c pane.Context, w, h int, focused bool) []widget.Row {
	w, h = max(w, 0), max(h, 0)
	p.h = h
	k := key{w, h, p.version, focused, c.Theme, c.Keys}
	return p.cache.Rows(k, func() []widget.Row { return p.draw(c, w, h, focused) })
}

// Line implements pane.Pane: the next task.
func (p *Pane) Line(c pane.Context, w int) string {
	return widget.Brush{Theme: c.Theme}.Line(w, oneLine(c)...)
}

// Do implements pane.Pane.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	p.version++
	n := p.view.count(c.Snap)
	if _, verb, _ := strings.Cut(string(id), "."); p.list.Move(verb, n, p.h) {
		p.chosen = p.view.name(c.Snap, p.list.At)
		return pane.Answer{}
	}
	switch {
	case id == action.ScheduleView:
		p.turn(c.Snap)
		return pane.Answer{}
	case c.ReadOnly && writes(id):
		return pane.Answer{Toast: textReadOnly}
	case id == action.ScheduleNew:
		return pane.Answer{Create: true}
	case n == 0:
		return pane.Answer{Toast: textNothing}
	}
	p.chosen = p.view.name(c.Snap, p.list.At) // what the user works with stays selected
	if why := p.Off(c, id); why != "" {
		return pane.Answer{Toast: why}
	}
	it := p.view.at(c.Snap, p.list.At)
	switch {
	case it.date != nil:
		return pane.Answer{Show: &pane.Page{Title: it.title(), Body: dateText(c.Snap, *it.date)}}
	case it.problem == nil:
		return onTask(c.Snap, it, id)
	}
	if a, ok := onProblem(*it.problem, id); ok {
		return a
	}
	return onTask(c.Snap, it.behind(c.Snap), id)
}

// Off says why an action cannot be used on what is selected; empty means that it
// can. A file with an error has to be repaired first; one with a hint only is in
// force, and its task is as good as any.
func (p *Pane) Off(c pane.Context, id action.ID) string {
	if a, ok := action.Get(action.Schedule, id); ok && p.list.At < p.view.count(c.Snap) &&
		p.view.at(c.Snap, p.list.At).date != nil && ofTask(a) {
		return textAtGoogle
	}
	switch id {
	case action.ScheduleAllow:
		return p.offAllow(c)
	case action.ScheduleFire, action.SchedulePreview, action.ScheduleSnooze, action.SchedulePause, action.ScheduleEdit, action.ScheduleDelete:
	default:
		return ""
	}
	if p.list.At >= p.view.count(c.Snap) {
		return ""
	}
	it := p.view.at(c.Snap, p.list.At)
	switch {
	case it.problem == nil:
		return ""
	case broken(c.Snap, it.problem.File):
		return textProblemFirst(c.Names(action.Schedule))
	case it.behind(c.Snap).task == nil:
		return textNoTask
	}
	return ""
}

// offAllow is Off for what waits for the user.
func (p *Pane) offAllow(c pane.Context) string {
	if p.list.At >= p.view.count(c.Snap) {
		return ""
	}
	if it := p.view.at(c.Snap, p.list.At); it.problem != nil && it.problem.Waits || held(c.Snap, it).Waits != "" {
		return ""
	}
	return textNotWaiting
}

// onProblem is what can be done with a problem itself.
func onProblem(p routines.Problem, id action.ID) (a pane.Answer, ok bool) {
	switch id {
	case action.ScheduleDetails:
		return pane.Answer{Show: &pane.Page{Title: p.File, Body: problemText(p)}}, true
	case action.ScheduleAllow:
		return pane.Answer{Ask: AllowQuestion(p.File, p.Message, command.AllowTask{ID: p.File, Version: p.Version})}, true
	case action.ScheduleOpen:
		return pane.Answer{Edit: &pane.Edit{File: p.File, Line: p.Line, Column: p.Column}}, true
	}
	return pane.Answer{}, false
}

// onTask is what can be done with a task.
func onTask(s *core.Snapshot, it item, id action.ID) pane.Answer {
	switch id {
	case action.ScheduleDetails:
		return pane.Answer{Task: it.id()}
	case action.SchedulePreview:
		return pane.Answer{Show: &pane.Page{Title: textPreview(it.title()), Load: command.Preview{ID: it.id()}}}
	case action.ScheduleFire:
		return fire(s, it)
	case action.ScheduleAllow:
		t := held(s, it)
		return pane.Answer{Ask: AllowQuestion(it.title(), textWaits+": "+t.Waits, command.AllowTask{ID: t.ID, Version: t.Version})}
	case action.SchedulePause:
		return pane.Answer{Do: command.Pause{ID: it.id(), Paused: !held(s, it).Paused}}
	case action.ScheduleSnooze:
		return pane.Answer{Until: &pane.Until{Title: textSnooze(it.title()), For: command.Snooze{ID: it.id()}, Now: held(s, it).Snoozed}}
	case action.ScheduleEdit:
		return pane.Answer{Task: it.id(), Form: true}
	case action.ScheduleDelete:
		return pane.Answer{Do: command.DeleteTask{ID: it.id()}}
	case action.ScheduleOpen:
		return pane.Answer{Edit: &pane.Edit{File: it.file()}}
	}
	return pane.Answer{}
}

// fire fires a task at once, beside its schedule: a reminder stays.
func fire(s *core.Snapshot, it item) pane.Answer {
	reminder := held(s, it).Kind == routines.KindReminder || it.fire != nil && it.fire.Kind == routines.KindReminder
	return pane.Answer{Do: command.FireNow{ID: it.id(), Stays: reminder}}
}

// ofTask reports whether an action is done with a task, or with its file.
func ofTask(a action.Action) bool {
	return a.Writes && a.ID != action.ScheduleNew || a.ID == action.ScheduleOpen || a.ID == action.SchedulePreview
}

func writes(id action.ID) bool {
	a, ok := action.Get(action.Schedule, id)
	return ok && a.Writes
}

// turn goes on to the next view; the selection stays with its task.
func (p *Pane) turn(s *core.Snapshot) {
	id := ""
	if p.chosen.kind != 0 && p.list.At < p.view.fires(s) {
		id = p.view.at(s, p.list.At).id()
	}
	p.view = (p.view + 1) % numViews
	p.chosen = name{}
	if i, ok := p.view.find(s, id); ok && id != "" {
		p.list.At = i
		p.chosen = p.view.name(s, i)
		return
	}
	p.list.At = p.view.upcoming(s)
}

// Press implements pane.Pane.
func (p *Pane) Press(c pane.Context, at widget.Place, focused bool) action.ID {
	switch i := int(at); {
	case i < 0 || i >= p.view.count(c.Snap):
		return ""
	case i != p.list.At:
		p.list.At, p.chosen = i, p.view.name(c.Snap, i)
		p.version++
	case focused:
		return action.ScheduleDetails
	}
	return ""
}

// Capture implements pane.Pane: this pane has no text to write.
func (p *Pane) Capture() bool { return false }

// Type implements pane.Pane.
func (p *Pane) Type(pane.Context, tea.Msg) pane.Answer { return pane.Answer{} }

// Sync implements pane.Pane.
func (p *Pane) Sync(c pane.Context) {
	p.follow(c)
	if p.seen.changed(c.Snap, p.list.At) {
		p.version++
	}
}

// follow lets the selection go with its task.
func (p *Pane) follow(c pane.Context) {
	n := p.view.count(c.Snap)
	p.list.Clamp(n)
	if p.chosen.kind == 0 {
		p.list.At = p.view.upcoming(c.Snap) // until the user chooses
		return
	}
	if p.view.name(c.Snap, p.list.At) == p.chosen {
		return
	}
	for i := range n {
		if p.view.name(c.Snap, i) == p.chosen {
			p.list.At = i
			return
		}
	}
	p.chosen = p.view.name(c.Snap, p.list.At)
}

// seen is everything of a snapshot that the pane draws. Snapshots come thirty
// times a second while something streams, and the schedule is another one once a
// minute: nobody may change what a snapshot holds, so that the same list is known
// by where it stands. The pointers keep it there.
type seen struct {
	facts    facts
	problems []routines.Problem
}

type facts struct {
	second          int64 // distances in time are whole minutes, before whole seconds
	at              int   // the selected item
	files           int
	zone            *time.Location
	twelve          bool
	window, refills string
	until           time.Time
	entries, day    *schedule.Entry
	tasks           *schedule.TaskView
	dates           *google.Item
	counts          [4]int
}

// changed takes over what a snapshot shows and reports whether it looks different
// from the last one.
func (k *seen) changed(s *core.Snapshot, at int) bool {
	v := &s.Schedule
	now := facts{
		second: s.At.Unix(), at: at, files: s.Routines + s.Reminders, zone: s.Zone, twelve: s.TwelveHours,
		window: v.Window, refills: v.Refills, until: v.DayUntil,
		entries: first(v.Entries), day: first(v.Day), tasks: first(v.Tasks), dates: first(s.Day),
		counts: [4]int{len(v.Entries), len(v.Day), len(v.Tasks), len(s.Day)},
	}
	if now == k.facts && slices.Equal(k.problems, v.Problems) {
		return false
	}
	k.facts, k.problems = now, v.Problems
	return true
}

// first is where a list stands; nil for an empty one.
func first[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}
