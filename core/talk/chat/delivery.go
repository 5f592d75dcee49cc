package chat

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"

	"ollimbot/core/agent"
	"ollimbot/core/work/updates"
)

// delivery delivers pending updates to the main session, each exactly once as far as the
// engine remembers the messages it got.
type delivery struct {
	updates *updates.Queue
	engine  agent.Engine
	log     *slog.Logger
	// ack removes the user's messages that arrived with the updates.
	ack func(ids ...string) error
}

// claim claims the pending updates for a message of the main session, after settling the
// previous delivery.
func (d *delivery) claim(ctx context.Context, compose func([]updates.Update) updates.Delivery) (updates.Delivery, error) {
	claimed, err := d.updates.Claim(compose)
	if errors.Is(err, updates.ErrUnsettled) {
		d.recover(ctx)
		claimed, err = d.updates.Claim(compose)
	}
	return claimed, err
}

// settle ends a delivery. The user's messages in it are removed first, the record last,
// so that every step can be repeated until then.
func (d *delivery) settle(claimed updates.Delivery, arrived bool) error {
	if arrived {
		if err := d.ack(claimed.Waiting...); err != nil {
			return fmt.Errorf("forget a message that arrived: %w", err)
		}
	}
	return d.updates.Settle(claimed, arrived)
}

// recover settles a message that was being sent when its turn or the program ended. If
// the engine does not know whether it arrived, its updates stay pending: delivering twice
// is better than never.
func (d *delivery) recover(ctx context.Context) {
	claimed, arrived, found, err := d.updates.Unsettled()
	if err == nil && found {
		if !arrived {
			arrived, err = d.hasArrived(ctx, claimed)
		}
		if ctx.Err() != nil {
			return // retried at the next start
		}
		if err != nil {
			d.log.Error("it is not known whether the last message arrived; its updates stay pending", "error", err)
		}
		err = d.settle(claimed, arrived)
	}
	if err != nil {
		d.log.Error("the last delivery to the main session could not be settled", "error", err)
	}
}

// hasArrived asks the engine whether a message arrived.
func (d *delivery) hasArrived(ctx context.Context, claimed updates.Delivery) (bool, error) {
	history, able := d.engine.(agent.HistoryChecker)
	digest, err := hex.DecodeString(claimed.Digest)
	if !able || err != nil || len(digest) != sha256.Size {
		return false, nil
	}
	heard, err := history.HasMessage(ctx, claimed.Session, [sha256.Size]byte(digest))
	if err != nil {
		return false, fmt.Errorf("ask whether a message arrived: %w", err)
	}
	return heard, nil
}
