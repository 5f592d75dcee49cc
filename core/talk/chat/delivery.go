package chat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"ollimbot/core/agent"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/work/updates"
)

// DeliverUpdates begins a turn that hands the main session its pending updates,
// n of them. It waits for its turn like a foreground task and interrupts nothing;
// updates that another turn has taken by then are not delivered again.
func (c *Conversation) DeliverUpdates() (n int, done <-chan struct{}, err error) {
	n = len(c.o.Updates.Peek())
	switch {
	case c.inFork() != nil:
		return 0, nil, errors.New(textDeliverInFork)
	case n == 0:
		return 0, nil, nil
	}
	finished := make(chan struct{})
	err = c.later(func(ctx context.Context) error {
		defer close(finished)
		return c.deliver(ctx)
	})
	return n, finished, err
}

// deliver is that turn.
func (c *Conversation) deliver(ctx context.Context) error {
	switch {
	case len(c.o.Updates.Peek()) == 0:
		return nil
	case c.inFork() != nil:
		return errors.New(textDeliverInFork)
	}
	return c.afterTurn(ctx, c.mainTurn(ctx, prompt.Delivery, incoming{}))
}

// claim takes the pending updates for a message of the main session. What
// became of the message before has to be known first.
func (c *Conversation) claim(ctx context.Context, compose func([]updates.Update) updates.Delivery) (updates.Delivery, error) {
	d, err := c.o.Updates.Claim(compose)
	if errors.Is(err, updates.ErrUnsettled) {
		c.recoverDelivery(ctx)
		d, err = c.o.Updates.Claim(compose)
	}
	return d, err
}

// endDelivery ends a delivery. The user's message in it is forgotten first, the
// record last: until then each step can be done again.
func (c *Conversation) endDelivery(d updates.Delivery, arrived bool) error {
	if arrived {
		if err := c.ack(d.Waiting...); err != nil {
			return fmt.Errorf("forget a message that arrived: %w", err)
		}
	}
	return c.o.Updates.Settle(d, arrived)
}

// recoverDelivery finds out what became of a message that was on its way when
// its turn or the program ended. An engine that cannot tell leaves its updates
// pending: rather twice than never.
func (c *Conversation) recoverDelivery(ctx context.Context) {
	d, arrived, found, err := c.o.Updates.Unsettled()
	if err == nil && found {
		if !arrived {
			arrived, err = c.hasArrived(ctx, d)
		}
		if ctx.Err() != nil {
			return // the next start asks again
		}
		if err != nil {
			c.o.Log.Error("it is not known whether the last message arrived; its updates stay pending", "error", err)
		}
		err = c.endDelivery(d, arrived)
	}
	if err != nil {
		c.o.Log.Error("the last delivery to the main session could not be settled", "error", err)
	}
}

// hasArrived asks the engine whether a message arrived.
func (c *Conversation) hasArrived(ctx context.Context, d updates.Delivery) (bool, error) {
	history, able := c.o.Engine.(agent.HistoryChecker)
	digest, err := hex.DecodeString(d.Digest)
	if !able || err != nil || len(digest) != sha256.Size {
		return false, nil
	}
	heard, err := history.HasMessage(ctx, d.Session, [sha256.Size]byte(digest))
	if err != nil {
		return false, fmt.Errorf("ask whether a message arrived: %w", err)
	}
	return heard, nil
}
