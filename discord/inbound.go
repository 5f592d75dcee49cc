package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bwmarrin/discordgo"

	"ollimbot/core"
	"ollimbot/core/base/clean"
	"ollimbot/core/base/queue"
	"ollimbot/core/command"
	"ollimbot/core/safety/label"
	"ollimbot/core/talk/post"
	"ollimbot/discord/message"
	"ollimbot/discord/render"
	"ollimbot/discord/rest"
)

const (
	// page is the number of past messages read at a time.
	page = 100
	// keptMessages is how many messages are remembered for later edits.
	keptMessages = 256
)

// inbound receives the owner's messages: it finds missed ones and passes each message to
// the bot once, in order.
type inbound struct {
	room    *room
	marks   *marks
	notices *notices
	bot     core.Intake
	log     *slog.Logger
	voices  *voices
	// queue contains messages, their changes, and starts of sessions: Data of
	// gateway.Event.
	queue *queue.Queue[any]
	// ahead are events that were taken out of the queue while a recording was transcribed.
	ahead []any
	// loginPending reports whether a login waits for its code.
	loginPending func() bool
}

// run passes the owner's messages to the bot, each once. Waiting messages become one turn.
func (in *inbound) run(ctx context.Context) error {
	newest := in.room.state.seen()
	if heard := in.bot.LastReceived(name); message.Compare(heard, newest) > 0 {
		newest = heard
	}
	handed := recent{keep: keptMessages}
	for {
		event, err := in.next(ctx)
		if err != nil {
			return nil
		}
		var batch []*discordgo.Message
		for more := true; more; event, more = in.tryNext() {
			switch e := event.(type) {
			case *discordgo.Ready:
				batch = append(batch, in.catchUp(ctx, newest)...)
			case *discordgo.MessageCreate:
				if message.Compare(e.ID, newest) > 0 {
					batch = append(batch, e.Message)
				}
			case *discordgo.MessageUpdate:
				if i := position(batch, e.ID); i >= 0 {
					batch[i].Content = e.Content
				} else if handed.has(e.ID) && len(message.Voices(e.Message)) == 0 { // those cannot be edited
					in.reword(ctx, command.Reword{From: name, Key: e.ID, Text: strings.TrimSpace(message.Text(e.Message))})
				}
			case *discordgo.MessageDelete:
				if i := position(batch, e.ID); i >= 0 {
					batch = slices.Delete(batch, i, i+1)
				} else if handed.has(e.ID) {
					in.reword(ctx, command.Reword{From: name, Key: e.ID, Gone: true})
				}
			}
			if n := len(batch); n > 0 && message.Compare(batch[n-1].ID, newest) > 0 {
				newest = batch[n-1].ID
			}
		}
		for _, m := range batch {
			handed.add(m.ID)
		}
		in.receiveAll(ctx, batch)
	}
}

// next returns the oldest event, and waits for it.
func (in *inbound) next(ctx context.Context) (event any, err error) {
	if event, ok := in.tryNext(); ok {
		return event, nil
	}
	return in.queue.Pop(ctx)
}

// tryNext returns the oldest event, if there is one.
func (in *inbound) tryNext() (event any, ok bool) {
	if len(in.ahead) == 0 {
		return in.queue.TryPop()
	}
	event = in.ahead[0]
	in.ahead = in.ahead[1:]
	return event, true
}

// wroteOn waits until the user has written another message; false if ctx ended first.
func (in *inbound) wroteOn(ctx context.Context) bool {
	wrote := func(event any) bool { _, is := event.(*discordgo.MessageCreate); return is }
	if slices.ContainsFunc(in.ahead, wrote) {
		return true
	}
	for {
		event, err := in.queue.Pop(ctx)
		if err != nil {
			return false
		}
		in.ahead = append(in.ahead, event)
		if wrote(event) {
			return true
		}
	}
}

// position returns the index of a message that was not passed on yet, or -1.
func position(batch []*discordgo.Message, id string) int {
	return slices.IndexFunc(batch, func(m *discordgo.Message) bool { return m.ID == id })
}

