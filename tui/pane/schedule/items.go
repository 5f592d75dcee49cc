package schedule

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/google"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

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
