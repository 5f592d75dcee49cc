package main

import (
	"time"

	"ollimbot/cmd/internal/console"
	"ollimbot/core"
	"ollimbot/core/base/words"
	"ollimbot/core/command"
	"ollimbot/core/work/budget"
)

// budgetCmds shows the bucket or changes its two numbers.
type budgetCmds struct {
	Show budgetShowCmd `cmd:"" default:"withargs"`
	Set  budgetSetCmd  `cmd:""`
}

type budgetShowCmd struct {
	At string `placeholder:"TIME" help:"Refill to this moment instead of now. Nothing is written."`
	console.AsJSON
}

// Run shows the bucket. It never writes.
func (c *budgetShowCmd) Run(p *process, at console.DataDir, bot *core.Bot) error {
	now, err := at.Moment("--at", c.At)
	if err != nil {
		return err
	}
	b := bot.SnapshotAt(now).Budget
	return p.Answer(c.JSON, b, budgetLines(b.State, b.Beside.Text(b.QuietLimit), now))
}

func budgetLines(s budget.State, beside string, now time.Time) []string {
	lines := []string{"ping budget: " + words.Joined(s.FullStatus(now), beside)}
	if full := s.FullAt(now); !full.IsZero() {
		lines = append(lines, "full at: "+full.Format(console.MomentLayout))
	}
	return lines
}

type budgetSetCmd struct {
	Capacity *int `placeholder:"N" help:"Tokens that the bucket holds; 0 mutes."`
	Refill   *int `placeholder:"MIN" help:"Minutes to regain one token."`
}

// Run changes the bucket; a running bot sees it at once.
func (c *budgetSetCmd) Run(p *process, at console.DataDir) error {
	if c.Capacity == nil && c.Refill == nil {
		return console.Usagef("budget set needs --capacity N, --refill MIN, or both")
	}
	if err := budget.Validate(c.Capacity, c.Refill); err != nil {
		return console.Usagef("%v", err)
	}
	if err := at.Dir.Prepare(); err != nil {
		return err
	}
	bot, err := p.Bot(at)
	if err != nil {
		return err
	}
	before := bot.SnapshotAt(at.Now).Budget.State
	done, err := p.do(bot, command.SetBudget{Capacity: c.Capacity, RefillMinutes: c.Refill})
	if err != nil {
		return err
	}
	after := bot.SnapshotAt(at.Now).Budget.State
	lines := []string{done.Message, "ping budget updated: " + after.Status(at.Now)}
	if done.Undo == nil { // nothing was changed
		lines = []string{done.Message + ": " + after.Status(at.Now)}
	}
	if what := before.Preview(at.Now, after.Capacity, after.RefillRateMinutes); what != "" {
		lines = append(lines, what)
	}
	return p.Lines(lines...)
}
