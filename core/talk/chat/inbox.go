package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/base/words"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/safety/label"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
)

// inbox stores the user's messages from their receipt until a turn answers all of them.
type inbox struct {
	*unansweredFile
	*attachments
	poster *poster
	now    func() time.Time

	mu sync.Mutex
	// unsaved are messages of a backlog that are not on disk yet. newest are the keys of the
	// newest messages by surface, as far as received by this process.
	unsaved []inbound
	newest  newestKeys
	// messages wait for the next turn; queued is set while that turn is in the queue.
	messages []inbound
	queued   bool
	// kept are the ids written to disk before recover looked for those from before the
	// restart; recovered is set once it has.
	kept      []string
	recovered bool
}

// maxUnsaved is how many messages of a backlog are written to disk at a time. If the
// program ends before that, their surface delivers them again.
const maxUnsaved = 50

// put adds a message; the caller must queue a turn for it. When put returns, the message
// is on disk and shown, unless more follow at once.
func (b *inbox) put(m inbound, more bool) error {
	b.mu.Lock()
	b.unsaved = append(b.unsaved, m)
	b.newest.note(m.from, m.key)
	full := len(b.unsaved) >= maxUnsaved
	b.mu.Unlock()
	if more && !full {
		return nil
	}
	return b.save()
}

// save writes the messages that put has deferred, and shows them.
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

// keep writes a message to disk, after the deferred ones, and returns its id there.
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
		b.newest.note(list[i].from, list[i].key)
		if !b.recovered {
			b.kept = append(b.kept, list[i].id)
		}
	}
	b.mu.Unlock()
	err := b.change(func(s *unansweredState) {
		for _, m := range list {
			s.Messages = append(s.Messages, unansweredMessage{ID: m.id, At: m.at, Text: shownMessage(m.message), Label: m.label})
			s.Heard.note(m.from, m.key)
		}
	})
	if err == nil {
		return nil
	}
	b.mu.Lock()
	b.newest = nil // the file has them
	b.mu.Unlock()
	return fmt.Errorf("keep the message: %w", err)
}

// LastReceived returns the key of the newest message received from a surface
// (command.Receive.Key), or "".
func (b *inbox) LastReceived(from string) string {
	b.mu.Lock()
	key := b.newest[from]
	b.mu.Unlock()
	if key != "" {
		return key
	}
	return b.load().Heard[from]
}

// noteReceived records a message that needs no turn, after the deferred ones.
func (b *inbox) noteReceived(from, key string) error {
	if key == "" {
		return nil
	}
	b.mu.Lock()
	b.newest.note(from, key)
	b.mu.Unlock()
	return errors.Join(b.save(), b.change(func(s *unansweredState) { s.Heard.note(from, key) }))
}

// needsTurn reports whether messages are waiting without a queued turn. The caller queues
// one.
func (b *inbox) needsTurn() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	needed := len(b.messages) > 0 && !b.queued
	b.queued = b.queued || needed
	return needed
}

// take empties the inbox into one message, in order. finish releases the callers.
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

// maxTexts is the maximum number of messages included in full in a turn: a backlog of a
// thousand would fill the model's context and cost accordingly.
const maxTexts = 100

// prompt combines all messages into one text. Those before the newest maxTexts go to a
// file that the text names; if it cannot be written, they are all included.
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

// recover puts the unanswered messages from before the restart in front of those received
// since, because a surface may have been faster. It reports whether there were any.
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

// Reword changes the text of a message whose turn has not started or, if gone, takes the
// message back. A message whose turn has started stays unchanged, which is not an error.
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

// replaced replaces old, which the user wrote, in a text. The bot's additions stay.
func replaced(text, old, with string) string {
	if text == "" || !strings.Contains(text, old) {
		return text
	}
	i := strings.LastIndex(text, old) // a quote precedes it
	return strings.TrimSpace(text[:i] + with + text[i+len(old):])
}

// inbound is a message of the user that is being processed.
type inbound struct {
	message agent.Message
	// shown is the text shown in the chat instead of the message; empty shows the message.
	shown string
	// quoted is the text of the message being replied to, according to its surface.
	quoted    string
	at        time.Time   // when the user wrote it
	label     label.Label // of a text written by someone else
	from, key string
	plain     string // the user's text, without additions
	// id is its id on disk, entry the one in the transcript.
	id    string
	entry post.MessageID
	// done is buffered for the error of a message that could not be answered. It is closed
	// when the message was answered or never will be. Nil if no caller waits for it.
	done chan error
}

