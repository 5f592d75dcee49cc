package chat

import (
	"context"
	"errors"
	"sync"

	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
)

// failed is the user's last message that could not be answered, for the button that sends
// it again. It is not stored on disk: after a restart the button has expired.
type failed struct {
	mu  sync.Mutex
	id  string // of the button; empty if there is none
	all batch  // without ids: they are no longer on disk
}

// keep replaces the message.
func (f *failed) keep(id string, all batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all.ids = nil
	f.id, f.all = id, all
}

// take returns the message of a button, once.
func (f *failed) take(id string) (all batch, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if id == "" || id != f.id {
		return batch{}, false
	}
	all = f.all
	f.id, f.all = "", batch{}
	return all, true
}

// offerAgain tells the user that a message was not answered, with a button to send it
// again. It returns the error that still has to be reported.
func (c *Conversation) offerAgain(ctx context.Context, err error, all batch) error {
	if err == nil || errors.Is(err, errTold) || ctx.Err() != nil {
		return err
	}
	id := store.NewID()
	c.failed.keep(id, all)
	c.tell(err, post.Button{Label: textTryAgain, Style: "primary", Action: post.TryAgain + ":" + id})
	return errTold
}

// tell shows the reason for a missing answer.
func (c *Conversation) tell(err error, buttons ...post.Button) {
	c.log.Error(textTurnFailed, "error", err)
	c.note(textTurnFailed+": "+err.Error(), buttons...) // a toast disappears, the question stays
}
