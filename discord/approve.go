package discord

import (
	"context"
	"errors"
	"sync"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/policy"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

// cards are the approvals that are shown, by their ids.
type cards struct {
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

// Approval shows a tool call that waits for the user, and later how it was
// settled, whoever did that. It never blocks.
func (d *Discord) Approval(a policy.Approval) {
	d.cards.mu.Lock()
	k := d.cards.list[a.ID]
	begins := k == nil && a.Verdict == ""
	switch {
	case begins:
		k = &card{approval: a, verdict: make(chan policy.Verdict, 1)}
		d.cards.list[a.ID] = k
	case k != nil && a.Verdict != "" && len(k.verdict) == 0:
		k.verdict <- a.Verdict
	}
	d.cards.mu.Unlock()
	if begins && !d.work.begin(func(ctx context.Context) { d.ask(ctx, k) }) {
		d.cards.forget(k) // the dashboard asks alone
	}
}

// ask follows one card from its question to its outcome.
func (d *Discord) ask(ctx context.Context, k *card) {
	defer d.cards.forget(k)
	a := k.approval
	m := render.Approval(a)
	m.Nonce = "approval/" + a.ID
	sending, cancel := context.WithDeadline(ctx, a.Until)
	message, err := d.deliver(sending, m)
	cancel()
	if err != nil {
		d.log.Warn("a question could not be shown in Discord", "error", err)
		return
	}
	if emoji := d.cards.show(k, message); emoji != "" {
		d.decide(a.ID, emoji)
	}
	d.offer(ctx, k, message)
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
	d.conclude(ctx, a, message)
}

// offer puts the answers below the card, until one was given.
func (d *Discord) offer(ctx context.Context, k *card, message string) {
	for _, emoji := range render.Reactions() {
		if len(k.verdict) > 0 {
			return
		}
		if err := d.noteAuth(d.rest.React(ctx, d.state.dm().Channel, message, emoji)); err != nil {
			d.log.Debug("an answer could not be offered", "error", err)
		}
	}
}

// concludeWithin is how long telling the outcome may take.
const concludeWithin = 30 * time.Second

// conclude writes the outcome into the card. A question that was taken back
// disappears.
func (d *Discord) conclude(ctx context.Context, a policy.Approval, message string) {
	last, cancel := linger(ctx, concludeWithin)
	defer cancel()
	channel := d.state.dm().Channel
	var err error
	switch a.Verdict {
	case policy.Cancelled, "":
		err = d.noteAuth(d.rest.Delete(last, channel, message))
	default:
		err = d.edit(last, channel, message, render.Approval(a))
	}
	if err != nil && !errors.Is(err, rest.ErrGone) {
		d.log.Warn("an answered question still looks open in Discord", "error", err)
	}
}

// decide answers an approval. Whoever was first has decided: a late answer
// changes nothing, and the card tells the outcome.
func (d *Discord) decide(id, emoji string) {
	d.work.begin(func(ctx context.Context) {
		if _, err := d.bot.Do(ctx, command.Answer{ID: id, Verdict: render.Verdict(emoji)}); err != nil {
			d.log.Debug("a reaction came too late for its approval", "error", err)
		}
	})
}