// reword passes an edited message to the bot.
func (in *inbound) reword(ctx context.Context, c command.Reword) {
	if _, err := in.bot.Do(ctx, c); err != nil && ctx.Err() == nil {
		in.log.Warn("changed message was not accepted", "error", err)
	}
}

// catchUp returns the messages after the newest known one. It waits until Discord answers, because later messages
// must follow these.
func (in *inbound) catchUp(ctx context.Context, newest string) (missed []*discordgo.Message) {
	var tries pauses
	reopened := false
	for {
		dm := in.room.state.dm()
		if dm.Channel == "" { // there is no conversation yet
			return nil
		}
		list, last, err := in.room.rest.After(ctx, dm.Channel, newest, page)
		newest = cmp.Or(last, newest)
		for _, m := range list {
			if m.Author.ID == dm.Owner && message.Written(m) {
				missed = append(missed, m)
			}
		}
		switch {
		case err == nil && last == "", ctx.Err() != nil:
			return missed
		case err == nil:
			continue
		case errors.Is(err, rest.ErrNoChannel) && !reopened:
			reopened = true
			if err = in.room.reopen(ctx); err == nil {
				continue
			}
		}
		if !passes(err) {
			in.log.Error("missed messages could not be read", "error", err)
			in.notices.say(post.KindTrouble, fmt.Sprintf(textMissed, reason(err)))
			return missed
		}
		if tries.wait(ctx) != nil {
			return missed
		}
	}
}

// receiveAll passes messages to the bot as one turn. The last one is marked for all.
func (in *inbound) receiveAll(ctx context.Context, batch []*discordgo.Message) {
	isWords := func(m *discordgo.Message) bool { return !in.isCode(strings.TrimSpace(message.Text(m))) }
	for i, m := range batch {
		if isWords(m) {
			in.receive(ctx, m, slices.ContainsFunc(batch[i+1:], isWords))
		} else {
			in.passCode(ctx, m.ID, strings.TrimSpace(message.Text(m)))
		}
		batch[i] = nil // frees the message
	}
}

// receive passes one message to the bot. The last one is marked until it is answered; more
// says that another one follows.
func (in *inbound) receive(ctx context.Context, m *discordgo.Message, more bool) {
	answered := func(<-chan error) {}
	if !more {
		answered = in.marks.add(m.ID)
	}
	got := in.fetch(ctx, message.Files(m))
	heard := in.hear(ctx, m, got.data, more)
	if ctx.Err() != nil {
		answered(nil)
		return // the next start catches up on it
	}
	to, quoted := message.Answered(m)
	hear := command.Receive{
		From: name, Key: m.ID, Text: strings.TrimSpace(message.TextWith(m, heard) + got.lost), ReplyTo: post.MessageID(to), Quoted: quoted,
		Files: got.files, More: more,
	}
	if message.Forwards(m) {
		hear.Label = label.From(textForwardedLabel)
	}
	if at, err := discordgo.SnowflakeTimestamp(m.ID); err == nil {
		hear.At = at
	}
	out, err := in.bot.Do(ctx, hear)
	if err != nil {
		answered(failed(err))
		if ctx.Err() == nil {
			in.log.Warn("message from Discord was not accepted", "error", err)
			in.notices.say(post.KindTrouble, fmt.Sprintf(textLostWords, reason(err)))
		}
		return
	}
	answered(out.Done)
}

// failed returns the result of a message that was not accepted.
func failed(err error) <-chan error {
	done := make(chan error, 1)
	done <- err
	return done
}

// loginWithin limits a login once its code has arrived.
const loginWithin = time.Minute

// isCode reports whether a text is the code of a pending login: "xxx#yyy", as shown on the login page.
func (in *inbound) isCode(text string) bool {
	before, after, found := strings.Cut(text, "#")
	if !found || before == "" || after == "" || len(text) > 2000 || strings.ContainsAny(text, " \t\r\n") || strings.Contains(after, "#") {
		return false
	}
	return in.loginPending != nil && in.loginPending()
}

