package discord

import (
	"context"
	"fmt"
	"sync"

	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/discord/gateway"
	"ollimbot/discord/message"
	"ollimbot/discord/render"
)

// keptInteractions is how many interactions are known again when Discord tells
// of them twice.
const keptInteractions = 256

// listen takes the gateway's events as they come and waits for nothing: an
// interaction wants its answer within three seconds, whatever is before it.
func (d *Discord) listen(ctx context.Context) error {
	for e := range d.gate.Events() {
		switch e.Kind {
		case gateway.Ready:
			d.inbox.put(letter{kind: e.Kind})
			d.greet()
		case gateway.Message, gateway.MessageEdit:
			if d.ours(e) && !e.Message.Bot {
				d.inbox.put(letter{e.Kind, e.Message})
			}
		case gateway.MessageDelete:
			// Who did it is not told. A message of the bot's own is nobody's words.
			if h, ok := d.memory.home(); ok && !e.Guild && e.ChannelID == h.Channel {
				d.inbox.put(letter{e.Kind, message.Message{ID: e.MessageID}})
			}
		case gateway.Interaction:
			d.interact(ctx, e)
		case gateway.Reaction:
			if d.ours(e) {
				d.react(e)
			}
		case gateway.Resumed: // what was missed has come before it
		}
	}
	return nil
}

// ours reports whether the owner did it, in the direct messages with the bot.
// Everything else is none of the bot's business.
func (d *Discord) ours(e gateway.Event) bool {
	h, ok := d.memory.home()
	if !ok || e.Guild || e.UserID != h.Owner {
		return false
	}
	if h.Channel == "" && e.Kind == gateway.Message {
		d.found(e.ChannelID)
		return true
	}
	return e.ChannelID == h.Channel
}

// greet says hello, once in the life of the process.
func (d *Discord) greet() {
	if d.met {
		return
	}
	d.met = true
	d.notices.put(notice{text: fmt.Sprintf(textHello, d.botName()), quiet: true})
}

func (d *Discord) botName() string {
	if name := clean.Cut(clean.Line(d.o.BotName), 80); name != "" {
		return name
	}
	return "ollim-bot"
}

// react takes a reaction as the answer to an approval, where it stands below one.
func (d *Discord) react(e gateway.Event) {
	if id := d.cards.below(e.MessageID, e.Emoji); id != "" {
		d.decide(id, e.Emoji)
	}
}

// decide answers an approval. Whoever was first has decided: a late answer
// changes nothing, and the card tells the outcome.
func (d *Discord) decide(id, emoji string) {
	d.crew.begin(1, func(ctx context.Context) {
		if _, err := d.bot.Do(ctx, command.Answer{ID: id, Verdict: render.Verdict(emoji)}); err != nil {
			d.log.Debug("a reaction came too late for its approval", "error", err)
		}
	})
}

// inbox holds what the conversation has still to take, in order. It has no
// limit: a user writes less than a machine can hold, and nothing may be lost.
type inbox struct {
	mu   sync.Mutex
	list []letter
	wake chan struct{} // has room for one
}

func newInbox() *inbox { return &inbox{wake: make(chan struct{}, 1)} }

func (b *inbox) put(l letter) {
	b.mu.Lock()
	b.list = append(b.list, l)
	b.mu.Unlock()
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// take gives all that is there, and waits until there is something. It is empty
// when ctx has ended.
func (b *inbox) take(ctx context.Context) []letter {
	for ctx.Err() == nil {
		b.mu.Lock()
		list := b.list
		b.list = nil
		b.mu.Unlock()
		if len(list) > 0 {
			return list
		}
		select {
		case <-b.wake:
		case <-ctx.Done():
		}
	}
	return nil
}
