package chat

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/words"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
)

// inbox keeps the user's messages from the moment they are received until a turn
// answers all of them.
type inbox struct {
	*unansweredFile
	*attachments
	poster *poster
	now    func() time.Time

	mu sync.Mutex
	// messages wait for the next turn; queued is set while that turn is in the queue.
	messages []inbound
	queued   bool
	// kept are the ids written to disk before recover has looked for those of the
	// program's last run; recovered is set once it has.
	kept      []string
	recovered bool
}

// keep writes a message to disk and returns its id there.
func (b *inbox) keep(m inbound) (string, error) {
	u := unansweredMessage{ID: store.NewID(), At: m.at, Text: shownMessage(m.message), Label: m.label}
	b.mu.Lock()
	if !b.recovered {
		b.kept = append(b.kept, u.ID)
	}
	b.mu.Unlock()
	err := b.change(func(s *unansweredState) {
		s.Messages = append(s.Messages, u)
		s.noteNewest(m.from, m.key)
	})
	if err != nil {
		return "", fmt.Errorf("keep the message: %w", err)
	}
	return u.ID, nil
}

// put adds a message: it is on disk and shown when this returns. A turn has to be
// queued for it.
func (b *inbox) put(m inbound) error {
	var err error
	if m.id, err = b.keep(m); err != nil {
		m.finish(err)
		return err
	}
	m.entry = b.poster.show(m)
	b.mu.Lock()
	b.messages = append(b.messages, m)
	b.mu.Unlock()
	return nil
}

// needsTurn reports whether messages wait for which no turn is queued. The caller
// queues one.
func (b *inbox) needsTurn() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	needed := len(b.messages) > 0 && !b.queued
	b.queued = b.queued || needed
	return needed
}

// take empties the inbox: one message made of all, in order. finish releases their callers.
func (b *inbox) take() (all batch, finish func(error)) {
	b.mu.Lock()
	list := b.messages
	b.messages, b.queued = nil, false
	b.mu.Unlock()
	var texts []string
	for _, one := range list {
		all.ids = append(all.ids, one.id)
		if one.at.After(all.written) {
			all.written = one.at
		}
		all.label = label.Join(all.label, one.label)
		all.message.Images = append(all.message.Images, one.message.Images...)
		if one.message.Text != "" {
			texts = append(texts, one.message.Text)
		}
	}
	all.message.Text = b.prompt(texts)
	return all, func(err error) {
		for _, one := range list {
			one.finish(err)
		}
	}
}

// maxTexts is how many messages a turn is told in full: a backlog of a thousand would fill the
// model's context and cost accordingly.
const maxTexts = 100

// prompt is one text made of all messages. Those before the newest maxTexts are in a file that
// the text names; if it cannot be written, they are all told.
func (b *inbox) prompt(texts []string) string {
	sep := "\n\n"
	earlier := len(texts) - maxTexts
	if earlier <= 0 {
		return strings.Join(texts, sep)
	}
	file, err := b.download("earlier-messages.txt", []byte(strings.Join(texts[:earlier], sep)+"\n"))
	if err != nil {
		b.attachments.log.Error("a long backlog could not be shortened", "error", err)
		return strings.Join(texts, sep)
	}
	return fmt.Sprintf(textEarlier, words.Count(earlier, "earlier message"), file) + sep + strings.Join(texts[earlier:], sep)
}

// recover puts what the program's last run left unanswered in front of what arrived
// since the start: a surface may be faster. It reports whether there was any.
func (b *inbox) recover() bool {
	state := b.load()
	var left []inbound
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, u := range state.Messages {
		if !slices.Contains(b.kept, u.ID) {
			left = append(left, inbound{message: agent.Message{Text: u.Text}, id: u.ID, at: u.At, label: u.Label})
		}
	}
	b.messages = append(left, b.messages...)
	b.kept, b.recovered = nil, true
	return len(left) > 0
}

// Reword changes the text of a message whose turn has not started or, if gone, takes
// the message back. A message whose turn has started stays unchanged, which is no
// error.
func (b *inbox) Reword(from, key, text string, gone bool) error {
	b.mu.Lock()
	i := slices.IndexFunc(b.messages, func(m inbound) bool { return key != "" && m.key == key && m.from == from })
	if i < 0 {
		b.mu.Unlock()
		return nil
	}
	m := b.messages[i]
	if gone {
		b.messages = slices.Delete(b.messages, i, i+1)
	} else {
		m.message.Text = replaced(m.message.Text, m.plain, text)
		m.shown, m.plain = replaced(m.shown, m.plain, text), text
		b.messages[i] = m
	}
	b.mu.Unlock()
	if gone {
		b.forget(m.id)
		m.finish(nil)
		return b.poster.transcript.Delete(context.Background(), m.entry)
	}
	b.poster.transcript.Reword(m.entry, m.shownText())
	return b.change(func(s *unansweredState) {
		for i := range s.Messages {
			if s.Messages[i].ID == m.id {
				s.Messages[i].Text = shownMessage(m.message)
			}
		}
	})
}

// replaced is a text with old, which the user wrote, replaced. What the bot has added
// stays.
func replaced(text, old, with string) string {
	if text == "" || !strings.Contains(text, old) {
		return text
	}
	i := strings.LastIndex(text, old) // a quote precedes it
	return strings.TrimSpace(text[:i] + with + text[i+len(old):])
}
