// Package schedule is the dashboard's pane of what fires next: the forward
// schedule as agents see it, the foreground tasks of the same window, the
// appointments of the user's day among them, and the files that need the user; in
// other views all fires of 24 hours, and every task. It computes no times: what it shows comes with the snapshot.
package schedule

import (
	"slices"
	"strings"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/words"
	"ollimbot/routines"
	"ollimbot/tui/action"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget"
)

// Pane is the schedule pane. Use New.
type Pane struct {
	pane.List[item]
	view view
	// chosen is what is selected, so that the selection stays with its task
	// when the schedule moves on; zero until the user chooses.
	chosen name
	snap   *core.Snapshot // the last one
	theme  *theme.Theme   // of the drawing, for the cells of the table
}

// New returns the pane.
func New() *Pane {
	p := &Pane{}
	p.Columns, p.Noun, p.Open, p.Note = p.columns(), textRow, action.ScheduleDetails, p.note
	p.Text = func(it item) string { return it.title() + " " + it.file() + " " + p.note(it).Text }
	return p
}

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

// Do implements pane.Pane.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	it, ok := p.Row()
	_, verb, _ := strings.Cut(string(id), ".")
	switch {
	case p.Table.Do(verb):
		p.choose()
		return pane.Answer{}
	case id == action.ScheduleView:
		p.turn(c)
		return pane.Answer{}
	case c.ReadOnly && writes(id):
		return pane.Answer{Toast: textReadOnly}
	case id == action.ScheduleNew:
		return pane.Answer{Create: true}
	case !ok:
		return pane.Answer{Toast: textNothing}
	}
	p.choose() // what the user works with stays selected
	if why := p.Off(c, id); why != "" {
		return pane.Answer{Toast: why}
	}
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
	it, ok := p.Row()
	a, _ := action.Get(action.Schedule, id)
	switch {
	case !ok || !ofTask(a):
	case it.date != nil:
		return textAtGoogle
	case id == action.ScheduleAllow:
		if it.problem != nil && it.problem.Waits || held(c.Snap, it).Waits != "" {
			return ""
		}
		return textNotWaiting
	case it.problem == nil || id == action.ScheduleOpen:
	case broken(c.Snap, it.problem.File):
		return textProblemFirst(c.Names(action.Schedule))
	case it.behind(c.Snap).task == nil:
		return textNoTask
	}
	return ""
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
func (p *Pane) turn(c pane.Context) {
	id := ""
	if it, ok := p.Row(); ok && p.chosen.kind != 0 {
		id = it.id()
	}
	p.view, p.chosen = (p.view+1)%numViews, name{}
	p.Sync(c)
	means := func(it item) bool { return id != "" && it.id() == id }
	if p.Select(func(it item) bool { return means(it) && it.comes(c.Snap) }) || p.Select(means) {
		p.choose()
	}
}

// choose keeps the selection with what it is on.
func (p *Pane) choose() {
	p.chosen = name{}
	if it, ok := p.Row(); ok {
		p.chosen = p.view.name(p.snap, it)
	}
}

// Press implements pane.Pane.
func (p *Pane) Press(c pane.Context, at widget.Place, focused bool) action.ID {
	id := p.List.Press(c, at, focused)
	if p.Has(at) {
		p.choose()
	}
	return id
}

// Sync implements pane.Pane: the selection goes with its task; until the user chooses
// it is on what comes next.
func (p *Pane) Sync(c pane.Context) {
	p.snap = c.Snap
	items := p.view.items(c.Snap)
	p.Fill(items)
	wanted := p.chosen
	if i := slices.IndexFunc(items, func(it item) bool { return it.comes(c.Snap) }); wanted.kind == 0 && i >= 0 {
		wanted = p.view.name(c.Snap, items[i])
	}
	shown := p.Select(func(it item) bool { return p.view.name(c.Snap, it) == wanted })
	if !shown && p.chosen.kind != 0 {
		p.choose()
	}
}
