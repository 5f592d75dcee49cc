// Package schedule is the dashboard's pane of the schedule: one list of past runs and upcoming fires around now, with
// the user's appointments and the files that need the user. Entries that agents see are highlighted. Another view
// lists every task once. It must not compute times: they are in the snapshot.
package schedule

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/google"
	"ollimbot/routines"
	"ollimbot/routines/cron"
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
		return pane.Answer{Ask: AllowQuestion(cmp.Or(t.Title, t.ID), t.Waits, command.AllowTask{ID: t.ID, Version: t.Version})}
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

// view is which part of the schedule the pane shows.
type view uint8

const (
	around view = iota // what has just fired, what runs, and all upcoming fires
	every              // each task once, by its next fire
	numViews
)

// item is a selectable row: a past run or fire, an upcoming one, a task with its next fire, an appointment of the
// user, or a problem.
type item struct {
	schedule.Entry        // for an appointment its start, title, calendar and place; for a problem its file and text
	when           string // how often a task fires
	task           bool
	run            *fork.View
	date           *google.Item
	problem        *routines.Problem
	stage          stage
}

// stage is an item's part of the list; items of one stage are ordered by time.
type stage uint8

const (
	past    stage = iota // it is over, or has waited since an earlier day
	broken               // a problem
	present              // it is running or waiting
	ahead
	untimed // it will not fire
)

func ofFire(e schedule.Entry) item { return item{Entry: e} }

func ofRun(f *fork.View) item {
	return item{run: f, Entry: schedule.Entry{ID: f.TaskID, FireTime: started(f), Description: f.Title, Kind: f.Kind}}
}

// started returns when a run started, or was queued.
func started(f *fork.View) time.Time {
	if f.Started.IsZero() {
		return f.Queued
	}
	return f.Started
}

func ofTask(s *core.Snapshot, t schedule.TaskView) item {
	e := schedule.Entry{
		ID: t.ID, FireTime: t.Next, Label: t.Label, Description: t.Title, FilePath: t.Path, Kind: t.Kind, Silent: t.Silent,
		Foreground: t.Foreground, Held: t.Waits != "" || t.Paused || !t.Snoozed.IsZero(), Why: t.Waits,
		Until: t.Until, Reason: t.Reason,
	}
	switch {
	case t.Ended != "":
		e.Tag = t.Ended
	case t.Waits != "":
		e.Tag = schedule.TagWaits
	case t.Paused:
		e.Tag = cmp.Or(t.Held, schedule.TagPaused)
	case e.Held:
		e.Tag = "snoozed until " + moment(s, t.Snoozed)
	case t.Proposed.Version != "":
		e.Tag = schedule.TagProposed
	}
	when := t.When
	if when == "" && t.Kind == routines.KindReminder && core.Chain(t.Label) == "" {
		when = "once"
	}
	return item{Entry: e, when: when, task: true}
}

func ofDate(s *core.Snapshot, d *google.Item) item {
	e := schedule.Entry{ID: d.ID, FireTime: d.Start, Description: dateTitle(*d), FilePath: d.Calendar, Why: d.Place}
	if !d.AllDay {
		e.Tag = "until " + moment(s, d.End)
	}
	return item{Entry: e, date: d}
}

// items returns the items of the view in order.
func (v view) items(s *core.Snapshot) (items []item) {
	fires := map[string]bool{}  // tasks with an upcoming fire
	past := map[string][]item{} // of tasks, by id
	if v == around {
		for i := range s.Day {
			items = append(items, ofDate(s, &s.Day[i]))
		}
		for _, it := range runs(s) {
			items = append(items, it)
			past[it.ID] = append(past[it.ID], it)
		}
		for _, e := range slices.Concat(s.Schedule.Missed, beyond(s.Schedule.Entries, s.Schedule.Day)) {
			if e.FireTime.After(s.At) {
				fires[e.ID] = true
			} else if shown(past[e.ID], e) {
				continue
			}
			it := ofFire(e)
			items = append(items, it)
			past[e.ID] = append(past[e.ID], it)
		}
	}
	for _, t := range s.Schedule.Tasks {
		if it := ofTask(s, t); !fires[t.ID] && (v == every || it.at(s) >= ahead || !shown(past[t.ID], it.Entry)) {
			items = append(items, it)
		}
	}
	for _, p := range s.Untold() {
		items = append(items, item{Entry: schedule.Entry{Description: path.Base(p.File) + ": " + p.Message, FilePath: p.File}, problem: &p})
	}
	for i := range items {
		items[i].stage = items[i].at(s)
	}
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Or(cmp.Compare(a.stage, b.stage), a.FireTime.Compare(b.FireTime)) })
	return items
}

