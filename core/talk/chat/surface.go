package chat

import (
	"context"
	"errors"

	"ollimbot/core/agent"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
)

// Surface is where the bot's messages go, such as Discord. Without a remote surface it is
// the dashboard's transcript. Every method may block on a network and respects ctx; all
// must be safe for concurrent use. After the bot has stopped they fail.
type Surface interface {
	// Post sends a message, once per nonce.
	Post(ctx context.Context, p post.Post) (post.MessageID, error)
	// Edit replaces an earlier message.
	Edit(ctx context.Context, id post.MessageID, p post.Post) error
	// Delete removes a message; a missing one is not an error.
	Delete(ctx context.Context, id post.MessageID) error
	// Typing shows that the bot is working.
	Typing(ctx context.Context) error
}

// Remote is a surface that reaches the user away from the dashboard.
type Remote interface {
	Surface
	// Answer starts a streaming answer.
	Answer() RemoteAnswer
	// Small shows a short notice of the program, in order with everything else. Its buttons
	// already have their permanent actions. It never blocks; an undeliverable notice is
	// dropped.
	Small(text string, buttons ...post.Button)
	// Aside is Small for low-priority texts: it does not notify.
	Aside(text string)
}

// RemoteAnswer is a streaming answer. No method blocks: a slow or broken network must
// never delay a turn.
type RemoteAnswer interface {
	// Append adds text; Rewind removes the last n bytes.
	Append(delta string)
	Rewind(n int)
	// Tool adds the label of a tool call, allowed or denied.
	Tool(label string, denied bool)
	// Status shows what the bot is doing while it writes nothing: "Thinking".
	Status(label string)
	// Compacting shows that the history is being compacted.
	Compacting(ev agent.Compacting)
	// End finishes the answer: the rest follows as soon as the network allows. shown is
	// called once, with the ids of the messages, when everything was shown or given up. An
	// empty answer leaves no message, or an excuse unless emptyIsFine.
	End(emptyIsFine bool, shown func(ids []post.MessageID))
}

// fanout is the surface of a bot with a remote one: messages that reach the user there
// also appear in the dashboard, under the same id. A message that does not reach the user
// appears nowhere, so that the agent and the budget can rely on the result.
type fanout struct {
	remote     Remote
	name       string
	transcript *transcript.Chat
}

func (f *fanout) Post(ctx context.Context, p post.Post) (post.MessageID, error) {
	id, err := f.remote.Post(ctx, p)
	if err != nil {
		return "", err
	}
	f.transcript.PostAs(id, p, f.name)
	return id, nil
}

func (f *fanout) Edit(ctx context.Context, id post.MessageID, p post.Post) error {
	return errors.Join(f.remote.Edit(ctx, id, p), f.transcript.Edit(ctx, id, p))
}

func (f *fanout) Delete(ctx context.Context, id post.MessageID) error {
	return errors.Join(f.remote.Delete(ctx, id), f.transcript.Delete(ctx, id))
}

func (f *fanout) Typing(ctx context.Context) error { return f.remote.Typing(ctx) }

// reply is one streaming answer: in the transcript and, if there is one, on the remote
// surface.
type reply struct {
	entry  *transcript.Stream
	remote RemoteAnswer // nil without a remote surface
	where  string
}

func (r *reply) append(delta string) {
	r.entry.Append(delta)
	if r.remote != nil {
		r.remote.Append(delta)
	}
}

func (r *reply) rewind(n int) {
	r.entry.Rewind(n)
	if r.remote != nil {
		r.remote.Rewind(n)
	}
}

func (r *reply) tool(label string, denied bool) {
	if denied {
		r.entry.Denied(label)
	} else {
		r.entry.Tool(label)
	}
	if r.remote != nil {
		r.remote.Tool(label, denied)
	}
}

func (r *reply) status(label string) {
	if r.remote != nil {
		r.remote.Status(label)
	}
}

func (r *reply) compacting(ev agent.Compacting) {
	if r.remote != nil {
		r.remote.Compacting(ev)
	}
}

func (r *reply) empty() bool { return r.entry.Empty() }

// end finishes the answer. shown, unless nil, receives the ids under which it can be
// replied to: that of the transcript at once, those of the remote surface later, from
// another goroutine.
func (r *reply) end(emptyIsFine bool, shown func([]post.MessageID)) {
	if shown == nil {
		shown = func([]post.MessageID) {}
	}
	if !r.empty() {
		shown([]post.MessageID{r.entry.ID()})
	}
	r.entry.End()
	if r.remote == nil {
		return
	}
	r.remote.End(emptyIsFine, func(ids []post.MessageID) {
		if len(ids) > 0 {
			r.entry.Elsewhere(r.where, ids)
			shown(ids)
		}
	})
}
