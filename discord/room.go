package discord

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/talk/post"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
	"ollimbot/discord/stream"
)

// room is the channel of direct messages between the bot and its owner. Everything is sent through it, and it records
// Discord's refusals. It is the stream.Channel of an answer. It must not know what messages mean.
type room struct {
	rest   *rest.Client
	line   *stream.Line
	state  *state
	status *status
	log    *slog.Logger
	mark   mark
	life   context.Context // after its end, nothing is sent
	// growing is the number of growing answers, which already show that the bot is typing.
	growing atomic.Int32
	typed   atomic.Int64 // when typing was last shown, in nanoseconds since 1970; 0 after a message
}

var _ stream.Channel = (*room)(nil)

// channel is the channel's ID. Until it is known, and after the surface has stopped, the error is post.ErrNoChannel.
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

// deliver sends a message in its turn and retries temporary failures while ctx lasts. Every
// try has the same nonce. The error is Discord's last one, or ctx's if it ended first.
func (r *room) deliver(ctx context.Context, m rest.Message) (id string, err error) {
	var tries pauses
	maybe := false
	for {
		err = r.line.Send(ctx, func(ctx context.Context) error {
			id, err = r.send(ctx, m)
			return err
		})
		// At the start the channel is still being looked up.
		soon := errors.Is(err, post.ErrNoChannel) && r.status.gaveUp() == "" && r.life.Err() == nil
		if maybe = maybe || errors.Is(err, rest.ErrUnknown); maybe && err != nil {
			err = rest.Unknown(err) // an earlier try may have succeeded
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

func (r *room) send(ctx context.Context, m rest.Message) (string, error) {
	channel, err := r.channel()
	if err != nil {
		return "", err
	}
	id, err := r.rest.Send(ctx, channel, m)
	if errors.Is(err, rest.ErrNoChannel) { // open another one
		if err = r.reopen(ctx); err == nil {
			id, err = r.rest.Send(ctx, r.state.dm().Channel, m)
		}
	}
	r.noteReach(err)
	if ctx.Err() == nil && r.status.noteSend(err) {
		r.noteNetwork(err)
	}
	r.typed.Store(0)
	return id, err
}

// Send sends a message of an answer.
func (r *room) Send(ctx context.Context, p stream.Page, nonce string) (post.MessageID, error) {
	m := answerMessage(p)
	m.Nonce = r.mark.stamp(nonce)
	if p.File != "" {
		m.Files = []rest.File{{Name: textAnswerFile, Read: func() ([]byte, error) { return []byte(p.File), nil }}}
	}
	id, err := r.send(ctx, m)
	return post.MessageID(id), err
}

// answerMessage builds one message of an answer. It suppresses link previews, which fill a phone's screen.
func answerMessage(p stream.Page) rest.Message {
	m := rest.Message{Content: p.Text, Flags: discordgo.MessageFlagsSuppressEmbeds}
	if p.Stop {
		m.Components = render.StopButton(p.ID)
	}
	return render.Ring(m, !p.Silent)
}

// do calls f with the channel.
func (r *room) do(f func(channel string) error) error {
	channel, err := r.channel()
	if err != nil {
		return err
	}
	return f(channel)
}

// Edit replaces a message's text without pacing, because an answer paces its edits itself.
func (r *room) Edit(ctx context.Context, id post.MessageID, p stream.Page) error {
	return r.do(func(channel string) error {
		return r.rest.Edit(ctx, channel, string(id), answerMessage(p))
	})
}

// Delete deletes a message.
func (r *room) Delete(ctx context.Context, id post.MessageID) error {
	return r.do(func(channel string) error { return r.rest.Delete(ctx, channel, string(id)) })
}

// typingKept is how long a typing indicator need not be renewed, unless a message ends it.
const typingKept = 5 * time.Second

// Typing shows that the bot is typing.
func (r *room) Typing(ctx context.Context) error {
	now := time.Now().UnixNano()
	if last := r.typed.Load(); now-last < int64(typingKept) || !r.typed.CompareAndSwap(last, now) {
		return nil
	}
	return r.do(func(channel string) error { return r.rest.Typing(ctx, channel) })
}

// replace replaces a message at the channel's pace.
func (r *room) replace(ctx context.Context, id string, m rest.Message) error {
	return r.do(func(channel string) error {
		return r.line.Edit(ctx, func(ctx context.Context) error { return r.rest.Edit(ctx, channel, id, m) })
	})
}

// noteNetwork logs that Discord cannot be reached, or can again.
func (r *room) noteNetwork(err error) {
	if err == nil {
		r.log.Info("discord can be reached again")
		return
	}
	r.log.Warn("discord cannot be reached; the bot keeps trying", "reason", reason(err))
}

// noteReach records whether the bot can message its user.
func (r *room) noteReach(err error) {
	changed, why := r.status.noteReach(err)
	if err == nil || changed { // the file may contain an older reason
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

// reopen looks up the channel again because the stored one no longer exists.
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
