package discord

import (
	"context"
	"fmt"
	"time"

	"ollimbot/core"
	"ollimbot/discord/gateway"
)

const (
	// turnTakes is how long a turn may take to have really begun or ended.
	turnTakes = 2 * time.Second
	// presentEvery is how often it is looked whether a mute has begun or ended.
	presentEvery = 30 * time.Second
)

// presence shows below the bot's name whether it is busy or muted.
type presence struct {
	link *gateway.Link
	zone *time.Location
	// turns has room for one: a turn has begun or ended.
	turns chan struct{}
}

// run shows below the bot's name whether it is busy or muted.
func (p *presence) run(ctx context.Context, bot core.Intake) error {
	tick := time.NewTicker(presentEvery)
	defer tick.Stop()
	for {
		var shown gateway.Presence
		switch busy, muted := bot.Busy(); {
		case busy:
			shown.Watching = textBusy
		case !muted.IsZero():
			shown = gateway.Presence{Watching: fmt.Sprintf(textMuted, muted.In(p.zone).Format("15:04")), Away: true}
		}
		p.link.Show(shown)
		select {
		case <-tick.C:
		case <-p.turns:
			if sleep(ctx, turnTakes) != nil {
				return nil
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// turnChanged says that the bot may be busy, or no longer.
func (p *presence) turnChanged() { signal(p.turns) }