// runs returns the runs that have just started, or have not ended; the list of runs has the earlier ones.
func runs(s *core.Snapshot) (out []item) {
	for i := range s.Ended {
		if s.At.Sub(started(&s.Ended[i])) < mostLate {
			out = append(out, ofRun(&s.Ended[i]))
		}
	}
	for i := range s.Forks {
		if s.Forks[i].Live() {
			out = append(out, ofRun(&s.Forks[i]))
		}
	}
	return out
}

// mostLate is the maximum delay between a fire and the start of its run, and how long a run counts as just started:
// as long as agents see that a task has just fired.
const mostLate = 15 * time.Minute

// shown reports whether a past fire is among the items of its task, as its run or as missed.
func shown(items []item, e schedule.Entry) bool {
	return slices.ContainsFunc(items, func(it item) bool {
		return it.FireTime.Equal(e.FireTime) || it.run != nil && !it.FireTime.Before(e.FireTime) && it.FireTime.Sub(e.FireTime) < mostLate
	})
}

// at returns the stage of an item.
func (i item) at(s *core.Snapshot) stage {
	switch {
	case i.problem != nil:
		return broken
	case i.run != nil && i.run.Live():
		return present
	case i.FireTime.IsZero():
		return untimed
	case i.FireTime.After(s.At):
		return ahead
	case i.date != nil, s.IsToday(i.FireTime) && (i.task || i.Held && i.Kind == routines.KindReminder):
		return present
	}
	return past
}

// beyond returns the fires of the window, followed by the later ones of the day.
func beyond(window, day []schedule.Entry) []schedule.Entry {
	for i, e := range day {
		if n := len(window); n == 0 || e.FireTime.After(window[n-1].FireTime) {
			return slices.Concat(window, day[i:])
		}
	}
	return window
}

// title returns the item's title: for a task its description or, if it has none, its label.
func (i item) title() string {
	return core.TitleOf(i.Entry)
}

// marks returns an item's marks, the most important first.
func (i item) marks(s *core.Snapshot) []string {
	if i.run != nil {
		why := cmp.Or(i.run.Error, i.run.Activity)
		if why == "" || i.run.State == fork.Done {
			return nil
		}
		return []string{why}
	}
	out := []string{i.Tag, i.Why, i.Reason, strings.TrimSpace(cron.Offset(s.Local(i.FireTime))), i.when} // an offset where the clock shows a time twice
	if p := i.lacks(s); p != nil {
		out = append(out, p.Lacks)
	}
	if i.Foreground {
		out = append(out, "foreground")
	}
	if i.Silent {
		out = append(out, textSilent)
	}
	if !i.task && i.FireTime.After(s.At) && !s.IsToday(i.FireTime) {
		out = append(out, textTomorrow)
	}
	return slices.DeleteFunc(out, func(word string) bool { return word == "" })
}

// of returns the task of an item, or of a problem's file; without an ID if there is none.
func (i item) of(s *core.Snapshot) schedule.TaskView {
	for _, t := range s.Schedule.Tasks {
		if t.ID == i.ID || i.problem != nil && t.Path == i.FilePath {
			return t
		}
	}
	return schedule.TaskView{ID: i.ID, Title: i.title(), Path: i.FilePath, Kind: i.Kind}
}

// lacks is what a fire or a task lacks; nil for nothing.
func (i item) lacks(s *core.Snapshot) *routines.Problem {
	if i.run != nil || i.date != nil || i.problem != nil {
		return nil
	}
	return s.Lacks(i.FilePath)
}

// edit returns the pending edit in the file of an item.
func (i item) edit(s *core.Snapshot) routines.Proposal {
	if i.problem != nil && i.problem.Proposed.Version != "" {
		return i.problem.Proposed
	}
	return i.of(s).Proposed
}

// same reports whether an item is a newer state of another.
func (i item) same(was item) bool {
	switch {
	case was.ID != i.ID || was.FilePath != i.FilePath:
		return false
	case was.run != nil || i.run != nil:
		return was.run != nil && i.run != nil && was.run.ID == i.run.ID
	case i.problem != nil:
		return was.Description == i.Description
	}
	return was.stage == i.stage && was.FireTime.Equal(i.FireTime)
}
