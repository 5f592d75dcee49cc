package discord

import (
	"context"
	"errors"
	"time"

	"ollimbot/core/talk/post"
	"ollimbot/discord/message"
	"ollimbot/discord/rest"
)

// identity finds the bot's application, its owner and their channel, and keeps trying to
// open a channel that Discord refuses.
type identity struct {
	room    *room
	notices *notices
	owner   string      // chosen by the user; empty asks Discord
	greet   string      // the greeting, which shows whether the bot can send messages
	heard   func() bool // reports whether the bot has ever received a message of this user
}

// lookUp finds the application, the owner and the channel, and retries while Discord is unreachable. Only a person
// can fix its error.
func (i *identity) lookUp(ctx context.Context) error {
	return retry(ctx, func() error {
		err := i.lookOnce(ctx)
		if err == nil || ctx.Err() == nil && passes(err) {
			if i.room.status.unreachable(err) {
				i.room.noteNetwork(err)
			}
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

// ownerOf returns the user whom the bot obeys.
func ownerOf(app rest.App, chosen string) (string, error) {
	switch {
	case chosen != "":
		return chosen, nil
	case message.IsID(app.OwnerID):
		return app.OwnerID, nil
	}
	return "", errors.New(textNoOwner)
}

// firstStart marks the newest message as seen, so that the bot does not answer messages from before its first start.
// This happens before the gateway opens, so that no message is lost in between.
func (i *identity) firstStart(ctx context.Context, dm *dmChannel) error {
	list, _, err := i.room.rest.After(ctx, dm.Channel, "", 1)
	if errors.Is(err, rest.ErrNoChannel) {
		if dm.Channel, err = i.room.open(ctx, dm.Owner); err != nil {
			return err
		}
		list, _, err = i.room.rest.After(ctx, dm.Channel, "", 1)
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

// reachEvery is the interval of tries to open direct messages that Discord refuses. The
// user's first message opens them at once.
const reachEvery = 5 * time.Minute

// keepOpening keeps trying to open the direct messages with a user whose settings exclude the bot, because the user
// may change them at any time.
func (i *identity) keepOpening(ctx context.Context) error {
	for {
		if i.room.state.dm().Channel != "" || sleep(ctx, reachEvery) != nil {
			return nil
		}
		if i.room.state.dm().Channel == "" && i.room.reopen(ctx) == nil {
			i.notices.say(post.KindAside, i.greet) // only a message shows whether the bot can send any
		}
	}
}
