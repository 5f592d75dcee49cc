package command

import (
	"context"

	"ollimbot/core/safety/audit"
	"ollimbot/core/work/updates"
)

// UpdateHandlers change the pending updates.
func UpdateHandlers(queue *updates.Queue) []Handler {
	return []Handler{
		On(Directory, func(_ context.Context, c DiscardUpdate) (Outcome, error) {
			u, err := queue.Discard(c.Key)
			done := audit.Entry{Action: audit.UpdateDiscarded, Subject: c.Key}
			return Outcome{Message: "update discarded", Undo: RestoreUpdate{Update: u}, Decision: done}, err
		}),
		On(Directory, func(_ context.Context, c RestoreUpdate) (Outcome, error) {
			done := audit.Entry{Action: audit.UpdateRestored, Subject: c.Update.Key}
			return Outcome{Message: "update restored", Undo: DiscardUpdate{Key: c.Update.Key}, Decision: done}, queue.Restore(c.Update)
		}),
	}
}
