package chat

import (
	"context"
	"fmt"
	"time"

	"ollimbot/core/command"
	"ollimbot/core/post"
	"ollimbot/core/store"
)

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
		{Label: "command.Exit Fork", Style: "danger", Action: "fork_exit:_"},
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
