package core

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/base/clean"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/config"
	"ollimbot/core/work/budget"
	"ollimbot/routines"
	"ollimbot/routines/cron"
	"ollimbot/routines/schedule"
)

// farthest is how far ahead a reminder, a snooze or a mute may lie: what is further
// is a slip of the finger, and must not silence for ever.
const farthest = 366 * 24 * time.Hour

// addTask writes the file of a new task, once it is known to be in order.
func (b *Bot) addTask(c command.AddTask) (command.Outcome, error) {
	t := taskFor(c)
	expr := strings.TrimSpace(c.Cron)
	if (expr == "") == c.At.IsZero() {
		return command.Outcome{}, errors.New(textAddOneTime)
	}
	if t.Body == "" {
		return command.Outcome{}, errors.New(textAddNoMessage)
	}
	add := b.addReminder
	if expr != "" {
		add = b.addRoutine
	}
	t, next, err := add(t, c)
	return command.Outcome{
		Message:  fmt.Sprintf(textAdded, t.Title(), cron.DayClock(next, b.now())),
		Undo:     command.RemoveTask{ID: t.ID, Version: t.Digest, Made: c},
		Decision: audit.Entry{Action: audit.TaskAdded, Subject: t.ID},
	}, err
}

func taskFor(c command.AddTask) routines.Task {
	return routines.Task{
		Description: clean.Line(c.Description), Body: strings.TrimSpace(clean.Text(c.Message)), Background: !c.Foreground,
		Thinking: true, Mode: routines.OnPing, AllowPing: !c.Silent,
	}
}

// addRoutine returns the task as its file says it, and when it fires first.
func (b *Bot) addRoutine(t routines.Task, c command.AddTask) (routines.Task, time.Time, error) {
	s, err := schedules(c.Cron)
	if err != nil {
		return t, time.Time{}, err
	}
	r, err := b.schedule.AddRoutine(routines.Routine{Task: t, Cron: s.String(), Schedule: s})
	return r.Task, s.Next(b.now()), err
}

// addReminder is addRoutine for a task with a time.
func (b *Bot) addReminder(t routines.Task, c command.AddTask) (routines.Task, time.Time, error) {
	at := c.At.Round(0).Truncate(time.Second).In(b.zone)
	if err := b.comes(at); err != nil {
		return t, at, err
	}
	if c.UntilDone && (c.Foreground || c.Silent) {
		return t, at, errors.New(textAddUntilDone)
	}
	r, err := b.schedule.AddReminder(routines.Reminder{Task: t, RunAt: at, UntilDone: c.UntilDone})
	return r.Task, at, err
}

// removeTask takes back what addTask has made, as long as nobody has touched it.
func (b *Bot) removeTask(c command.RemoveTask) (command.Outcome, error) {
	if c.Version == "" {
		return command.Outcome{}, fmt.Errorf(textNotAdded, clean.Cut(clean.Line(c.ID), 60))
	}
	t, err := b.schedule.Withdraw(c.ID, c.Version)
	switch {
	case errors.Is(err, schedule.ErrGone):
		return command.Outcome{}, fmt.Errorf(textAddedGone, taskFor(c.Made).Title())
	case errors.Is(err, schedule.ErrEdited):
		return command.Outcome{}, fmt.Errorf(textAddedEdited, t.Title(), t.Path)
	case err != nil:
		return command.Outcome{}, err
	}
	return command.Outcome{Message: fmt.Sprintf(textRemoved, t.Title()), Undo: c.Made, Decision: audit.Entry{Action: audit.TaskRemoved, Subject: c.ID}}, nil
}

// restoreTask takes back that a task went away. A reminder that is being run
// just stays.
func (b *Bot) restoreTask(c command.RestoreTask) (command.Outcome, error) {
	if c.ID == "" {
		removed := routines.RemovedTasks(b.dir, b.now())
		if len(removed) == 0 {
			return command.Outcome{}, errors.New(textNoneRemoved)
		}
		c.ID = slices.MaxFunc(removed, func(a, b routines.Removed) int { return a.At.Compare(b.At) }).ID
	}
	done := audit.Entry{Action: audit.TaskAdded, Subject: c.ID}
	if t, ok := b.index.Set().Find(c.ID); ok && b.schedule.Keep(c.ID) {
		return command.Outcome{Message: fmt.Sprintf(textKept, t.Title()), Decision: done}, nil
	}
	t, err := b.schedule.Restore(c.ID)
	if err != nil {
		return command.Outcome{}, err
	}
	if r, ok := b.index.Set().ReminderByID(c.ID); ok && r.UntilDone {
		b.openAgain(r)
	}
	return command.Outcome{Message: fmt.Sprintf(textRestored, t.Title()), Undo: command.DeleteTask{ID: t.ID}, Decision: done}, nil
}

// snooze keeps a task from firing until a time; a zero time lets it go on.
func (b *Bot) snooze(c command.Snooze) (command.Outcome, error) {
	if c.Until.After(b.now().Add(farthest)) {
		return command.Outcome{}, fmt.Errorf(textSnoozeTooLong, cron.DayClock(c.Until.In(b.zone), b.now()))
	}
	return b.hold(c.ID, schedule.Hold{Until: c.Until})
}

// pause keeps a task from firing until it is let go on.
func (b *Bot) pause(c command.Pause) (command.Outcome, error) {
	return b.hold(c.ID, schedule.Hold{Paused: c.Paused})
}

