// Package schedule is the dashboard's pane of upcoming fires: the forward schedule as agents
// see it, with the foreground tasks and the user's appointments of the same window, and the
// files that need the user. Other views show all fires of 24 hours, or every task. It must
// not compute times: they are in the snapshot.
package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/theme"
	"ollimbot/tui/widget/query"
)

// Pane is the schedule pane. Use New.
type Pane struct {
	pane.List[item]
	view  view
	wide  bool           // the rows are those of the page
	snap  *core.Snapshot // the last one
	theme *theme.Theme   // of the drawing, for the cells of the table
}

// New returns the pane.
func New() *Pane {
	p := &Pane{}
	p.Columns, p.Noun, p.Open, p.Note, p.Same = p.columns(), textRow, action.ScheduleDetails, p.note, p.same
	p.Facts = func(it item) query.Facts {
		return query.Facts{Text: it.title() + " " + it.FilePath + " " + p.note(it).Text, At: p.snap.Local(it.FireTime), Now: p.snap.Local(p.snap.At)}
	}
	return p
}

// State implements pane.Pane. The view is first, because problems are in the list too.
func (p *Pane) State(c pane.Context) string {
	state := p.view.state(c)
	if problems := c.Snap.Schedule.Problems; len(problems) > 0 {
		state += " · " + problemCount(problems)
	}
	if n := c.Snap.Routines + c.Snap.Reminders; n > 0 {
		state += " · " + words.Count(c.Snap.Routines, "routine") + " · " + words.Count(c.Snap.Reminders, "reminder")
	}
	return state
}

// Do implements pane.Pane.
func (p *Pane) Do(c pane.Context, id action.ID) pane.Answer {
	it, ok := p.Row()
	switch {
	case p.Table.Do(id.Verb()):
		return pane.Answer{}
	case id == action.ScheduleView:
		p.turn(c)
		return pane.Answer{}
	case id == action.ScheduleNew:
		return pane.Answer{Open: dialog.NewTask()}
	case !ok:
		return pane.Answer{Toast: textNothing}
	}
	p.Chosen = true // what the user works with stays selected
	edit := it.edit(c.Snap)
	switch problem := it.problem; {
	case it.date != nil:
		return pane.Answer{Open: dialog.NewPage(it.title(), dateText(c.Snap, *it.date))}
	case problem != nil && id == action.ScheduleDetails:
		return pane.Answer{Open: dialog.NewPage(problem.File, problemText(*problem))}
	case problem != nil && id == action.ScheduleAllow && edit.Version != "":
		return pane.Answer{Open: dialog.NewReview(problem.File, problem.File, edit)}
	case problem != nil && id == action.ScheduleAllow:
		return pane.Answer{Ask: AllowQuestion(problem.File, problem.Message, command.AllowTask{ID: problem.File, Version: problem.Version})}
	case problem != nil && id == action.ScheduleOpen:
		return pane.Answer{Edit: &pane.Edit{File: problem.File, Line: problem.Line, Column: problem.Column}}
	}
	t := it.of(c.Snap)
	switch {
	case id == action.ScheduleAllow && edit.Version != "":
		return pane.Answer{Open: dialog.NewReview(cmp.Or(t.Title, t.ID), t.ID, edit)}
	case id == action.ScheduleAllow:
		return pane.Answer{Ask: AllowQuestion(cmp.Or(t.Title, t.ID), schedule.TagWaits+": "+t.Waits, command.AllowTask{ID: t.ID, Version: t.Version})}
	}
	return dialog.OnTask(c, t, id)
}

// Off says why an action cannot be used on what is selected; empty means that it
// can. A file with an error has to be repaired first; one with a hint only is in
// force, and its task is as good as any.
func (p *Pane) Off(c pane.Context, id action.ID) string {
	it, ok := p.Row()
	a, _ := action.Get(action.Schedule, id)
	switch {
	case !ok || id == action.ScheduleNew || !a.Writes && id != action.SchedulePreview:
	case it.date != nil:
		return textAtGoogle
	case id == action.ScheduleAllow && (it.problem != nil && it.problem.Waits || it.of(c.Snap).Waits != "" || it.edit(c.Snap).Version != ""):
	case id == action.ScheduleAllow:
		return textNotWaiting
	case it.problem == nil || id == action.ScheduleOpen:
	case slices.ContainsFunc(c.Snap.Schedule.Problems, func(p routines.Problem) bool { return p.File == it.problem.File && p.Severity == routines.Error }):
		return fmt.Sprintf(textProblemFirst, c.Names(action.Schedule).Name(action.ScheduleDetails))
	case it.of(c.Snap).ID == "":
		return textNoTask
	}
	return ""
}

// turn shows the next view; the selection stays with its task.
func (p *Pane) turn(c pane.Context) {
	was, _ := p.Row()
	chosen := p.Chosen && was.ID != ""
	if p.view, p.Chosen = (p.view+1)%numViews, false; c.Zoomed && p.view == wholeDay {
		p.view++ // the window of a page shows it already
	}
	p.Sync(c)
	means := func(it item) bool { return chosen && it.ID == was.ID }
	p.Chosen = p.Select(func(it item) bool { return means(it) && it.comes }) || p.Select(means)
}

// Sync implements pane.Pane: until the user selects a row, the next fire is selected.
func (p *Pane) Sync(c pane.Context) {
	p.snap, p.wide = c.Snap, c.Zoomed
	p.Fill(p.view.items(c))
	if !p.Chosen {
		p.Select(func(it item) bool { return it.comes })
	}
}
