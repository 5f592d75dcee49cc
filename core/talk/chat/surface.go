package chat

import (
	"context"
	"errors"

	"ollimbot/core/agent"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
)

// Surface is where the bot's words go. Discord is one; without it the
// dashboard's transcript is. Every method may block on a network and respects
// ctx; all may be called concurrently. After the bot has stopped they fail.
type Surface interface {
	// Post sends a message, once per nonce.
	Post(ctx context.Context, p post.Post) (post.MessageID, error)
	// Edit replaces a message that was posted before.
	Edit(ctx context.Context, id post.MessageID, p post.Post) error
	// Delete removes it; a message that is gone is no error.
	Delete(ctx context.Context, id post.MessageID) error
	// Typing shows that the bot is at work.
	Typing(ctx context.Context) error
}

// Remote is a surface that reaches the user away from the dashboard.
type Remote interface {
	Surface
	// Answer begins an answer that grows on the screen of the user.
	Answer() RemoteAnswer
	// Small shows a short notice of the program, in order with everything else.
	// It never blocks; a notice that cannot be delivered is dropped.
	Small(text string)
}

// RemoteAnswer is an answer on its way. No method blocks: a network that is slow
// or gone must never hold up a turn.
type RemoteAnswer interface {
	// Append adds text; Rewind takes the last n bytes of it back.
	Append(delta string)
	Rewind(n int)
	// Tool adds the label of a tool that was called, or that was refused.
	Tool(label string, denied bool)
	// Status shows what the bot does while it says nothing: "Thinking".
	Status(label string)
	// Compacting shows that the history is made shorter.
	Compacting(ev agent.Compacting)
	// End finishes the answer: what is not shown yet follows as soon as the network
	// allows. shown is called once, with the ids of the messages, when everything
	// is there or was given up. An answer that is empty leaves nothing behind, or
	// says so where it should not be.
	End(emptyIsFine bool, shown func(ids []post.MessageID))
}

// fanout is the surface of a bot with a remote one: what reaches the user there
// is shown in the dashboard too, under the same id. A message that does not
// reach the user is shown nowhere, so that the agent and the budget can count on
// what they are told.
type fanout struct {
	remote Remote
	name   string
	book   *transcript.Chat
}

func (f *fanout) Post(ctx context.Context, p post.Post) (post.MessageID, error) {
	id, err := f.remote.Post(ctx, p)
	if err != nil {
		return "", err
	}
	f.book.PostAs(id, p, f.name)
	return id, nil
}

func (f *fanout) Edit(ctx context.Context, id post.MessageID, p post.Post) error {
	return errors.Join(f.remote.Edit(ctx, id, p), f.book.Edit(ctx, id, p))
}

func (f *fanout) Delete(ctx context.Context, id post.MessageID) error {
	return errors.Join(f.remote.Delete(ctx, id), f.book.Delete(ctx, id))
}

func (f *fanout) Typing(ctx context.Context) error { return f.remote.Typing(ctx) }

// SystemNote tells the user something about the program: in the chat, and where
// they are.
func (c *Conversation) SystemNote(text string) {
	text = c.o.Hide(text)
	c.o.Transcript.Add(transcript.Notice, text)
	if c.o.Remote != nil {
		c.o.Remote.Small(text)
	}
}

// replyWriter is one answer while it grows: on the transcript and, where there is
// one, on the remote surface.
type replyWriter struct {
	entry  *transcript.Stream
	remote RemoteAnswer // nil without a remote surface
	where  string
}

func (c *Conversation) newReply() *replyWriter {
	s := &replyWriter{entry: c.o.Transcript.Begin(transcript.Bot)}
	if c.o.Remote != nil {
		s.remote, s.where = c.o.Remote.Answer(), c.o.RemoteName
	}
	return s
}

func (s *replyWriter) append(delta string) {
	s.entry.Append(delta)
	if s.remote != nil {
		s.remote.Append(delta)
	}
}

func (s *replyWriter) rewind(n int) {
	s.entry.Rewind(n)
	if s.remote != nil {
		s.remote.Rewind(n)
	}
}

func (s *replyWriter) tool(label string, denied bool) {
	if denied {
		s.entry.Denied(label)
	} else {
		s.entry.Tool(label)
	}
	if s.remote != nil {
		s.remote.Tool(label, denied)
	}
}

func (s *replyWriter) status(label string) {
	if s.remote != nil {
		s.remote.Status(label)
	}
}

func (s *replyWriter) compacting(ev agent.Compacting) {
	if s.remote != nil {
		s.remote.Compacting(ev)
	}
}

func (s *replyWriter) empty() bool { return s.entry.Empty() }

// end finishes the answer. shown is told under which ids it can be replied to:
// at once that of the chat, and later, from another goroutine, those elsewhere.
// quietIsFine says that an answer without a word needs no excuse.
func (s *replyWriter) end(quietIsFine bool, shown func([]post.MessageID)) {
	if !s.empty() {
		shown([]post.MessageID{s.entry.ID()})
	}
	s.entry.End()
	if s.remote == nil {
		return
	}
	s.remote.End(quietIsFine, func(ids []post.MessageID) {
		if len(ids) > 0 {
			s.entry.Elsewhere(s.where, ids)
			shown(ids)
		}
	})
}
