package core

import (
	"fmt"
	"time"

	"ollimbot/core/command"
	"ollimbot/routines"
	"ollimbot/routines/cron"
)

// longestHold bounds a snooze and a mute: what is meant to last longer has a
// command of its own, and a year that is mistyped must not silence for ever.
const longestHold = 366 * 24 * time.Hour

// snooze keeps a task from firing until a time; a zero time lets it go on.
func (b *Bot) snooze(c command.Snooze) (command.Outcome, error) {
	if c.Until.After(b.now().Add(longestHold)) {
		return command.Outcome{}, fmt.Errorf(textSnoozeTooLong, dayClock(c.Until.In(b.zone), b.now()))
	}
	return b.hold(c.ID, routines.Hold{Until: c.Until})
}

// pause keeps a task from firing until it is let go on.
func (b *Bot) pause(c command.Pause) (command.Outcome, error) {
	return b.hold(c.ID, routines.Hold{Paused: c.Paused})
}

// hold puts a hold in the place of the one before, which is what undoes it.
func (b *Bot) hold(id string, h routines.Hold) (command.Outcome, error) {
	task, ok := b.index.Set().Find(id)
	if !ok {
		return command.Outcome{}, fmt.Errorf(textNoTask, id)
	}
	before, err := b.loop.Hold(id, h)
	if err != nil {
		return command.Outcome{}, err
	}
	out := command.Outcome{Undo: command.Snooze{ID: id, Until: before.Until}}
	if before.Paused {
		out.Undo = command.Pause{ID: id, Paused: true}
	}
	held := before.Paused || !before.Until.IsZero()
	switch {
	case h.Paused:
		out.Message = fmt.Sprintf(textPaused, task.Title())
	case !h.Until.IsZero():
		out.Message = fmt.Sprintf(textSnoozed, task.Title(), dayClock(h.Until.In(b.zone), b.now()))
	case held:
		out.Message = fmt.Sprintf(textGoesOn, task.Title())
	default:
		return command.Outcome{Message: fmt.Sprintf(textNotHeld, task.Title())}, nil
	}
	return out, nil
}

// dayClock is a time of day, with its date where that is not now's: "15:04",
// "Mon 23 Nov 15:04".
func dayClock(t, now time.Time) string {
	return cron.Layouts{Today: "15:04", Year: "Mon 2 Jan 15:04", Else: "2 Jan 2006 15:04"}.Format(t, now)
}
