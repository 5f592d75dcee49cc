package core

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// farthestReminder is how far ahead a reminder may lie, as on the command line:
// what is further is a slip of the finger.
const farthestReminder = 366 * 24 * time.Hour

// addedTasks are the tasks that AddTask has made since the start: RemoveTask
// takes away nothing else. The zero addedTasks is ready.
type addedTasks struct {
	mu sync.Mutex
	by map[string]addedTask // by id
}

// addedTask is a file as it was written, and what asked for it.
type addedTask struct {
	task routines.Task
	data []byte
	made command.AddTask
}

func (a *addedTasks) put(id string, t addedTask) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.by == nil {
		a.by = map[string]addedTask{}
	}
	a.by[id] = t
}

func (a *addedTasks) get(id string) (addedTask, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	t, ok := a.by[id]
	return t, ok
}

func (a *addedTasks) drop(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.by, id)
}

// addTask writes the file of a new task, once it is known to be in order.
func (b *Bot) addTask(c command.AddTask) (command.Outcome, error) {
	t := routines.Task{
		Description: clean.Line(c.Description), Body: strings.TrimSpace(clean.Text(c.Message)), Background: !c.Foreground,
		Thinking: true, Mode: routines.OnPing, AllowPing: !c.Silent,
	}
	expr := strings.TrimSpace(c.Cron)
	if (expr == "") == c.At.IsZero() {
		return command.Outcome{}, errors.New(textAddOneTime)
	}
	if t.Body == "" {
		return command.Outcome{}, errors.New(textAddNoMessage)
	}
	var next time.Time
	var err error
	if expr != "" {
		t, next, err = b.addRoutine(t, expr)
	} else {
		t, next, err = b.addReminder(t, c.At)
	}
	if err != nil {
		return command.Outcome{}, err
	}
	b.git.Add(t.Path, fmt.Sprintf("add %s %s", t.Kind, t.ID))
	b.loop.Kick(b.index.Refresh([]string{t.Path}))
	out := command.Outcome{Message: fmt.Sprintf(textAdded, t.Title(), dayClock(next, b.now()))}
	data, err := b.dir.Read(t.Path)
	if err != nil {
		b.log.Warn("a new task could not be read back; adding it cannot be undone", "error", err)
		return out, nil
	}
	b.added.put(t.ID, addedTask{task: t, data: data, made: c})
	out.Undo = command.RemoveTask{ID: t.ID}
	return out, nil
}

// addRoutine returns the task as its file says it, and when it fires first.
func (b *Bot) addRoutine(t routines.Task, expr string) (routines.Task, time.Time, error) {
	s, err := cron.Parse(expr)
	var bad *cron.Error
	switch {
	case errors.As(err, &bad):
		return t, time.Time{}, fmt.Errorf(textAddCron, bad.Column, bad.Message)
	case err != nil:
		return t, time.Time{}, err
	case s.Never():
		return t, time.Time{}, fmt.Errorf(textAddNever, s.String())
	}
	r, err := routines.AddRoutine(b.dir, routines.Routine{Task: t, Cron: s.String(), Schedule: s})
	return r.Task, s.Next(b.now()), err
}

// addReminder is addRoutine for a task with a time.
func (b *Bot) addReminder(t routines.Task, at time.Time) (routines.Task, time.Time, error) {
	now := b.now()
	at = at.Round(0).Truncate(time.Second).In(b.zone)
	switch {
	case !at.After(now):
		return t, at, fmt.Errorf(textAddPassed, dayClock(at, now))
	case at.After(now.Add(farthestReminder)):
		return t, at, fmt.Errorf(textAddTooFar, dayClock(at, now))
	}
	r, err := routines.AddReminder(b.dir, routines.Reminder{Task: t, RunAt: at})
	return r.Task, at, err
}

// removeTask takes back what addTask has made, as long as nobody has touched it.
func (b *Bot) removeTask(c command.RemoveTask) (command.Outcome, error) {
	added, ok := b.added.get(c.ID)
	if !ok {
		return command.Outcome{}, fmt.Errorf(textNotAdded, clean.Cut(clean.Line(c.ID), 60))
	}
	title, rel := added.task.Title(), added.task.Path
	folder := routines.RoutineFolder
	if added.task.Kind == routines.KindReminder {
		folder = routines.ReminderFolder
	}
	err := b.dir.WithLock(folder, func() error {
		data, err := b.dir.Read(rel)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf(textAddedGone, title)
		}
		if err != nil {
			return err
		}
		if !bytes.Equal(data, added.data) {
			return fmt.Errorf(textAddedEdited, title, rel)
		}
		return b.dir.Discard(b.now(), rel)
	})
	if err != nil {
		return command.Outcome{}, err
	}
	b.added.drop(c.ID)
	b.git.Remove(rel, fmt.Sprintf("remove %s %s", added.task.Kind, c.ID))
	b.loop.Kick(b.index.Refresh([]string{rel}))
	return command.Outcome{Message: fmt.Sprintf(textRemoved, title), Undo: added.made}, nil
}

// restoreTask takes back that a task went away. A reminder that is being run
// just stays.
func (b *Bot) restoreTask(c command.RestoreTask) (command.Outcome, error) {
	if t, ok := b.index.Set().Find(c.ID); ok && b.loop.Keep(c.ID) {
		return command.Outcome{Message: fmt.Sprintf(textKept, t.Title())}, nil
	}
	t, err := routines.RestoreTask(b.dir, b.now(), c.ID)
	if err != nil {
		return command.Outcome{}, err
	}
	b.git.Add(t.Path, fmt.Sprintf("restore %s %s", t.Kind, t.ID))
	b.loop.Kick(b.index.Refresh([]string{t.Path}))
	return command.Outcome{Message: fmt.Sprintf(textRestored, t.Title())}, nil
}
