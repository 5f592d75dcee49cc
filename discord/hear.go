package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/command"
	"ollimbot/core/post"
	"ollimbot/discord/gateway"
	"ollimbot/discord/message"
	"ollimbot/discord/rest"
)

// letter is one thing for the conversation: a message of the owner, the change of
// one, or the news that a session has begun and messages may have been missed.
type letter struct {
	kind gateway.Kind // Message, MessageEdit, MessageDelete, Ready
	message.Message
}

const (
	// page is how many messages of the past are read at once.
	page = 100
	// keptMessages is how many messages are known again when they are changed.
	keptMessages = 256
)

// converse hands the owner's messages to the bot, each once. Those that wait for
// it have one turn.
func (d *Discord) converse(ctx context.Context) error {
	newest := d.memory.seen()
	if heard := d.bot.LastHeard(name); post.Later(heard, newest) {
		newest = heard
	}
	handed := newRecent(keptMessages)
	for {
		list := d.inbox.take(ctx)
		if list == nil {
			return nil
		}
		var batch []message.Message
		for i := range list {
			switch l := list[i]; l.kind {
			case gateway.Ready:
				batch = append(batch, d.catchUp(ctx, newest)...)
			case gateway.MessageEdit, gateway.MessageDelete:
				if !change(&batch, l) && handed.seen[l.ID] {
					d.reword(ctx, l)
				}
			default:
				if post.Later(l.ID, newest) {
					batch = append(batch, l.Message)
				}
			}
			if n := len(batch); n > 0 && post.Later(batch[n-1].ID, newest) {
				newest = batch[n-1].ID
			}
			list[i] = letter{} // a long list must not keep what was dealt with
		}
		for _, m := range batch {
			handed.again(m.ID)
		}
		d.takeAll(ctx, batch)
	}
}

// change changes a message that was not handed over yet; false where it was.
func change(batch *[]message.Message, l letter) bool {
	i := slices.IndexFunc(*batch, func(m message.Message) bool { return m.ID == l.ID })
	switch {
	case i < 0:
		return false
	case l.kind == gateway.MessageDelete:
		*batch = slices.Delete(*batch, i, i+1)
	default:
		(*batch)[i].Text = l.Text
	}
	return true
}

// reword tells the bot that words have changed which it has heard.
func (d *Discord) reword(ctx context.Context, l letter) {
	c := command.Reword{From: name, Key: l.ID, Text: strings.TrimSpace(l.Text), Gone: l.kind == gateway.MessageDelete}
	if _, err := d.bot.Do(ctx, c); err != nil && ctx.Err() == nil {
		d.log.Warn("a changed message was not taken", "error", err)
	}
}

// catchUp gives the messages that were written after the newest known one. While
// Discord does not answer it waits: messages that came later have to stay behind
// these.
func (d *Discord) catchUp(ctx context.Context, newest string) (missed []message.Message) {
	var tries pauses
	reopened := false
	for {
		h, _ := d.memory.home()
		if h.Channel == "" { // nothing was ever said there
			return nil
		}
		list, err := d.rest.After(ctx, h.Channel, newest, page)
		for _, m := range list {
			newest = m.ID
			if m.Author == h.Owner && !m.Notice {
				missed = append(missed, m)
			}
		}
		switch {
		case err == nil && len(list) == 0, ctx.Err() != nil:
			return missed
		case err == nil:
			continue
		case errors.Is(d.saw(err), rest.ErrNoChannel) && !reopened:
			reopened = true
			if err = d.reopen(ctx); err == nil {
				continue
			}
		}
		if !passes(err) {
			d.log.Error("missed messages could not be read", "error", err)
			d.Small(fmt.Sprintf(textMissed, reason(err)))
			return missed
		}
		if tries.wait(ctx) != nil {
			return missed
		}
	}
}

// takeAll hands messages to the bot as one turn.
func (d *Discord) takeAll(ctx context.Context, batch []message.Message) {
	isWords := func(m message.Message) bool { return !d.isCode(strings.TrimSpace(m.Text)) }
	for i, m := range batch {
		if isWords(m) {
			d.take(ctx, m, slices.ContainsFunc(batch[i+1:], isWords))
		} else {
			d.passCode(ctx, m.ID, strings.TrimSpace(m.Text))
		}
		batch[i] = message.Message{}
	}
}

