package main

import (
	"context"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/work/week"
)

type weekCmd struct {
	Ago int `placeholder:"N" help:"How many weeks ago, 0 to 51: 1 is last week (${default})." default:"0"`
	console.AsJSON
}

// Run summarizes a week.
func (c *weekCmd) Run(p *process, bot *core.Bot) error {
	if c.Ago < 0 || c.Ago > week.Most {
		return console.Usagef("--ago takes a number from 0 to %d", week.Most)
	}
	r, err := bot.Reads().Week(context.Background(), c.Ago)
	if err != nil {
		return err
	}
	return p.Answer(c.JSON, r, r.Lines())
}
