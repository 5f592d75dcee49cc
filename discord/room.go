package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ollimbot/core/talk/post"
	"ollimbot/discord/rest"
	"ollimbot/discord/stream"
)

// room is the direct messages between the bot and its owner: where everything is
// written, and what is noted when Discord refuses it. It is the stream.Channel of an
// answer. It must not know what is said.
type room struct {
	rest   *rest.Client
	line   *stream.Line
	state  *state
	status *status
	log    *slog.Logger
	life   context.Context // ends when nothing is sent any more
}

var _ stream.Channel = (*room)(nil)

// channel is where. Before it is known, and after the surface has stopped, its
// error is post.ErrNoChannel.
func (r *room) channel() (string, error) {
	dm, ok := r.state.known()
	switch {
	case r.status.gaveUp() != "":
		return "", errors.Join(post.ErrNoChannel, stream.ErrRefused)
	case !ok:
		return "", post.ErrNoChannel
	case dm.Channel == "":
		return "", rest.ErrCannotDM
	}
	return dm.Channel, nil
}

// deliver sends a message when it is its turn, and tries again while the trouble may
// pass and ctx lasts. Every try has the nonce of the first. The error is Discord's last,
// or that of ctx if it ended first.
func (r *room) deliver(ctx context.Context, m rest.Message) (id string, err error) {
	var tries pauses
	maybe := false
	for {
		err = r.line.Send(ctx, func(ctx context.Context) error {
			id, err = r.send(ctx, m)
			return err
		})
		// At the start the channel is only just being looked up.
		soon := errors.Is(err, post.ErrNoChannel) && r.status.gaveUp() == "" && r.life.Err() == nil
		if maybe = maybe || errors.Is(err, rest.ErrUnknown); maybe && err != nil {
			err = rest.Unknown(err) // an earlier try may be there
		}
		if err == nil || !soon && !passes(err) || ctx.Err() != nil {
			return id, err
		}
		if over, ok := ctx.Deadline(); ok && time.Until(over) < shortPause {
			return id, err
		}
		if tries.wait(ctx) != nil {
			return id, err
		}
	}
}

// send sends one message.
func (r *room) send(ctx context.Context, m rest.Message) (string, error) {
	channel, err := r.channel()
	if err != nil {
		return "", err
	}
	id, err := r.rest.Send(ctx, channel, m)
	if errors.Is(err, rest.ErrNoChannel) { // another one is open by now, or can be
		if err = r.reopen(ctx); err == nil {
			id, err = r.rest.Send(ctx, r.state.dm().Channel, m)
		}
	}
	r.noteReach(err)
	return id, err
}

// Send sends a message of an answer.
func (r *room) Send(ctx context.Context, p stream.Page, nonce string) (post.MessageID, error) {
	m := rest.Message{Content: p.Text, Nonce: nonce}
	if p.File != "" {
		m.Files = []rest.File{{Name: textAnswerFile, Read: func() ([]byte, error) { return []byte(p.File), nil }}}
	}
	id, err := r.send(ctx, m)
	return post.MessageID(id), err
}

// do does something to a message there.
func (r *room) do(f func(channel string) error) error {
	channel, err := r.channel()
	if err != nil {
		return err
	}
	return f(channel)
}

// Edit replaces its text; the answer stands in line by itself.
func (r *room) Edit(ctx context.Context, id post.MessageID, text string) error {
	return r.do(func(channel string) error {
		return r.rest.Edit(ctx, channel, string(id), rest.Message{Content: text})
	})
}

// Delete removes it.
func (r *room) Delete(ctx context.Context, id post.MessageID) error {
	return r.do(func(channel string) error { return r.rest.Delete(ctx, channel, string(id)) })
}

// Typing shows that the bot writes.
func (r *room) Typing(ctx context.Context) error {
	return r.do(func(channel string) error { return r.rest.Typing(ctx, channel) })
}

// replace replaces a message when it is its turn.
func (r *room) replace(ctx context.Context, id string, m rest.Message) error {
	return r.do(func(channel string) error {
		return r.line.Edit(ctx, func(ctx context.Context) error { return r.rest.Edit(ctx, channel, id, m) })
	})
}

// noteReach records whether the bot may write to its user.
func (r *room) noteReach(err error) {
	changed, why := r.status.noteReach(err)
	if err == nil || changed { // it may have been noted before the last start
		r.state.setShutOut(why)
	}
	if !changed {
		return
	}
	if why == "" {
		r.log.Info("the user can be reached in Discord again")
		return
	}
	r.log.Error("the user cannot be reached in Discord", "cure", why)
}

// open opens the direct messages with a user and returns their channel.
func (r *room) open(ctx context.Context, owner string) (string, error) {
	channel, err := r.rest.OpenDM(ctx, owner)
	if errors.Is(err, rest.ErrInvalid) || errors.Is(err, rest.ErrGone) || errors.Is(err, rest.ErrNoChannel) {
		return "", fmt.Errorf(textWrongOwner, owner)
	}
	return channel, err
}

// reopen asks for the channel again: the one that was remembered is gone.
func (r *room) reopen(ctx context.Context) error {
	dm := r.state.dm()
	channel, err := r.open(ctx, dm.Owner)
	if err != nil {
		return err
	}
	dm.Channel = channel
	r.state.setDM(dm)
	return nil
}