// passCode passes a code to the login. It is a secret: the agent and the transcript never
// see it, even when missed messages are read at the next start.
func (in *inbound) passCode(ctx context.Context, id, code string) {
	in.room.state.setSeen(id)
	ctx, cancel := context.WithTimeout(ctx, loginWithin)
	defer cancel()
	if _, err := in.bot.Do(ctx, command.Login{Code: code}); err != nil {
		again := post.Button{Label: textLogIn, Style: "primary", Action: post.LogIn + ":"}
		in.notices.say(post.KindTrouble, fmt.Sprintf(textLoginWrong, strings.ReplaceAll(reason(err), code, "…")), again)
	}
}

// Limits of one message's attachments, in received bytes: the declared sizes may be wrong.
const (
	maxFiles    = 10
	maxFile     = 25 << 20
	maxTogether = 50 << 20
)

// fetched are the attachments of a message.
type fetched struct {
	files []command.File
	data  map[*discordgo.MessageAttachment][]byte // the same, by attachment
	lost  string                                  // describes those that were left out
}

// fetch downloads the attachments of a message.
func (in *inbound) fetch(ctx context.Context, list []*discordgo.MessageAttachment) fetched {
	got := fetched{data: map[*discordgo.MessageAttachment][]byte{}}
	left := int64(maxTogether)
	for i, a := range list {
		if i == maxFiles {
			got.lost += fmt.Sprintf(textTooManyFiles, len(list)-maxFiles, maxFiles)
			break
		}
		shown := clean.Cut(clean.Line(a.Filename), 100)
		if shown == "" {
			shown = fmt.Sprintf("file %d", i+1)
		}
		most := min(maxFile, left)
		data, err := in.room.rest.Download(ctx, a.URL, most)
		if err != nil {
			in.log.Info("an attachment was left out", "error", err)
			got.lost += fmt.Sprintf(textLeftOut, shown, whyNot(err, most))
			continue
		}
		left -= int64(len(data))
		got.files, got.data[a] = append(got.files, command.File{Name: shown, Data: data}), data
	}
	return got
}

// whyNot returns why an attachment is missing.
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

// keptUnread is how many unreadable messages are remembered, so that each is told once.
const keptUnread = 256

// unread tells the user of messages that could not be read, each once.
type unread struct {
	state   *state
	notices *notices
	log     *slog.Logger

	mu   sync.Mutex
	told recent
}

// tell reports a message, unless it is the bot's own or was written elsewhere.
func (u *unread) tell(m message.Traits) {
	dm := u.state.dm()
	if m.ID == "" || m.Channel == "" || m.Channel != dm.Channel || m.Author == dm.App {
		return
	}
	u.mu.Lock()
	fresh := u.told.add(m.ID)
	u.mu.Unlock()
	if fresh {
		u.log.Warn("a message could not be read", "message", m.ID, "author", m.Author)
		u.notices.say(post.KindTrouble, textUnread)
	}
}

// showWithin limits how long a message waits until its transcript is shown.
const showWithin = 10 * time.Second

// voices turns voice messages into words before the bot receives them, and shows the words.
// A program that ends meanwhile has not received the message, so that the next one begins
// again; the nonce of the reply keeps that from being shown twice.
type voices struct {
	room       *room
	transcribe func(ctx context.Context, recording []byte) (string, error)
	pool       *workerPool
	log        *slog.Logger
}

// utterance is what a message's voice messages say.
type utterance struct {
	heard        map[*discordgo.MessageAttachment]string // the words, or why there are none
	said, missed []string                                // the words, and sentences about missing ones
}

// voicePatience is how long a transcription may still take once the user has written on.
const voicePatience = 5 * time.Second

