package discord

import (
	"context"
	"errors"
	"io"
	"strings"

	"ollimbot/core/post"
	"ollimbot/discord/rest"
	"ollimbot/discord/stream"
)

// room is the channel of the direct messages as an answer sees it: a
// stream.Channel, in whose words it tells Discord's refusals.
type room struct{ d *Discord }

// at is the channel. Before it is known, and after the surface has stopped, its
// error is post.ErrNoChannel.
func (r *room) at() (string, error) {
	h, ok := r.d.memory.home()
	switch {
	case !ok || r.d.board.gaveUp() != "":
		return "", post.ErrNoChannel
	case h.Channel == "":
		return "", rest.ErrCannotDM
	}
	return h.Channel, nil
}

// post sends one message. A limit is a *stream.LimitedError, for the line that it
// stands in.
func (r *room) post(ctx context.Context, m rest.Message) (string, error) {
	channel, err := r.at()
	if err != nil {
		return "", err
	}
	id, err := r.d.rest.Send(ctx, channel, m)
	if errors.Is(err, rest.ErrNoChannel) { // another one is open by now, or can be
		if err = r.d.reopen(ctx); err == nil {
			h, _ := r.d.memory.home()
			id, err = r.d.rest.Send(ctx, h.Channel, m)
		}
	}
	r.d.wrote(r.d.saw(err))
	return id, patient(err)
}

// Send sends a message, once per nonce.
func (r *room) Send(ctx context.Context, m stream.Page, nonce string) (post.MessageID, error) {
	out := rest.Message{Content: m.Text, Nonce: nonce}
	if m.File != "" {
		out.Files = []rest.File{{Name: textAnswerFile, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(m.File)), nil
		}}}
	}
	id, err := r.post(ctx, out)
	return post.MessageID(id), r.told(err)
}

// Edit replaces its text.
func (r *room) Edit(ctx context.Context, id post.MessageID, text string) error {
	channel, err := r.at()
	if err == nil {
		err = patient(r.d.saw(r.d.rest.Edit(ctx, channel, string(id), rest.Message{Content: text})))
	}
	return r.told(err)
}

// Delete removes it.
func (r *room) Delete(ctx context.Context, id post.MessageID) error {
	channel, err := r.at()
	if err == nil {
		err = patient(r.d.saw(r.d.rest.Delete(ctx, channel, string(id))))
	}
	return r.told(err)
}

// Typing shows that the bot writes.
func (r *room) Typing(ctx context.Context) error {
	channel, err := r.at()
	if err == nil {
		err = patient(r.d.saw(r.d.rest.Typing(ctx, channel)))
	}
	return r.told(err)
}

// patient makes a limit one that a line waits for.
func patient(err error) error {
	var limited *rest.LimitedError
	if errors.As(err, &limited) {
		return errors.Join(err, &stream.LimitedError{After: limited.After})
	}
	var ban *rest.BanError
	if errors.As(err, &ban) {
		return errors.Join(err, &stream.LimitedError{After: ban.After})
	}
	return err
}

// told is an error in the words of an answer, which knows no REST.
func (r *room) told(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, rest.ErrGone):
		return errors.Join(stream.ErrGone, err)
	case errors.Is(err, rest.ErrOldEdit):
		return errors.Join(stream.ErrOldEdit, err)
	case errors.Is(err, rest.ErrCannotDM):
		return errors.Join(stream.ErrShutOut, err)
	case errors.Is(err, post.ErrNoChannel) && r.d.board.gaveUp() != "",
		errors.Is(err, rest.ErrAuth), errors.Is(err, rest.ErrForbidden), errors.Is(err, rest.ErrInvalid),
		errors.Is(err, rest.ErrNoChannel): // an edit: the message has gone with its channel
		return errors.Join(stream.ErrRefused, err)
	}
	return err
}

var _ stream.Channel = (*room)(nil)
