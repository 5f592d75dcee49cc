package discord

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"ollimbot/core/clean"
	"ollimbot/core/post"
	"ollimbot/core/store"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

const (
	// postWithin is how long a post waits for a network that is gone; then it
	// fails: its token is given back, unless it was sent and got no answer.
	postWithin = 60 * time.Second
	// maxUpload is Discord's limit for a file, in bytes.
	maxUpload = 10 << 20
)

// Post sends a message, once per nonce, and waits up to a minute for the
// network. A long text takes several messages; the post goes by the id of the
// last, for there stand the card and its buttons. Before the surface knows its
// user, and after it has stopped, the error is post.ErrNoChannel; where no answer
// came, or only a part of it arrived, post.ErrUnknown. Others are sentences of
// package rest, or about a file.
func (d *Discord) Post(ctx context.Context, p post.Post) (post.MessageID, error) {
	if why := d.board.gaveUp(); why != "" {
		return "", fmt.Errorf("%w: "+textStoppedAt, post.ErrNoChannel, why)
	}
	if err := checkFiles(p.Files); err != nil {
		return "", err
	}
	if p.Nonce == "" {
		p.Nonce = store.NewID() + store.NewID()
	}
	list := render.Posts(p)
	if len(list) == 0 {
		return "", errors.New(textEmptyPost)
	}
	list[0].Before = sync.OnceValue(p.Begin) // deliver may begin with the first message again
	within, cancel := context.WithTimeout(ctx, postWithin)
	defer cancel()
	ids, err := d.deliver(within, list)
	if err != nil {
		maybe := errors.Is(err, rest.ErrUnknown) || len(ids) > 0
		if err = ended(ctx, err); maybe {
			err = fmt.Errorf("%w: %w", post.ErrUnknown, err)
		}
		return "", err
	}
	d.memory.join(ids)
	return post.MessageID(ids[len(ids)-1]), nil
}

// ended is why a call that may wait has failed: its caller's end, or else what
// kept it waiting.
func ended(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return rest.ErrTransient
	}
	return err
}

// checkFiles finds files that Discord would refuse before anything is sent.
func checkFiles(paths []string) error {
	for _, path := range paths {
		shown := clean.Line(filepath.Base(path))
		info, err := os.Stat(path)
		if err != nil {
			return fmt.Errorf(textNoFile, shown, errors.Unwrap(err))
		}
		if info.Size() > maxUpload {
			return fmt.Errorf(textLargeFile, shown, float64(info.Size())/(1<<20))
		}
	}
	return nil
}

// Edit replaces a post. What it says then is one message, shortened where it has
// to be: the messages before the last are removed.
func (d *Discord) Edit(ctx context.Context, id post.MessageID, p post.Post) error {
	channel, err := d.room.at()
	if err != nil {
		return err
	}
	err = d.line.Edit(ctx, func(ctx context.Context) error {
		return patient(d.saw(d.rest.Edit(ctx, channel, string(id), render.Post(p))))
	})
	if err != nil {
		return err
	}
	return d.removeParts(ctx, channel, id)
}

// Delete removes a post with all its messages. One that is gone is no error.
func (d *Discord) Delete(ctx context.Context, id post.MessageID) error {
	channel, err := d.room.at()
	if err != nil {
		return err
	}
	return errors.Join(d.remove(ctx, channel, string(id)), d.removeParts(ctx, channel, id))
}

func (d *Discord) removeParts(ctx context.Context, channel string, id post.MessageID) error {
	for _, part := range d.memory.earlier(id) {
		if err := d.remove(ctx, channel, part); err != nil {
			return err
		}
	}
	d.memory.part(id)
	return nil
}

func (d *Discord) remove(ctx context.Context, channel, id string) error {
	if err := d.saw(d.rest.Delete(ctx, channel, id)); !errors.Is(err, rest.ErrGone) {
		return err
	}
	return nil
}

// Typing shows for some seconds that the bot is at work.
func (d *Discord) Typing(ctx context.Context) error {
	channel, err := d.room.at()
	if err != nil {
		return err
	}
	return d.saw(d.rest.Typing(ctx, channel))
}
