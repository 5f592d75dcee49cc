package core

import (
	"encoding/json"
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

// waitingRoom is the file: what waits, and the newest key that was heard from
// each surface. Both change in one write, so that a message that comes again
// after a crash is known, and one that was not written down is not.
type waitingRoom struct {
	Messages []waitingMessage  `json:"messages,omitempty"`
	Heard    map[string]string `json:"heard,omitempty"`
}

// UnmarshalJSON also reads what earlier versions wrote: the messages alone.
func (w *waitingRoom) UnmarshalJSON(data []byte) error {
	var list []waitingMessage
	if json.Unmarshal(data, &list) == nil {
		*w = waitingRoom{Messages: list}
		return nil
	}
	type plain waitingRoom
	return json.Unmarshal(data, (*plain)(w))
}

// LastHeard is the key of the newest message that was taken from a surface
// (Hear.Key), or empty.
func (b *Bot) LastHeard(from string) string { return b.waitingRoom().Heard[from] }

func (b *Bot) waitingRoom() waitingRoom {
	var room waitingRoom
	if _, err := b.dir.ReadJSON(waitingFile, &room); err != nil {
		b.log.Error("waiting messages could not be read", "error", err)
	}
	return room
}

// keepWaiting writes a message down and returns its id.
func (b *Bot) keepWaiting(said said) (string, error) {
	w := waitingMessage{ID: store.NewID(), At: b.now(), Text: shownMessage(said.message)}
	return w.ID, b.changeWaiting(func(room *waitingRoom) {
		room.Messages = append(room.Messages, w)
		if said.key == "" {
			return
		}
		if room.Heard == nil {
			room.Heard = map[string]string{}
		}
		room.Heard[said.from] = said.key
	})
}

// ack forgets a message that the engine has, or that is the user's again.
func (b *Bot) ack(id string) error {
	if id == "" {
		return nil
	}
	return b.changeWaiting(func(room *waitingRoom) {
		room.Messages = slices.DeleteFunc(room.Messages, func(w waitingMessage) bool { return w.ID == id })
	})
}

// taken is ack where nothing else depends on it.
func (b *Bot) taken(id string) {
	if err := b.ack(id); err != nil {
		b.log.Error("an answered message could not be forgotten and may be answered again", "error", err)
	}
}

func (b *Bot) changeWaiting(do func(*waitingRoom)) error {
	return b.dir.Exclusive(waitingTurn, func() error {
		room := b.waitingRoom()
		if do(&room); len(room.Messages) == 0 && len(room.Heard) == 0 {
			return b.dir.Remove(waitingFile)
		}
		return b.dir.WriteJSON(waitingFile, room)
	})
}

// resumeWaiting queues what the program's last end left unanswered.
func (b *Bot) resumeWaiting() {
	room := b.waitingRoom()
	for _, w := range room.Messages {
		if err := b.main.laterAnswer(said{message: agent.Message{Text: w.Text}}, w.ID); err != nil {
			b.log.Error("a message from before could not be queued", "error", err)
		}
	}
	if len(room.Messages) > 0 {
		b.notice(Info, textResumeWaiting)
	}
}
