// Package stream shows one answer while it grows, as messages of a Discord
// channel: a status line that becomes the text, edits that bring the
// newest text, further messages where one is full. It owns what the answer says
// and which messages show it, and the order in which several writers send. It
// knows no gateway and no bot: the channel is an interface, whose refusals are
// those of package rest.
package stream

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"ollimbot/core/post"
	"ollimbot/discord/rest"
)

// ErrRefused is the answer of a Channel that will never take anything. So are
// refusals of package rest that no second try can mend. The answer gives up.
var ErrRefused = errors.New("the channel refuses the message")

// final reports whether no try will ever succeed.
func final(err error) bool {
	for _, known := range []error{ErrRefused, rest.ErrAuth, rest.ErrForbidden, rest.ErrInvalid, rest.ErrNoChannel} {
		if errors.Is(err, known) {
			return true
		}
	}
	return false
}

// Page is one message. File is the text of a file that comes with it, or empty.
type Page struct{ Text, File string }

// Channel is the one channel of direct messages. Its methods block on the
// network, respect ctx and may be called concurrently. Texts are not empty and
// have at most 2,000 UTF-16 units. Errors are those of package rest: where a
// message is gone or too old a new one takes its place, a limit is waited for, a
// user who shuts the bot out is tried again now and then, and anything that is not
// final is taken for trouble of the network: the call is made again.
type Channel interface {
	// Send sends a message; the same nonce is one message over all tries, and its
	// id is the answer to each. rest.ErrGone says that it was deleted between two tries.
	Send(ctx context.Context, m Page, nonce string) (post.MessageID, error)
	// Edit replaces a message's text: rest.ErrGone, rest.ErrOldEdit.
	Edit(ctx context.Context, id post.MessageID, text string) error
	// Delete removes a message; rest.ErrGone where it does not exist.
	Delete(ctx context.Context, id post.MessageID) error
	// Typing shows for ten seconds that the bot writes.
	Typing(ctx context.Context) error
}

// Options are what an answer needs. Only Channel must be given.
type Options struct {
	Channel Channel
	Log     *slog.Logger
	// Line is shared by all that write into the channel.
	Line *Line
	// Messages is how many an answer may have. What is longer ends with a file that
	// holds all of it. Zero is no limit.
	Messages int
	// Growing is told that the answer grows in a message, and that it no longer
	// does: what it was told last when the program dies is a half answer. Nil is
	// nobody.
	Growing func(id post.MessageID, there bool)
}

// How fast an answer moves.
const (
	// flushAfter is how long the first words wait for more to be shown with them.
	flushAfter = 200 * time.Millisecond
	// silence is how long the bot may say nothing before a status says what it does.
	silence = 300 * time.Millisecond
	// typingEvery is how often the typing indicator is renewed while nothing else
	// changes; Discord shows it for ten seconds. It begins after a quarter of that.
	typingEvery = 8 * time.Second
	// longestPause is that between two tries while the network is gone.
	longestPause = 5 * time.Second
)
