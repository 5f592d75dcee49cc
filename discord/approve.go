package discord

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/safety/policy"
	"ollimbot/core/talk/post"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

// cards are the shown approvals, by their IDs.
type cards struct {
	room *room
	work *workerPool
	log  *slog.Logger
	bot  core.Intake // set before work is opened

	mu   sync.Mutex
	list map[string]*card
	// early are reactions to unknown messages: the user may react before Discord has confirmed the card. Only the newest
	// are kept.
	early []early
}

type early struct{ message, emoji string }

const keptEarly = 16

// card is one approval. verdict has a capacity of one: the first counts.
type card struct {
	approval policy.Approval
	message  string // shows the approval; empty until it is sent
	verdict  chan policy.Verdict
}

// show records the message of a card and returns a reaction that arrived before.
func (c *cards) show(k *card, message string) (emoji string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k.message = message
	for _, e := range c.early {
		if e.message == message {
			return e.emoji
		}
	}
	return ""
}

// below returns the ID of the approval shown by a message, or empty. A reaction to an unknown message is kept for a
// moment.
func (c *cards) below(message, emoji string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, k := range c.list {
		if k.message == message {
			return id
		}
	}
	c.early = append(c.early, early{message, emoji})
	c.early = c.early[max(0, len(c.early)-keptEarly):]
	return ""
}

// forget removes a card.
func (c *cards) forget(k *card) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.list, k.approval.ID)
}

// update shows a tool call that needs the user's approval, and later its outcome. It never blocks.
func (c *cards) update(a policy.Approval) {
	c.mu.Lock()
	k := c.list[a.ID]
	begins := k == nil && a.Verdict == ""
	switch {
	case begins:
		k = &card{approval: a, verdict: make(chan policy.Verdict, 1)}
		c.list[a.ID] = k
	case k != nil && a.Verdict != "" && len(k.verdict) == 0:
		k.verdict <- a.Verdict
	}
	c.mu.Unlock()
	if begins && !c.work.begin(func(ctx context.Context) { c.ask(ctx, k) }) {
		c.forget(k) // only the dashboard asks
	}
}

// ask follows one card from the question to the outcome.
func (c *cards) ask(ctx context.Context, k *card) {
	defer c.forget(k)
	a := k.approval
	m := render.Ring(render.Approval(a), post.KindQuestion.Rings(post.Moment{}))
	m.Nonce = "approval/" + a.ID
	sending, cancel := context.WithDeadline(ctx, a.Until)
	message, err := c.room.deliver(sending, m)
	cancel()
	if err != nil {
		c.log.Warn("approval was not shown in Discord", "error", err)
		return
	}
	c.room.state.setAsked(message, true)
	if emoji := c.show(k, message); emoji != "" {
		c.decide(a.ID, emoji)
	}
	c.offer(ctx, k, message)
	over := time.NewTimer(time.Until(a.Until) + lastWithin)
	defer over.Stop()
	select {
	case a.Verdict = <-k.verdict:
	case <-over.C: // no verdict arrived
	case <-ctx.Done():
		select {
		case a.Verdict = <-k.verdict:
		default:
		}
	}
	c.conclude(ctx, a, message)
}

// offer adds the reactions to the card until it is answered.
func (c *cards) offer(ctx context.Context, k *card, message string) {
	for _, emoji := range render.Reactions(k.approval) {
		if len(k.verdict) > 0 {
			return
		}
		if err := c.room.rest.React(ctx, c.room.state.dm().Channel, message, emoji); err != nil {
			c.log.Debug("reaction was not added", "error", err)
		}
	}
}

// concludeWithin limits showing the outcome.
const concludeWithin = 30 * time.Second

// conclude shows the outcome on the card. The card of a cancelled question is deleted.
func (c *cards) conclude(ctx context.Context, a policy.Approval, message string) {
	last, cancel := linger(ctx, concludeWithin)
	defer cancel()
	var err error
	switch a.Verdict {
	case policy.Cancelled, "":
		err = c.room.Delete(last, post.MessageID(message))
	default:
		err = c.room.replace(last, message, render.Approval(a))
	}
	if err != nil && !errors.Is(err, rest.ErrGone) {
		c.log.Warn("answered approval still looks open in Discord", "error", err)
		return // the next start tries again
	}
	c.room.state.setAsked(message, false)
}

// decide answers an approval. Only the first answer counts, and the card shows the outcome.
func (c *cards) decide(id, emoji string) {
	c.work.begin(func(ctx context.Context) {
		if _, err := c.bot.Do(ctx, command.Answer{ID: id, Verdict: render.Verdict(emoji)}); err != nil {
			c.log.Debug("reaction was too late for its approval", "error", err)
		}
	})
}
