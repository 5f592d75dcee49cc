package discord

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ollimbot/core"
	"ollimbot/core/clean"
	"ollimbot/discord/gateway"
	"ollimbot/discord/rest"
)

// letter is one thing for the conversation: a message of the owner, or the news
// that a session has begun and messages may have been missed.
type letter struct {
	ready             bool
	id, text, replyTo string
	quoted            string // what the answered message said
	files             []rest.Attachment
}

func fromEvent(e gateway.Event) letter {
	l := letter{id: e.MessageID, text: e.Content, replyTo: e.ReplyTo}
	if q := e.Referenced; q != nil {
		l.quoted = q.Content
		if l.quoted == "" && len(q.Embeds) > 0 {
			l.quoted = strings.TrimSpace(q.Embeds[0].Title + "\n" + q.Embeds[0].Description)
		}
	}
	for _, a := range e.Attachments {
		l.files = append(l.files, rest.Attachment{ID: a.ID, Name: a.Name, URL: a.URL, Type: a.Type, Size: a.Size})
	}
	return l
}

func fromHistory(m rest.Received) letter {
	l := letter{id: m.ID, text: clean.Text(m.Content), files: m.Attachments}
	if isID(m.ReplyTo) {
		l.replyTo = m.ReplyTo
	}
	if m.Quoted != nil {
		l.quoted = clean.Text(m.Quoted.Content)
	}
	return l
}

// page is how many messages of the past are read at once.
const page = 100

// converse hands the owner's messages to the bot, one after the other, each
// once.
func (d *Discord) converse(ctx context.Context) error {
	newest := d.memory.seen()
	if heard := d.bot.LastHeard(name); later(heard, newest) {
		newest = heard
	}
	for {
		list := d.inbox.take(ctx)
		if list == nil {
			return nil
		}
		for i := range list {
			switch l := list[i]; {
			case l.ready:
				newest = d.catchUp(ctx, newest)
			case later(l.id, newest):
				newest = l.id
				d.take(ctx, l)
			}
			list[i] = letter{} // a long list must not keep what was dealt with
		}
	}
}

// catchUp takes the messages that were written after the newest known one, and
// gives the newest that is known then. While Discord does not answer it waits:
// messages that came later have to stay behind these.
func (d *Discord) catchUp(ctx context.Context, newest string) string {
	var tries pauses
	reopened := false
	for {
		h, _ := d.memory.home()
		list, err := d.rest.After(ctx, h.Channel, newest, page)
		for _, m := range list {
			newest = m.ID
			// One without words is taken too: it may be a forwarded message. That it may
			// be a notice of Discord's, such as a pin, costs a turn and loses nothing.
			if m.Author.ID == h.Owner {
				d.take(ctx, fromHistory(m))
			}
		}
		switch {
		case err == nil && len(list) == 0, ctx.Err() != nil:
			return newest
		case err == nil:
			continue
		case errors.Is(d.saw(err), rest.ErrGone) && !reopened:
			reopened = true
			if err = d.reopen(ctx); err == nil {
				continue
			}
		}
		if !passes(err) {
			d.log.Error("missed messages could not be read", "error", err)
			d.Small(fmt.Sprintf(textMissed, reason(err)))
			return newest
		}
		if tries.wait(ctx) != nil {
			return newest
		}
	}
}

// take hands one message to the bot, marked with a pair of eyes until it is
// answered (spec 07.2.1).
func (d *Discord) take(ctx context.Context, l letter) {
	text := strings.TrimSpace(l.text)
	if d.isCode(text) {
		d.passCode(ctx, l.id, text)
		return
	}
	answered := d.mark(l.id)
	files, lost := d.fetch(ctx, l.files)
	if ctx.Err() != nil {
		answered(nil)
		return // not heard: it is caught up with at the next start
	}
	hear := core.Hear{From: name, Key: l.id, Text: strings.TrimSpace(text + lost), Quoted: l.quoted, Files: files}
	if l.replyTo != "" {
		hear.ReplyTo = d.memory.whole(l.replyTo)
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
	if _, err := d.bot.Do(ctx, core.Login{Code: code}); err != nil {
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
// do without.
func (d *Discord) mark(id string) func(done <-chan struct{}) {
	answer := make(chan (<-chan struct{}), 1)
	d.crew.begin(2, func(ctx context.Context) {
		h, _ := d.memory.home()
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
			return
		}
		last, cancel := linger(ctx, eyesWithin)
		defer cancel()
		if err := d.rest.Unreact(last, h.Channel, id, eyes); err != nil && !errors.Is(err, rest.ErrGone) {
			d.log.Debug("a mark was not removed", "error", err)
		}
	})
	return func(done <-chan struct{}) { answer <- done }
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
