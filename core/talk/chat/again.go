package chat

import (
	"context"
	"errors"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
)

// failed is the user's message that could not be answered last, for the button that sends it
// again. It is not kept on disk: after a restart the button has expired.
type failed struct {
	mu      sync.Mutex
	id      string // of the button; empty when there is none
	message agent.Message
	written time.Time
}

// keep replaces the message.
func (f *failed) keep(id string, m agent.Message, written time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.id, f.message, f.written = id, m, written
}

// take gives the message of a button, once.
func (f *failed) take(id string) (m agent.Message, written time.Time, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id == "" || id != f.id {
		return m, written, false
	}
	m, written = f.message, f.written
	f.id, f.message = "", agent.Message{}
	return m, written, true
}

// offerAgain tells the user that a message was not answered, with a button to send it again.
// It returns the error that is left to tell.
func (c *Conversation) offerAgain(ctx context.Context, err error, m agent.Message, written time.Time) error {
	if err == nil || errors.Is(err, errTold) || ctx.Err() != nil {
		return err
	}
	id := store.NewID()
	c.failed.keep(id, m, written)
	c.tell(err, post.Button{Label: textTryAgain, Style: "primary", Action: post.TryAgain + ":" + id})
	return errTold
}

// tell shows why there is no answer.
func (c *Conversation) tell(err error, buttons ...post.Button) {
	c.log.Error(textTurnFailed, "error", err)
	c.note(textTurnFailed+": "+err.Error(), buttons...) // a toast disappears, the question stays
}
