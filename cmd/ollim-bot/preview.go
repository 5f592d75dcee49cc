package main

import (
	"context"
	"time"

	"ollimbot/core"
)

type previewCmd struct {
	ID      string `arg:"" optional:"" help:"The id of a routine or reminder."`
	System  bool   `help:"What every session is told besides its first message: profile, skills and how to work here."`
	Payload string `placeholder:"FILE" help:"The payload, for a webhook; - is standard input."`
	At      string `placeholder:"TIME" help:"As if it fired at this moment instead of now."`
	Busy    bool   `help:"As if you were in a conversation."`
}

// Run prints the prompt to the byte, with one line break at its end.
func (c *previewCmd) Run(p *process) error {
	if c.System == (c.ID != "") || c.System && (c.At != "" || c.Busy || c.Payload != "") {
		return usagef(textPreviewWhat)
	}
	at, err := p.open()
	if err != nil {
		return err
	}
	now, err := at.moment("--at", c.At)
	if err != nil {
		return err
	}
	bot, err := p.bot(at)
	if err != nil {
		return err
	}
	if c.System {
		return p.lines(bot.SystemPrompt())
	}
	if c.Payload != "" {
		return p.previewWebhook(bot, c, now)
	}
	ctx, cancel := p.context()
	defer cancel()
	text, err := bot.Preview(ctx, c.ID, now, c.Busy)
	if err != nil {
		return err
	}
	return p.lines(text)
}

// previewWebhook prints what a payload would be turned into.
func (p *process) previewWebhook(bot *core.Bot, c *previewCmd, at time.Time) error {
	payload, err := p.payload(c.Payload)
	if err != nil {
		return err
	}
	text, err := bot.PreviewWebhook(context.Background(), c.ID, payload, at, c.Busy)
	if err != nil {
		return err
	}
	return p.lines(text)
}

const textPreviewWhat = "preview takes the id of a routine or reminder, or --system alone"
