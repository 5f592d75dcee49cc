package core

import (
	"context"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/talk/absence"
	"ollimbot/core/work/dispatch"
	"ollimbot/core/work/fork"
	"ollimbot/core/work/week"
)

// Reader reads what a snapshot does not contain. Its methods change nothing, may block on a
// file, need only the data directory, and may be called concurrently. Errors are sentences
// for people.
type Reader struct {
	bot *Bot
	// readOnly previews show the commands in skills' texts and do not run them.
	readOnly bool
}

// Reads is the Reader of the bot.
func (b *Bot) Reads() Reader { return Reader{bot: b} }

// Preview is the exact prompt that a task would be sent now.
func (r Reader) Preview(ctx context.Context, id string) (string, error) {
	if r.readOnly {
		ctx = dispatch.Inert(ctx)
	}
	return guarded(r.bot, "the preview", func() (string, error) { return r.bot.dispatch.Preview(ctx, id, time.Time{}, false) })
}

// Describe is everything about a task, in words; see tasks.Editor.Describe.
func (r Reader) Describe(_ context.Context, id string) (string, error) {
	return guarded(r.bot, "the description", func() (string, error) { return r.bot.tasks.Describe(id) })
}

// Costs compares what the runs of each task have cost, in as many days with today.
func (r Reader) Costs(_ context.Context, days int) (command.CostReport, error) {
	return guarded(r.bot, "the costs", func() (command.CostReport, error) { return r.bot.money.Costs(days) })
}

// Runs are stored runs that have ended, newest first, from a place of their ledger on.
func (r Reader) Runs(_ context.Context, from command.Mark, most int) (fork.Page, error) {
	return guarded(r.bot, "the ledger of runs", func() (fork.Page, error) { return fork.Past(r.bot.dir, from, most) })
}

// Past is how the runs of a task went, and its next fires.
func (r Reader) Past(_ context.Context, id string) (command.TaskPast, error) {
	return guarded(r.bot, "the past of a task", func() (command.TaskPast, error) { return r.bot.forecast.past(id) })
}

// DueTimes are the due times from a moment on, and what became of each.
func (r Reader) DueTimes(_ context.Context, since time.Time) (command.DueTimes, error) {
	return guarded(r.bot, "the account of due times", func() (command.DueTimes, error) {
		return dueTimes(r.bot.dir, r.bot.forks.Views(), since, r.bot.now())
	})
}

// Week sums up a week: that of today, or one that many weeks ago.
func (r Reader) Week(_ context.Context, ago int) (week.Report, error) {
	return guarded(r.bot, "the week", func() (week.Report, error) { return readWeek(r.bot, ago) })
}

// Away sums up what happened while the user was away, and reads the decisions.
func (r Reader) Away(context.Context) (absence.Report, error) {
	return guarded(r.bot, "the report of an absence", func() (absence.Report, error) {
		return absence.Sum(r.bot.dir, r.bot.audit, r.bot.present.Span(r.bot.now()))
	})
}
