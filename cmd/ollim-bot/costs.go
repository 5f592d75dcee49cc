package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/routines/schedule"
)

// costDays is how many days the command compares at most: as many as are kept.
const costDays = 366

type costsCmd struct {
	Number  int  `arg:"" optional:"" name:"days" help:"How many days with today, 1 to 366 (30)."`
	Days    int  `hidden:"" now:"costs 7" default:"30"`
	Explain bool `help:"What each routine costs and what a change would have saved."`
	console.AsJSON
}

// Run shows the costs by day and by task, and the expected cost of today.
func (c *costsCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	days := cmp.Or(c.Number, c.Days)
	if days < 1 || days > costDays {
		return console.Usagef("costs takes a number of days from 1 to %d", costDays)
	}
	r, err := bot.Reads().Costs(context.Background(), days)
	if err != nil {
		return err
	}
	lines := costLines(r)
	if c.Explain {
		lines = append([]string{r.Head()}, r.Explained()...)
	}
	r.Ahead, r.Advice = append([]schedule.Entry{}, r.Ahead...), append([]command.Advice{}, r.Advice...) // JSON distinguishes null from []
	r.Parts, r.Tasks = append([]command.PartCost{}, r.Parts...), append([]command.TaskCost{}, r.Tasks...)
	return p.Answer(c.JSON, r, lines)
}

// costLines lists the days that cost something, the expected cost of today, and the
// tasks.
func costLines(r command.CostReport) []string {
	lines := command.MoneyLines(r.Money)
	if r.Expected > 0 {
		lines = append(lines, fmt.Sprintf("today is expected to come to %s: %s are scheduled until midnight", words.Dollars(r.Projected), words.Dollars(r.Expected)))
	}
	lines = append(lines, strings.TrimRight(r.Text(), "\n"))
	lines = append(lines, r.PartLines()...)
	if text := command.Blocks(r.Used); text != "" {
		lines = append(lines, text)
	}
	for _, d := range slices.Backward(r.Days) {
		if d.Dollars > 0 || d.Runs+d.Unknown > 0 || d.NotExact > 0 {
			line := fmt.Sprintf("%s  %8s  %6s  %s", d.Date.Format("Mon 2006-01-02"),
				words.Dollars(d.Dollars), words.Tokens(d.Tokens), words.Count(d.Runs, "run"))
			if d.NotExact > 0 {
				line += ", and " + words.Dollars(d.NotExact) + " that is not exact"
			}
			if d.Unknown > 0 {
				line += ", and " + words.Count(d.Unknown, "request") + " of unknown cost"
			}
			lines = append(lines, line)
		}
	}
	return lines
}
