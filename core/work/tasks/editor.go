// Package tasks handles the user's and the agent's changes to routines and reminders:
// add, edit, hold, answer, remove and restore, and muting pings. It writes their files
// through the schedule. It must not know when they fire or how they run.
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
	"ollimbot/routines/when"
)

// farthest is how far ahead a reminder, a snooze or a mute may be. A later time is taken
// for a typo.
const farthest = 366 * 24 * time.Hour

// Options configure an Editor; all are required.
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
	// Retire removes the buttons from a message and replaces them with a reason; an empty id
	// means no message.
	Retire func(ctx context.Context, message post.MessageID, why string)
	// PutOff leaves only the button that ends the reminder on the message, and shows when it
	// repeats.
	PutOff func(ctx context.Context, message post.MessageID, why string, back time.Time)
	// Kept is called with the time when a reminder was marked as done, and with the zero
	// time when that is undone.
	Kept func(at time.Time, id string)
	// Lacking lists what tasks need and the bot does not have.
	Lacking func() []routines.Problem
	// Day returns when the user's morning, noon, afternoon, evening and night are.
	Day func() when.Day
	// Notice shows the user what a run has done to its own routine.
	Notice func(text string)
	// Changed is called after an agent changed its reminders, or a run its routine.
	Changed func()
}

// Rights manages the rights of files that an agent writes.
type Rights interface {
	// Written records that a writer is about to write a file.
	Written(by policy.Writer, rel string, data []byte) error
	// Inherit transfers the rights of the version that a file replaces or follows.
	Inherit(from, rel string, data []byte) error
	// SkillLeft returns why a task runs without a skill, or "".
	SkillLeft(t routines.Task, s skill.Skill) string
}

// Editor changes tasks. Its methods are safe for concurrent use: the schedule orders the
// writes of files.
type Editor struct{ o Options }

// New returns an Editor.
func New(o Options) *Editor { return &Editor{o} }

// Handlers returns the handlers for the Editor's commands.
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
