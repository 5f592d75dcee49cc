package schedule

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"ollimbot/core/storage/trash"
	"ollimbot/routines"
)

// Why Withdraw leaves a file where it is.
var (
	ErrGone   = errors.New("the file is gone already")
	ErrEdited = errors.New("the file was edited since")
)

// AddRoutine writes the file of a new routine and takes it into the schedule; see
// routines.AddRoutine.
func (s *Schedule) AddRoutine(r routines.Routine, before ...routines.Before) (routines.Routine, error) {
	r, err := routines.AddRoutine(s.o.Dir, r, before...)
	if err == nil {
		s.written(r.Task, "add")
	}
	return r, err
}

// AddStarters installs the starter routines; see routines.AddStarters.
func (s *Schedule) AddStarters() ([]routines.Routine, error) {
	added, err := routines.AddStarters(s.o.Dir, s.Set())
	for _, r := range added {
		s.written(r.Task, "add")
	}
	return added, err
}

// AddReminder is AddRoutine for a reminder.
func (s *Schedule) AddReminder(r routines.Reminder, before ...routines.Before) (routines.Reminder, error) {
	r, err := routines.AddReminder(s.o.Dir, r, before...)
	if err == nil {
		s.written(r.Task, "add")
	}
	return r, err
}

// Remove removes the file of a task, the one in force where several carry its id; see
// routines.RemoveTask.
func (s *Schedule) Remove(kind routines.Kind, id string) (rel string, found bool, err error) {
	inForce := ""
	if t, ok := taskOf(s.Set(), kind, id); ok {
		inForce = t.Path
	}
	rel, found, err = routines.RemoveTask(s.o.Dir, kind, id, inForce)
	if err == nil && found {
		s.removed(rel, kind, id)
	}
	return rel, found, err
}

// Withdraw removes the file of a task that is still the version that is given, and
// returns the task. Errors: ErrGone, ErrEdited.
func (s *Schedule) Withdraw(id, version string) (routines.Task, error) {
	t, ok := s.Set().Find(id)
	if !ok {
		return t, ErrGone
	}
	folder, err := routines.FolderOf(t.Kind)
	if err != nil {
		return t, err
	}
	err = s.o.Dir.WithLock(folder, func() error {
		data, err := s.o.Dir.Read(t.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return ErrGone
		case err != nil:
			return err
		case routines.Digest(data) != version:
			return ErrEdited
		}
		return trash.Put(s.o.Dir, s.clock(), t.Path)
	})
	if err == nil {
		s.removed(t.Path, t.Kind, id)
	}
	return t, err
}

// Restore puts back the file of a task that was removed within the last day; see
// routines.RestoreTask.
func (s *Schedule) Restore(id string) (routines.Task, error) {
	t, err := routines.RestoreTask(s.o.Dir, s.clock(), id)
	if err == nil {
		s.written(t, "restore")
	}
	return t, err
}

func (s *Schedule) written(t routines.Task, done string) {
	if s.o.Commits != nil {
		s.o.Commits.Add(t.Path, fmt.Sprintf("%s %s %s", done, t.Kind, t.ID))
	}
	s.Refresh(t.Path)
}

func (s *Schedule) removed(rel string, kind routines.Kind, id string) {
	if s.o.Commits != nil {
		s.o.Commits.Remove(rel, fmt.Sprintf("remove %s %s", kind, id))
	}
	s.Refresh(rel)
}

// Edit changes the file of a task, and gives its bytes as they were; see
// routines.EditTask.
func (s *Schedule) Edit(t routines.Task, version string, zone *time.Location, e routines.Edit) (before []byte, err error) {
	before, err = routines.EditTask(s.o.Dir, t, version, zone, e)
	if err == nil {
		s.written(t, "change")
	}
	return before, err
}

// Revert writes the file of a task as it was; see routines.RevertTask.
func (s *Schedule) Revert(t routines.Task, version string, file []byte) (before []byte, err error) {
	before, err = routines.RevertTask(s.o.Dir, t, version, file)
	if err == nil {
		s.written(t, "change")
	}
	return before, err
}
