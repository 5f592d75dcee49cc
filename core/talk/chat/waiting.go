package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/notice"
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

// LastReceived is the key of the newest message that was taken from a surface
// (Message.Key), or empty.
func (c *Conversation) LastReceived(from string) string { return c.waitingRoom().Heard[from] }

func (c *Conversation) waitingRoom() waitingRoom {
	var room waitingRoom
	if _, err := c.o.Dir.ReadJSON(waitingFile, &room); err != nil {
		c.o.Log.Error("waiting messages could not be read", "error", err)
	}
	return room
}

// keepWaiting writes a message down and returns its id.
func (c *Conversation) keepWaiting(w inbound) (string, error) {
	m := waitingMessage{ID: store.NewID(), At: c.now(), Text: shownMessage(w.message)}
	c.mu.Lock()
	if !c.recovered {
		c.kept = append(c.kept, m.ID)
	}
	c.mu.Unlock()
	return m.ID, c.changeWaiting(func(room *waitingRoom) {
		room.Messages = append(room.Messages, m)
		room.noteNewest(w.from, w.key)
	})
}

// noteNewest notes the newest message that was heard from a surface.
func (w *waitingRoom) noteNewest(from, key string) {
	if key == "" {
		return
	}
	if w.Heard == nil {
		w.Heard = map[string]string{}
	}
	w.Heard[from] = key
}

// ack forgets messages that the engine has, or that are the user's again.
func (c *Conversation) ack(ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	return c.changeWaiting(func(room *waitingRoom) {
		room.Messages = slices.DeleteFunc(room.Messages, func(w waitingMessage) bool { return slices.Contains(ids, w.ID) })
	})
}

// forget is ack where nothing else depends on it.
func (c *Conversation) forget(ids ...string) {
	if err := c.ack(ids...); err != nil {
		c.o.Log.Error("an answered message could not be forgotten and may be answered again", "error", err)
	}
}

func (c *Conversation) changeWaiting(do func(*waitingRoom)) error {
	return c.o.Dir.WithLock(waitingTurn, func() error {
		room := c.waitingRoom()
		if do(&room); len(room.Messages) == 0 && len(room.Heard) == 0 {
			return c.o.Dir.Remove(waitingFile)
		}
		return c.o.Dir.WriteJSON(waitingFile, room)
	})
}

// Recover takes up what the program's last end left: a delivery whose fate is not
// known, and messages without an answer. It is called once, before Run.
func (c *Conversation) Recover(ctx context.Context) {
	c.recoverDelivery(ctx)
	c.resumeWaiting()
}

// resumeWaiting queues what the program's last end left unanswered, in front of
// what has come since the start: a surface may be quicker than Recover.
func (c *Conversation) resumeWaiting() {
	room := c.waitingRoom()
	var left []inbound
	c.mu.Lock()
	for _, w := range room.Messages {
		if !slices.Contains(c.kept, w.ID) {
			left = append(left, inbound{message: agent.Message{Text: w.Text}, id: w.ID})
		}
	}
	c.words = append(left, c.words...)
	c.kept, c.recovered = nil, true
	c.mu.Unlock()
	if len(left) == 0 {
		return
	}
	if err := c.answerWaiting(context.Background()); err != nil {
		c.o.Log.Error("messages from before could not be queued", "error", err)
	}
	c.o.Notices.Add(notice.Info, textResumeWaiting)
}

// noteReceived notes a message that needs no turn.
func (c *Conversation) noteReceived(from, key string) error {
	if key == "" {
		return nil
	}
	return c.changeWaiting(func(room *waitingRoom) { room.noteNewest(from, key) })
}

// enqueue takes the user's words: on disk and shown at once, answered when their
// turn comes. Whoever calls it lets answerWaiting follow.
func (c *Conversation) enqueue(w inbound) error {
	var err error
	if w.id, err = c.keepWaiting(w); err != nil {
		w.finish()
		return fmt.Errorf("keep the message: %w", err)
	}
	w.entry = c.showWords(w)
	c.mu.Lock()
	c.words = append(c.words, w)
	c.mu.Unlock()
	return nil
}

// answerWaiting queues one turn for all words that wait, unless it is queued: they
// are answered together. A running turn is interrupted first (not while it
// compacts): were the turn queued before that, the interruption could meet it.
// A queue that is full gives the words back to the user.
func (c *Conversation) answerWaiting(ctx context.Context) error {
	c.mu.Lock()
	begin := len(c.words) > 0 && !c.queued
	c.queued = c.queued || begin
	c.mu.Unlock()
	if !begin {
		return nil
	}
	if err := c.interruptFor(ctx); err != nil {
		c.o.Log.Warn("running turn was not interrupted", "error", err)
	}
	err := c.later(c.answerTogether)
	if err != nil {
		_, ids, finish := c.takeWords()
		c.forget(ids...)
		finish()
	}
	return err
}

// answerTogether is the turn that answers the words that wait.
func (c *Conversation) answerTogether(ctx context.Context) error {
	m, ids, finish := c.takeWords()
	defer finish()
	if len(ids) == 0 { // all of them were taken back
		return nil
	}
	return c.answer(ctx, m, ids...)
}

// takeWords is one message of all words that wait, in order, with their ids.
func (c *Conversation) takeWords() (m agent.Message, ids []string, finish func()) {
	c.mu.Lock()
	list := c.words
	c.words, c.queued = nil, false
	c.mu.Unlock()
	var texts []string
	for _, w := range list {
		ids = append(ids, w.id)
		m.Images = append(m.Images, w.message.Images...)
		if w.message.Text != "" {
			texts = append(texts, w.message.Text)
		}
	}
	m.Text = strings.Join(texts, "\n\n")
	return m, ids, func() {
		for _, w := range list {
			w.finish()
		}
	}
}

// Reword changes the text of a message whose turn has not begun, or, where it is
// gone, takes the message back. One whose turn has begun stays as it was, which is
// no error.
func (c *Conversation) Reword(from, key, text string, gone bool) error {
	c.mu.Lock()
	i := slices.IndexFunc(c.words, func(w inbound) bool { return key != "" && w.key == key && w.from == from })
	if i < 0 {
		c.mu.Unlock()
		return nil // its turn has begun, or it came to none
	}
	w := c.words[i]
	if gone {
		c.words = slices.Delete(c.words, i, i+1)
	} else {
		w.message.Text = replaced(w.message.Text, w.plain, text)
		w.shown, w.plain = replaced(w.shown, w.plain, text), text
		c.words[i] = w
	}
	c.mu.Unlock()
	if gone {
		c.forget(w.id)
		w.finish()
		return c.o.Transcript.Delete(context.Background(), w.entry)
	}
	if w.shown == "" {
		c.o.Transcript.Reword(w.entry, shownMessage(w.message))
	} else {
		c.o.Transcript.Reword(w.entry, w.shown)
	}
	return c.changeWaiting(func(room *waitingRoom) {
		for i := range room.Messages {
			if room.Messages[i].ID == w.id {
				room.Messages[i].Text = shownMessage(w.message)
			}
		}
	})
}

// replaced is a text with other words at its place of the old ones; what the bot
// has added stays.
func replaced(text, old, with string) string {
	if text == "" || !strings.Contains(text, old) {
		return text
	}
	i := strings.LastIndex(text, old) // a quote stands before them
	return strings.TrimSpace(text[:i] + with + text[i+len(old):])
}
