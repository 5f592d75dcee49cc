package schedule

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"ollimbot/core/storage/store"
	"ollimbot/core/storage/trash"
	"ollimbot/routines"
)

// taskFiles changes task files: it commits each change and notifies the loop.
type taskFiles struct {
	dir     *store.Dir
	index   *routines.Index
	zone    *time.Location
	clock   func() time.Time
	orders  *orders
	inherit func(old, rel string, data []byte) error
	commits Commits // may be nil
}

// Commits is notified of every file that was written or removed.
type Commits interface {
	Add(rel, message string)
	Remove(rel, message string)
}

// The errors of Withdraw.
var (
	ErrGone   = errors.New("the file has already been removed")
	ErrEdited = errors.New("the file has been edited since")
)

// AddRoutine writes the file of a new routine and schedules it; see routines.AddRoutine.
func (f *taskFiles) AddRoutine(r routines.Routine, before ...routines.Before) (routines.Routine, error) {
	r, err := routines.AddRoutine(f.dir, r, before...)
	if err == nil {
		f.written(r.Task, "add")
	}
	return r, err
}

// AddStarters installs the starter routines; see routines.AddStarters.
func (f *taskFiles) AddStarters() ([]routines.Routine, error) {
	added, err := routines.AddStarters(f.dir, f.index.Set())
	for _, r := range added {
		f.written(r.Task, "add")
	}
	return added, err
}

// AddReminder is AddRoutine for reminders.
func (f *taskFiles) AddReminder(r routines.Reminder, before ...routines.Before) (routines.Reminder, error) {
	r, err := routines.AddReminder(f.dir, r, before...)
	if err == nil {
		f.written(r.Task, "add")
	}
	return r, err
}

// Remove removes the file of a task, the one in force if several have its id; see
// routines.RemoveTask.
func (f *taskFiles) Remove(kind routines.Kind, id string) (rel string, found bool, err error) {
	rel, found, err = routines.RemoveTask(f.dir, kind, id, f.inForce(kind, id))
	if err == nil && found {
		f.removed(rel, kind, id)
	}
	return rel, found, err
}

// Withdraw removes the file of a task if it still has the given version, and returns the
// task. Errors: ErrGone, ErrEdited.
func (f *taskFiles) Withdraw(id, version string) (routines.Task, error) {
	t, ok := f.index.Set().Find(id)
	if !ok {
		return t, ErrGone
	}
	folder, err := routines.FolderOf(t.Kind)
	if err != nil {
		return t, err
	}
	err = f.dir.WithLock(folder, func() error {
		data, err := f.dir.Read(t.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return ErrGone
		case err != nil:
			return err
		case routines.Digest(data) != version:
			return ErrEdited
		}
		return trash.Put(f.dir, f.clock(), t.Path)
	})
	if err == nil {
		f.removed(t.Path, t.Kind, id)
	}
	return t, err
}

// Restore restores the file of a task that was removed within the last day; see
// routines.RestoreTask.
func (f *taskFiles) Restore(id string) (routines.Task, error) {
	t, err := routines.RestoreTask(f.dir, f.clock(), id)
	if err == nil {
		f.written(t, "restore")
	}
	return t, err
}

func (f *taskFiles) written(t routines.Task, done string) {
	if f.commits != nil {
		f.commits.Add(t.Path, fmt.Sprintf("%s %s %s", done, t.Kind, t.ID))
	}
	f.refresh(t.Path)
}

func (f *taskFiles) removed(rel string, kind routines.Kind, id string) {
	if f.commits != nil {
		f.commits.Remove(rel, fmt.Sprintf("remove %s %s", kind, id))
	}
	f.refresh(rel)
}

// Edit changes the file of a task and returns its previous content; see routines.EditTask.
func (f *taskFiles) Edit(t routines.Task, version string, zone *time.Location, e routines.Edit) (before []byte, err error) {
	before, err = routines.EditTask(f.dir, t, version, zone, e)
	if err == nil {
		f.written(t, "change")
	}
	return before, err
}

// Revert writes the previous content of a task's file; see routines.RevertTask.
func (f *taskFiles) Revert(t routines.Task, version string, file []byte) (before []byte, err error) {
	before, err = routines.RevertTask(f.dir, t, version, file)
	if err == nil {
		f.written(t, "change")
	}
	return before, err
}

// Refuse overwrites the proposal in a task's file with the text in force; see
// routines.RefuseProposal.
func (f *taskFiles) Refuse(t routines.Task) (refused []byte, err error) {
	refused, err = routines.RefuseProposal(f.dir, f.clock(), t)
	if err == nil {
		f.written(t, "restore")
	}
	return refused, err
}

// MoveReminder changes when a pending reminder is due, or removes it; see routines.Mover.
func (f *taskFiles) MoveReminder(id string, next func(routines.Reminder) (routines.Move, error)) (routines.Reminder, error) {
	m := routines.Mover{Dir: f.dir, Zone: f.zone, Inherit: f.inherit}
	gone := false
	// The file may have been renamed during the reminder's run.
	r, err := m.Move(f.clock(), id, f.inForce(routines.KindReminder, id), func(r routines.Reminder) (routines.Move, error) {
		to, err := next(r)
		gone = to.Gone
		return to, err
	})
	switch {
	case err != nil:
	case gone:
		f.removed(r.Path, r.Kind, id)
	default:
		f.written(r.Task, "move")
	}
	return r, err
}

// inForce returns the task of a kind with an id, or the zero Task if none is in force.
func (f *taskFiles) inForce(kind routines.Kind, id string) routines.Task {
	if kind == routines.KindReminder {
		if r, ok := f.index.Set().ReminderByID(id); ok {
			return r.Task
		}
	} else if r, ok := f.index.Set().RoutineByID(id); ok {
		return r.Task
	}
	return routines.Task{}
}

// refresh rereads the named files.
func (f *taskFiles) refresh(names ...string) { f.orders.change(f.index.Refresh(names)) }
