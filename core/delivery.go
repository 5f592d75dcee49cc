package core

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/command"
	"ollimbot/core/prompt"
	"ollimbot/core/updates"
)

// deliver begins a turn that hands the main session its pending updates. It
// waits for the lock like a foreground task and interrupts nothing; updates that
// another turn has taken by then are not delivered again.
func (b *Bot) deliver() (command.Outcome, error) {
	n := len(b.updates.Peek())
	switch {
	case b.main.inFork() != nil:
		return command.Outcome{}, errors.New(textDeliverInFork)
	case n == 0:
		return command.Outcome{Message: textNothingPending}, nil
	}
	done := make(chan struct{})
	err := b.main.later(func(ctx context.Context) error {
		defer close(done)
		return b.main.deliver(ctx)
	})
	if err != nil {
		return command.Outcome{}, err
	}
	return command.Outcome{Message: delivering(n), Done: done}, nil
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

// claim takes the pending updates for a message of the main session. What
// became of the message before has to be known first.
func (b *Bot) claim(ctx context.Context, compose func([]updates.Update) updates.Delivery) (updates.Delivery, error) {
	d, err := b.updates.Claim(compose)
	if errors.Is(err, updates.ErrUnsettled) {
		b.settleDelivery(ctx)
		d, err = b.updates.Claim(compose)
	}
	return d, err
}

// settle ends a delivery. The user's message in it is forgotten first, the
// record last: until then each step can be done again.
func (b *Bot) settle(d updates.Delivery, arrived bool) error {
	if arrived {
		if err := b.ack(d.Waiting...); err != nil {
			return fmt.Errorf("forget a message that arrived: %w", err)
		}
	}
	return b.updates.Settle(d, arrived)
}

// settleDelivery finds out what became of a message that was on its way when
// its turn or the program ended. An engine that cannot tell leaves its updates
// pending: rather twice than never.
func (b *Bot) settleDelivery(ctx context.Context) {
	d, arrived, found, err := b.updates.Unsettled()
	if err == nil && found {
		if !arrived {
			arrived, err = b.heard(ctx, d)
		}
		if ctx.Err() != nil {
			return // the next start asks again
		}
		if err != nil {
			b.log.Error("it is not known whether the last message arrived; its updates stay pending", "error", err)
		}
		err = b.settle(d, arrived)
	}
	if err != nil {
		b.log.Error("the last delivery to the main session could not be settled", "error", err)
	}
}

// heard asks the engine whether a message arrived.
func (b *Bot) heard(ctx context.Context, d updates.Delivery) (bool, error) {
	witness, able := b.o.Engine.(agent.HistoryChecker)
	digest, err := hex.DecodeString(d.Digest)
	if !able || err != nil || len(digest) != sha256.Size {
		return false, nil
	}
	heard, err := witness.HasMessage(ctx, d.Session, [sha256.Size]byte(digest))
	if err != nil {
		return false, fmt.Errorf("ask whether a message arrived: %w", err)
	}
	return heard, nil
}