// hold puts a hold in the place of the one before, which is what undoes it.
func (b *Bot) hold(id string, h schedule.Hold) (command.Outcome, error) {
	task, ok := b.index.Set().Find(id)
	if !ok {
		return command.Outcome{}, fmt.Errorf(command.TextNoTask, id)
	}
	before, err := b.schedule.Hold(id, h)
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
		out.Message = fmt.Sprintf(textSnoozed, task.Title(), cron.DayClock(h.Until.In(b.zone), b.now()))
	case held:
		out.Message = fmt.Sprintf(textGoesOn, task.Title())
	default:
		out.Message, out.Undo = fmt.Sprintf(textNotHeld, task.Title()), nil
	}
	return out, nil
}

// mute refuses pings until a time. A zero time ends it.
func (b *Bot) mute(c command.MuteUntil) (command.Outcome, error) {
	now, until := b.now(), c.Until
	if !until.IsZero() {
		until = until.Round(0).Truncate(time.Second).In(b.zone)
	}
	switch {
	case !until.IsZero() && !until.After(now):
		return command.Outcome{}, fmt.Errorf(textMutePassed, cron.DayClock(until, now))
	case until.After(now.Add(farthest)):
		return command.Outcome{}, errors.New(textMuteTooLong)
	}
	before, err := b.muted.Set(until, now)
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

// quietUntil is until when pings that are not critical are refused at now: for
// quiet hours, for a mute, or for one that ends within the other. Zero when they
// are not.
func (b *Bot) quietUntil(now time.Time) time.Time {
	r := b.runtime.Load()
	until := r.QuietUntil(now)
	muted := b.muted.At(now)
	if !muted.After(until) {
		return until
	}
	if later := r.QuietUntil(muted); !later.IsZero() {
		return later
	}
	return muted
}

// pingFires are the fires of the newest list that can spend a token. The schedule makes a
// list of its own for each minute and each change, and nobody changes one.
type pingFires struct {
	mu      sync.Mutex
	of      *schedule.Entry // where the list stands
	n       int
	runtime *config.Runtime
	fires   []budget.Fire
}

// take gives those of a list, which it makes anew where that or the settings are others.
func (k *pingFires) take(list []schedule.Entry, set *config.Runtime, anew func() []budget.Fire) []budget.Fire {
	if len(list) == 0 {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of != &list[0] || k.n != len(list) || k.runtime != set {
		k.of, k.n, k.runtime, k.fires = &list[0], len(list), set, anew()
	}
	return k.fires
}

// mayPing are the fires that can spend a token, with how likely each does: of background
// tasks that are allowed to, outside of the times for which quiet says that it is quiet.
func mayPing(fires []schedule.Entry, quiet func(time.Time) time.Time, rate func(task string) float64) []budget.Fire {
	list := make([]budget.Fire, 0, len(fires))
	for _, e := range fires {
		if !e.Held && !e.Silent && !e.Foreground && quiet(e.FireTime).IsZero() {
			list = append(list, budget.Fire{At: e.FireTime, Task: e.ID, Title: e.Description, Rate: rate(e.ID)})
		}
	}
	return list
}

// reminderBook is the reminder files as the agent's tools write them, with the
// rights of the session that calls them.
type reminderBook struct {
	bot    *Bot
	writer policy.Writer
}

// Now is the present in the configured zone.
func (k reminderBook) Now() time.Time { return k.bot.now() }

// Add writes a reminder file and puts it into the schedule at once.
func (k reminderBook) Add(_ context.Context, r routines.Reminder) (routines.Reminder, error) {
	return k.add(r, func(rel string, data []byte) error { return k.bot.guard.Written(k.writer, rel, data) })
}

// Continue adds the next check of a chain, which is whose the one before it was. A
// reminder that comes back until it is done stays the same one.
func (k reminderBook) Continue(_ context.Context, from, next routines.Reminder) (routines.Reminder, error) {
	if from.UntilDone {
		_, err := k.bot.schedule.MoveReminder(from.ID, func(routines.Reminder) (routines.Move, error) {
			return routines.Move{At: next.RunAt, Depth: next.ChainDepth}, nil
		})
		return next, err
	}
	return k.add(next, func(rel string, data []byte) error { return k.bot.guard.Inherit(from.Digest, rel, data) })
}

func (k reminderBook) add(r routines.Reminder, before routines.Before) (routines.Reminder, error) {
	r, err := k.bot.schedule.AddReminder(r, before)
	if err != nil {
		return r, err
	}
	k.record(audit.TaskAdded, r.ID, fmt.Sprintf("%s, at %s", r.Title(), r.RunAt.In(k.bot.zone).Format(time.RFC3339)))
	k.bot.notify()
	return r, nil
}

// List returns the pending reminders, in the order of their times.
func (k reminderBook) List() []routines.Reminder {
	set := k.bot.index.Set()
	list := make([]routines.Reminder, 0, len(set.Reminders))
	for _, r := range set.RemindersByTime() {
		list = append(list, *r)
	}
	return list
}

// Cancel removes a reminder's file; false means that there is none.
func (k reminderBook) Cancel(id string) (bool, error) {
	rel, found, err := k.bot.schedule.Remove(routines.KindReminder, id)
	if err != nil || !found {
		return found, err
	}
	k.record(audit.TaskRemoved, id, rel)
	k.bot.notify()
	return true, nil
}

// record writes down what an agent has done to its reminders.
func (k reminderBook) record(action, id, detail string) {
	k.bot.audit.Record(k.bot.now(), audit.Entry{Actor: audit.Agent, From: k.writer.Kind, Action: action, Subject: id, Detail: detail})
}
