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

// lookUp finds out who the bot is, whom it serves and where they talk, for as
// long as that takes: Discord may be out of reach. Its error is one that only a
// person can mend.
func (d *Discord) lookUp(ctx context.Context) error {
	var tries pauses
	for {
		err := d.noteAuth(d.lookOnce(ctx))
		if err == nil {
			d.status.unreachable(nil)
			return nil
		}
		if ctx.Err() != nil || !passes(err) {
			return err
		}
		d.status.unreachable(err)
		if err := tries.wait(ctx); err != nil {
			return err
		}
	}
}

func (d *Discord) lookOnce(ctx context.Context) error {
	app, err := d.rest.Application(ctx)
	if err != nil {
		return err
	}
	owner, err := ownerOf(app, d.o.OwnerID)
	if err != nil {
		return err
	}
	dm := dmChannel{App: app.ID, Owner: owner, Channel: d.state.cached(app.ID, owner)}
	if dm.Channel == "" {
		dm.Channel, err = d.openDM(ctx, owner)
		switch {
		case errors.Is(err, rest.ErrCannotDM): // commands work, and the user may write first
			d.noteReach(err)
		case err != nil:
			return err
		}
	}
	if dm.Channel != "" && d.bot.LastReceived(name) == "" && d.state.seen() == "" {
		if err := d.firstStart(ctx, &dm); err != nil {
			return err
		}
	}
	d.state.setDM(dm)
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
func (d *Discord) firstStart(ctx context.Context, dm *dmChannel) error {
	list, err := d.rest.After(ctx, dm.Channel, "", 1)
	if errors.Is(err, rest.ErrNoChannel) {
		if dm.Channel, err = d.openDM(ctx, dm.Owner); err != nil {
			return err
		}
		list, err = d.rest.After(ctx, dm.Channel, "", 1)
	}
	if err != nil {
		return err
	}
	newest := "0"
	if len(list) > 0 {
		newest = list[len(list)-1].ID
	}
	d.state.setSeen(newest)
	return nil
}

// reopen asks for the channel again: the one that was remembered is gone.
func (d *Discord) reopen(ctx context.Context) error {
	dm := d.state.dm()
	channel, err := d.openDM(ctx, dm.Owner)
	if err != nil {
		return err
	}
	dm.Channel = channel
	d.state.setDM(dm)
	return nil
}

// reachEvery is how often it is tried to open direct messages that Discord
// refuses. The user's first message opens them at once.
const reachEvery = 5 * time.Minute

// retryDM goes on asking for the direct messages with a user who cannot be written
// to: what is missing is in their hands, and may come at any time.
func (d *Discord) retryDM(ctx context.Context) error {
	for {
		if d.state.dm().Channel != "" || sleep(ctx, reachEvery) != nil {
			return nil
		}
		if d.state.dm().Channel == "" && d.noteAuth(d.reopen(ctx)) == nil {
			d.Small(fmt.Sprintf(textHello, d.botName())) // only this shows whether it may write
		}
	}
}

// finishLeftovers ends what the program's last end has left: eyes below messages that nobody
// works on, and answers that stopped in the middle of a word.
func (d *Discord) finishLeftovers(ctx context.Context) error {
	channel := d.state.dm().Channel
	eyes, growing := d.state.leftovers()
	for _, id := range eyes {
		d.unmark(ctx, id)
	}
	for _, id := range growing {
		d.cutShort(ctx, channel, id)
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
			err = d.edit(ctx, channel, id, rest.Message{Content: render.Cut(said, room) + textCutShort})
		}
		if d.noteAuth(err) == nil || !passes(err) {
			d.state.setGrowing(id, false)
			return
		}
		if tries.wait(ctx) != nil {
			return
		}
	}
}
