// Package schedule is the dashboard's pane of the schedule: one list of past runs and upcoming fires around now, with
// the user's appointments and the files that need the user. Entries that agents see are highlighted. Another view
// lists every task once. It must not compute times: they are in the snapshot.
package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
	"ollimbot/tui/action"
	"ollimbot/tui/dialog"
	"ollimbot/tui/pane"
	"ollimbot/tui/pane/forks"
	"ollimbot/tui/pane/task"
	"ollimbot/tui/theme"
)

// Pane is the schedule pane. Use New.
type Pane struct {
	pane.List[item]
	view view
	snap *core.Snapshot // the last one
	next time.Time      // time of the first upcoming fire
	// windows are the fires listed whose minute is not chosen yet; short means that their
	// ranges are written in the short form.
	windows []schedule.Entry
	short   bool
	made    string       // a task to select once it is listed
	theme   *theme.Theme // of the drawing, for the cells of the table
	// page shows the selected task, next to the list or in a box of its own; tail shows a selected run.
	page   *task.Page
	tail   forks.Tail
	beside bool
}

// New returns the pane.
func New() *Pane {
	p := &Pane{page: &task.Page{}}
	p.Columns, p.Noun, p.Open, p.Note, p.Facts = p.columns(), "row", action.ScheduleDetails, p.note, p.facts
	p.Group, p.Third = p.group, true
	return p
}

// State implements pane.Pane. The view is first, because problems are in the list too.
func (p *Pane) State(c pane.Context) string {
	state := c.Snap.Schedule.Window
	if p.view == every {
		state = textAllView + strconv.Itoa(len(c.Snap.Schedule.Tasks))
	}
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
	p.Chosen = true // the item that the user works with stays selected
	edit := it.edit(c.Snap)
	switch problem := it.problem; {
	case it.run != nil && id == action.ScheduleDetails:
		return pane.Answer{Focus: action.Forks, Item: it.run.ID}
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

// Off returns why an action is disabled for the selection, or empty if it is not. A file with an error has to be
// repaired first; one with only a hint is active, and its task has all actions.
func (p *Pane) Off(c pane.Context, id action.ID) string {
	it, ok := p.Row()
	a, _ := action.Get(action.Schedule, id)
	switch {
	case !ok || id == action.ScheduleNew || !a.Writes && id != action.SchedulePreview:
	case it.date != nil:
		return textAtGoogle
	case it.run != nil && it.of(c.Snap).Path == "":
		return textNoTaskNow
	case id == action.ScheduleOpen && it.problem != nil && it.problem.Proposed.What != "":
		return textNoFile
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

// turn shows the next view; the same task stays selected.
func (p *Pane) turn(c pane.Context) {
	was, _ := p.Row()
	chosen := p.Chosen && was.ID != ""
	p.view, p.Chosen = (p.view+1)%numViews, false
	p.Sync(c)
	p.Chosen = chosen && p.show(was.ID)
}

// show selects the next fire of a task, else another item of it, and reports whether there is
// one.
func (p *Pane) show(id string) bool {
	return p.Select(func(it item) bool { return it.ID == id && it.stage >= ahead }) ||
		p.Select(func(it item) bool { return it.ID == id || it.problem != nil && it.FilePath == id })
}

// Show selects a task, or a problem by its file, because it was just made or the user asked for it elsewhere.
func (p *Pane) Show(c pane.Context, id string) {
	p.made = id
	p.EndQuery()
	p.Sync(c)
}

// End removes the filter; without one, it returns to now.
func (p *Pane) End(c pane.Context) bool {
	was := p.EndQuery()
	if !was {
		p.Chosen = false
	}
	p.Sync(c)
	return was
}

// Sync implements pane.Pane: until the user selects a row, the next fire is selected. When a selected fire is over,
// the next one of its task is selected.
func (p *Pane) Sync(c pane.Context) {
	s := c.Snap
	p.snap = s
	items := p.view.items(s)
	comes := func(it item) bool { return it.stage >= ahead }
	p.next = time.Time{}
	if i := slices.IndexFunc(items, comes); i >= 0 {
		p.next = items[i].FireTime
	}
	p.windows = nil
	for _, it := range items {
		if !it.Until.IsZero() && p.view == around {
			p.windows = append(p.windows, it.Entry)
		}
	}
	was, had := p.Row()
	p.Fill(items)
	switch {
	case p.made != "" && p.show(p.made):
		p.made, p.Chosen = "", true
	case !p.Chosen: // select the first one, even if the row at the old position is also upcoming
		p.Select(func(it item) bool { return comes(it) && it.FireTime.Equal(p.next) })
	case had && !p.Select(func(it item) bool { return it.same(was) }) && was.stage >= ahead:
		p.show(was.ID)
	}
}

// Wants implements pane.Loader: it loads the page of the selected task.
func (p *Pane) Wants(c pane.Context) pane.Answer {
	it, ok := p.Row()
	if !ok || it.ID == "" || !p.beside {
		return pane.Answer{}
	}
	c.Zoomed = true // it is visible
	p.page.Show(c, it.ID)
	return p.page.Wants(c)
}
