package chat

import (
	"context"
	"errors"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/audit"
	"ollimbot/core/command"
	"ollimbot/core/post"
	"ollimbot/core/prompt"
	"ollimbot/core/session"
)

// Post sends a message to the user. Buttons get their lasting ids first: a
// click is understood from its id alone, also after a restart.
func (c *Conversation) Post(ctx context.Context, p post.Post) (post.MessageID, error) {
	if p.Embed != nil && len(p.Embed.Buttons) > 0 {
		e := *p.Embed
		e.Buttons = nil
		for _, button := range p.Embed.Buttons {
			id, err := button.CustomID(func(ask string) (string, error) { return c.inquiries.Register(c.now(), ask) })
			if err != nil {
				c.o.Log.Warn("button was left away", "label", button.Label, "error", err)
				continue
			}
			button.Action = id
			e.Buttons = append(e.Buttons, button)
		}
		p.Embed = &e
	}
	id, err := c.surface.Post(ctx, p)
	if err == nil && len(p.Files) > 0 {
		from := fromRun
		if p.Source != "" {
			from += " " + p.Source
		}
		c.o.Audit.Record(c.now(), audit.Entry{Actor: audit.Agent, From: from, Action: audit.FileSent, Subject: strings.Join(p.Files, " "), Detail: p.Text})
	}
	return id, err
}

// Click carries out a button, from its id and the message that it stands on.
func (c *Conversation) Click(ctx context.Context, message post.MessageID, button string) (done string, err error) {
	action, data, ok := post.ParseCustomID(button)
	if !ok {
		return "", errors.New(textUnknownButton)
	}
	switch action {
	case "fork_save":
		return "", c.ExitFork(command.ExitSave)
	case "fork_report":
		return "", c.ExitFork(command.ExitReport)
	case "fork_exit":
		return "", c.ExitFork(command.ExitDiscard)
	case "dismiss":
		return "dismissed", c.surface.Delete(ctx, message)
	case post.AskAgent:
		return "", c.clickAgent(ctx, message, data)
	case "task_done", "task_del", "event_del":
		return "", errors.New(textNoGoogle)
	}
	return "", errors.New(textUnknownButton)
}

// clickAgent asks the agent what a button stands for: in the run that showed
// it, where that is known, else where the conversation is.
func (c *Conversation) clickAgent(ctx context.Context, message post.MessageID, inquiry string) error {
	now := c.now()
	from, standing := c.o.Runs.Lookup(now, message)
	if f := c.inFork(); standing == session.Live && f != nil && f.resumes != from.Session {
		return errors.New(textAlreadyForked) // the question is kept
	}
	ask, ok, err := c.inquiries.Pop(now, inquiry)
	switch {
	case err != nil:
		return err
	case !ok:
		return errors.New(textButtonExpired)
	}
	if err := c.interruptFor(ctx); err != nil {
		c.o.Log.Warn("running turn was not interrupted", "error", err)
	}
	m := agent.Message{Text: prompt.Button(ask)}
	return c.later(func(ctx context.Context) error {
		if standing == session.Live && c.inFork() == nil {
			return c.enter(ctx, resumption(from, prompt.ForkButton(c.o.UserName, ask), now))
		}
		return c.answer(ctx, m) // a click before this one may have entered the fork
	})
}

// resumption is going on in the session of a background run.
func resumption(from session.ForkMessage, first string, now time.Time) forkRequest {
	return forkRequest{
		resume: from.Session, title: textEarlierRun,
		first: first + "\n\n" + prompt.Stale(now.Sub(from.At)),
	}
}

// quotable is what a message said, or nothing when it is gone.
func (c *Conversation) quotable(id post.MessageID) string {
	for _, e := range c.o.Transcript.Entries() {
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
