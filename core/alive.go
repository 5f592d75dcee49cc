package core

import (
	"context"
	"errors"
	"fmt"

	"ollimbot/core/config"
)

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
