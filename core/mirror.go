package core

import (
	"context"
	"errors"

	"ollimbot/core/post"
	"ollimbot/core/transcript"
)

// mirror is the surface of a bot with a remote one: what reaches the user there
// is shown in the dashboard too, under the same id. A message that does not
// reach the user is shown nowhere, so that the agent and the budget can count on
// what they are told.
type mirror struct {
	remote Remote
	book   *transcript.Chat
}

func (m *mirror) Post(ctx context.Context, p post.Post) (post.MessageID, error) {
	id, err := m.remote.Post(ctx, p)
	if err != nil {
		return "", err
	}
	m.book.PostAs(id, p, m.remote.Status().Name)
	return id, nil
}

func (m *mirror) Edit(ctx context.Context, id post.MessageID, p post.Post) error {
	return errors.Join(m.remote.Edit(ctx, id, p), m.book.Edit(ctx, id, p))
}

func (m *mirror) Delete(ctx context.Context, id post.MessageID) error {
	return errors.Join(m.remote.Delete(ctx, id), m.book.Delete(ctx, id))
}

func (m *mirror) Typing(ctx context.Context) error { return m.remote.Typing(ctx) }

// small tells the user something about the program: in the chat, and where they
// are.
func (b *Bot) small(text string) {
	text = b.o.Book.Redact(text)
	b.book.Add(transcript.Notice, text)
	if b.o.Remote != nil {
		b.o.Remote.Small(text)
	}
}
