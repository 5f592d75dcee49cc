package schedule

import (
	"slices"
	"sort"
	"strconv"
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

// entries are the fires that the view shows.
func (v view) entries(s *core.Snapshot) []schedule.Entry {
	switch v {
	case wholeDay:
		return s.Schedule.Day
	case every:
		return nil
	}
	return s.Schedule.Entries
}

// dates are the appointments, and the tasks of the user's own list, that the view shows
// among the fires: those of today, or of 24 hours.
func (v view) dates(s *core.Snapshot) []google.Item {
	until := s.Midnight().AddDate(0, 0, 1)
	switch v {
	case wholeDay:
		until = s.At.Add(24 * time.Hour)
	case every:
		return nil
	}
	return s.Day[:sort.Search(len(s.Day), func(i int) bool { return !s.Day[i].Start.Before(until) })]
}

// fires is how many items of the view are no problems, which follow them.
func (v view) fires(s *core.Snapshot) int {
	if v == every {
		return len(s.Schedule.Tasks)
	}
	return len(v.entries(s)) + len(v.dates(s))
}

// count is how many items the view has.
func (v view) count(s *core.Snapshot) int { return v.fires(s) + len(s.Schedule.Problems) }

// at is the item i of the view, which must have it.
func (v view) at(s *core.Snapshot, i int) item {
	n := v.fires(s)
	switch {
	case i >= n:
		return item{problem: &s.Schedule.Problems[i-n]}
	case v == every:
		return item{task: &s.Schedule.Tasks[i]}
	}
	fires, dates := v.entries(s), v.dates(s)
	place := func(n int) int { // of a date: before the fires of its moment
		return n + sort.Search(len(fires), func(j int) bool { return !fires[j].FireTime.Before(dates[n].Start) })
	}
	d := sort.Search(len(dates), func(n int) bool { return place(n) >= i })
	if d < len(dates) && place(d) == i {
		return item{date: &dates[d]}
	}
	return item{fire: &fires[i-d]}
}

// start is when a fire or an appointment is; zero for what has no moment.
func (i item) start() time.Time {
	switch {
	case i.date != nil:
		return i.date.Start
	case i.fire != nil:
		return i.fire.FireTime
	}
	return time.Time{}
}

// comes reports whether an item lies ahead, or has no moment.
func (i item) comes(s *core.Snapshot) bool { return i.start().IsZero() || i.start().After(s.At) }

// waits is what a task waits for the user with, or "".
func (i item) waits() string {
	switch {
	case i.task != nil:
		return i.task.Waits
	case i.fire != nil:
		return i.fire.Why
	}
	return ""
}

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

// id is the task's id; empty for a problem.
func (i item) id() string {
	switch {
	case i.fire != nil:
		return i.fire.ID
	case i.task != nil:
		return i.task.ID
	}
	return ""
}

// title is what people call the item.
func (i item) title() string {
	switch {
	case i.fire != nil:
		return title(*i.fire)
	case i.task != nil:
		return taskTitle(*i.task)
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
	case i.date != nil:
		return ""
	}
	return i.problem.File
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

func (v view) name(s *core.Snapshot, i int) name {
	if i < 0 || i >= v.count(s) {
		return name{}
	}
	it := v.at(s, i)
	switch {
	case it.problem != nil:
		return name{kind: 'p', id: it.problem.File, more: it.problem.Message}
	case it.task != nil:
		return name{kind: 't', id: it.task.ID}
	case it.date != nil:
		return name{kind: 'a', id: it.date.ID, more: it.date.Calendar, at: it.date.Start.Unix()}
	case v == wholeDay:
		return name{kind: 'd', id: it.fire.ID, at: it.fire.FireTime.Unix()}
	case it.fire.FireTime.After(s.At):
		return name{kind: 'n', id: it.fire.ID}
	}
	return name{kind: 'o', id: it.fire.ID}
}

// upcoming is the index of the first item that is still to come.
func (v view) upcoming(s *core.Snapshot) int {
	if v != window {
		return 0
	}
	for i := range v.fires(s) {
		if v.at(s, i).comes(s) {
			return i
		}
	}
	return 0
}

// find is the first item of a task that lies ahead, else the first of it.
func (v view) find(s *core.Snapshot, id string) (int, bool) {
	found := -1
	for i := range v.fires(s) {
		it := v.at(s, i)
		if it.date != nil || it.id() != id {
			continue
		}
		if it.comes(s) {
			return i, true
		}
		if found < 0 {
			found = i
		}
	}
	return found, found >= 0
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
