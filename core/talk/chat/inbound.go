package chat

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/safety/label"
	"ollimbot/core/talk/post"
)

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
