package core

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/command"
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
		room.hear(said.from, said.key)
	})
}

// hear notes the newest message that was heard from a surface.
func (w *waitingRoom) hear(from, key string) {
	if key == "" {
		return
	}
	if w.Heard == nil {
		w.Heard = map[string]string{}
	}
	w.Heard[from] = key
}

// ack forgets messages that the engine has, or that are the user's again.
func (b *Bot) ack(ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	return b.changeWaiting(func(room *waitingRoom) {
		room.Messages = slices.DeleteFunc(room.Messages, func(w waitingMessage) bool { return slices.Contains(ids, w.ID) })
	})
}

// taken is ack where nothing else depends on it.
func (b *Bot) taken(ids ...string) {
	if err := b.ack(ids...); err != nil {
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
	if len(room.Messages) == 0 {
		return
	}
	for _, w := range room.Messages {
		b.main.words = append(b.main.words, said{message: agent.Message{Text: w.Text}, id: w.ID})
	}
	if err := b.main.answerWords(context.Background()); err != nil {
		b.log.Error("messages from before could not be queued", "error", err)
	}
	b.notice(Info, textResumeWaiting)
}

// say takes the user's words: on disk and shown at once, answered when the lock
// is free. Whoever calls it lets answerWords follow.
func (c *conversation) say(_ context.Context, w said) error {
	var err error
	if w.id, err = c.bot.keepWaiting(w); err != nil {
		w.finish()
		return fmt.Errorf("keep the message: %w", err)
	}
	w.entry = c.bot.showWords(w)
	c.mu.Lock()
	c.words = append(c.words, w)
	c.mu.Unlock()
	return nil
}

// answerWords queues one turn for all words that wait, unless it is queued: they
// are answered together. A running turn is interrupted first (not while it
// compacts): were the turn queued before that, the interruption could meet it.
// A queue that is full gives the words back to the user.
func (c *conversation) answerWords(ctx context.Context) error {
	c.mu.Lock()
	begin := len(c.words) > 0 && !c.queued
	c.queued = c.queued || begin
	c.mu.Unlock()
	if !begin {
		return nil
	}
	if err := c.interruptFor(ctx); err != nil {
		c.bot.log.Warn("running turn was not interrupted", "error", err)
	}
	err := c.later(c.answerTogether)
	if err != nil {
		_, ids, finish := c.takeWords()
		c.bot.taken(ids...)
		finish()
	}
	return err
}

// answerTogether is the turn that answers the words that wait.
func (c *conversation) answerTogether(ctx context.Context) error {
	m, ids, finish := c.takeWords()
	defer finish()
	if len(ids) == 0 { // all of them were taken back
		return nil
	}
	return c.answer(ctx, m, ids...)
}

// takeWords is one message of all words that wait, in order, with their ids.
func (c *conversation) takeWords() (m agent.Message, ids []string, finish func()) {
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

// reword changes words that wait, or takes them back.
func (b *Bot) reword(c command.Reword) (command.Outcome, error) {
	b.main.mu.Lock()
	i := slices.IndexFunc(b.main.words, func(w said) bool { return c.Key != "" && w.key == c.Key && w.from == c.From })
	if i < 0 {
		b.main.mu.Unlock()
		return command.Outcome{}, nil // its turn has begun, or it came to none
	}
	w := b.main.words[i]
	if c.Gone {
		b.main.words = slices.Delete(b.main.words, i, i+1)
	} else {
		w.message.Text = replaced(w.message.Text, w.plain, c.Text)
		w.shown, w.plain = replaced(w.shown, w.plain, c.Text), c.Text
		b.main.words[i] = w
	}
	b.main.mu.Unlock()
	if c.Gone {
		b.taken(w.id)
		w.finish()
		return command.Outcome{}, b.book.Delete(context.Background(), w.entry)
	}
	if w.shown == "" {
		b.book.Reword(w.entry, shownMessage(w.message))
	} else {
		b.book.Reword(w.entry, w.shown)
	}
	return command.Outcome{}, b.changeWaiting(func(room *waitingRoom) {
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
