package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core/clean"
	"ollimbot/core/command"
	"ollimbot/core/post"
	"ollimbot/discord/message"
	"ollimbot/discord/rest"
)

const (
	// page is how many messages of the past are read at once.
	page = 100
	// keptMessages is how many messages are known again when they are changed.
	keptMessages = 256
)

// listen takes the gateway's events as they come and waits for nothing: an
// interaction wants its answer within three seconds, whatever is before it. What
// belongs to the conversation is queued for converse.
func (d *Discord) listen(ctx context.Context) error {
	for e := range d.link.Events() {
		switch data := e.Data.(type) {
		case *discordgo.Ready:
			d.inbox.Push(data)
			if !d.met {
				d.met = true
				d.notices.put(notice{text: fmt.Sprintf(textHello, d.botName()), quiet: true})
			}
		case *discordgo.MessageCreate:
			if m := data.Message; !m.Author.Bot && (d.ours(m.Author.ID, m.ChannelID, m.GuildID) || d.adoptDM(m)) {
				d.inbox.Push(data)
			}
		case *discordgo.MessageUpdate:
			if m := data.Message; !m.Author.Bot && d.ours(m.Author.ID, m.ChannelID, m.GuildID) {
				d.inbox.Push(data)
			}
		case *discordgo.MessageDelete:
			// Who did it is not told. A message of the bot's own is nobody's words.
			if d.ours(d.state.dm().Owner, data.ChannelID, data.GuildID) {
				d.inbox.Push(data)
			}
		case *discordgo.InteractionCreate:
			d.interact(ctx, interaction{data.Interaction, e.At})
		case *discordgo.MessageReactionAdd:
			if d.ours(data.UserID, data.ChannelID, data.GuildID) {
				if id := d.cards.below(data.MessageID, data.Emoji.Name); id != "" {
					d.decide(id, data.Emoji.Name)
				}
			}
		}
	}
	return nil
}

// ours reports whether the owner did it, in the direct messages with the bot.
// Everything else is none of the bot's business.
func (d *Discord) ours(user, channel, guild string) bool {
	dm := d.state.dm()
	return guild == "" && user != "" && user == dm.Owner && channel == dm.Channel
}

// adoptDM takes the channel of the owner's first message for that of the direct
// messages, where they could not be opened.
func (d *Discord) adoptDM(m *discordgo.Message) bool {
	dm := d.state.dm()
	if m.GuildID != "" || m.Author.ID != dm.Owner || dm.Channel != "" {
		return false
	}
	dm.Channel = m.ChannelID
	d.state.setDM(dm)
	return true
}

// converse hands the owner's messages to the bot, each once. Those that wait for
// it have one turn.
func (d *Discord) converse(ctx context.Context) error {
	newest := d.state.seen()
	if heard := d.bot.LastReceived(name); message.Compare(heard, newest) > 0 {
		newest = heard
	}
	handed := recent{keep: keptMessages}
	for {
		event, err := d.inbox.Pop(ctx)
		if err != nil {
			return nil
		}
		var batch []*discordgo.Message
		for more := true; more; event, more = d.inbox.TryPop() {
			switch e := event.(type) {
			case *discordgo.Ready:
				batch = append(batch, d.catchUp(ctx, newest)...)
			case *discordgo.MessageCreate:
				if message.Compare(e.ID, newest) > 0 {
					batch = append(batch, e.Message)
				}
			case *discordgo.MessageUpdate:
				if i := position(batch, e.ID); i >= 0 {
					batch[i].Content = e.Content
				} else if handed.has(e.ID) {
					d.reword(ctx, command.Reword{From: name, Key: e.ID, Text: strings.TrimSpace(message.Text(e.Message))})
				}
			case *discordgo.MessageDelete:
				if i := position(batch, e.ID); i >= 0 {
					batch = slices.Delete(batch, i, i+1)
				} else if handed.has(e.ID) {
					d.reword(ctx, command.Reword{From: name, Key: e.ID, Gone: true})
				}
			}
			if n := len(batch); n > 0 && message.Compare(batch[n-1].ID, newest) > 0 {
				newest = batch[n-1].ID
			}
		}
		for _, m := range batch {
			handed.add(m.ID)
		}
		d.receiveAll(ctx, batch)
	}
}

// position is where a message is that was not handed over yet, or -1.
func position(batch []*discordgo.Message, id string) int {
	return slices.IndexFunc(batch, func(m *discordgo.Message) bool { return m.ID == id })
}

// reword tells the bot that words have changed which it has heard.
func (d *Discord) reword(ctx context.Context, c command.Reword) {
	if _, err := d.bot.Do(ctx, c); err != nil && ctx.Err() == nil {
		d.log.Warn("a changed message was not taken", "error", err)
	}
}

