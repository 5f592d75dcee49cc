package main

import (
	"context"
	"errors"
	"fmt"

	"ollimbot/core"
	claudeproc "ollimbot/core/agent/claude/process"
	"ollimbot/core/command"
)

type allowCmd struct {
	ID   string `arg:"" optional:"" help:"The id of a task or webhook, or the path of its file."`
	Undo bool   `help:"Take the word back: it waits again."`
}

// Run gives the user's word. It is no subcommand of routine or reminder, because
// those are on the agent's list, and whoever reads a list of patterns must see that
// this one is not.
func (c *allowCmd) Run(p *process) error {
	if p.getenv(claudeproc.MarkName) != "" {
		return errors.New("only the user lets a task have more rights than its writer: tell them what it is for")
	}
	at, err := p.open()
	if err != nil {
		return err
	}
	bot, err := p.bot(at)
	if err != nil {
		return err
	}
	if c.ID == "" {
		waiting := waitingLines(bot)
		if len(waiting) == 0 {
			waiting = []string{"nothing waits for you"}
		}
		return p.lines(waiting...)
	}
	o, err := bot.Do(p.asking(context.Background()), command.AllowTask{ID: c.ID, Withdraw: c.Undo})
	if err != nil {
		return err
	}
	return p.lines(o.Message)
}

// waitingLines are the files that do nothing until the user says so.
func waitingLines(bot *core.Bot) []string {
	var lines []string
	for _, w := range bot.Waiting() {
		lines = append(lines, fmt.Sprintf("  %s  %s", w.File, w.Message))
	}
	return lines
}
