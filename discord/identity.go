package discord

import (
	"context"
	"errors"
	"time"

	"ollimbot/discord/message"
	"ollimbot/discord/rest"
)

// identity is who the bot is and whom it serves. It finds the room, and keeps trying to
// open one that Discord refuses.
type identity struct {
	room    *room
	notices *notices
	owner   string      // chosen by the user; empty asks Discord
	greet   string      // the sentence that only a user who can be written to sees
	heard   func() bool // whether the bot has heard of this user before
}

// lookUp finds out who the bot is, whom it serves and where they talk, for as
// long as that takes: Discord may be out of reach. Its error is one that only a
// person can mend.
func (i *identity) lookUp(ctx context.Context) error {
	return retry(ctx, func() error {
		err := i.lookOnce(ctx)
		if err == nil || ctx.Err() == nil && passes(err) {
			i.room.status.unreachable(err)
		}
		return err
	})
}

func (i *identity) lookOnce(ctx context.Context) error {
	app, err := i.room.rest.Application(ctx)
	if err != nil {
		return err
	}
	owner, err := ownerOf(app, i.owner)
	if err != nil {
		return err
	}
	dm := dmChannel{App: app.ID, Owner: owner, Channel: i.room.state.cached(app.ID, owner)}
	if dm.Channel == "" {
		dm.Channel, err = i.room.open(ctx, owner)
		switch {
		case errors.Is(err, rest.ErrCannotDM): // commands work, and the user may write first
			i.room.noteReach(err)
		case err != nil:
			return err
		}
	}
	if dm.Channel != "" && !i.heard() && i.room.state.seen() == "" {
		if err := i.firstStart(ctx, &dm); err != nil {
			return err
		}
	}
	i.room.state.setDM(dm)
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

// firstStart draws the line below which nothing is answered: what was written
// before the bot was first here was not written to it. It is drawn before the
// gateway opens, so that nothing falls between.
func (i *identity) firstStart(ctx context.Context, dm *dmChannel) error {
	list, err := i.room.rest.After(ctx, dm.Channel, "", 1)
	if errors.Is(err, rest.ErrNoChannel) {
		if dm.Channel, err = i.room.open(ctx, dm.Owner); err != nil {
			return err
		}
		list, err = i.room.rest.After(ctx, dm.Channel, "", 1)
	}
	if err != nil {
		return err
	}
	newest := "0"
	if len(list) > 0 {
		newest = list[len(list)-1].ID
	}
	i.room.state.setSeen(newest)
	return nil
}

// reachEvery is how often it is tried to open direct messages that Discord
// refuses. The user's first message opens them at once.
const reachEvery = 5 * time.Minute

// keepOpening goes on asking for the direct messages with a user who cannot be written
// to: what is missing is in their hands, and may come at any time.
func (i *identity) keepOpening(ctx context.Context) error {
	for {
		if i.room.state.dm().Channel != "" || sleep(ctx, reachEvery) != nil {
			return nil
		}
		if i.room.state.dm().Channel == "" && i.room.reopen(ctx) == nil {
			i.notices.small(i.greet) // only this shows whether it may write
		}
	}
}
