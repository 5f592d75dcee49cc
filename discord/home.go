package discord

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ollimbot/discord/message"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

// settle finds out who the bot is, whom it serves and where they talk, for as
// long as that takes: Discord may be out of reach. Its error is one that only a
// person can mend.
func (d *Discord) settle(ctx context.Context) error {
	var tries pauses
	for {
		err := d.saw(d.lookUp(ctx))
		if err == nil {
			d.board.unreachable(nil)
			return nil
		}
		if ctx.Err() != nil || !passes(err) {
			return err
		}
		d.board.unreachable(err)
		if err := tries.wait(ctx); err != nil {
			return err
		}
	}
}

func (d *Discord) lookUp(ctx context.Context) error {
	app, err := d.rest.Application(ctx)
	if err != nil {
		return err
	}
	owner, err := ownerOf(app, d.o.OwnerID)
	if err != nil {
		return err
	}
	h := home{App: app.ID, Owner: owner, Channel: d.memory.cached(app.ID, owner)}
	if h.Channel == "" {
		h.Channel, err = d.openDM(ctx, owner)
		switch {
		case errors.Is(err, rest.ErrCannotDM): // commands work, and the user may write first
			d.wrote(err)
		case err != nil:
			return err
		}
	}
	if h.Channel != "" && d.bot.LastReceived(name) == "" && d.memory.seen() == "" {
		if err := d.firstStart(ctx, &h); err != nil {
			return err
		}
	}
	d.memory.settle(h)
	return nil
}

// ownerOf is whom the bot obeys.
func ownerOf(app rest.App, chosen string) (string, error) {
	switch {
	case chosen != "":
		return chosen, nil
	case message.IsID(app.OwnerID):
		return app.OwnerID, nil
	}
	return "", errors.New(textNoOwner)
}

func (d *Discord) openDM(ctx context.Context, owner string) (string, error) {
	channel, err := d.rest.OpenDM(ctx, owner)
	if errors.Is(err, rest.ErrInvalid) || errors.Is(err, rest.ErrGone) || errors.Is(err, rest.ErrNoChannel) {
		return "", fmt.Errorf(textWrongOwner, owner)
	}
	return channel, err
}

// firstStart draws the line below which nothing is answered: what was written
// before the bot was first here was not written to it. It is drawn before the
// gateway opens, so that nothing falls between.
func (d *Discord) firstStart(ctx context.Context, h *home) error {
	list, err := d.rest.After(ctx, h.Channel, "", 1)
	if errors.Is(err, rest.ErrNoChannel) {
		if h.Channel, err = d.openDM(ctx, h.Owner); err != nil {
			return err
		}
		list, err = d.rest.After(ctx, h.Channel, "", 1)
	}
	if err != nil {
		return err
	}
	newest := "0"
	if len(list) > 0 {
		newest = list[len(list)-1].ID
	}
	d.memory.see(newest)
	return nil
}

// reopen asks for the channel again: the one that was remembered is gone.
func (d *Discord) reopen(ctx context.Context) error {
	h, _ := d.memory.home()
	channel, err := d.openDM(ctx, h.Owner)
	if err != nil {
		return err
	}
	h.Channel = channel
	d.memory.settle(h)
	return nil
}

// reachEvery is how often it is tried to open direct messages that Discord
// refuses. The user's first message opens them at once.
const reachEvery = 5 * time.Minute

// reach goes on asking for the direct messages with a user who cannot be written
// to: what is missing is in their hands, and may come at any time.
func (d *Discord) reach(ctx context.Context) error {
	for {
		if h, _ := d.memory.home(); h.Channel != "" || sleep(ctx, reachEvery) != nil {
			return nil
		}
		if h, _ := d.memory.home(); h.Channel == "" && d.saw(d.reopen(ctx)) == nil {
			d.Small(fmt.Sprintf(textHello, d.botName())) // only this shows whether it may write
		}
	}
}

// found takes the channel of the owner's first message for that of the direct
// messages, where they could not be opened.
func (d *Discord) found(channel string) {
	h, _ := d.memory.home()
	h.Channel = channel
	d.memory.settle(h)
}

// tidy ends what the program's last end has left: eyes below messages that nobody
// works on, and answers that stopped in the middle of a word.
func (d *Discord) tidy(ctx context.Context) error {
	h, _ := d.memory.home()
	eyes, growing := d.memory.left()
	for _, id := range eyes {
		d.unmark(ctx, id)
	}
	for _, id := range growing {
		d.cutShort(ctx, h.Channel, id)
	}
	return nil
}

// cutShort marks an answer that will not go on.
func (d *Discord) cutShort(ctx context.Context, channel, id string) {
	var tries pauses
	for {
		said, err := d.rest.Text(ctx, channel, id)
		if err == nil {
			room := render.MaxContent - render.Length(textCutShort)
			m := rest.Message{Content: render.Cut(said, room) + textCutShort}
			err = d.line.Edit(ctx, func(ctx context.Context) error { return patient(d.rest.Edit(ctx, channel, id, m)) })
		}
		if d.saw(err) == nil || !passes(err) {
			d.memory.grows(id, false)
			return
		}
		if tries.wait(ctx) != nil {
			return
		}
	}
}

// passes reports whether trouble may pass by itself, so that trying again is
// worth it.
func passes(err error) bool {
	var ban *rest.BanError
	return errors.Is(err, rest.ErrTransient) || errors.Is(err, rest.ErrLimited) || errors.As(err, &ban) ||
		errors.Is(err, context.DeadlineExceeded)
}
