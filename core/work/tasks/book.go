package tasks

import (
	"context"
	"fmt"
	"time"

	"ollimbot/core/brief/toolset"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/routines"
	"ollimbot/routines/when"
)

// Book gives the tools of an agent's session access to reminder files, with the session's
// rights.
type Book struct {
	editor *Editor
	writer policy.Writer
}

// Book returns the reminders for a writer.
func (e *Editor) Book(w policy.Writer) toolset.ReminderBook { return Book{e, w} }

// Times reads times from now on, in the configured zone.
func (k Book) Times() when.Reader { return when.Reader{Now: k.editor.now(), Day: k.editor.o.Day()} }

// Add writes a reminder file and schedules it at once.
func (k Book) Add(_ context.Context, r routines.Reminder) (routines.Reminder, error) {
	return k.add(r, func(rel string, data []byte) error { return k.editor.o.Rights.Written(k.writer, rel, data) })
}

// Continue adds the next check of a chain, with the rights of the previous check. A
// reminder that repeats until done keeps its file.
func (k Book) Continue(_ context.Context, from, next routines.Reminder) (routines.Reminder, error) {
	if from.UntilDone {
		_, err := k.editor.o.Schedule.MoveReminder(from.ID, func(routines.Reminder) (routines.Move, error) {
			return routines.Move{At: next.RunAt, Depth: next.ChainDepth}, nil
		})
		return next, err
	}
	return k.add(next, func(rel string, data []byte) error { return k.editor.o.Rights.Inherit(from.Digest, rel, data) })
}

func (k Book) add(r routines.Reminder, before routines.Before) (routines.Reminder, error) {
	r, err := k.editor.o.Schedule.AddReminder(r, before)
	if err != nil {
		return r, err
	}
	k.record(audit.TaskAdded, r.ID, fmt.Sprintf("%s, at %s", r.Title(), r.RunAt.In(k.editor.o.Zone).Format(time.RFC3339)))
	k.editor.o.Changed()
	return r, nil
}

// List returns the pending reminders by time.
func (k Book) List() []routines.Reminder {
	set := k.editor.o.Index.Set()
	list := make([]routines.Reminder, 0, len(set.Reminders))
	for _, r := range set.RemindersByTime() {
		list = append(list, *r)
	}
	return list
}

// Cancel removes a reminder's file. It returns false if there is none.
func (k Book) Cancel(id string) (bool, error) {
	rel, found, err := k.editor.o.Schedule.Remove(routines.KindReminder, id)
	if err != nil || !found {
		return found, err
	}
	k.record(audit.TaskRemoved, id, rel)
	k.editor.o.Changed()
	return true, nil
}

// record adds an agent's change of its reminders to the audit log.
func (k Book) record(action, id, detail string) {
	k.editor.o.Audit.Record(k.editor.now(), audit.Entry{Actor: audit.Agent, From: k.writer.Kind, Action: action, Subject: id, Detail: detail})
}
