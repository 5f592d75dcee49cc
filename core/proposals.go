package core

import (
	"context"

	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/work/proposals"
)

// newProposals creates the desk for questions that the bot asks on its own. Each kind is
// an entry of the map and calls Propose.
func newProposals(b *Bot) *proposals.Desk {
	times := timeMover{index: b.index, do: func(ctx context.Context, c command.Value) (command.Outcome, error) { return b.handlers.Do(ctx, c) }}
	promises := promiseKeeper{b.tasks.Book(policy.Writer{Kind: textTheUser})}
	return proposals.New(proposals.Options{
		Store: b.offers, Zone: b.zone, Log: b.log, Post: b.chat.Post, Retire: b.chat.Retire, Changed: b.viewers.notify,
		Kinds: map[string]proposals.Kind{
			KindPromise: {PerDay: promisesPerDay, Do: promises.do, Undo: promises.undo},
			KindTime:    {PerDay: 1, Do: times.answer, Undo: times.undo},
		},
	})
}
