package prompt

import (
	"time"

	"ollimbot/core/updates"
)

// Delivery is a message to the main session that hands it updates at once,
// without words of the user: the header of Main and nothing behind it.
func Delivery(now time.Time, list []updates.Update) string { return Main(now, list, "") }
