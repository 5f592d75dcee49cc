package schedule

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/google"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// view is which part of the schedule the pane shows.
type view uint8

const (
	window   view = iota // what agents see, and the foreground tasks beside it
	wholeDay             // every fire of 24 hours
	every                // every task, whenever it fires
	numViews
)

// item is one thing that can be selected: a fire, a task, something of the user's own
// day, or a problem. Exactly one of the pointers is set.
type item struct {
	fire    *schedule.Entry
	task    *schedule.TaskView
	date    *google.Item
	problem *routines.Problem
}

// items are those of the view: fires and dates by time, a date before the fires of its
// moment, and last the problems.
func (v view) items(s *core.Snapshot) (items []item) {
	until, fires, tasks := s.Midnight().AddDate(0, 0, 1), s.Schedule.Entries, []schedule.TaskView(nil)
	switch v {
	case wholeDay:
		until, fires = s.At.Add(24*time.Hour), s.Schedule.Day
	case every:
		until, fires, tasks = time.Time{}, nil, s.Schedule.Tasks
	}
	for i := range s.Day {
		if s.Day[i].Start.Before(until) {
			items = append(items, item{date: &s.Day[i]})
		}
	}
	for i := range fires {
		items = append(items, item{fire: &fires[i]})
	}
	slices.SortStableFunc(items, func(a, b item) int { return a.start().Compare(b.start()) })
	for i := range tasks {
		items = append(items, item{task: &tasks[i]})
	}
	for i := range s.Schedule.Problems {
		items = append(items, item{problem: &s.Schedule.Problems[i]})
	}
	return items
}

// start is when a fire or an appointment is, or a task fires next; zero for what has no
// moment.
func (i item) start() time.Time {
	switch {
	case i.date != nil:
		return i.date.Start
	case i.fire != nil:
		return i.fire.FireTime
	case i.task != nil:
		return i.task.Next
	}
	return time.Time{}
}

// comes reports whether an item lies ahead, or has no moment.
func (i item) comes(s *core.Snapshot) bool { return i.start().IsZero() || i.start().After(s.At) }

// state is the word beside the title that says which view it is.
func (v view) state(s *core.Snapshot) string {
	switch v {
	case wholeDay:
		return textDayView
	case every:
		return textAllView + strconv.Itoa(len(s.Schedule.Tasks))
	}
	return s.Schedule.Window
}

// more is from when on fires are missing in the view; false where all are there.
// Twenty-four hours were counted when the minute began.
func (v view) more(s *core.Snapshot) (time.Time, bool) {
	until := s.Schedule.DayUntil
	return until, v == wholeDay && !until.IsZero() && until.Sub(s.At) < 24*time.Hour-2*time.Minute
}

// id is the task's id; empty for what is no task.
func (i item) id() string {
	switch {
	case i.fire != nil:
		return i.fire.ID
	case i.task != nil:
		return i.task.ID
	}
	return ""
}

// title is what people call the item: of a task the words on it, not its label, unless
// there are none.
func (i item) title() string {
	switch {
	case i.fire != nil:
		return title(*i.fire)
	case i.task != nil && i.task.Title == "":
		return i.task.ID
	case i.task != nil:
		return strings.ReplaceAll(i.task.Title, "\n", " ")
	case i.date != nil:
		return dateTitle(*i.date)
	}
	return i.problem.File
}

// file is the file behind the item, relative to the data directory.
func (i item) file() string {
	switch {
	case i.fire != nil:
		return i.fire.FilePath
	case i.task != nil:
		return i.task.Path
	case i.problem != nil:
		return i.problem.File
	}
	return ""
}

// behind is the task whose file a problem is about; without a task where the file
// is none's.
func (i item) behind(s *core.Snapshot) item {
	for n := range s.Schedule.Tasks {
		if t := &s.Schedule.Tasks[n]; t.Path == i.problem.File {
			return item{task: t}
		}
	}
	return item{}
}

// broken reports whether a file has an error: it is not in force as it is.
func broken(s *core.Snapshot, file string) bool {
	return slices.ContainsFunc(s.Schedule.Problems, func(p routines.Problem) bool {
		return p.File == file && p.Severity == routines.Error
	})
}

// name tells items apart, so that a selection can stay with one. In the window
// the next fire of a task is another item than the one that has just been; in
// the day every fire is one of its own.
type name struct {
	kind     byte // 0 for none
	id, more string
	at       int64
}

func (v view) name(s *core.Snapshot, it item) name {
	switch {
	case it.problem != nil:
		return name{kind: 'p', id: it.problem.File, more: it.problem.Message}
	case it.date != nil:
		return name{kind: 'a', id: it.date.ID, more: it.date.Calendar, at: it.date.Start.Unix()}
	case v == wholeDay:
		return name{kind: 'd', id: it.id(), at: it.start().Unix()}
	case it.comes(s):
		return name{kind: 'n', id: it.id()}
	}
	return name{kind: 'o', id: it.id()}
}

// held is what keeps a task from firing.
func held(s *core.Snapshot, it item) schedule.TaskView {
	if it.task != nil {
		return *it.task
	}
	for _, t := range s.Schedule.Tasks {
		if t.ID == it.id() {
			return t
		}
	}
	if it.fire == nil {
		return schedule.TaskView{}
	}
	return schedule.TaskView{ID: it.id(), Waits: it.fire.Why, Paused: it.fire.Tag == schedule.TagPaused}
}
