package discord

import (
	"context"
	"fmt"
	"time"

	"ollimbot/core"
	"ollimbot/discord/gateway"
)

const (
	// turnTakes is how long after a turn's start or end the bot's state is read.
	turnTakes = 2 * time.Second
	// presentEvery is the interval of looking for a mute's start or end.
	presentEvery = 30 * time.Second
)

// presence shows below the bot's name whether it is busy or muted.
type presence struct {
	link *gateway.Link
	zone *time.Location
	// turns has capacity 1: a turn has started or ended.
	turns chan struct{}
}

// run updates the presence until ctx ends.
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

// turnChanged reports that a turn has started or ended.
func (p *presence) turnChanged() { signal(p.turns) }
