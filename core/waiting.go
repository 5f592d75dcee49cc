package core

import (
	"slices"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/store"
)

const (
	waitingFile = "state/waiting_messages.json"
	waitingTurn = "waiting_messages"
)

// waitingMessage is a message of the user that the engine has not taken yet. It
// is on disk from the moment it was sent, so that it is answered even when the
// program ends before its turn comes. Images are not kept: they say so.
type waitingMessage struct {
	ID   string    `json:"id"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// keepWaiting writes a message down and returns its id.
func (b *Bot) keepWaiting(m agent.Message) (string, error) {
	w := waitingMessage{ID: store.NewID(), At: b.now(), Text: shownMessage(m)}
	return w.ID, b.changeWaiting(func(list []waitingMessage) []waitingMessage { return append(list, w) })
}

// taken forgets a message that the engine has.
func (b *Bot) taken(id string) {
	if id == "" {
		return
	}
	err := b.changeWaiting(func(list []waitingMessage) []waitingMessage {
		return slices.DeleteFunc(list, func(w waitingMessage) bool { return w.ID == id })
	})
	if err != nil {
		b.log.Error("an answered message could not be forgotten and may be answered again", "error", err)
	}
}

func (b *Bot) changeWaiting(do func([]waitingMessage) []waitingMessage) error {
	return b.dir.Exclusive(waitingTurn, func() error {
		var list []waitingMessage
		if _, err := b.dir.ReadJSON(waitingFile, &list); err != nil {
			b.log.Error("waiting messages could not be read", "error", err)
		}
		if list = do(list); len(list) == 0 {
			return b.dir.Remove(waitingFile)
		}
		return b.dir.WriteJSON(waitingFile, list)
	})
}

// resumeWaiting queues what the program's last end left unanswered.
func (b *Bot) resumeWaiting() {
	var list []waitingMessage
	if _, err := b.dir.ReadJSON(waitingFile, &list); err != nil {
		b.log.Error("waiting messages could not be read", "error", err)
	}
	for _, w := range list {
		if err := b.main.laterAnswer(agent.Message{Text: w.Text}, w.ID); err != nil {
			b.log.Error("a message from before could not be queued", "error", err)
		}
	}
	if len(list) > 0 {
		b.notice(Info, textResumeWaiting)
	}
}
