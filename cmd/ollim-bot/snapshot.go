package main

import (
	"ollimbot/tui"
)

type snapshotCmd struct {
	Width  int    `default:"120" help:"Columns of the frame."`
	Height int    `default:"40" help:"Rows of the frame."`
	At     string `placeholder:"TIME" help:"The dashboard at this moment instead of now. Nothing is written."`
}

// The largest frame that can be asked for: beyond any terminal.
const (
	maxWidth  = 1000
	maxHeight = 500
)

// Run prints one frame as plain text: what the dashboard shows when it opens.
func (c *snapshotCmd) Run(p *process) error {
	if c.Width < 1 || c.Width > maxWidth || c.Height < 1 || c.Height > maxHeight {
		return usagef("a frame is 1 to %d columns wide and 1 to %d rows high", maxWidth, maxHeight)
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
	return p.lines(tui.Frame(bot.SnapshotAt(now), tui.FrameOptions{Width: c.Width, Height: c.Height, Tail: bot.Tail})...)
}
