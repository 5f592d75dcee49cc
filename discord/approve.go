package discord

import (
	"context"
	"errors"
	"sync"
	"time"

	"ollimbot/core/policy"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

// cards are the approvals that are shown, by their ids and by their messages.
type cards struct {
	mu        sync.Mutex
	byID      map[string]*card
	byMessage map[string]string // approvals' ids
	// early are reactions below messages that are not known yet: the user may be
	// faster than Discord's answer to whoever sent the card. The newest few.
	early []early
}

type early struct{ message, emoji string }

const keptEarly = 16

// card is one approval. Its verdict is written before settled is closed.
type card struct {
	approval policy.Approval
	settled  chan struct{}
}

func newCards() *cards { return &cards{byID: map[string]*card{}, byMessage: map[string]string{}} }

// add begins a card; nil where it is there already.
func (c *cards) add(a policy.Approval) *card {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byID[a.ID] != nil {
		return nil
	}
	k := &card{approval: a, settled: make(chan struct{})}
	c.byID[a.ID] = k
	return k
}

// settle notes how an approval ended.
func (c *cards) settle(a policy.Approval) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.byID[a.ID]
	if k == nil || k.approval.Verdict != "" {
		return
	}
	k.approval.Verdict = a.Verdict
	close(k.settled)
}

// verdict is how it ended, or empty.
func (c *cards) verdict(k *card) policy.Approval {
	c.mu.Lock()
	defer c.mu.Unlock()
	return k.approval
}

// show notes the message of a card, and gives the reaction that was faster.
func (c *cards) show(k *card, message string) (emoji string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.byMessage[message] = k.approval.ID
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
	if id, ok := c.byMessage[message]; ok {
		return id
	}
	c.early = append(c.early, early{message, emoji})
	if n := len(c.early) - keptEarly; n > 0 {
		c.early = append([]early(nil), c.early[n:]...)
	}
	return ""
}

// forget ends a card.
func (c *cards) forget(k *card, message string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.byID, k.approval.ID)
	delete(c.byMessage, message)
}

// Approval shows a tool call that waits for the user, and later how it was
// settled, whoever did that. It never blocks.
func (d *Discord) Approval(a policy.Approval) {
	if a.Verdict != "" {
		d.cards.settle(a)
		return
	}
	k := d.cards.add(a)
	if k != nil && !d.crew.begin(1, func(ctx context.Context) { d.ask(ctx, k) }) {
		d.cards.forget(k, "") // the dashboard asks alone
	}
}

// ask follows one card from its question to its outcome.
func (d *Discord) ask(ctx context.Context, k *card) {
	a := d.cards.verdict(k)
	m := render.Approval(a)
	m.Nonce = "approval/" + a.ID
	sending, cancel := context.WithDeadline(ctx, a.Until)
	ids, err := d.deliver(sending, []rest.Message{m})
	cancel()
	if err != nil {
		d.cards.forget(k, "")
		d.log.Warn("a question could not be shown in Discord", "error", err)
		return
	}
	message := ids[0]
	defer d.cards.forget(k, message)
	if emoji := d.cards.show(k, message); emoji != "" {
		d.decide(a.ID, emoji)
	}
	d.offer(ctx, k, message)
	over := time.NewTimer(time.Until(a.Until) + lastWithin)
	defer over.Stop()
	select {
	case <-k.settled:
	case <-over.C: // the desk is gone
	case <-ctx.Done():
	}
	d.conclude(ctx, k, message)
}

// offer puts the answers below the card, until one was given.
func (d *Discord) offer(ctx context.Context, k *card, message string) {
	h, _ := d.memory.home()
	for _, emoji := range render.Reactions() {
		if d.cards.verdict(k).Verdict != "" {
			return
		}
		if err := d.saw(d.rest.React(ctx, h.Channel, message, emoji)); err != nil {
			d.log.Debug("an answer could not be offered", "error", err)
		}
	}
}

// concludeWithin is how long telling the outcome may take.
const concludeWithin = 30 * time.Second

// conclude writes the outcome into the card. A question that was taken back
// disappears.
func (d *Discord) conclude(ctx context.Context, k *card, message string) {
	h, _ := d.memory.home()
	a := d.cards.verdict(k)
	last, cancel := linger(ctx, concludeWithin)
	defer cancel()
	var err error
	switch a.Verdict {
	case policy.Cancelled, "":
		err = d.remove(last, h.Channel, message)
	default:
		err = d.line.Edit(last, func(ctx context.Context) error {
			return patient(d.saw(d.rest.Edit(ctx, h.Channel, message, render.Approval(a))))
		})
	}
	if err != nil && !errors.Is(err, rest.ErrGone) {
		d.log.Warn("an answered question still looks open in Discord", "error", err)
	}
}
