package discord

import (
	"context"
	"fmt"
	"time"

	"ollimbot/core"
	"ollimbot/discord/gateway"
)

const (
	// turnTakes is the delay between a turn's start or end, or a ping, and reading the bot's state.
	turnTakes = 2 * time.Second
	// presentEvery is the interval of checking for the start or end of a mute, or a new token.
	presentEvery = 30 * time.Second
)

// presence shows, below the bot's name, whether it is busy or muted, or how many pings are left.
type presence struct {
	link *gateway.Link
	zone *time.Location
	// turns has capacity 1 and signals that a turn has started or ended.
	turns chan struct{}
}

// run updates the presence until ctx ends.
func (p *presence) run(ctx context.Context, bot core.Intake) error {
	tick := time.NewTicker(presentEvery)
	defer tick.Stop()
	for {
		p.link.Show(p.shown(bot.Snapshot()))
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

// shown is the presence for a state of the bot.
func (p *presence) shown(s core.Snapshot) gateway.Presence {
	switch {
	case s.Busy:
		return gateway.Presence{Watching: textBusy}
	case !s.Budget.Quiet.IsZero():
		return gateway.Presence{Watching: fmt.Sprintf(textMuted, s.Budget.Quiet.In(p.zone).Format("15:04")), Away: true}
	case s.Config.DiscordBudget && s.Budget.State.Capacity > 0:
		return gateway.Presence{Status: s.Budget.State.Left()}
	}
	return gateway.Presence{}
}

// turnChanged signals that a turn has started or ended, or that a ping was sent.
func (p *presence) turnChanged() { signal(p.turns) }
