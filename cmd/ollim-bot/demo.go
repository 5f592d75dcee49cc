package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"ollimbot/cmd/internal/console"
	"ollimbot/cmd/internal/demo"
	"ollimbot/core"
	"ollimbot/core/agent/script"
)

type demoCmd struct {
	uiFlags

	Speed float64 `default:"1" placeholder:"N" help:"Play N times as fast, 0.1 to 20."`
}

// textDemoPlain is textDemo for plain mode, with commands in place of keys.
const textDemoPlain = "demo: everything is real except the model; try list, fire 1, say hello"

// Run plays the demo: a real bot on a temporary data directory, with a driver that
// acts as the user and lets time pass.
func (c *demoCmd) Run(p *process) (err error) {
	if !(c.Speed >= 0.1 && c.Speed <= 20) {
		return console.Usagef("--speed takes a number from 0.1 to 20")
	}
	if p.Flags.DataDir != "" {
		return console.Usagef("the demo has a directory of its own: leave out --data-dir")
	}
	if err := c.check(p); err != nil {
		return err
	}
	notice := textDemo
	if c.Plain {
		notice = textDemoPlain
	}
	root, err := os.MkdirTemp("", "ollim-bot-demo-")
	if err != nil {
		return fmt.Errorf(textNoDemoDir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	p.Flags.DataDir = root
	at, err := p.Open()
	if err != nil {
		return err
	}
	home := demo.Home{Dir: at.Dir, Now: at.Now}
	if err := demo.Furnish(home); err != nil {
		return err
	}
	ctx, stop := p.Context()
	defer stop()
	var bot *core.Bot
	talk := demo.Talk(func() core.Snapshot { return bot.Snapshot() })
	// Costs are shown although nobody is charged.
	m := models{&p.Process, at}.offline(script.Options{Pace: 1 / c.Speed, Priced: true, Talk: talk}, notice)
	m.live = func(b *core.Bot) { bot = b }
	return p.serve(ctx, at, serving{
		uiMode: uiMode{uiFlags: c.uiFlags, demo: true},
		model:  m,
		beside: func(ctx context.Context, bot *core.Bot, log *slog.Logger) error {
			return demo.Drive(ctx, bot, home, log, c.Speed)
		},
	})
}
