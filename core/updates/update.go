// Package updates keeps what background runs have to say to the main session:
// pending updates in state/pending_updates.json. They are appended by runs,
// peeked by forks, and claimed by a main turn, whose delivery is on disk from
// before the message is sent until it is settled. One lock orders the queue and
// the delivery, in this process and beside others: never lost, never twice.
package updates

import "time"

// Update is one pending update.
type Update struct {
	// Key identifies the entry for discarding: derived from its content.
	Key     string
	At      time.Time
	Message string // cleaned
	// Dropped is the count of updates that a cap sentinel stands for, else 0.
	Dropped int
}
