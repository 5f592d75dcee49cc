package main

import (
	"cmp"
	"context"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/command"
	"ollimbot/core/work/week"
)

type weekCmd struct {
	Which string `arg:"" optional:"" help:"last for last week, or how many weeks ago, up to 51."`
	Ago   int    `hidden:"" now:"week 1"`
	console.AsJSON
}

// Run summarizes a week.
func (c *weekCmd) Run(p *process, bot *core.Bot) error {
	ago, ok := command.WeeksAgo(c.Which)
	if ago = cmp.Or(ago, c.Ago); !ok || ago < 0 || ago > week.Most {
		return console.Usagef("week takes last, or a number of weeks from 0 to %d", week.Most)
	}
	r, err := bot.Reads().Week(context.Background(), ago)
	if err != nil {
		return err
	}
	return p.Answer(c.JSON, r, r.Lines())
}
