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

// Reader reads data that a snapshot does not contain. Its methods change nothing, may
// block on a file, need only the data directory, and are safe for concurrent use. Errors
// are full sentences for the user.
type Reader struct {
	bot *Bot
	// readOnly previews show the commands in skills' texts without running them.
	readOnly bool
}

// Reads returns the bot's Reader.
func (b *Bot) Reads() Reader { return Reader{bot: b} }

// Preview returns the exact prompt that a task would be sent now.
func (r Reader) Preview(ctx context.Context, id string) (string, error) {
	if r.readOnly {
		ctx = dispatch.Inert(ctx)
	}
	return guarded(r.bot, "the preview", func() (string, error) { return r.bot.dispatch.Preview(ctx, id, time.Time{}, false) })
}

// Describe describes a task in full; see tasks.Editor.Describe.
func (r Reader) Describe(_ context.Context, id string) (string, error) {
	return guarded(r.bot, "the description", func() (string, error) { return r.bot.tasks.Describe(id) })
}

// Costs compares the cost of each task's runs over a number of days including today.
func (r Reader) Costs(_ context.Context, days int) (command.CostReport, error) {
	return guarded(r.bot, "the costs", func() (command.CostReport, error) { return r.bot.money.Costs(days) })
}

// Runs returns a page of stored runs that have ended, newest first, from a position in
// their ledger.
func (r Reader) Runs(_ context.Context, from command.Mark, most int) (fork.Page, error) {
	return guarded(r.bot, "the ledger of runs", func() (fork.Page, error) { return fork.Past(r.bot.dir, from, most) })
}

// Past returns the past runs of a task, and its next fires.
func (r Reader) Past(_ context.Context, id string) (command.TaskPast, error) {
	return guarded(r.bot, "the past of a task", func() (command.TaskPast, error) { return r.bot.forecast.past(id) })
}

// DueTimes returns the due times from since on with their outcomes.
func (r Reader) DueTimes(_ context.Context, since time.Time) (command.DueTimes, error) {
	return guarded(r.bot, "the account of due times", func() (command.DueTimes, error) {
		return dueTimes(r.bot.dir, r.bot.forks.Views(), since, r.bot.now())
	})
}

// Week sums up the current week, or the one that many weeks ago.
func (r Reader) Week(_ context.Context, ago int) (week.Report, error) {
	return guarded(r.bot, "the week", func() (week.Report, error) { return readWeek(r.bot, ago) })
}

// Away sums up what happened while the user was away, and reads the decisions.
func (r Reader) Away(context.Context) (absence.Report, error) {
	return guarded(r.bot, "the report of an absence", func() (absence.Report, error) {
		return absence.Sum(r.bot.dir, r.bot.audit, r.bot.present.Span(r.bot.now()))
	})
}
