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

// inbound is a message of the user on its way to an answer.
type inbound struct {
	message agent.Message
	// shown is what the chat shows instead of the message; empty shows the message.
	shown string
	// quoted is what the answered message said, according to its surface.
	quoted    string
	at        time.Time   // when the user wrote it
	label     label.Label // of a text that somebody else wrote
	from, key string
	plain     string // what the user wrote, without additions
	// id is its id on disk, entry the one in the transcript.
	id    string
	entry post.MessageID
	// done has room for the error of a message that could not be answered, and is closed
	// when it has been answered or never will be; nil if no caller waits for it.
	done chan error
}

// batch is what a turn answers: one message made of several.
type batch struct {
	message agent.Message
	written time.Time   // when the user wrote the last one; zero if the words are not theirs
	label   label.Label // of the texts that others wrote
	ids     []string    // of the messages on disk
}

// batch is the message alone, under its id on disk.
func (m inbound) batch(id string) batch {
	return batch{message: m.message, written: m.at, label: m.label, ids: []string{id}}
}

// finish releases the caller that waits for the answer.
func (m inbound) finish(err error) {
	if m.done != nil {
		if err != nil {
			m.done <- err
		}
		close(m.done)
	}
}

// shownText is the message as the chat shows it.
func (m inbound) shownText() string { return cmp.Or(m.shown, shownMessage(m.message)) }

// quoting is the message with the one that it answers in front of it.
func (m inbound) quoting(answered string) inbound {
	m.shown = shownMessage(m.message)
	m.message.Text = prompt.Quote(cmp.Or(answered, m.quoted), m.message.Text)
	return m
}

// shownMessage is a user's message as the chat shows it.
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