// batch is the input of a turn: one message made of several.
type batch struct {
	message agent.Message
	written time.Time   // when the user wrote the last one; zero if someone else wrote them
	label   label.Label // of the texts written by others
	ids     []string    // of the messages on disk
}

// batch is the message alone, under its id on disk.
func (m inbound) batch(id string) batch {
	return batch{message: m.message, written: m.at, label: m.label, ids: []string{id}}
}

// finish releases the caller waiting for the answer.
func (m inbound) finish(err error) {
	if m.done != nil {
		if err != nil {
			m.done <- err
		}
		close(m.done)
	}
}

// shownText returns the message as shown in the chat.
func (m inbound) shownText() string { return cmp.Or(m.shown, shownMessage(m.message)) }

// quoting prepends the message being replied to.
func (m inbound) quoting(answered string) inbound {
	m.shown = shownMessage(m.message)
	m.message.Text = prompt.Quote(cmp.Or(answered, m.quoted), m.message.Text)
	return m
}

// shownMessage returns a user's message as shown in the chat.
func shownMessage(m agent.Message) string {
	switch n := len(m.Images); n {
	case 0:
		return m.Text
	case 1:
		return strings.TrimSpace(m.Text + "\n[1 image]")
	default:
		return strings.TrimSpace(fmt.Sprintf("%s\n[%d images]", m.Text, n))
	}
}

const (
	unansweredPath = "state/waiting_messages.json"
	unansweredLock = "waiting_messages"
)

// unansweredMessage is a message that the engine does not have yet. It is on disk from
// its receipt, so that it is answered even if the program ends first. Images are not
// stored; the text mentions them.
type unansweredMessage struct {
	ID    string      `json:"id"`
	At    time.Time   `json:"at"`
	Text  string      `json:"text"`
	Label label.Label `json:"label,omitempty"`
}

// unansweredState is the content of the file: the messages, and the newest key of each
// surface. Both change in one write, so that a message that arrives again after a crash
// is recognized if and only if it was stored.
type unansweredState struct {
	Messages []unansweredMessage `json:"messages,omitempty"`
	Heard    newestKeys          `json:"heard,omitempty"`
}

// UnmarshalJSON also reads the format of earlier versions: the messages alone.
func (s *unansweredState) UnmarshalJSON(data []byte) error {
	var list []unansweredMessage
	if json.Unmarshal(data, &list) == nil {
		*s = unansweredState{Messages: list}
		return nil
	}
	type plain unansweredState
	return json.Unmarshal(data, (*plain)(s))
}

// newestKeys are the keys of the newest messages by surface.
type newestKeys map[string]string

// note records the newest message received from a surface.
func (n *newestKeys) note(from, key string) {
	if key == "" {
		return
	}
	if *n == nil {
		*n = newestKeys{}
	}
	(*n)[from] = key
}

// unansweredFile stores the unanswered messages on disk. Its methods are safe for
// concurrent use.
type unansweredFile struct {
	dir *store.Dir
	log *slog.Logger
}

func (f *unansweredFile) load() unansweredState {
	var state unansweredState
	if _, err := f.dir.ReadJSON(unansweredPath, &state); err != nil {
		f.log.Error("waiting messages could not be read", "error", err)
	}
	return state
}

func (f *unansweredFile) change(do func(*unansweredState)) error {
	return f.dir.WithLock(unansweredLock, func() error {
		state := f.load()
		if do(&state); len(state.Messages) == 0 && len(state.Heard) == 0 {
			return f.dir.Remove(unansweredPath)
		}
		return f.dir.WriteJSON(unansweredPath, state)
	})
}

// ack removes messages that the engine has, or that were returned to the user.
func (f *unansweredFile) ack(ids ...string) error {
	if len(ids) == 0 {
		return nil
	}
	return f.change(func(s *unansweredState) {
		s.Messages = slices.DeleteFunc(s.Messages, func(m unansweredMessage) bool { return slices.Contains(ids, m.ID) })
	})
}

// forget is ack for callers that cannot handle an error.
func (f *unansweredFile) forget(ids ...string) {
	if err := f.ack(ids...); err != nil {
		f.log.Error("an answered message could not be forgotten and may be answered again", "error", err)
	}
}