// take hands one message to the bot, marked with a pair of eyes until it is
// answered. more says that another one follows.
func (d *Discord) take(ctx context.Context, m message.Message, more bool) {
	answered := d.mark(m.ID)
	files, lost := d.fetch(ctx, m.Attachments)
	if ctx.Err() != nil {
		answered(nil)
		return // not heard: it is caught up with at the next start
	}
	hear := command.Receive{
		From: name, Key: m.ID, Text: strings.TrimSpace(m.Text + lost), Quoted: m.Quoted, Files: files, More: more,
	}
	if at, err := discordgo.SnowflakeTimestamp(m.ID); err == nil {
		hear.At = at
	}
	if m.ReplyTo != "" {
		hear.ReplyTo = d.memory.whole(m.ReplyTo)
	}
	out, err := d.bot.Do(ctx, hear)
	if err != nil {
		answered(nil)
		if ctx.Err() == nil {
			d.log.Warn("a message from Discord was not taken", "error", err)
			d.Small(fmt.Sprintf(textLostWords, reason(err)))
		}
		return
	}
	answered(out.Done)
}

// loginWithin is how long a login may take once its code is there.
const loginWithin = time.Minute

// isCode reports whether a text is the code of a login that waits for it:
// "xxx#yyy", as the login's page shows it.
func (d *Discord) isCode(text string) bool {
	before, after, found := strings.Cut(text, "#")
	if !found || before == "" || after == "" || len(text) > 2000 || strings.ContainsAny(text, " \t\r\n") || strings.Contains(after, "#") {
		return false
	}
	return d.o.LoginPending != nil && d.o.LoginPending()
}

// passCode hands a code to the login. It is a secret: neither the agent nor the
// transcript hears of it, not even at the next start, when messages that the bot
// has not heard are looked for.
func (d *Discord) passCode(ctx context.Context, id, code string) {
	d.memory.see(id)
	ctx, cancel := context.WithTimeout(ctx, loginWithin)
	defer cancel()
	if _, err := d.bot.Do(ctx, command.Login{Code: code}); err != nil {
		d.Small(fmt.Sprintf(textLoginWrong, strings.ReplaceAll(reason(err), code, "…")))
	}
}

// eyes is the mark of a message that is being worked on.
const eyes = "\U0001f440"

// eyesWithin is how long putting the mark may take, and how long removing it
// once everything ends.
const (
	eyesWithin = 10 * time.Second
	lastWithin = 2 * time.Second
)

// mark puts the eyes below a message, and takes them away when what the function
// is given was closed; nil is at once. With many messages at once the newer ones
// do without. Eyes that the program's end has left are taken away at its next
// start.
func (d *Discord) mark(id string) func(done <-chan struct{}) {
	answer := make(chan (<-chan struct{}), 1)
	d.crew.begin(2, func(ctx context.Context) {
		h, _ := d.memory.home()
		d.memory.look(id, true)
		putting, cancel := context.WithTimeout(ctx, eyesWithin)
		err := d.saw(d.rest.React(putting, h.Channel, id, eyes))
		cancel()
		select {
		case done := <-answer:
			if done != nil {
				waitFor(ctx, done)
			}
		case <-ctx.Done():
		}
		// Without an answer it may stand there all the same.
		if err != nil && !passes(err) && ctx.Err() == nil {
			d.memory.look(id, false)
			return
		}
		d.unmark(ctx, id)
	})
	return func(done <-chan struct{}) { answer <- done }
}

// unmark takes the eyes away, for as long as that may take while ctx lasts: a
// limit can be long.
func (d *Discord) unmark(ctx context.Context, id string) {
	h, _ := d.memory.home()
	var tries pauses
	for {
		last, cancel := linger(ctx, eyesWithin)
		err := d.saw(d.rest.Unreact(last, h.Channel, id, eyes))
		cancel()
		if err == nil || !passes(err) {
			d.memory.look(id, false)
			return
		}
		d.log.Debug("a mark was not removed", "error", err)
		var limited *rest.LimitedError
		if errors.As(err, &limited) && sleep(ctx, limited.After) != nil || tries.wait(ctx) != nil {
			return
		}
	}
}

func waitFor(ctx context.Context, done <-chan struct{}) {
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// linger is a context for what should still be done when ctx has ended: it lasts
// at most for d, and at most lastWithin longer than ctx.
func linger(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithTimeout(context.WithoutCancel(ctx), d)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(lastWithin, cancel) })
	return out, func() {
		stop()
		cancel()
	}
}
