package core

import (
	"context"
	"errors"

	"ollimbot/core/prompt"
)

// deliver begins a turn that hands the main session its pending updates. It
// waits for the lock like a foreground task and interrupts nothing; updates that
// another turn has taken by then are not delivered again.
func (b *Bot) deliver() (Outcome, error) {
	n := len(b.updates.Peek())
	switch {
	case b.main.inFork() != nil:
		return Outcome{}, errors.New(textDeliverInFork)
	case n == 0:
		return Outcome{Message: textNothingPending}, nil
	}
	done := make(chan struct{})
	err := b.main.later(func(ctx context.Context) error {
		defer close(done)
		return b.main.deliver(ctx)
	})
	if err != nil {
		return Outcome{}, err
	}
	return Outcome{Message: delivering(n), Done: done}, nil
}

// deliver is that turn. The caller holds the lock.
func (c *conversation) deliver(ctx context.Context) error {
	switch {
	case len(c.bot.updates.Peek()) == 0:
		return nil
	case c.inFork() != nil:
		return errors.New(textDeliverInFork)
	}
	return c.settle(ctx, c.mainTurn(ctx, prompt.Delivery, incoming{}))
}
