package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// snooze keeps a task from firing until a time; a zero time resumes it.
func (e *Editor) snooze(_ context.Context, c command.Snooze) (command.Outcome, error) {
	if c.Until.After(e.now().Add(farthest)) {
		return command.Outcome{}, fmt.Errorf(textSnoozeTooLong, cron.DayClock(c.Until.In(e.o.Zone), e.now()))
	}
	return e.hold(c.ID, schedule.Hold{Until: c.Until})
}

// pause keeps a task from firing until it is resumed.
func (e *Editor) pause(_ context.Context, c command.Pause) (command.Outcome, error) {
	return e.hold(c.ID, schedule.Hold{Paused: c.Paused})
}

// hold replaces the hold of a task. Undo restores the previous one.
func (e *Editor) hold(id string, h schedule.Hold) (command.Outcome, error) {
	task, ok := e.o.Index.Set().Find(id)
	if !ok {
		return command.Outcome{}, fmt.Errorf(command.TextNoTask, id)
	}
	before, err := e.o.Schedule.Hold(id, h)
	if err != nil {
		return command.Outcome{}, err
	}
	action := audit.TaskReleased
	if h.Paused || !h.Until.IsZero() {
		action = audit.TaskHeld
	}
	out := command.Outcome{
		Undo:     command.Snooze{ID: id, Until: before.Until},
		Decision: audit.Entry{Action: action, Subject: id},
	}
	if before.Paused {
		out.Undo = command.Pause{ID: id, Paused: true}
	}
	held := before.Paused || !before.Until.IsZero()
	switch {
	case h.Paused:
		out.Message = fmt.Sprintf(textPaused, task.Title())
	case !h.Until.IsZero():
		out.Message = fmt.Sprintf(textSnoozed, task.Title(), cron.DayClock(h.Until.In(e.o.Zone), e.now()))
	case held:
		out.Message = fmt.Sprintf(textGoesOn, task.Title())
	default:
		out = command.Outcome{Message: fmt.Sprintf(textNotHeld, task.Title())} // nothing was decided
	}
	return out, nil
}

// mute mutes pings until a time. A zero time unmutes them.
func (e *Editor) mute(_ context.Context, c command.MuteUntil) (command.Outcome, error) {
	now, until := e.now(), c.Until
	if !until.IsZero() {
		until = until.Round(0).Truncate(time.Second).In(e.o.Zone)
	}
	switch {
	case !until.IsZero() && !until.After(now):
		return command.Outcome{}, fmt.Errorf(textMutePassed, cron.DayClock(until, now))
	case until.After(now.Add(farthest)):
		return command.Outcome{}, errors.New(textMuteTooLong)
	}
	before, err := e.o.Mute.Set(until, now)
	if err != nil {
		return command.Outcome{}, fmt.Errorf("mute pings: %w", err)
	}
	out := command.Outcome{Undo: command.MuteUntil{Until: before}, Decision: audit.Entry{Action: audit.MuteChanged}}
	switch {
	case !until.IsZero():
		out.Message = fmt.Sprintf(textMuted, cron.DayClock(until, now))
	case before.IsZero():
		out.Message, out.Undo = textNotMuted, nil
	default:
		out.Message = textUnmuted
	}
	return out, nil
}
