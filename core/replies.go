package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/audit"
	"ollimbot/core/command"
	"ollimbot/core/post"
	"ollimbot/core/prompt"
	"ollimbot/core/session"
)

// post sends a message to the user. Buttons get their lasting ids first: a
// click is understood from its id alone, also after a restart.
func (b *Bot) post(ctx context.Context, p post.Post) (post.MessageID, error) {
	if p.Embed != nil && len(p.Embed.Buttons) > 0 {
		e := *p.Embed
		e.Buttons = nil
		for _, button := range p.Embed.Buttons {
			id, err := button.CustomID(func(ask string) (string, error) { return b.asked.Register(b.now(), ask) })
			if err != nil {
				b.log.Warn("button was left away", "label", button.Label, "error", err)
				continue
			}
			button.Action = id
			e.Buttons = append(e.Buttons, button)
		}
		p.Embed = &e
	}
	id, err := b.surface.Post(ctx, p)
	if err == nil && len(p.Files) > 0 {
		from := fromRun
		if p.Source != "" {
			from += " " + p.Source
		}
		b.audit.Record(b.now(), audit.Entry{Actor: audit.Agent, From: from, Action: audit.FileSent, Subject: strings.Join(p.Files, " "), Detail: p.Text})
	}
	return id, err
}

// click carries out a button, from its id and the message that it stands on.
func (b *Bot) click(ctx context.Context, c command.Click) (command.Outcome, error) {
	action, data, ok := post.ParseCustomID(c.ID)
	if !ok {
		return command.Outcome{}, errors.New(textUnknownButton)
	}
	switch action {
	case "fork_save":
		return b.exitFork(command.ExitSave)
	case "fork_report":
		return b.exitFork(command.ExitReport)
	case "fork_exit":
		return b.exitFork(command.ExitDiscard)
	case "dismiss":
		return command.Outcome{Message: "dismissed"}, b.surface.Delete(ctx, c.Message)
	case post.AskAgent:
		return b.clickAgent(ctx, c.Message, data)
	case "task_done", "task_del", "event_del":
		return command.Outcome{}, errors.New(textNoGoogle)
	}
	return command.Outcome{}, errors.New(textUnknownButton)
}

// clickAgent asks the agent what a button stands for: in the run that showed
// it, where that is known, else where the conversation is.
func (b *Bot) clickAgent(ctx context.Context, message post.MessageID, inquiry string) (command.Outcome, error) {
	now := b.now()
	from, standing := b.replies.Lookup(now, message)
	if f := b.main.inFork(); standing == session.Live && f != nil && f.resumes != from.Session {
		return command.Outcome{}, errors.New(textAlreadyForked) // the question is kept
	}
	ask, ok, err := b.asked.Pop(now, inquiry)
	switch {
	case err != nil:
		return command.Outcome{}, err
	case !ok:
		return command.Outcome{}, errors.New(textButtonExpired)
	}
	if err := b.main.interruptFor(ctx); err != nil {
		b.log.Warn("running turn was not interrupted", "error", err)
	}
	m := agent.Message{Text: prompt.Button(ask)}
	return command.Outcome{}, b.main.later(func(ctx context.Context) error {
		if standing == session.Live && b.main.inFork() == nil {
			return b.main.enter(ctx, resumption(from, prompt.ForkButton(b.o.Env.UserName, ask), now))
		}
		return b.main.answer(ctx, m) // a click before this one may have entered the fork
	})
}

// reply answers one message of the bot: in the run that sent it while that is
// remembered (seven days), else with the message quoted.
func (b *Bot) reply(ctx context.Context, to post.MessageID, w said) error {
	now := b.now()
	from, standing := b.replies.Lookup(now, to)
	fork := b.main.inFork()
	if standing == session.Live && fork == nil {
		if err := b.main.answerWords(ctx); err != nil { // what came before is answered before
			return err
		}
		if err := b.main.interruptFor(ctx); err != nil {
			b.log.Warn("running turn was not interrupted", "error", err)
		}
		return b.resumeReply(w, resumption(from, prompt.ForkReply(w.message.Text), now), b.quoted(to, w))
	}
	switch {
	case standing == session.Expired:
		b.small(textReplyExpired)
	case standing == session.Live && fork.resumes == from.Session: // it is this run that is talked with
		return b.main.say(ctx, w)
	case standing == session.Live:
		b.small(textReplyInFork)
	}
	return b.main.say(ctx, b.quoted(to, w))
}

// quoted are the words with the message that they answer in front.
func (b *Bot) quoted(to post.MessageID, w said) said {
	w.shown = shownMessage(w.message)
	answered := b.quotable(to)
	if answered == "" {
		answered = w.quoted
	}
	w.message.Text = prompt.Quote(answered, w.message.Text)
	return w
}

// resumeReply goes on in the run that was replied to. Until that has begun, the
// words wait on disk as they would be said to the main session.
func (b *Bot) resumeReply(w said, r forkRequest, kept said) error {
	id, err := b.keepWaiting(kept)
	if err != nil {
		w.finish()
		return fmt.Errorf("keep the message: %w", err)
	}
	b.showWords(w)
	r.images = w.message.Images
	err = b.main.later(func(ctx context.Context) error {
		defer w.finish()
		switch f := b.main.inFork(); { // a reply before this one may have entered a fork
		case f != nil && f.resumes == r.resume:
			return b.main.answer(ctx, w.message, id)
		case f != nil:
			b.small(textReplyInFork)
			return b.main.answer(ctx, kept.message, id)
		}
		err := b.main.enter(ctx, r)
		if ctx.Err() == nil {
			b.taken(id)
		}
		return err
	})
	if err != nil {
		b.taken(id)
		w.finish()
	}
	return err
}

// resumption is going on in the session of a background run.
func resumption(from session.ForkMessage, first string, now time.Time) forkRequest {
	return forkRequest{
		resume: from.Session, title: textEarlierRun,
		first: first + "\n\n" + prompt.Stale(now.Sub(from.At)),
	}
}

// quotable is what a message said, or nothing when it is gone.
func (b *Bot) quotable(id post.MessageID) string {
	for _, e := range b.book.Entries() {
		switch {
		case !e.Is(id):
		case e.Text != "":
			return e.Text
		case e.Embed != nil:
			return prompt.QuoteEmbed(*e.Embed)
		}
	}
	return ""
}

// remember keeps which session sent what in an interactive fork, so that a
// reply to it later goes on there.
func (c *conversation) remember(session string, ids []post.MessageID) {
	err := c.bot.replies.Record(c.bot.now(), ids, session, c.bot.sessions.Main())
	if err != nil {
		c.bot.log.Warn("a reply to this message will not find its fork", "error", fmt.Sprint(err))
	}
}

// answerIDs are the ids of an answer and the session that gave it: either may
// be known first, for a network takes its time. The zero value is ready.
type answerIDs struct {
	mu      sync.Mutex
	ids     []post.MessageID
	session string
	tell    func(session string, ids []post.MessageID)
}

// add notes ids of the answer.
func (a *answerIDs) add(ids []post.MessageID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ids = append(a.ids, ids...)
	a.settle()
}

// belongTo names the session; tell is called with whatever ids come, in order.
func (a *answerIDs) belongTo(session string, tell func(string, []post.MessageID)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.session, a.tell = session, tell
	a.settle()
}

// settle tells what can be told; mu is held, which orders the records.
func (a *answerIDs) settle() {
	if a.session == "" || a.tell == nil || len(a.ids) == 0 {
		return
	}
	ids := a.ids
	a.ids = nil
	a.tell(a.session, ids)
}
