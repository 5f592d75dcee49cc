package tasks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/recur"
	"ollimbot/routines/when"
)

// File returns the file of a task in force.
func (e *Editor) File(id string) command.TaskFile {
	set := e.o.Index.Set()
	if r, ok := set.RoutineByID(id); ok {
		return command.TaskFile{Task: r.Task, Cron: r.Schedule.String(), RunMissed: r.RunMissed, Late: r.Late}
	}
	if r, ok := set.ReminderByID(id); ok {
		return command.TaskFile{Task: r.Task, RunAt: r.RunAt, MaxChain: r.MaxChain, UntilDone: r.UntilDone, Ahead: r.Ahead}
	}
	return command.TaskFile{}
}

// edit validates a change and writes it to the file of a task.
func (e *Editor) edit(_ context.Context, c command.EditTask) (command.Outcome, error) {
	t, ok := e.o.Index.Set().Find(c.ID)
	if !ok {
		return command.Outcome{}, fmt.Errorf(command.TextNoTask, c.ID)
	}
	if t.Proposed.Version != "" {
		return command.Outcome{}, fmt.Errorf(textDecideFirst, t.Title())
	}
	if err := e.checkFires(c.ID, &c.Edit); err != nil {
		return command.Outcome{}, err
	}
	before, err := e.o.Schedule.Edit(t, c.Version, e.o.Zone, c.Edit)
	if err != nil {
		return command.Outcome{}, e.asChanged(c.ID, err)
	}
	return e.edited(c.ID, before)
}

// revert undoes an edit.
func (e *Editor) revert(_ context.Context, c command.RevertTask) (command.Outcome, error) {
	t, ok := e.o.Index.Set().Find(c.ID)
	if !ok {
		return command.Outcome{}, fmt.Errorf(command.TextNoTask, c.ID)
	}
	before, err := e.o.Schedule.Revert(t, c.Version, c.File)
	if err != nil {
		return command.Outcome{}, e.asChanged(c.ID, err)
	}
	return e.edited(c.ID, before)
}

// edited returns the outcome of a change. Its undo applies to the current version of the
// file.
func (e *Editor) edited(id string, before []byte) (command.Outcome, error) {
	now := e.File(id)
	return command.Outcome{
		Message:  fmt.Sprintf(textEdited, now.Title()),
		Undo:     command.RevertTask{ID: id, Version: now.Digest, File: before},
		Decision: audit.Entry{Action: audit.TaskChanged, Subject: id},
	}, nil
}

// asChanged turns the error about a file that changed meanwhile into a ChangedError.
func (e *Editor) asChanged(id string, err error) error {
	if !errors.Is(err, routines.ErrOther) {
		return err
	}
	if t, ok := e.o.Index.Set().Find(id); ok {
		e.o.Schedule.Refresh(t.Path)
	}
	return &command.ChangedError{Now: e.File(id)}
}

// checkFires reports why an edited task would never fire. A schedule becomes those of the keys that
// say it which change.
func (e *Editor) checkFires(id string, edit *routines.Edit) error {
	set := edit.Set
	edit.Set = nil
	for _, out := range set {
		text, _ := out.Value.(string)
		switch out.Key {
		case "cron":
			s, err := e.schedule(text)
			if err != nil {
				return err
			}
			var now recur.Recurrence
			if r, ok := e.o.Index.Set().RoutineByID(id); ok {
				now = r.Schedule
			}
			before := routines.ScheduleKeys(now)
			for i, k := range routines.ScheduleKeys(s) {
				if k != before[i] {
					edit.Set = append(edit.Set, k)
				}
			}
			continue
		case "run-at":
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return fmt.Errorf("read the time of the reminder: %w", err)
			}
			if err := e.checkDue(at.In(e.o.Zone)); err != nil {
				return err
			}
		}
		edit.Set = append(edit.Set, out)
	}
	return nil
}

// schedule reads the schedule of a task, which must fire at some time.
func (e *Editor) schedule(text string) (recur.Recurrence, error) {
	s, err := when.Reader{Now: e.now(), Day: e.o.Day()}.Schedule(strings.TrimSpace(text))
	var bad *cron.Error
	switch {
	case errors.As(err, &bad):
		return s, fmt.Errorf(textAddCron, bad.Column, bad.Message)
	case err == nil && s.Never():
		return s, fmt.Errorf(textAddNever, s.String())
	}
	return s, err
}

// checkDue reports why a reminder cannot be due at a moment.
func (e *Editor) checkDue(at time.Time) error {
	switch now := e.now(); {
	case !at.After(now):
		return fmt.Errorf(textAddPassed, cron.DayClock(at, now))
	case at.After(now.Add(farthest)):
		return fmt.Errorf(textAddTooFar, cron.DayClock(at, now))
	}
	return nil
}

// delete removes the file of a task; it can be restored for a day.
func (e *Editor) delete(_ context.Context, c command.DeleteTask) (command.Outcome, error) {
	t, ok := e.o.Index.Set().Find(c.ID)
	if !ok {
		return command.Outcome{}, fmt.Errorf(command.TextNoTask, c.ID)
	}
	_, found, err := e.o.Schedule.Remove(t.Kind, c.ID)
	if err == nil && !found {
		err = fmt.Errorf("remove %s: its file is gone already", t.Path)
	}
	done := audit.Entry{Action: audit.TaskRemoved, Subject: c.ID}
	return command.Outcome{Message: fmt.Sprintf(textRemoved, t.Title()), Undo: command.RestoreTask(c), Decision: done}, err
}
