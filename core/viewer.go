package core

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"ollimbot/core/base/tail"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/config"
)

// Viewer is the bot for one who looks at it: nobody else takes its wake-ups, and
// what it may do is decided here, in front of the bot. Close it.
type Viewer struct {
	bot      *Bot
	changed  chan struct{}
	readOnly bool
}

// Viewer adds a viewer. One that is read-only reads everything and changes nothing.
func (b *Bot) Viewer(readOnly bool) *Viewer {
	v := &Viewer{bot: b, changed: make(chan struct{}, 1), readOnly: readOnly}
	b.viewers.mu.Lock()
	defer b.viewers.mu.Unlock()
	if b.viewers.open == nil {
		b.viewers.open = map[*Viewer]struct{}{}
	}
	b.viewers.open[v] = struct{}{}
	return v
}

// Close ends the wake-ups. It is idempotent.
func (v *Viewer) Close() {
	v.bot.viewers.mu.Lock()
	defer v.bot.viewers.mu.Unlock()
	delete(v.bot.viewers.open, v)
}

// Changed receives a value after something in the snapshot has changed. It has
// room for one: a slow viewer sees the newest state, the bot never waits.
func (v *Viewer) Changed() <-chan struct{} { return v.changed }

// Snapshot is Bot.Snapshot.
func (v *Viewer) Snapshot() Snapshot { return v.bot.Snapshot() }

// Tail is Bot.Tail.
func (v *Viewer) Tail(id string, from tail.Cursor) tail.Page { return v.bot.Tail(id, from) }

// Look is Bot.Look.
func (v *Viewer) Look(ctx context.Context) { v.bot.Look(ctx) }

// Do is Bot.Do for what the viewer may do. A preview for one that is read-only
// shows the commands in skills' texts and does not run them.
func (v *Viewer) Do(ctx context.Context, c command.Value) (command.Outcome, error) {
	if v.readOnly {
		if !command.Reads(c) {
			return command.Outcome{}, errors.New(textReadOnly)
		}
		ctx = context.WithValue(ctx, inert{}, true)
	}
	return v.bot.Do(ctx, c)
}

// Note keeps in the audit log what a viewer has done beside its commands; ctx says who.
func (b *Bot) Note(ctx context.Context, action, subject, detail string) {
	b.audit.RecordBy(ctx, b.now(), audit.Entry{Action: action, Subject: subject, Detail: detail})
}

// inert is the key of a context in which nothing is run for a text.
type inert struct{}

// viewers are those that look at a bot.
type viewers struct {
	mu   sync.Mutex
	open map[*Viewer]struct{}
}

// notify wakes every viewer and waits for none, so that the lock is held over no send
// that blocks.
func (b *Bot) notify() {
	b.viewers.mu.Lock()
	defer b.viewers.mu.Unlock()
	for v := range b.viewers.open {
		select {
		case v.changed <- struct{}{}:
		default:
		}
	}
}

// Alive reports whether the bot does its work: the loop of the schedule makes a step,
// the conversation's queue takes a job or has a turn that goes on, and a snapshot can
// be taken. It waits for them until ctx ends; an error says what stands still. A lock
// that nobody gives back keeps it from returning at all.
func (b *Bot) Alive(ctx context.Context) error {
	if b.Snapshot().Started.IsZero() {
		return errors.New("the bot has not started")
	}
	if err := b.schedule.Alive(ctx); err != nil {
		return fmt.Errorf("the schedule makes no step: %w", err)
	}
	return b.chat.Alive(ctx)
}

// Reload reads the settings again, as if their files had just been saved. What is wrong
// with a value is a notice and in the log.
func (b *Bot) Reload() config.Runtime {
	b.reloadRuntime()
	b.notify()
	return b.Runtime()
}
