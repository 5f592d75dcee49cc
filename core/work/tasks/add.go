package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/leeway"
	"ollimbot/routines/schedule"
	"ollimbot/routines/when"
)

// add validates a new task and writes its file.
func (e *Editor) add(_ context.Context, c command.AddTask) (command.Outcome, error) {
	t := taskFor(c)
	expr := strings.TrimSpace(c.Cron)
	if (expr == "") == c.At.IsZero() {
		return command.Outcome{}, errors.New(textAddOneTime)
	}
	if t.Body == "" {
		return command.Outcome{}, errors.New(textAddNoMessage)
	}
	add, more := e.addReminder, ""
	if expr != "" {
		add = e.addRoutine
	}
	t, next, err := add(t, c)
	if early := aheadNote(c, next, e.now()); err == nil && early != "" {
		more = "; " + early
	}
	return command.Outcome{
		Message:  fmt.Sprintf(textAdded, t.Title(), cron.DayClock(next, e.now())) + more,
		Undo:     command.RemoveTask{ID: t.ID, Version: t.Digest, Made: c},
		Decision: audit.Entry{Action: audit.TaskAdded, Subject: t.ID},
	}, err
}

func taskFor(c command.AddTask) routines.Task {
	return routines.Task{
		Leeway:      leeway.Rule{Window: c.Window},
		Description: clean.Line(c.Description), Body: strings.TrimSpace(clean.Text(c.Message)), Background: !c.Foreground,
		Thinking: true, Mode: routines.OnPing, AllowPing: !c.Silent,
		Model: c.Model, Isolated: c.Isolated, Critical: c.Critical,
	}
}

// addRoutine returns the task as read back from its file, and its first fire.
func (e *Editor) addRoutine(t routines.Task, c command.AddTask) (routines.Task, time.Time, error) {
	s, err := e.schedule(c.Cron)
	if err != nil {
		return t, time.Time{}, err
	}
	if w := c.Window; !w.IsZero() { // cron decides the days
		if s, err = s.AtTime(w.From/60, w.From%60); err != nil {
			return t, time.Time{}, err
		}
	}
	r, err := e.o.Schedule.AddRoutine(routines.Routine{Task: t, Cron: s.Cron.String(), Schedule: s})
	return r.Task, s.Next(e.now()), err
}

// addReminder is addRoutine for reminders.
func (e *Editor) addReminder(t routines.Task, c command.AddTask) (routines.Task, time.Time, error) {
	at := c.At.Round(0).Truncate(time.Second).In(e.o.Zone)
	if !c.Window.IsZero() {
		at = c.Window.Start(at)
	}
	if err := e.checkDue(at); err != nil {
		return t, at, err
	}
	ahead, err := aheadOf(c)
	if err != nil {
		return t, at, err
	}
	if c.UntilDone && (c.Foreground || c.Silent) {
		return t, at, errors.New(textAddUntilDone)
	}
	r, err := e.o.Schedule.AddReminder(routines.Reminder{Task: t, RunAt: at, UntilDone: c.UntilDone, Ahead: ahead})
	return r.Task, at, err
}

// aheadOf reads what a new reminder says before it is due.
func aheadOf(c command.AddTask) ([]when.Ahead, error) {
	switch {
	case c.Ahead == "" || c.Cron != "":
		return nil, nil
	case c.Silent:
		return nil, errors.New(textAddAhead)
	}
	return when.ReadAhead(c.Ahead)
}

// aheadNote says when a reminder speaks before it is due, and which of these moments have passed.
func aheadNote(c command.AddTask, at, now time.Time) string {
	var said []string
	list, _ := aheadOf(c)
	for _, a := range list {
		text := cron.DayClock(a.Before(at), now)
		if !a.Before(at).After(now) {
			text = fmt.Sprintf(textAheadPassed, a.Long())
		}
		said = append(said, text)
	}
	if said == nil {
		return ""
	}
	return fmt.Sprintf(textAheadAt, strings.Join(said, ", "))
}

// withdraw undoes add if the file is unchanged.
func (e *Editor) withdraw(_ context.Context, c command.RemoveTask) (command.Outcome, error) {
	if c.Version == "" {
		return command.Outcome{}, fmt.Errorf(textNotAdded, clean.Cut(clean.Line(c.ID), 60))
	}
	t, err := e.o.Schedule.Withdraw(c.ID, c.Version)
	switch {
	case errors.Is(err, schedule.ErrGone):
		return command.Outcome{}, fmt.Errorf(textAddedGone, taskFor(c.Made).Title())
	case errors.Is(err, schedule.ErrEdited):
		return command.Outcome{}, fmt.Errorf(textAddedEdited, t.Title())
	case err != nil:
		return command.Outcome{}, err
	}
	return command.Outcome{Message: fmt.Sprintf(textRemoved, t.Title()), Undo: c.Made, Decision: audit.Entry{Action: audit.TaskRemoved, Subject: c.ID}}, nil
}

// restore undoes the removal of a task. A running reminder is just kept.
func (e *Editor) restore(_ context.Context, c command.RestoreTask) (command.Outcome, error) {
	if c.ID == "" {
		removed := routines.RemovedTasks(e.o.Dir, e.now())
		if len(removed) == 0 {
			return command.Outcome{}, errors.New(textNoneRemoved)
		}
		c.ID = slices.MaxFunc(removed, func(a, b routines.Removed) int { return a.At.Compare(b.At) }).ID
	}
	done := audit.Entry{Action: audit.TaskAdded, Subject: c.ID}
	if t, ok := e.o.Index.Set().Find(c.ID); ok && e.o.Schedule.Keep(c.ID) {
		return command.Outcome{Message: fmt.Sprintf(textKept, t.Title()), Decision: done}, nil
	}
	t, err := e.o.Schedule.Restore(c.ID)
	if err != nil {
		return command.Outcome{}, err
	}
	e.o.Kept(time.Time{}, c.ID)
	if r, ok := e.o.Index.Set().ReminderByID(c.ID); ok && r.UntilDone {
		e.reopen(r)
	}
	return command.Outcome{Message: fmt.Sprintf(textRestored, t.Title()), Undo: command.DeleteTask{ID: t.ID}, Decision: done}, nil
}

// addStarters installs the starter routines that are missing; see routines.AddStarters.
func (e *Editor) addStarters(context.Context, command.AddStarters) (command.Outcome, error) {
	added, err := e.o.Schedule.AddStarters()
	switch {
	case err != nil:
		return command.Outcome{}, err
	case len(added) == 0:
		return command.Outcome{Message: textStartersThere}, nil
	}
	return command.Outcome{
		Message:  fmt.Sprintf(textStartersAdded, words.Count(len(added), "starter routine"), routines.Titles(added)),
		Decision: audit.Entry{Action: audit.TaskAdded, Subject: "starter routines", Detail: routines.Titles(added)},
	}, nil
}
