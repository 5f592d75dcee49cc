package chat

import (
	"ollimbot/core/agent"
	"ollimbot/core/post"
	"ollimbot/core/transcript"
)

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
