package chat

import (
	"context"
	"errors"
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
	// unsaved are messages of a backlog that are not on disk yet, and newest the keys of the
	// newest messages by their surfaces, as far as they came in this process.
	unsaved []inbound
	newest  map[string]string
	// messages wait for the next turn; queued is set while that turn is in the queue.
	messages []inbound
	queued   bool
	// kept are the ids written to disk before recover has looked for those of the
	// program's last run; recovered is set once it has.
	kept      []string
	recovered bool
}

// maxUnsaved is how many messages of a backlog are written to disk at a time. If the program
// ends before, their surface passes them on again.
const maxUnsaved = 50

// put adds a message; a turn has to be queued for it. It is on disk and shown when this
// returns, unless more follow at once.
func (b *inbox) put(m inbound, more bool) error {
	b.mu.Lock()
	b.unsaved = append(b.unsaved, m)
	b.hear(m.from, m.key)
	full := len(b.unsaved) >= maxUnsaved
	b.mu.Unlock()
	if more && !full {
		return nil
	}
	return b.save()
}

// save writes what put has left, and shows it.
func (b *inbox) save() error {
	b.mu.Lock()
	list := b.unsaved
	b.unsaved = nil
	b.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	if err := b.write(list); err != nil {
		for _, m := range list {
			m.finish(err)
		}
		return err
	}
	for i := range list {
		list[i].entry = b.poster.show(list[i])
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.messages = append(b.messages, list...)
	return nil
}

// keep writes a message to disk, after those that put has left, and returns its id there.
func (b *inbox) keep(m inbound) (string, error) {
	list := []inbound{m}
	err := b.save()
	if err == nil {
		err = b.write(list)
	}
	return list[0].id, err
}

// write writes messages to disk and sets their ids there.
func (b *inbox) write(list []inbound) error {
	b.mu.Lock()
	for i := range list {
		list[i].id = store.NewID()
		b.hear(list[i].from, list[i].key)
		if !b.recovered {
			b.kept = append(b.kept, list[i].id)
		}
	}
	b.mu.Unlock()
	err := b.change(func(s *unansweredState) {
		for _, m := range list {
			s.Messages = append(s.Messages, unansweredMessage{ID: m.id, At: m.at, Text: shownMessage(m.message), Label: m.label})
			s.noteNewest(m.from, m.key)
		}
	})
	if err == nil {
		return nil
	}
	b.mu.Lock()
	b.newest = nil // the file knows
	b.mu.Unlock()
	return fmt.Errorf("keep the message: %w", err)
}

// hear notes the newest message of a surface. The caller holds mu.
func (b *inbox) hear(from, key string) {
	if key == "" {
		return
	}
	if b.newest == nil {
		b.newest = map[string]string{}
	}
	b.newest[from] = key
}

// LastReceived is the key of the newest message that was received from a surface
// (command.Receive.Key), or empty.
func (b *inbox) LastReceived(from string) string {
	b.mu.Lock()
	key := b.newest[from]
	b.mu.Unlock()
	if key != "" {
		return key
	}
	return b.load().Heard[from]
}

// noteReceived records a message that needs no turn, after those that put has left.
func (b *inbox) noteReceived(from, key string) error {
	if key == "" {
		return nil
	}
	b.mu.Lock()
	b.hear(from, key)
	b.mu.Unlock()
	return errors.Join(b.save(), b.change(func(s *unansweredState) { s.noteNewest(from, key) }))
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
