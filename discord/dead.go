package discord

import (
	"context"
	"slices"

	"ollimbot/core/talk/post"
	"ollimbot/discord/render"
)

// hasFleeting reports whether a post has buttons that do nothing after a restart.
func hasFleeting(p post.Post) bool {
	return p.Embed != nil && slices.ContainsFunc(p.Embed.Buttons, post.Button.Fleeting)
}

// removeDead removes the buttons that the last process left and that do nothing any more: those of
// approvals whose tool call has ended with it, of open forks, and of messages to send again.
func (r *room) removeDead(ctx context.Context, asked, fleeting []string) {
	channel := r.state.dm().Channel
	for _, id := range asked {
		if !r.end(ctx, id, textNotAsked) {
			continue // ctx has ended, or the next start tries again
		}
		r.state.setAsked(id, false)
		for _, emoji := range render.AllReactions {
			if err := r.rest.Unreact(ctx, channel, id, emoji); err != nil {
				r.log.Debug("a reaction of the last start was not removed", "error", err)
			}
		}
	}
	for _, id := range fleeting {
		err := retry(ctx, func() error {
			return r.line.Edit(ctx, func(ctx context.Context) error { return r.rest.Buttons(ctx, channel, id, nil) })
		})
		if err == nil || !passes(err) {
			r.state.setFleeting(id, false)
		}
	}
}
