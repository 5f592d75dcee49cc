package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"ollimbot/core/agent"
	"ollimbot/core/brief/prompt"
	"ollimbot/core/command"
	"ollimbot/core/safety/audit"
	"ollimbot/core/storage/store"
	"ollimbot/core/talk/post"
	"ollimbot/core/talk/session"
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
		return c.o.Google(ctx, action, data)
	}
	return "", errors.New(textUnknownButton)
}

// Retire takes the buttons off a message that the conversation still shows, wherever it
// stands, and says in its footer why.
func (c *Conversation) Retire(ctx context.Context, id post.MessageID, why string) {
	for _, e := range c.o.Transcript.Entries() {
		if !e.Is(id) || e.Embed == nil || len(e.Embed.Buttons) == 0 {
			continue
		}
		card := *e.Embed
		card.Buttons, card.Footer = nil, why
		p := post.Post{Text: e.Text, Embed: &card, Context: "bg", Source: e.Source, Critical: e.Critical}
		if err := c.surface.Edit(context.WithoutCancel(ctx), id, p); err != nil {
			c.o.Log.Warn("a message still shows buttons that do nothing any more", "error", err)
		}
	}
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

// Banner is the interactive fork as a dashboard shows it.
type Banner struct {
	Topic   string // cleaned; empty when the user leads
	Resumed bool   // continues a background run: it cannot be saved
	Since   time.Time
	// Asks is true while the agent wants to save the fork and waits for a word.
	Asks bool
}

// Banner is the fork that is open, or nil.
func (c *Conversation) Banner() *Banner {
	c.mu.Lock()
	defer c.mu.Unlock()
	f := c.fork
	if f == nil {
		return nil
	}
	return &Banner{Topic: f.topic, Resumed: f.resumes != "", Since: f.entered, Asks: f.saveAsked}
}

// postEnter says that a fork has begun, with its exits as buttons.
func (c *Conversation) postEnter(ctx context.Context, f *interactive, r forkRequest) post.MessageID {
	text := textForkPlain
	switch {
	case r.title != "":
		text = fmt.Sprintf(textForkResumed, r.title)
	case f.topic != "":
		text = "Topic: " + f.topic
	}
	buttons := []post.Button{
		{Label: "Save Context", Style: "success", Action: "fork_save:_"},
		{Label: "Report", Style: "primary", Action: "fork_report:_"},
		{Label: "Exit Fork", Style: "danger", Action: "fork_exit:_"},
	}
	if f.resumes != "" { // it cannot be saved
		buttons = buttons[1:]
	}
	f.title = text
	return c.postCard(ctx, post.Embed{Title: textForkCard, Description: text, Color: "purple", Buttons: buttons})
}

// postExit says how a fork has ended.
func (c *Conversation) postExit(ctx context.Context, f *interactive, how command.Exit) {
	if f.card != "" { // its buttons are of no use any more
		closed := post.Post{Embed: &post.Embed{Title: textForkCard, Description: f.title, Color: "greyple"}, Context: "fork"}
		if err := c.surface.Edit(context.WithoutCancel(ctx), f.card, closed); err != nil {
			c.o.Log.Warn("an ended fork's card still shows its exits", "error", err)
		}
	}
	e := post.Embed{Title: "Fork Ended — discarded", Color: "greyple"}
	switch how {
	case command.ExitSave:
		e = post.Embed{Title: "Fork Ended — saved to main", Description: f.report, Color: "green"}
	case command.ExitReport:
		e = post.Embed{Title: "Fork Ended — summary queued", Description: f.report, Color: "blue"}
		if f.report == "" {
			e = post.Embed{Title: "Fork Ended — no summary", Description: textNoSummary, Color: "greyple"}
		}
	}
	c.postCard(ctx, e)
}

func (c *Conversation) postCard(ctx context.Context, e post.Embed) post.MessageID {
	p := post.Post{Nonce: store.NewID() + store.NewID(), Embed: &e, Context: "fork"}
	id, err := c.Post(context.WithoutCancel(ctx), p)
	if err != nil {
		c.o.Log.Warn("fork card was not sent", "error", err)
	}
	return id
}
