package chat

import (
	"context"
	"errors"

	"ollimbot/core/agent"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/transcript"
)

// Surface is where the bot's messages go. Discord is one; without it the
// dashboard's transcript is. Every method may block on a network and respects
// ctx; all may be called concurrently. After the bot has stopped they fail.
type Surface interface {
	// Post sends a message, once per nonce.
	Post(ctx context.Context, p post.Post) (post.MessageID, error)
	// Edit replaces a message that was posted before.
	Edit(ctx context.Context, id post.MessageID, p post.Post) error
	// Delete removes it; a message that no longer exists is no error.
	Delete(ctx context.Context, id post.MessageID) error
	// Typing shows that the bot is at work.
	Typing(ctx context.Context) error
}

// Remote is a surface that reaches the user away from the dashboard.
type Remote interface {
	Surface
	// Answer starts an answer that grows on the user's screen.
	Answer() RemoteAnswer
	// Small shows a short notice of the program, with buttons that have their lasting
	// actions, in order with everything else. It never blocks; a notice that cannot be
	// delivered is dropped.
	Small(text string, buttons ...post.Button)
	// Aside is Small for what the user need not know at once: it does not notify.
	Aside(text string)
}

// RemoteAnswer is an answer on its way. No method blocks: a slow or broken network
// must never delay a turn.
type RemoteAnswer interface {
	// Append adds text; Rewind removes its last n bytes again.
	Append(delta string)
	Rewind(n int)
	// Tool adds the label of a tool that was called, or that was refused.
	Tool(label string, denied bool)
	// Status shows what the bot does while it says nothing: "Thinking".
	Status(label string)
	// Compacting shows that the history is being compacted.
	Compacting(ev agent.Compacting)
	// End finishes the answer: what is not shown yet follows as soon as the network
	// allows. shown is called once, with the ids of the messages, when everything
	// was shown or given up. An empty answer leaves nothing behind, or an excuse if
	// it should not be empty.
	End(emptyIsFine bool, shown func(ids []post.MessageID))
}

// fanout is the surface of a bot with a remote one: what reaches the user there
// appears in the dashboard too, under the same id. A message that does not
// reach the user appears nowhere, so that the agent and the budget can rely on
// the result.
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

// reply is one answer while it grows: in the transcript and, if there is one, on the
// remote surface.
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
