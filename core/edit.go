package core

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// taskFile is what the file of a task says, as it is in force.
func (b *Bot) taskFile(id string) command.TaskFile {
	set := b.index.Set()
	if r, ok := set.RoutineByID(id); ok {
		return command.TaskFile{Task: r.Task, Cron: r.Cron, RunMissed: r.RunMissed}
	}
	if r, ok := set.ReminderByID(id); ok {
		return command.TaskFile{Task: r.Task, RunAt: r.RunAt, MaxChain: r.MaxChain, UntilDone: r.UntilDone}
	}
	return command.TaskFile{}
}

// editTask changes the file of a task, once it is known that the task would fire.
func (b *Bot) editTask(c command.EditTask) (command.Outcome, error) {
	t, ok := b.index.Set().Find(c.ID)
	if !ok {
		return command.Outcome{}, fmt.Errorf(command.TextNoTask, c.ID)
	}
	if err := b.fires(c.Edit); err != nil {
		return command.Outcome{}, err
	}
	before, err := b.schedule.Edit(t, c.Version, b.zone, c.Edit)
	if err != nil {
		return command.Outcome{}, b.another(c.ID, err)
	}
	return b.edited(c.ID, before)
}

// revertTask takes an edit back.
func (b *Bot) revertTask(c command.RevertTask) (command.Outcome, error) {
	t, ok := b.index.Set().Find(c.ID)
	if !ok {
		return command.Outcome{}, fmt.Errorf(command.TextNoTask, c.ID)
	}
	before, err := b.schedule.Revert(t, c.Version, c.File)
	if err != nil {
		return command.Outcome{}, b.another(c.ID, err)
	}
	return b.edited(c.ID, before)
}

// edited is the outcome of a change: what takes it back knows the file as it is now.
func (b *Bot) edited(id string, before []byte) (command.Outcome, error) {
	now := b.taskFile(id)
	return command.Outcome{
		Message:  fmt.Sprintf(textEdited, now.Title()),
		Undo:     command.RevertTask{ID: id, Version: now.Digest, File: before},
		Decision: audit.Entry{Action: audit.TaskChanged, Subject: id},
	}, nil
}

// another tells a file that is another by now from what else may be wrong.
func (b *Bot) another(id string, err error) error {
	if !errors.Is(err, routines.ErrOther) {
		return err
	}
	if t, ok := b.index.Set().Find(id); ok {
		b.schedule.Refresh(t.Path)
	}
	return &command.ChangedError{Now: b.taskFile(id)}
}

// fires says why a task would never fire as it is meant to be written.
func (b *Bot) fires(e routines.Edit) error {
	for _, out := range e.Set {
		text, _ := out.Value.(string)
		switch out.Key {
		case "cron":
			if _, err := schedules(text); err != nil {
				return err
			}
		case "run-at":
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				return fmt.Errorf("read the time of the reminder: %w", err)
			}
			if err := b.comes(at.In(b.zone)); err != nil {
				return err
			}
		}
	}
	return nil
}

// schedules reads the cron line of a task, which has to fire at some time.
func schedules(text string) (cron.Schedule, error) {
	s, err := cron.Parse(strings.TrimSpace(text))
	var bad *cron.Error
	switch {
	case errors.As(err, &bad):
		return s, fmt.Errorf(textAddCron, bad.Column, bad.Message)
	case err == nil && s.Never():
		return s, fmt.Errorf(textAddNever, s.String())
	}
	return s, err
}

// comes says why a reminder cannot be due at a moment.
func (b *Bot) comes(at time.Time) error {
	switch now := b.now(); {
	case !at.After(now):
		return fmt.Errorf(textAddPassed, cron.DayClock(at, now))
	case at.After(now.Add(farthest)):
		return fmt.Errorf(textAddTooFar, cron.DayClock(at, now))
	}
	return nil
}

// deleteTask removes the file of a task; it can be put back for a day.
func (b *Bot) deleteTask(c command.DeleteTask) (command.Outcome, error) {
	t, ok := b.index.Set().Find(c.ID)
	if !ok {
		return command.Outcome{}, fmt.Errorf(command.TextNoTask, c.ID)
	}
	_, found, err := b.schedule.Remove(t.Kind, c.ID)
	if err == nil && !found {
		err = fmt.Errorf("remove %s: its file is gone already", t.Path)
	}
	done := audit.Entry{Action: audit.TaskRemoved, Subject: c.ID}
	return command.Outcome{Message: fmt.Sprintf(textRemoved, t.Title()), Undo: command.RestoreTask(c), Decision: done}, err
}
