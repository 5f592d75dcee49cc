// Package stream shows one answer while it grows, as messages of a Discord
// channel: a status line that becomes the text, edits that bring the
// newest text, further messages where one is full. It owns what the answer says
// and which messages show it, and the order in which several writers send. It
// knows no gateway, no bot and no HTTP: the channel is an interface.
package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ollimbot/core/post"
)

// What a Channel answers where an answer can go on in another way. Any other
// error is taken for trouble of the network: the call is made again.
var (
	// ErrGone: the message does not exist any more. A new one takes its place, once:
	// whoever deletes that as well does not want the answer.
	ErrGone = errors.New("the message was deleted")
	// ErrOldEdit: the message is too old to be edited often (more than an hour). A
	// new one takes its place.
	ErrOldEdit = errors.New("the message is too old to be edited")
	// ErrShutOut: the user does not let the bot write to them. They may change that
	// at any moment: it is tried again, now and then.
	ErrShutOut = errors.New("the user does not let the bot write to them")
	// ErrRefused: no try will ever succeed, for the token is wrong or the user shut
	// the bot out. The answer gives up.
	ErrRefused = errors.New("the channel refuses the message")
)

// LimitedError is the answer of a channel that wants to be left alone: the call
// was not carried out, and can be made again after After.
type LimitedError struct{ After time.Duration }

func (e *LimitedError) Error() string {
	return fmt.Sprintf("the channel allows no more for %v", e.After)
}

// Page is one message. File is the text of a file that comes with it, or empty.
type Page struct{ Text, File string }

// Channel is the one channel of direct messages. Its methods block on the
// network, respect ctx and may be called concurrently. Texts are not empty and
// have at most 2,000 UTF-16 units.
type Channel interface {
	// Send sends a message; the same nonce is one message over all tries, and its
	// id is the answer to each. ErrGone says that it was deleted between two tries.
	Send(ctx context.Context, m Page, nonce string) (post.MessageID, error)
	// Edit replaces a message's text: ErrGone, ErrOldEdit.
	Edit(ctx context.Context, id post.MessageID, text string) error
	// Delete removes a message; ErrGone where it does not exist.
	Delete(ctx context.Context, id post.MessageID) error
	// Typing shows for ten seconds that the bot writes.
	Typing(ctx context.Context) error
}

// Options are what an answer needs. Only Channel must be given.
type Options struct {
	Channel Channel
	Log     *slog.Logger
	// Line is shared by all that write into the channel.
	Line   *Line
	Timing Timing
	// Messages is how many an answer may have. What is longer ends with a file that
	// holds all of it. Zero is no limit.
	Messages int
	// Growing is told that the answer grows in a message, and that it no longer
	// does: what it was told last when the program dies is a half answer. Nil is
	// nobody.
	Growing func(id post.MessageID, there bool)
}

// Timing is how fast an answer moves. What is zero has the value of the comment.
type Timing struct {
	// Flush is how long the first words wait for more to be shown with them: 0.2 s.
	Flush time.Duration
	// Status is how long the bot may be silent before a status says what it does:
	// 0.3 s.
	Status time.Duration
	// Typing is how often the typing indicator is renewed while nothing else
	// changes: 8 s; Discord shows it for ten. It begins after a quarter of that.
	Typing time.Duration
	// Patience is the longest pause between two tries while the network is gone:
	// 5 s.
	Patience time.Duration
}

func (t Timing) orDefault() Timing {
	fill := func(d *time.Duration, value time.Duration) {
		if *d <= 0 {
			*d = value
		}
	}
	fill(&t.Flush, 200*time.Millisecond)
	fill(&t.Status, 300*time.Millisecond)
	fill(&t.Typing, 8*time.Second)
	fill(&t.Patience, 5*time.Second)
	return t
}
