package tasks

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/brief/toolset"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
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

// Stop pauses or ends a routine for one of its own runs, as the user's commands do, and records it.
func (e *Editor) Stop(by policy.Writer, id string, s toolset.Stop) (toolset.Stopped, error) {
	done, action, err := e.stop(id, s)
	if err != nil {
		return done, err
	}
	Book{e, by}.record(action, id, done.Briefly+": "+s.Reason)
	e.o.Notice(done.Said)
	e.o.Changed()
	return done, nil
}

func (e *Editor) stop(id string, s toolset.Stop) (done toolset.Stopped, action string, err error) {
	r, ok := e.o.Index.Set().RoutineByID(id)
	switch {
	case !ok:
		return done, "", fmt.Errorf(command.TextNoTask, id)
	case r.Essential:
		return done, "", errors.New(textStopEssential)
	case r.Critical:
		return done, "", errors.New(textStopCritical)
	}
	now, title := e.now(), r.Title()
	if s.End {
		out, err := e.delete(context.Background(), command.DeleteTask{ID: id})
		return stopped(toolset.TextEnded, textEndedItself, title, s.Reason, "restored within a day"), out.Decision.Action, err
	}
	before := e.o.Schedule.Holds().Of(&r.Task)
	if !before.Ended(now) && before.Reason == "" {
		return done, "", errors.New(textStopHeld)
	}
	if s.Until.After(now.Add(farthest)) {
		return done, "", fmt.Errorf(textSnoozeTooLong, cron.DayClock(s.Until.In(e.o.Zone), now))
	}
	out, err := e.hold(id, schedule.Hold{Until: s.Until, Paused: s.Until.IsZero(), Reason: s.Reason})
	if s.Until.IsZero() {
		return stopped(toolset.TextPaused, textPausedItself, title, s.Reason, "resumed"), out.Decision.Action, err
	}
	until := cron.DayClock(s.Until.In(e.o.Zone), now)
	return stopped(fmt.Sprintf(toolset.TextSnoozed, until), textPausedItself+" until "+until, title, s.Reason, "resumed"), out.Decision.Action, err
}

// stopped words what has become of a routine. undo says how that is taken back.
func stopped(answer, briefly, title, reason, undo string) toolset.Stopped {
	return toolset.Stopped{Answer: answer, Briefly: briefly, Said: fmt.Sprintf(textStopped, title, briefly, strings.TrimRight(reason, "."), undo)}
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
