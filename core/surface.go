package core

import (
	"context"

	"ollimbot/core/post"
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
