package discord

import (
	"context"
	"errors"
	"fmt"

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
		if h.Channel, err = d.openDM(ctx, owner); err != nil {
			return err
		}
	}
	if d.bot.LastHeard(name) == "" && d.memory.seen() == "" {
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
	case isID(app.OwnerID):
		return app.OwnerID, nil
	}
	return "", errors.New(textNoOwner)
}

func (d *Discord) openDM(ctx context.Context, owner string) (string, error) {
	channel, err := d.rest.OpenDM(ctx, owner)
	if errors.Is(err, rest.ErrInvalid) || errors.Is(err, rest.ErrGone) {
		return "", fmt.Errorf(textWrongOwner, owner)
	}
	return channel, err
}

// firstStart draws the line below which nothing is answered: what was written
// before the bot was first here was not written to it. It is drawn before the
// gateway opens, so that nothing falls between.
func (d *Discord) firstStart(ctx context.Context, h *home) error {
	list, err := d.rest.After(ctx, h.Channel, "", 1)
	if errors.Is(err, rest.ErrGone) {
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

// passes reports whether trouble may pass by itself, so that trying again is
// worth it.
func passes(err error) bool {
	var ban *rest.BanError
	return errors.Is(err, rest.ErrTransient) || errors.Is(err, rest.ErrLimited) || errors.As(err, &ban) ||
		errors.Is(err, context.DeadlineExceeded)
}
