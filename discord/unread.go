package discord

import (
	"log/slog"
	"sync"

	"ollimbot/discord/message"
)

// keptUnread is how many unreadable messages are remembered, so that each is told once.
const keptUnread = 256

// unread tells the user of messages that could not be read, each once.
type unread struct {
	state   *state
	notices *notices
	log     *slog.Logger

	mu   sync.Mutex
	told recent
}

// tell reports a message, unless it is the bot's own or was written elsewhere.
func (u *unread) tell(m message.Traits) {
	dm := u.state.dm()
	if m.ID == "" || m.Channel == "" || m.Channel != dm.Channel || m.Author == dm.App {
		return
	}
	u.mu.Lock()
	fresh := u.told.add(m.ID)
	u.mu.Unlock()
	if fresh {
		u.log.Warn("a message could not be read", "message", m.ID, "author", m.Author)
		u.notices.small(textUnread)
	}
}
