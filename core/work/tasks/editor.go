// Package tasks carries out what the user or the agent does to routines and reminders: add,
// edit, hold, answer, remove and restore them, and mute pings. It writes their files through
// the schedule. It must not know when they fire or how they run.
package tasks

import (
	"context"
	"log/slog"
	"time"

	"ollimbot/core/brief/skill"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/policy"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/core/work/budget"
	"ollimbot/core/work/updates"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// farthest is how far ahead a reminder, a snooze or a mute may be. A time after that is a
// typing error.
const farthest = 366 * 24 * time.Hour

// Options are the parts that an Editor needs; all are required.
type Options struct {
	Dir      *store.Dir
	Zone     *time.Location
	Log      *slog.Logger
	Index    *routines.Index
	Schedule *schedule.Schedule
	Mute     *schedule.Mute
	Journal  *budget.Journal
	Updates  *updates.Queue
	Audit    *audit.Log
	Rights   Rights
	// Retire takes the buttons off a message and writes a reason there; an empty id is
	// no message.
	Retire func(ctx context.Context, message post.MessageID, why string)
	// PutOff leaves the message only the button that ends the reminder, and writes there
	// when it comes back.
	PutOff func(ctx context.Context, message post.MessageID, why string, back time.Time)
	// Kept is called after a reminder was done at a time, and with the zero time after that was
	// taken back.
	Kept func(at time.Time, id string)
	// Changed is called after an agent changed its reminders.
	Changed func()
}

// Rights decide what a file may do that an agent writes.
type Rights interface {
	// Written notes that a writer is about to write a file.
	Written(by policy.Writer, rel string, data []byte) error
	// Inherit gives a file the rights of the version that it replaces or follows.
	Inherit(from, rel string, data []byte) error
	// SkillLeft says why a task runs without a skill; it is empty if it does not.
	SkillLeft(t routines.Task, s skill.Skill) string
}

// Editor changes tasks. Its methods may be called concurrently: the schedule orders the
// writing of files.
type Editor struct{ o Options }

// New returns an Editor.
func New(o Options) *Editor { return &Editor{o} }

// Handlers are the commands that the Editor carries out.
func (e *Editor) Handlers() []command.Handler {
	return []command.Handler{
		command.On(command.Unowned, e.snooze),
		command.On(command.Unowned, e.pause),
		command.On(command.Unowned, e.mute),
		command.On(command.Running, e.add),
		command.On(command.Running, e.addStarters),
		command.On(command.Running, e.withdraw),
		command.On(command.Running, e.edit),
		command.On(command.Running, e.revert),
		command.On(command.Running, e.delete),
		command.On(command.Running, e.restore),
		command.On(command.Running, func(ctx context.Context, c command.Remind) (command.Outcome, error) {
			return e.Answer(ctx, c, "")
		}),
	}
}

func (e *Editor) now() time.Time { return time.Now().In(e.o.Zone) }