// hear returns what is said in the voice messages of a message, by their files, or why that is
// not known. data are the files that were downloaded. more says that another message follows: then, and once one has
// arrived, the words must not keep the user waiting for long, and may follow as a message of their own.
func (in *inbound) hear(
	ctx context.Context, m *discordgo.Message, data map[*discordgo.MessageAttachment][]byte, more bool,
) map[*discordgo.MessageAttachment]string {
	v := in.voices
	list := message.Voices(m)
	if len(list) == 0 || v.transcribe == nil {
		return nil
	}
	if err := v.room.Typing(ctx); err != nil {
		v.log.Debug("typing indicator was not set", "error", err)
	}
	result := make(chan utterance, 1)
	ready, finish := context.WithCancel(ctx)
	defer finish()
	begun := v.pool.begin(func(ctx context.Context) {
		defer finish()
		result <- v.words(ctx, list, data)
	})
	if !begun { // the bot is stopping, or many are under way
		result <- v.words(ctx, list, data)
		finish()
	}
	if more || in.wroteOn(ready) {
		patience := time.NewTimer(voicePatience)
		defer patience.Stop()
		select {
		case <-ready.Done():
		case <-patience.C:
		}
	}
	select {
	case s := <-result:
		if ctx.Err() == nil {
			v.report(ctx, m, s)
		}
		return s.heard
	default:
	}
	if ctx.Err() == nil {
		v.pool.begin(func(ctx context.Context) { in.hearLater(ctx, m, result) })
	}
	late := map[*discordgo.MessageAttachment]string{}
	for _, f := range list {
		late[f] = textHeardLater
	}
	return late
}

// hearLater passes on the words of a message that was received without them.
func (in *inbound) hearLater(ctx context.Context, m *discordgo.Message, result <-chan utterance) {
	var s utterance
	select {
	case s = <-result:
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return // the recording is saved
	}
	in.voices.report(ctx, m, s)
	if len(s.said) == 0 {
		return
	}
	words := command.Receive{From: name, Text: textLaterWords + strings.Join(s.said, "\n")}
	if message.Forwards(m) {
		words.Label = label.From(textForwardedLabel)
	}
	if _, err := in.bot.Do(ctx, words); err != nil && ctx.Err() == nil {
		in.log.Warn("the words of a voice message were not accepted", "error", err)
		in.notices.say(post.KindTrouble, fmt.Sprintf(textLostWords, reason(err)))
	}
}

// words transcribes recordings.
func (v *voices) words(
	ctx context.Context, list []*discordgo.MessageAttachment, data map[*discordgo.MessageAttachment][]byte,
) utterance {
	s := utterance{heard: map[*discordgo.MessageAttachment]string{}}
	for _, f := range list {
		recording, there := data[f]
		if !there {
			continue // the message says why
		}
		words, err := v.transcribe(ctx, recording)
		switch {
		case ctx.Err() != nil:
			return s
		case err != nil:
			v.log.Info("a voice message was not transcribed", "error", err)
			s.heard[f] = fmt.Sprintf(textNotHeard, err)
			s.missed = append(s.missed, fmt.Sprintf(textTellNotHeard, strings.TrimRight(err.Error(), ".")))
		default:
			s.heard[f] = words
			s.said = append(s.said, words)
		}
	}
	return s
}

// report shows the user what was heard, or why nothing was.
func (v *voices) report(ctx context.Context, m *discordgo.Message, s utterance) {
	switch {
	case len(s.said) > 0:
		v.show(ctx, render.Transcript(strings.Join(s.said, "\n"), m.ID))
	case len(s.missed) > 0:
		v.show(ctx, render.Remark(s.missed[0], m.ID))
	}
}

// show sends the reply. The message is received without it if Discord does not take it in time.
func (v *voices) show(ctx context.Context, reply rest.Message) {
	ctx, cancel := context.WithTimeout(ctx, showWithin)
	defer cancel()
	if _, err := v.room.deliver(ctx, reply); err != nil {
		v.log.Warn("what was heard in a voice message was not shown", "error", err)
	}
}