// catchUp gives the messages that were written after the newest known one. While
// Discord does not answer it waits: messages that came later have to stay behind
// these.
func (d *Discord) catchUp(ctx context.Context, newest string) (missed []*discordgo.Message) {
	var tries pauses
	reopened := false
	for {
		dm := d.state.dm()
		if dm.Channel == "" { // nothing was ever said there
			return nil
		}
		list, err := d.rest.After(ctx, dm.Channel, newest, page)
		for _, m := range list {
			newest = m.ID
			if m.Author.ID == dm.Owner && message.Written(m) {
				missed = append(missed, m)
			}
		}
		switch {
		case err == nil && len(list) == 0, ctx.Err() != nil:
			return missed
		case err == nil:
			continue
		case errors.Is(d.noteAuth(err), rest.ErrNoChannel) && !reopened:
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

// receiveAll hands messages to the bot as one turn.
func (d *Discord) receiveAll(ctx context.Context, batch []*discordgo.Message) {
	isWords := func(m *discordgo.Message) bool { return !d.isCode(strings.TrimSpace(message.Text(m))) }
	for i, m := range batch {
		if isWords(m) {
			d.receive(ctx, m, slices.ContainsFunc(batch[i+1:], isWords))
		} else {
			d.passCode(ctx, m.ID, strings.TrimSpace(message.Text(m)))
		}
		batch[i] = nil // a long list must not keep what was dealt with
	}
}

// receive hands one message to the bot, marked with a pair of eyes until it is
// answered. more says that another one follows.
func (d *Discord) receive(ctx context.Context, m *discordgo.Message, more bool) {
	answered := d.addEyes(m.ID)
	files, lost := d.fetch(ctx, message.Files(m))
	if ctx.Err() != nil {
		answered(nil)
		return // not heard: it is caught up with at the next start
	}
	to, quoted := message.Answered(m)
	hear := command.Receive{
		From: name, Key: m.ID, Text: strings.TrimSpace(message.Text(m) + lost), ReplyTo: post.MessageID(to), Quoted: quoted, Files: files, More: more,
	}
	if at, err := discordgo.SnowflakeTimestamp(m.ID); err == nil {
		hear.At = at
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
	d.state.setSeen(id)
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

// addEyes puts the eyes below a message, and takes them away when what the function
// is given was closed; nil is at once. With many messages at once the newer ones
// do without. Eyes that the program's end has left are taken away at its next
// start.
func (d *Discord) addEyes(id string) func(done <-chan struct{}) {
	answer := make(chan (<-chan struct{}), 1)
	d.marks.begin(func(ctx context.Context) {
		d.state.setEyes(id, true)
		putting, cancel := context.WithTimeout(ctx, eyesWithin)
		err := d.noteAuth(d.rest.React(putting, d.state.dm().Channel, id, eyes))
		cancel()
		select {
		case done := <-answer:
			if done != nil {
				select {
				case <-done:
				case <-ctx.Done():
				}
			}
		case <-ctx.Done():
		}
		// Without an answer it may stand there all the same.
		if err != nil && !passes(err) && ctx.Err() == nil {
			d.state.setEyes(id, false)
			return
		}
		d.unmark(ctx, id)
	})
	return func(done <-chan struct{}) { answer <- done }
}

// unmark takes the eyes away, for as long as that may take while ctx lasts: a
// limit can be long.
func (d *Discord) unmark(ctx context.Context, id string) {
	var tries pauses
	for {
		last, cancel := linger(ctx, eyesWithin)
		err := d.noteAuth(d.rest.Unreact(last, d.state.dm().Channel, id, eyes))
		cancel()
		if err == nil || !passes(err) {
			d.state.setEyes(id, false)
			return
		}
		d.log.Debug("a mark was not removed", "error", err)
		var limited *rest.LimitedError
		if errors.As(err, &limited) && sleep(ctx, limited.After) != nil || tries.wait(ctx) != nil {
			return
		}
	}
}

// The most that comes with one message, in bytes as they arrive: what a message
// says about its files may be a lie.
const (
	maxFiles    = 10
	maxFile     = 25 << 20
	maxTogether = 50 << 20
)

// fetch downloads the files of a message, and says in words for the message
// itself which of them were left out.
func (d *Discord) fetch(ctx context.Context, list []*discordgo.MessageAttachment) (files []command.File, lost string) {
	left := int64(maxTogether)
	for i, a := range list {
		if i == maxFiles {
			return files, lost + fmt.Sprintf(textTooManyFiles, len(list)-maxFiles, maxFiles)
		}
		shown := clean.Cut(clean.Line(a.Filename), 100)
		if shown == "" {
			shown = fmt.Sprintf("file %d", i+1)
		}
		most := min(maxFile, left)
		data, err := d.rest.Download(ctx, a.URL, most)
		if err != nil {
			d.log.Info("an attachment was left out", "error", err)
			lost += fmt.Sprintf(textLeftOut, shown, whyNot(err, most))
			continue
		}
		left -= int64(len(data))
		files = append(files, command.File{Name: shown, Data: data})
	}
	return files, lost
}

// whyNot says why a file is missing.
func whyNot(err error, most int64) string {
	switch {
	case errors.Is(err, rest.ErrTooLarge) && most < maxFile:
		return whyTogether
	case errors.Is(err, rest.ErrTooLarge):
		return whyLarge
	case errors.Is(err, rest.ErrExpired):
		return whyExpired
	case errors.Is(err, rest.ErrInvalid):
		return whyForeign
	}
	return whyNetwork
}
