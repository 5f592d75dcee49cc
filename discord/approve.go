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

// cards are the approvals that are shown, by their ids.
type cards struct {
	room *room
	work *workerPool
	log  *slog.Logger
	bot  core.Intake // set before work is opened

	mu   sync.Mutex
	list map[string]*card
	// early are reactions below messages that are not known yet: the user may be
	// faster than Discord's answer to whoever sent the card. The newest few.
	early []early
}

type early struct{ message, emoji string }

const keptEarly = 16

// card is one approval. Its verdict has room for one: the first counts.
type card struct {
	approval policy.Approval
	message  string // that shows it; empty until it is sent
	verdict  chan policy.Verdict
}

// show notes the message of a card, and gives the reaction that was faster.
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

// below is the approval whose card a message is, or empty. A reaction below
// another message is kept for a moment.
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

// forget ends a card.
func (c *cards) forget(k *card) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.list, k.approval.ID)
}

// update shows a tool call that waits for the user, and later how it was
// settled, whoever did that. It never blocks.
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
		c.forget(k) // the dashboard asks alone
	}
}

// ask follows one card from its question to its outcome.
func (c *cards) ask(ctx context.Context, k *card) {
	defer c.forget(k)
	a := k.approval
	m := render.Approval(a)
	m.Nonce = "approval/" + a.ID
	sending, cancel := context.WithDeadline(ctx, a.Until)
	message, err := c.room.deliver(sending, m)
	cancel()
	if err != nil {
		c.log.Warn("a question could not be shown in Discord", "error", err)
		return
	}
	if emoji := c.show(k, message); emoji != "" {
		c.decide(a.ID, emoji)
	}
	c.offer(ctx, k, message)
	over := time.NewTimer(time.Until(a.Until) + lastWithin)
	defer over.Stop()
	select {
	case a.Verdict = <-k.verdict:
	case <-over.C: // the desk is gone
	case <-ctx.Done():
		select {
		case a.Verdict = <-k.verdict:
		default:
		}
	}
	c.conclude(ctx, a, message)
}

// offer puts the answers below the card, until one was given.
func (c *cards) offer(ctx context.Context, k *card, message string) {
	for _, emoji := range render.Reactions() {
		if len(k.verdict) > 0 {
			return
		}
		if err := c.room.rest.React(ctx, c.room.state.dm().Channel, message, emoji); err != nil {
			c.log.Debug("an answer could not be offered", "error", err)
		}
	}
}

// concludeWithin is how long telling the outcome may take.
const concludeWithin = 30 * time.Second

// conclude writes the outcome into the card. A question that was taken back
// disappears.
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
		c.log.Warn("an answered question still looks open in Discord", "error", err)
	}
}

// decide answers an approval. Whoever was first has decided: a late answer
// changes nothing, and the card tells the outcome.
func (c *cards) decide(id, emoji string) {
	c.work.begin(func(ctx context.Context) {
		if _, err := c.bot.Do(ctx, command.Answer{ID: id, Verdict: render.Verdict(emoji)}); err != nil {
			c.log.Debug("a reaction came too late for its approval", "error", err)
		}
	})
}
