package core

import (
	"context"
	"errors"
	"fmt"

	"ollimbot/core/base/tail"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/safety/review"
	"ollimbot/core/storage/config"
	"ollimbot/core/work/dispatch"
	"ollimbot/routines"
	"ollimbot/routines/schedule"
)

// Viewer is one dashboard's access to the bot. It has its own wake-ups and decides what
// the dashboard may do. Close it after use.
type Viewer struct {
	Reader
	changed chan struct{}
}

// Viewer adds a viewer. A read-only one can read everything but change nothing; its
// previews show the commands in skills' texts without running them.
func (b *Bot) Viewer(readOnly bool) *Viewer {
	return &Viewer{Reader{b, readOnly}, b.viewers.add()}
}

// Close ends the wake-ups. It is idempotent.
func (v *Viewer) Close() { v.bot.viewers.remove(v.changed) }

// Changed receives a value after something in the snapshot has changed. It has room for
// one, so a slow viewer sees the newest state and the bot never waits.
func (v *Viewer) Changed() <-chan struct{} { return v.changed }

// Snapshot is Bot.Snapshot.
func (v *Viewer) Snapshot() Snapshot {
	if v.bot.looked.Load() {
		defer v.bot.taken()
	}
	return v.bot.Snapshot()
}

// Tail is Bot.Tail.
func (v *Viewer) Tail(id string, from tail.Cursor) tail.Page { return v.bot.Tail(id, from) }

// Look reads the user's day from Google, for later snapshots; see google.Account.Look.
func (v *Viewer) Look(ctx context.Context) { v.bot.google.Look(ctx) }

// Do is Bot.Do. A read-only viewer may only have lines carried out that change nothing.
func (v *Viewer) Do(ctx context.Context, c command.Value) (command.Outcome, error) {
	line, is := c.(command.Line)
	if row, _, _ := line.Row(); v.readOnly && (!is || row.Writes) {
		return command.Outcome{}, errors.New(textReadOnly)
	}
	return v.bot.Do(ctx, c)
}

// Note records in the audit log what a viewer did other than commands; ctx identifies it.
func (b *Bot) Note(ctx context.Context, action, subject, detail string) {
	b.audit.RecordBy(ctx, b.now(), audit.Entry{Action: action, Subject: subject, Detail: detail})
}

// Alive reports whether the bot works: the schedule's loop makes a step, the
// conversation's queue accepts a job or its turn makes progress, and a snapshot can be
// taken. It waits until ctx ends; the error names the stuck part. If a lock is never
// released, it does not return at all.
func (b *Bot) Alive(ctx context.Context) error {
	if !Started(b) {
		return errors.New("the bot has not started")
	}
	if err := b.schedule.Alive(ctx); err != nil {
		return fmt.Errorf("the schedule makes no step: %w", err)
	}
	return b.chat.Alive(ctx)
}

// Reload rereads the settings, as if their files had just been saved. Invalid values are
// reported as a notice and in the log.
func (b *Bot) Reload() config.Runtime {
	b.settings.Reload()
	b.viewers.notify()
	return b.Runtime()
}

// Tail reads a run's tail, or with LogTail the program's log, from a cursor.
// An unknown id returns an empty page.
func (b *Bot) Tail(id string, from tail.Cursor) tail.Page {
	if id == LogTail {
		if b.o.Book == nil {
			return tail.Page{Next: from}
		}
		return b.o.Book.Tail(from)
	}
	page, ok := b.forks.Tail(id, from)
	if !ok {
		return tail.Page{Next: from}
	}
	return page
}

// Index is the bot's view of routine and reminder files.
func (b *Bot) Index() *routines.Index { return b.index }

// Review returns the files that need the user's approval.
func (b *Bot) Review() *review.Desk { return b.review }

// Schedule returns the schedule of tasks.
func (b *Bot) Schedule() *schedule.Schedule { return b.schedule }

// LastReceived returns the key of the newest message received from a surface
// (Receive.Key), or "".
func (b *Bot) LastReceived(from string) string { return b.chat.LastReceived(from) }

// Runtime returns the current configuration, for other parts that read it live.
func (b *Bot) Runtime() config.Runtime { return *b.settings.Load() }

// SystemPrompt is added to the engine's own prompt in every session.
func (b *Bot) SystemPrompt() string { return b.manual.systemPrompt() }

// Prompts previews the prompts of tasks and webhooks.
func (b *Bot) Prompts() *dispatch.Dispatcher { return b.dispatch }
