package core

import (
	"context"
	"fmt"
	"time"

	"ollimbot/core/audit"
	"ollimbot/core/policy"
	"ollimbot/routines"
)

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

// Continue adds the next check of a chain, which is whose the one before it was.
func (k reminderBook) Continue(_ context.Context, from, next routines.Reminder) (routines.Reminder, error) {
	return k.add(next, func(rel string, data []byte) error { return k.bot.guard.Inherit(from.Digest, rel, data) })
}

func (k reminderBook) add(r routines.Reminder, before routines.Before) (routines.Reminder, error) {
	r, err := routines.AddReminder(k.bot.dir, r, before)
	if err != nil {
		return r, err
	}
	k.bot.git.Add(r.Path, "add reminder "+r.ID)
	k.bot.loop.Kick(k.bot.index.Refresh([]string{r.Path}))
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
	inForce := ""
	if r, ok := k.bot.index.Set().ReminderByID(id); ok {
		inForce = r.Path
	}
	rel, found, err := routines.RemoveTask(k.bot.dir, routines.KindReminder, id, inForce)
	if err != nil || !found {
		return found, err
	}
	k.bot.git.Remove(rel, "remove reminder "+id)
	k.bot.loop.Kick(k.bot.index.Refresh([]string{rel}))
	k.record(audit.TaskRemoved, id, rel)
	k.bot.notify()
	return true, nil
}

// record writes down what an agent has done to its reminders.
func (k reminderBook) record(action, id, detail string) {
	k.bot.audit.Record(k.bot.now(), audit.Entry{Actor: audit.Agent, From: k.writer.Kind, Action: action, Subject: id, Detail: detail})
}
