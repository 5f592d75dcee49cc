package chat

import (
	"context"
	"iter"

	"ollimbot/core/agent"
	"ollimbot/core/policy"
)

// unasked shows turns that a session begins by itself, such as when a command
// in the background has ended: each takes the lock like any turn, and waits for
// it here, because the events are kept only until this returns. A fork that has
// been left meanwhile has nobody to talk to.
func (c *Conversation) unasked(kind policy.Kind) func(iter.Seq2[agent.Event, error]) {
	return func(events iter.Seq2[agent.Event, error]) {
		shown := make(chan struct{})
		err := c.later(func(ctx context.Context) error {
			defer close(shown)
			return c.showUnasked(ctx, kind, events)
		})
		if err == nil {
			select {
			case <-shown:
			case <-c.done:
			}
			return
		}
		c.o.Log.Warn("a turn that began by itself was dropped", "error", err)
	}
}

func (c *Conversation) showUnasked(ctx context.Context, kind policy.Kind, events iter.Seq2[agent.Event, error]) error {
	c.mu.Lock()
	s := c.session
	f := c.fork
	c.mu.Unlock()
	if kind == policy.Interactive {
		if f == nil {
			return nil
		}
		s = f.session
	}
	c.begin(s, c.now())
	defer c.end()
	t := &turn{c: c, session: s, accepted: func() error { return nil }, ended: func(agent.Result) error { return nil }}
	return c.afterTurn(ctx, t.follow(ctx, events))
}
