package core

import (
	"context"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/post"
	"ollimbot/core/transcript"
)

// finishWithin is how long the end of an answer may wait for the network.
const finishWithin = 20 * time.Second

// answering is one answer while it grows: on the transcript and, where there is
// one, on the remote surface.
type answering struct {
	entry  *transcript.Stream
	remote RemoteAnswer // nil without a remote surface
	where  string
}

func (b *Bot) speak() *answering {
	s := &answering{entry: b.book.Begin(transcript.Bot)}
	if b.o.Remote != nil {
		s.remote, s.where = b.o.Remote.Answer(), b.o.Remote.Status().Name
	}
	return s
}

func (s *answering) append(delta string) {
	s.entry.Append(delta)
	if s.remote != nil {
		s.remote.Append(delta)
	}
}

func (s *answering) rewind(n int) {
	s.entry.Rewind(n)
	if s.remote != nil {
		s.remote.Rewind(n)
	}
}

func (s *answering) tool(label string, denied bool) {
	shown := label
	if denied {
		shown = deniedLabel(label)
	}
	s.entry.Tool(shown)
	if s.remote != nil {
		s.remote.Tool(label, denied)
	}
}

func (s *answering) status(label string) {
	if s.remote != nil {
		s.remote.Status(label)
	}
}

func (s *answering) compacting(ev agent.Compacting) {
	if s.remote != nil {
		s.remote.Compacting(ev)
	}
}

func (s *answering) empty() bool { return s.entry.Empty() }

// end finishes the answer and tells under which ids it can be replied to.
// quietIsFine says that an answer without a word needs no excuse.
func (s *answering) end(ctx context.Context, quietIsFine bool) []post.MessageID {
	var ids []post.MessageID
	if !s.empty() {
		ids = append(ids, s.entry.ID())
	}
	if s.remote != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), finishWithin)
		defer cancel()
		elsewhere := s.remote.End(ctx, quietIsFine)
		s.entry.Elsewhere(s.where, elsewhere)
		ids = append(ids, elsewhere...)
	}
	s.entry.End()
	return ids
}
